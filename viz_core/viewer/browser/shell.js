/* What all components of ours do alike. */

import { addStop, UNPRESENTED } from "../talk/own_talks.js";
import { button, el, reveal } from "./dom.js";
import { OF_THE_WALK, page } from "./page.js";
import { Reader } from "./reading.js";
import { onThemeChange } from "./theme.js";
import { t } from "./words.js";

/** Puts a view's root, in our style, into its host, and calls `redraw` when the size of the part `watched` or
   the theme changes. Returns what takes it all away again.
   @param {HTMLElement} host @param {HTMLElement} root @param {() => void} redraw
   @param {{watched?: HTMLElement, resized?: () => void}} sizes */
export function putUp(host, root, redraw, { watched, resized = redraw } = {}) {
  host.append(el("style", { text: STYLE }), root);
  const resizer = new ResizeObserver(resized);
  if (watched) resizer.observe(watched);
  const stopListening = onThemeChange(redraw);
  const shadow = host.getRootNode();
  if (shadow instanceof ShadowRoot) {
    /** @type {HTMLElement | undefined} */ let last;
    shadow.addEventListener("focusin", ({ target }) => (last = /** @type {HTMLElement} */ (target)));
    // A dialog of the page gives the focus back to what had it: to the page, the whole component.
    /** @type {HTMLElement} */ (shadow.host).focus = (options) => last?.focus(options);
  }
  return () => {
    resizer.disconnect();
    stopListening();
    host.replaceChildren();
  };
}

/** The line above a view: what to notice, then buttons; the last ones take away what is shown, copy its link,
   add it to the own talk. Where no dialog takes it away, the browser saves its picture.
   @param {string} title of the button that takes it away @param {() => void} takeAway
   @param {() => void} write brings the address up to date
   @param {() => import("./reading.js").Reading[]} read says what is shown
   @param {HTMLElement[]} pictured what of it is the picture @param {HTMLElement[]} others */
export function storyLine(title, takeAway, write, read, pictured, others = []) {
  const notice = el("p", { class: "notice", "aria-live": "polite" });
  const take = button({ text: "take away", title, onclick: takeAway });
  reveal(take, page.takesAway);
  const reader = new Reader(read);
  const pictures = /** @type {const} */ (["svg", "png"]).map((kind) => {
    const parts = [notice, ...pictured];
    const save = () => page.savePicture?.(kind, parts, notice.textContent || document.title);
    const saver = button({ text: `picture (${kind.toUpperCase()})`, onclick: save });
    reveal(saver, page.savePicture && !page.hides);
    return saver;
  });
  const actions = el("div", { class: "actions" }, [
    ...[...others, reader.button, take, ...pictures, copyButton(write)],
    ...[addButton(write, () => notice.textContent || document.title)],
  ]);
  const heading = el("h2", { class: "heard", text: "What is shown" }); // which is jumped to
  const root = el("div", { class: "story" }, [heading, notice, actions, reader.root]);
  return { root, notice, actions, take, reader };
}

/** The button "More" with the rest behind it. A press on an entry, Escape, or a press elsewhere closes it.
   @param {Element[]} entries @param {AbortSignal} signal ends its listening to the window */
export function moreMenu(entries, signal) {
  const close = () => {
    menu.open = false;
    menu.querySelector("summary")?.focus();
  };
  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    close();
  };
  const list = el("div", { class: "more-list" }, entries);
  const summary = el("summary", { text: t("More") });
  const menu = el("details", { class: "more", onkeydown }, [summary, list]);
  // before the entry acts, so that what it opens gives the focus back to "More"; some say what came of it
  const press = (/** @type {any} */ { target }) => target.closest("button:not([aria-live])") && close();
  menu.addEventListener("click", press, { capture: true });
  const leave = (/** @type {Event} */ event) => {
    if (!event.composedPath().includes(menu)) menu.open = false;
  };
  window.addEventListener("pointerdown", leave, { signal });
  return menu;
}

/** A button that copies the address of what is shown. @param {() => void} write brings it up to date */
function copyButton(write) {
  return linkButton({ text: "copy link" }, write, async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      return "link copied";
    } catch {
      return "copy it from the address bar";
    }
  });
}

/** A button that makes a stop of the own talk of what is shown. @param {() => void} write as above
   @param {() => string} headline */
function addButton(write, headline) {
  const title = "As a stop of your talk";
  const { root, page: ofFiles } = document.body.dataset; // a page of files says its name
  const name = (root ? ofFiles : location.pathname.split("/").at(-1)) ?? "";
  const link = linkButton({ text: "add to talk", title }, write, async () => {
    const params = new URLSearchParams(location.search);
    for (const each of ["present", ...OF_THE_WALK]) params.delete(each);
    return addStop(headline(), name + (params.size ? `?${params}` : ""));
  });
  if (UNPRESENTED.includes(name)) reveal(link, false);
  return link;
}

/** A button that does something with the address of what is shown, and says for a while what came of it.
   @param {{text: string, title?: string}} words @param {() => void} write brings it up to date
   @param {() => Promise<string>} act */
function linkButton(words, write, act) {
  const onclick = async () => {
    write();
    link.textContent = t(await act());
    setTimeout(() => (link.textContent = t(words.text)), 1000 + 50 * link.textContent.length);
  };
  const link = button({ ...words, onclick, "aria-live": "polite" });
  reveal(link, page.write && !page.hides); // a stop of a talk has its link there
  return link;
}

/** Tells tests and measurements what was drawn, of which message.
   @param {HTMLElement} root @param {{what: string, generation: number, view?: string}} detail */
export function announce(root, detail) {
  root.dataset.generation = String(detail.generation);
  const event = { bubbles: true, composed: true, detail };
  root.dispatchEvent(new CustomEvent("attention-lab:painted", event));
}
