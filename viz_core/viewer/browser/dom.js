/* Small helpers: elements and canvases. Text reaches the page as textContent, never as HTML; several words
   go through the catalogue on their way, a single one, which may be a token, only where `t` is called. */

import { keep, kept } from "./storage.js";
import { tIfWords } from "./words.js";

/** @typedef {Record<string, any>} Attributes "text" is the content, "onclick" and the like are listeners */
/** @typedef {(Node | string | null | undefined | false)[]} Children */

/* The attributes that people read or hear. */
const READ = ["aria-label", "title", "placeholder", "aria-valuetext", "alt"];

/** @template {Element} Made
   @param {Made} node @param {Attributes} attributes @param {Children} children */
function furnish(node, attributes, children) {
  /** @param {any} value */
  const say = (value) =>
    typeof value === "string" && attributes.translate !== "no" ? tIfWords(value) : value;
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = say(value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      node.setAttribute(name, value === true ? "" : READ.includes(name) ? say(value) : value);
  }
  node.append(.../** @type {Node[]} */ (children.filter(Boolean).map(say)));
  return node;
}

/** What people wrote, which is not looked up. @param {string} text */
export const typed = (text) => document.createTextNode(text);

/** @template {keyof HTMLElementTagNameMap} Tag
   @param {Tag} tag @param {Attributes} attributes @param {Children} children */
export const el = (tag, attributes = {}, children = []) =>
  furnish(document.createElement(tag), attributes, children);

/** @template {keyof SVGElementTagNameMap} Tag
   @param {Tag} tag @param {Attributes} attributes @param {Children} children */
export const svg = (tag, attributes = {}, children = []) =>
  furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** A part that is scrolled, by keys too.
   @param {string} className @param {string} label @param {Children} children */
export const region = (className, label, children = []) =>
  el("div", { class: className, tabindex: "0", role: "region", "aria-label": label }, children);

/** Shows a part, or hides it. @param {Element} part @param {unknown} isSeen */
export const reveal = (part, isSeen) => part.classList.toggle("absent", !isSeen);

const WORKED = "button, select, input, textarea, summary, [tabindex]";

/** Draws, and gives the focus of an element that is then gone to what has its place, or else to the first of
   `panel` that takes it.
   @param {HTMLElement} root @param {HTMLElement} panel @param {() => void} draw */
export function keepingFocus(root, panel, draw) {
  const { activeElement: focused } = /** @type {ShadowRoot | Document} */ (root.getRootNode());
  const place = root.contains(focused) ? focused?.parentElement : null;
  const at = Array.from(place?.children ?? []).indexOf(/** @type {Element} */ (focused));
  draw();
  if (!place || focused?.checkVisibility()) return;
  const all = [place.children[at], ...panel.querySelectorAll(WORKED)];
  const next = /** @type {HTMLElement | undefined} */ (all.find((each) => each?.checkVisibility()));
  next?.focus({ preventScroll: true });
}

/** Puts words where they are read out whenever they change; the same words again are no change.
   @param {HTMLElement} part @param {(Node | string)[]} nodes */
export function say(part, nodes) {
  const next = el("p", {}, nodes);
  if (next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes);
}

/** Whether the window is a phone's, as our styles have it. */
export const onPhone = () => window.matchMedia("(max-width: 640px)").matches;

/** @type {WeakMap<Element, string>} what each part was drawn from */ const drawnFrom = new WeakMap();

/** Whether a part is to be drawn from something new: else it keeps its elements, and with them the focus.
   @param {Element} part @param {unknown} what */
export function isNew(part, what) {
  const [before, now] = [drawnFrom.get(part), JSON.stringify(what)];
  drawnFrom.set(part, now);
  return before !== now;
}

/** @type {WeakMap<Element, string>} what fields were filled with */ const filledWith = new WeakMap();

/** Fills a field, but not over what somebody is writing into it.
   @param {HTMLInputElement | HTMLTextAreaElement} field @param {string} text */
export function fill(field, text) {
  const isWritten = field.matches(":focus") && field.value !== (filledWith.get(field) ?? "");
  filledWith.set(field, text);
  if (!isWritten) field.value = text;
}

/** @param {Attributes} attributes @param {Children} children */
export const button = (attributes, children = []) =>
  el("button", { type: "button", ...attributes }, children);

/** @param {HTMLCanvasElement} canvas */
export function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
}

/** A canvas of `width` x `height` CSS pixels, sharp on every screen.
   @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = contextOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** @type {CanvasRenderingContext2D | undefined} */ let ruler;

/** How many pixels wide a text is. @param {string} text @param {string} font as in CSS */
export function textWidth(text, font) {
  ruler ??= contextOf(document.createElement("canvas"));
  ruler.font = font;
  return ruler.measureText(text).width;
}

/** @param {string} text */
export function shorten(text, length = 14) {
  const letters = [...text];
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : text;
}

/** A text for Plotly, which reads tags and entities in what it writes. @param {string} text */
export function asTyped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const SWITCH = "attention-lab.letters";
/** Whether keys of one letter do something: in all windows, where the browser keeps that. */
const letters = { on: true };

const hasLetters = () => (kept(SWITCH) || String(letters.on)) === "true";

/* Switches keys of one letter off, which people who speak to their machine would press by each word. */
export function switchOfLetters() {
  const onchange = () => {
    letters.on = box.checked;
    keep(SWITCH, String(letters.on));
  };
  const box = el("input", { type: "checkbox", checked: hasLetters(), onchange });
  return el("label", { class: "letters" }, [box, " ", el("span", { text: "Single-letter shortcuts" })]);
}

/** @param {KeyboardEvent} event */
export const isSwitchedOff = ({ key }) => key.length === 1 && key !== " " && !hasLetters();

/** Whether a key is neither switched off nor meant for a field or button that has the focus.
   @param {KeyboardEvent} event */
export function isForView(event) {
  if (isSwitchedOff(event)) return false;
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (!(target instanceof HTMLElement)) return true;
  if (target.closest("dialog")) return false;
  const { type } = /** @type {HTMLInputElement} */ (target);
  if (
    target.matches(
      "textarea, select, [contenteditable], input:not([type=range], [type=radio], [type=checkbox])",
    )
  )
    return false;
  const isWorked =
    type === "radio" ||
    target.matches("button, a, summary, [role=button], [role=slider], [role=combobox], [role=gridcell]");
  return !(isWorked && /^(Enter| |Arrow.*)$/.test(event.key));
}

export const pause = (/** @type {number} */ milliseconds) =>
  new Promise((done) => setTimeout(done, milliseconds));
