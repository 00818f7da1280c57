/* A page of ours in a frame of the show: it tells what it shows, and does what the show asks. */

import { isForView } from "../browser/dom.js";
import { addressBar, hostedBy } from "../browser/page.js";
import { KEYS } from "../browser/present.js";
import { Ink } from "./ink.js";

/** @import { Setting, Told, Wanted } from "./types" */
/** @import { Held } from "../browser/model.js" */

export const STOP = "attention-lab-stop ";
/* Keys that are the show's, wherever the focus is. */
const KEYS_OF_SHOW = ["a", "b", ".", "n", "N", "s", "f", "c", "h", "?", "Home", "End"];
/* Whom a window of this page's tells something: on a disk no window has an origin. */
export const ORIGIN = location.protocol.startsWith("http") ? location.origin : "*";
const KINDS = ["board", "stage", "map"];

/** @type {{view: any, model: Held, ink: Ink, tell(): void} | null} */ let shown = null;

export const isStop = () => parent !== window && window.name.startsWith(STOP);
/** @returns {Setting} */
const setting = () => JSON.parse(window.name.slice(STOP.length));

/** @param {Record<string, any>} told */
function tellShow(told) {
  parent.postMessage({ type: "attention-lab:stop", ...told }, ORIGIN);
}

/* So that letters have one size on all stops, whatever stands above and below them. */
function heightOfShow() {
  try {
    return parent.innerHeight;
  } catch {
    return innerHeight; // of a file, each picture is a stranger to its show
  }
}

/* Says what is around the views of this page. To be called before any is rendered. */
export function prepareStop() {
  hostedBy({
    params: () => new URLSearchParams([...(addressBar.params?.() ?? []), ["present", "1"]]),
    takesAway: false,
    presents: false,
    fillsScreen: false,
    height: heightOfShow,
    hides: setting().hides,
    isAsked: setting().asks,
    halts: setting().at,
    write: (params, isNew) => {
      // A picture in a file has no address.
      if (location.protocol !== "blob:") addressBar.write?.(params, isNew);
      shown?.tell();
    },
  });
  document.documentElement.dataset.stop = "";
  globalThis.attentionLabLost = () => tellShow({ lost: true });
  // Before any view hears a key. A page may have several programs of ours; that of the stop answers.
  window.addEventListener("keydown", key, { capture: true });
  window.addEventListener("message", hear);
  window.addEventListener("pointermove", () => tellShow({ awake: true }));
}

/** Whether the show answers an act, and not the page. @param {{type: string, by?: any}} act */
export function answeredByShow({ type, by }) {
  if (!["go", "skip"].includes(type)) return false;
  tellShow({ go: by });
  return true;
}

/** Tells the show what a view shows from now on. @param {string} kind @param {Held} model
   @param {HTMLElement} host that it was rendered into */
export function shareView(kind, model, host) {
  if (!KINDS.includes(kind)) return () => {};
  const view = /** @type {any} */ (host).attentionLab;
  const ink = new Ink(host);
  ink.onPoint = (point) => tellShow({ point });
  ink.onLine = (line) => tellShow({ line });
  /** @type {Uint8Array | null} */ let known = null;
  let waits = false;
  const tellNow = () => {
    waits = false;
    const message = /** @type {Uint8Array} */ (model.get("message"));
    const present = view.present;
    const asked = present?.covered && present.asked;
    tellShow({
      kind,
      message: message === known ? null : message,
      state: model.get("state"),
      href: location.href,
      asked: asked ? { ask: asked.ask, options: asked.options } : null,
    });
    known = message;
  };
  const tell = () => {
    if (!waits) queueMicrotask(tellNow);
    waits = true;
  };
  host.addEventListener("attention-lab:painted", tell);
  shown = { view, model, ink, tell };
  tell();
  return () => {
    host.removeEventListener("attention-lab:painted", tell);
    ink.leave();
    if (shown?.view === view) shown = null;
  };
}

/** To the next place of this stop, or to the next stop. @param {1 | -1} by */
function go(by) {
  if (!shown?.view.advanceAmong?.(by)) tellShow({ go: by });
}

/** @param {KeyboardEvent} event */
function key(event) {
  const { key, shiftKey: shift } = event;
  if (key === "Tab") tellShow({ awake: true });
  if (!shown || event.ctrlKey || event.metaKey || event.altKey || !isForView(event)) return;
  const isOpen = document.documentElement.dataset.drawer ?? shown?.view.present?.topmost;
  if (KEYS.next.includes(key)) go(1);
  else if (KEYS.back.includes(key)) go(-1);
  else if (KEYS_OF_SHOW.includes(key) || (key === "Escape" && !isOpen)) tellShow({ key, shift });
  else return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {MessageEvent} event */
function hear({ source, data }) {
  if (source !== parent || data?.type !== "attention-lab:show" || !shown) return;
  /** @type {Wanted} */ const wanted = data;
  const { view, ink, model } = shown;
  if ("go" in wanted) go(wanted.go);
  if ("uncover" in wanted) view.present?.uncover();
  if ("state" in wanted) model.set("state", wanted.state);
  if ("mode" in wanted) ink.use(wanted.mode);
  if ("pointer" in wanted) ink.show(wanted.pointer, wanted.lines);
}
