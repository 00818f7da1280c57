/* This browser's own talk: kept as the file that it is, and added to from any page. */

import { shorten } from "../browser/dom.js";
import { t } from "../browser/words.js";

const KEPT = "attention-lab.talk";
const LONGEST_TITLE = 120;

/** The file of the own talk; "" where there is none, or the browser keeps nothing. */
export function ownText() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

/** Keeps the own talk; whether the browser did. @param {string} text */
export function keepOwn(text) {
  try {
    localStorage.setItem(KEPT, text);
    return true;
  } catch {
    return false;
  }
}

/** Calls back when another window changes the own talk. @param {() => void} callback
   @param {AbortSignal} signal */
export function onOwnChange(callback, signal) {
  const hear = (/** @type {StorageEvent} */ { key }) => key === KEPT && callback();
  window.addEventListener("storage", hear, { signal });
}

/** Appends a stop, and returns how many there are; 0 where the browser keeps nothing.
   @param {string} title the headline, of which the first sentence is kept, with the next where it is short
   @param {string} address of the page, as `linkOf` takes it */
export function addStop(title, address) {
  const [first] = /^.{20,}?[.!?](?=\s|$)/s.exec(title) ?? [title];
  const name = first.length > LONGEST_TITLE ? shorten(first, LONGEST_TITLE).replace(/\s+\S*$/, "…") : first;
  const head = headOf(name, linkOf(address) ?? "");
  const text = `${ownText().trimEnd() || `# ${t("My talk")}`}\n\n${head}\n`;
  const outsideCode = text.replace(/^ {0,3}(`{3,}|~{3,})[\s\S]*?^ {0,3}\1.*$/gm, "");
  return keepOwn(text) ? (outsideCode.match(/^ {0,3}##\s/gm) ?? []).length : 0;
}

/** How a stop begins in a file. @param {string} title @param {string} link */
export function headOf(title, link) {
  const page = link.split("?")[0] || "Explore";
  const address = /[()\s]/.test(link) ? `</${link}>` : `/${link}`;
  return `## ${titled(title)}${link && `\n\n[${page}](${address})`}`;
}

/** A heading's words, in one line. @param {string} title */
export function titled(title) {
  const line = title.replace(/\s+/g, " ").trim();
  return line.endsWith("#") ? `${line} #` : line; // which else would close the heading
}

/** An address as a stop keeps it: as in the app, relative to its root, without a language; null where it is
   none of our pages'.
   @param {string} address @param {readonly string[]} [pages] */
export function linkOf(address, pages) {
  const [, origin, path, asked] = /^(https?:\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/.exec(address) ?? [];
  const isOurs = origin || !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address);
  const parts = path.split("/").filter((part) => part && part !== ".");
  const name = parts.at(-1) ?? "";
  const page = name === "explore" ? "" : name;
  if (!isOurs || (parts.length > 1 && !origin) || (pages && !pages.includes(page))) return null;
  if (origin && pages && !page && !asked) return null; // any site's front page
  const query = asked?.replace(/[?&]lang=[^&]*/, "").replace(/^&/, "?");
  return page + (query || (page ? "" : "?"));
}

/** The link of a page in a frame; null where it is none of ours.
   @param {string} root the address of the app or site @param {string} href of the frame */
export function linkWithin(root, href) {
  return href.startsWith(root) ? linkOf(href.slice(root.length)) : null; // a proxy may add a path to the root
}
