/* Streamlit's page as a host of the viewer (viz_core/viewer/README.md). */

import { el, isSwitchedOff, onPhone } from "../../../viz_core/viewer/browser/dom.js";
import { Held } from "../../../viz_core/viewer/browser/model.js";
import {
  addressBar,
  find,
  hearSwitch,
  hostedBy,
  isEmbedded,
  prepareEmbedded,
  tellHeight,
} from "../../../viz_core/viewer/browser/page.js";
import { TASK } from "../../../viz_core/viewer/sheets/task.js";
import { answeredByShow, isStop, prepareStop, shareView } from "../../../viz_core/viewer/talk/stop.js";

/** @import { Model, Render } from "../../../viz_core/viewer/contract" */
/** @typedef {{model: Held, leave: () => void}} Shown */
/** @typedef {(name: string, value: object) => void} Trigger */

const STYLES = [
  ...["background-color", "secondary-background-color", "text-color", "border-color", "red-color"],
  ...["font", "code-font"],
];
const WITH_TEXT = ":is(.st-key-beside_sides, .st-key-lab_side)";

const UNFOLDING = 100; // milliseconds until it is there
const PATIENCE = 5_000; // milliseconds for an answer

/** When the server was last asked to go elsewhere, if it has not answered. */
let asked = -Infinity;

hostedBy({
  ...addressBar,
  isGoing: () => performance.now() - asked < PATIENCE,
  keys: () => window,
  takesAway: true,
  presents: true,
  hasFollowed: (theme) => {
    const app = find(".stApp");
    return !app || getComputedStyle(app).colorScheme === theme;
  },
  scrolled: "[data-testid=stMain]",
  above: "[data-testid=stMainBlockContainer]",
  beside: ":scope > *, [data-testid=stColumn]",
  computing: ".stProgress, .computing, [data-test-script-state=running]",
  parts: ".st-key-lab_heading [aria-checked=true]",
  questions: ".st-key-lab_drawer_questions",
  text: WITH_TEXT,
  field: `${WITH_TEXT} :is(input[type=text]:not([role=combobox], :disabled), textarea)`,
});

if (isStop()) prepareStop();
/* Whoever works on a task sees the page alone, too (viz_core/viewer/sheets). */
if (parent !== window && window.name === TASK) document.documentElement.dataset.stop = "";

hearSwitch();

/* Streamlit's way to another page has two steps, the new query on the old page and then the page; Back shall
   find one. */
const push = history.pushState.bind(history);
history.pushState = (state, unused, address) => {
  const { pathname, search } = new URL(address ?? "", location.href);
  const isSecond = search && search === location.search && pathname !== location.pathname;
  if (isSecond) history.replaceState(state, unused, address);
  else push(state, unused, address);
};

/* Streamlit's own r runs the page again; what a field or a table does with a letter is done below. */
document.body.addEventListener("keydown", (event) => isSwitchedOff(event) && event.stopPropagation());

/* Streamlit puts what a button unfolds at the end of the page, and leaves the keyboard at the button. */
addEventListener("click", ({ target, detail }) => {
  const isByPointer = detail > 0;
  if (isByPointer || !(/** @type {Element} */ (target).closest("[data-testid=stPopover] button"))) return;
  setTimeout(() => {
    const unfolded = find("[data-testid=stPopoverBody]");
    unfolded?.setAttribute("tabindex", "-1");
    unfolded?.focus();
  }, UNFOLDING);
});

/** @type {WeakMap<ShadowRoot, Shown>} what is shown in each component */ const all = new WeakMap();

/** A component's function, which Streamlit calls with each message: it renders once.
   @param {new () => Held} Kind of model @param {Render} render
   @param {string} kind of view that it renders */
export function mountingWith(Kind, render, kind) {
  /** @param {{parentElement: ShadowRoot, data: Uint8Array, setTriggerValue: Trigger}} given */
  return ({ parentElement, data, setTriggerValue }) => {
    const known = all.get(parentElement);
    const model = known?.model ?? new Kind();
    model.tellPage = (act) => {
      if (isStop() && answeredByShow(act)) return;
      if (["go", "skip"].includes(act.type)) asked = performance.now();
      setTriggerValue("act", act);
    };
    /** @type {Uint8Array | null} */ const before = model.get("message");
    model.receive(data);
    if (!known) all.set(parentElement, { model, leave: show(render, parentElement, model, kind) });
    const isAnswer = asked > -Infinity && !(before && isSame(before, data)); // the same once more is none
    if (isAnswer) asked = -Infinity;
    globalThis.attentionLabPresents?.goOn();
    return () => {
      all.get(parentElement)?.leave();
      all.delete(parentElement);
    };
  };
}

/** The same for what Streamlit's runs alone draw anew. @param {Render} render @param {string} kind */
export const mounting = (render, kind) => mountingWith(Held, render, kind);

/** @param {Uint8Array} one @param {Uint8Array} other */
export function isSame(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

/** @param {Render} render @param {ShadowRoot} parent @param {Held} model @param {string} kind */
function show(render, parent, model, kind) {
  if (onPhone()) closeMenu();
  if (isEmbedded()) prepareEmbedded();
  const style = STYLES.map((name) => `--lab-${name}: var(--st-${name})`).join("; ");
  const place = el("div", { style: `display: contents; ${style}` });
  parent.append(place);
  const leave = render({ model: /** @type {Model} */ (/** @type {any} */ (model)), el: place });
  tellHeight(/** @type {HTMLElement} */ (find("[data-testid=stMainBlockContainer]")));
  const unshare = isStop() ? shareView(kind, model, place) : () => {};
  return () => {
    unshare();
    leave();
    place.remove();
  };
}

/* Streamlit leaves a phone's menu open, over the page that was chosen in it. */
function closeMenu() {
  const menu = find("[data-testid=stSidebar][data-collapsed=false]");
  if (menu) find("[data-testid=stSidebarCollapseButton] button", menu)?.click();
}
