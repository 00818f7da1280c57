/* What all components of ours do alike. */

import { button, el, reveal } from "./dom.js";
import { page } from "./page.js";
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
  return () => {
    resizer.disconnect();
    stopListening();
    host.replaceChildren();
  };
}

/** The line above a view: what to notice, then buttons; the last two take away what is shown, copy its link.
   @param {string} what can be taken away @param {() => void} takeAway
   @param {() => void} write brings the address up to date @param {HTMLElement[]} others */
export function storyLine(what, takeAway, write, others = []) {
  const notice = el("p", { class: "notice", "aria-live": "polite" });
  const title = `${what}, numbers and code to keep`;
  const take = button({ text: "take away", title, onclick: takeAway });
  reveal(take, page.takesAway);
  const actions = el("div", { class: "actions" }, [...others, take, copyButton(write)]);
  return { root: el("div", { class: "story" }, [notice, actions]), notice, actions, take };
}

/** A button that copies the address of what is shown. @param {() => void} write brings it up to date */
function copyButton(write) {
  const link = button({ text: "copy link", onclick: () => copy() });
  reveal(link, page.write);
  const say = (/** @type {string} */ text) => {
    link.textContent = t(text);
    setTimeout(() => (link.textContent = t("copy link")), 1600);
  };
  const refused = () => say("copy it from the address bar");
  const copy = () => {
    write();
    if (!navigator.clipboard) refused();
    else navigator.clipboard.writeText(window.location.href).then(() => say("link copied"), refused);
  };
  return link;
}

/** Tells tests and measurements what was drawn, of which message.
   @param {HTMLElement} root @param {{what: string, generation: number, view?: string}} detail */
export function announce(root, detail) {
  root.dataset.generation = String(detail.generation);
  const event = { bubbles: true, composed: true, detail };
  root.dispatchEvent(new CustomEvent("attention-lab:painted", event));
}
