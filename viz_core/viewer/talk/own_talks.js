/* This browser's own talks, each kept as the file that it is; any page adds to the one opened last. */

import { shorten } from "../browser/dom.js";
import { keep, kept } from "../browser/storage.js";
import { t } from "../browser/words.js";

const KEPT = "attention-lab.talk"; // of the first one; those of others go on with a number
const OPENED = "attention-lab.opened-talk";
const LONGEST_TITLE = 120;
export const MOST_CHARACTERS = 100_000;
export const MOST_STOPS = 100;
export const MOST_TALKS = 20;
const PLACES = Array.from({ length: MOST_TALKS }, (_, at) => (at ? `.${at}` : ""));
/* Pages that fill no window: they can be a task of a sheet, and no stop of a talk. */
export const UNPRESENTED = ["start", "documents", "train"];

/** The place of the talk that was opened last. */
export const openedPlace = () => kept(OPENED);
/** The places where talks are kept. */
export const keptPlaces = () => PLACES.filter(ownText);
/** A place where none is; undefined where all are taken. */
export const freePlace = () => PLACES.find((place) => !ownText(place));

/** The file of an own talk; "" where there is none. */
export function ownText(place = openedPlace()) {
  return kept(KEPT + place);
}

/** Keeps an own talk as the one opened last, or "" in its place; whether the browser did.
   @param {string} text */
export const keepOwn = (text, place = openedPlace()) => keep(KEPT + place, text) && keep(OPENED, place);

/** Why a file is too long for a talk, else "". @param {string} text */
export function tooLong(text) {
  const stops = text.match(STOP_BEGINS)?.length ?? 0;
  const [many, long] = [stops > MOST_STOPS, text.length > MOST_CHARACTERS];
  if (many) return `A talk of ${stops} stops: at most ${MOST_STOPS} are read; make it two.`;
  return long ? `A talk of ${text.length} characters: at most ${MOST_CHARACTERS} are read; make it two.` : "";
}

const STOP_BEGINS = /^ {0,3}##\s/gm;

/** As much of a file as is read. @param {string} text */
export function cut(text) {
  const begins = [...text.slice(0, MOST_CHARACTERS).matchAll(STOP_BEGINS)];
  return text.slice(0, Math.min(MOST_CHARACTERS, begins[MOST_STOPS]?.index ?? MOST_CHARACTERS));
}

/** Calls back when another window changes an own talk. @param {() => void} callback
   @param {AbortSignal} signal */
export function onOwnChange(callback, signal) {
  const hear = (/** @type {StorageEvent} */ { key }) => key?.startsWith(KEPT) && callback();
  window.addEventListener("storage", hear, { signal });
}

/** Appends a stop, and says how many there are, or why none is added.
   @param {string} title the headline, of which the first sentence is kept, with the next where it is short
   @param {string} address of the page, as `linkOf` takes it */
export function addStop(title, address) {
  const [first] = /^.{20,}?[.!?](?=\s|$)/s.exec(title) ?? [title];
  const name = first.length > LONGEST_TITLE ? shorten(first, LONGEST_TITLE).replace(/\s+\S*$/, "…") : first;
  const head = headOf(name, linkOf(address) ?? "");
  const text = `${ownText().trimEnd() || `# ${t("My talk")}`}\n\n${head}\n`;
  const long = tooLong(text);
  if (long) return long;
  let [fence, count] = ["", 0]; // by lines: an expression over all of them would take long for many fences
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (mark && (!fence || mark.startsWith(fence))) fence = fence ? "" : mark;
    else if (!fence) count += line.match(STOP_BEGINS)?.length ?? 0;
  }
  return keepOwn(text) ? `stop ${count} added` : "not kept here";
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

const OF_EXPLORE = /[?&](?:model|text|level|view)=/;

/** An address as a stop keeps it: as in the app, relative to its root, without a language; null where it is
   none of our pages'.
   @param {string} address @param {readonly string[]} [pages] */
export function linkOf(address, pages) {
  const [, origin, path, asked] = /^(https?:\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/.exec(address) ?? [];
  const isOurs = origin || !/^(?:[a-z][a-z0-9+.-]*:|\/\/)/i.test(address);
  const parts = path.split("/").filter((part) => part && part !== ".");
  const name = parts.at(-1) ?? "";
  // Explore is the first page of a site of files, which may lie in a folder
  const isFirst = pages && !pages.includes(name) && path.endsWith("/") && OF_EXPLORE.test(asked ?? "");
  const page = name === "explore" || (origin && isFirst) ? "" : name;
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
