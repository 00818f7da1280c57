/* The whole model at a glance: a block for each stack, a row for each layer, a cell for each head. It says
   where the shown head stands and what is edited, leads to other heads, and switches heads off. */

import { el, isNew, isSwitchedOff, onPhone, typed } from "../browser/dom.js";
import { cssColour, levelsBetween } from "../browser/images.js";
import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";
import { headAt, partnersOf } from "./data.js";
import { edited, isOff, offLine } from "./edits.js";
import { choosesHeads, headsAfter, MOVES, upTo } from "./view.js";

/** @import { View, Stack } from "./types" */
/** @import { HeadPlace } from "./edits.js" */
/** @typedef {{place: HeadPlace, stack: number, at: number, node: HTMLElement}} Cell at: in its stack */

const ROOM = { width: 220, height: 96, most: [18, 16], least: 6 }; // pixels, of all cells and of one
const ON_PHONE = { width: 330, height: 180, most: [28, 28], least: 12 };
const BETWEEN = 10; // pixels between blocks
const HOLD = 500; // milliseconds of a long press
const SURVEYS = ["grid", "map", "sums", "output", "effect", "sweep"]; // views of many heads

/** How large cells are, in pixels, so that all fit; where they would be too small, the picture scrolls.
   @param {Pick<Stack, "layers" | "heads">[]} stacks @param {boolean} phone */
export function sizeOf(stacks, phone) {
  const { width, height, most, least } = phone ? ON_PHONE : ROOM;
  const columns = stacks.reduce((sum, { heads }) => sum + heads, 0);
  const rows = Math.max(...stacks.map(({ layers }) => layers.length));
  const sizes = [(width - BETWEEN * (stacks.length - 1)) / columns, height / rows];
  return sizes.map((size, at) => Math.max(least, Math.min(most[at], Math.floor(size))));
}

/** Which head a cell is, and what is said of it.
   @param {Pick<HeadPlace, "layer" | "head">} place @param {string[]} said */
export function nameOf({ layer, head }, said) {
  const words = said.filter(Boolean).map(t).join(", ");
  return t(`layer ${layer} head ${head}`) + (words && `: ${words}`);
}

/** What a press on a cell changes: it shows the head; in a view of many heads another press opens it.
   @param {Pick<View, "view" | "stack" | "layer" | "head" | "heads" | "over">} view
   @param {HeadPlace} place @param {boolean} adds where several heads of a layer may be chosen
   @returns {Partial<View>} */
export function pressOf(view, { stack, layer, head }, adds) {
  const isHere = stack === view.stack && layer === view.layer;
  if (adds && isHere && choosesHeads(view)) return headsAfter(view.heads, head);
  const opens = isHere && head === view.head && SURVEYS.includes(view.view);
  /** @type {Partial<View>} */ const change = { layer, head, heads: [head] };
  return { ...change, ...(stack === view.stack ? {} : { stack }), ...(opens ? { view: "head" } : {}) };
}

/** @param {Cell} cell */
function middleOf({ node }) {
  const { left, top, width, height } = node.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}

/** @param {Cell[]} cells @param {{x: number, y: number}} from */
function nearestOf(cells, from) {
  const far = cells.map(middleOf).map(({ x, y }) => Math.hypot(x - from.x, y - from.y));
  return cells[far.indexOf(Math.min(...far))];
}

export class Overview {
  /** @type {Cell[]} */ cells = [];
  /** @type {Cell | undefined} of the shown head */ shown;
  /** @type {Cell | undefined} under the pointer or the focus */ over;
  isTouch = false; // what presses is a finger
  isHeld = false; // the last press was a long one
  timer = 0; // of a finger that may become one

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    const enter = (/** @type {Event} */ event) => this.enter(this.at(event));
    const leave = () => this.enter(undefined);
    const end = () => clearTimeout(this.timer);
    this.board = el("div", {
      ...{ class: "overview-board", role: "grid" },
      "aria-label": "All heads: Enter shows one, o switches it off and on",
      onclick: (/** @type {MouseEvent} */ event) => this.isHeld || this.press(this.at(event), event),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.hear(event),
      onpointerdown: (/** @type {PointerEvent} */ event) => this.hold(event),
      oncontextmenu: (/** @type {Event} */ event) => this.isHeld && event.preventDefault(),
      ...{ onpointerup: end, onpointercancel: end },
      ...{ onpointerover: enter, onpointerleave: leave, onfocusin: enter, onfocusout: leave },
    });
    this.tip = el("p", { class: "overview-tip", "aria-hidden": "true" });
    this.root = el("div", { class: "overview" }, [this.board, this.tip]);
  }

  /** The cell of an event; beside all of them, the nearest. @param {any} event @returns {Cell} */
  at(event) {
    return this.cells.find(({ node }) => node === event.target) ?? nearestOf(this.cells, event);
  }

  /** @param {Cell} cell @param {MouseEvent | KeyboardEvent} event */
  press({ place }, event) {
    if (event.altKey || event.ctrlKey || event.metaKey) this.toggle(place);
    else this.stage.set(pressOf(this.stage.view, place, event.shiftKey));
  }

  /** Switches a head off, or on again. @param {HeadPlace} place */
  toggle(place) {
    const { data } = this.stage;
    if (data.header.editable) this.stage.edit(offLine(place), "switch", data.stack(place.stack).heads);
  }

  /** @param {PointerEvent} event */
  hold(event) {
    this.isHeld = false;
    this.isTouch = event.pointerType === "touch";
    const switches = () => {
      this.isHeld = true;
      this.toggle(this.at(event).place);
    };
    if (this.isTouch) this.timer = window.setTimeout(switches, HOLD);
  }

  /** @param {KeyboardEvent} event */
  hear(event) {
    const cell = this.at(event);
    const by = MOVES[event.key];
    if (isSwitchedOff(event)) return;
    if (event.key === "Enter" || event.key === " ") this.press(cell, event);
    else if (event.altKey || event.ctrlKey || event.metaKey) return;
    else if (by) this.go(cell, by);
    else if (["o", "O", "Delete"].includes(event.key)) this.toggle(cell.place);
    else return;
    event.preventDefault();
  }

  /** To the next cell in a direction, be it of the stack beside.
     @param {Cell} cell @param {[down: number, along: number]} by */
  go(cell, [down, along]) {
    const from = middleOf(cell);
    const ahead = this.cells.filter((each) => {
      const { x, y } = middleOf(each);
      return (x - from.x) * along > 1 || (y - from.y) * down > 1;
    });
    nearestOf(ahead, from)?.node.focus();
  }

  /** The pointer or the focus is on a cell, or on none. @param {Cell | undefined} cell */
  enter(cell) {
    this.over = cell;
    this.reach();
    this.tell();
  }

  /* Tab reaches one cell, the focused one or else that of the shown head. */
  reach() {
    const one = this.cells.find(({ node }) => node.matches(":focus")) ?? this.shown;
    for (const cell of this.cells) cell.node.tabIndex = cell === one ? 0 : -1;
  }

  /* Writes of the cell under the pointer or the focus, or else of the shown head. */
  tell() {
    const { over, shown } = this;
    const { editable, off } = this.stage.data.header;
    const ways = this.isTouch
      ? ["hold: switch off", "hold: switch on"]
      : ["o or Alt+press: switch off", "o or Alt+press: switch on"];
    const name = (over ?? shown)?.node.getAttribute("aria-label") ?? "";
    const way = over && editable ? ` · ${t(ways[Number(isOff(off, over.place))])}` : "";
    const lines = [name, over ? t("press: show") + way : ""];
    this.tip.replaceChildren(...lines.map((line) => el("span", {}, [typed(line)])));
  }

  build() {
    const { stacks } = this.stage.data;
    const [width, height] = sizeOf(stacks, onPhone());
    this.board.style.cssText = `--wide:${width}px;--high:${height}px`;
    this.over = undefined;
    this.cells = stacks.flatMap(({ id, layers, heads }, stack) =>
      upTo(layers.length * heads).map((at) => {
        const place = { stack: id, ...headAt(stacks[stack], at) };
        const node = el("span", { role: "gridcell", "data-place": `${id} ${place.layer} ${place.head}` });
        return { place, stack, at, node };
      }),
    );
    const blocks = stacks.map(({ title, layers, heads }, stack) => {
      const nodes = this.cells.filter((cell) => cell.stack === stack).map(({ node }) => node);
      const rows = layers.map((_, row) =>
        el("div", { role: "row" }, nodes.slice(row * heads, (row + 1) * heads)),
      );
      const name = el("span", { class: "muted", text: title, "aria-hidden": "true" });
      return el("div", {}, [name, el("div", { role: "rowgroup", "aria-label": title }, rows)]);
    });
    this.board.replaceChildren(...blocks);
  }

  draw() {
    const { data, view, theme } = this.stage;
    const { stacks, header } = data;
    if (view.level === "read") return; // it is not seen
    const shapes = stacks.map(({ id, title, layers, heads }) => [id, title, layers, heads]);
    if (isNew(this.board, [shapes, onPhone()])) this.build();
    const before = this.shown;
    const [names, chooses] = [edited(header.edits), choosesHeads(view)];
    const measure = header.measures.find(({ name }) => name === view.sort)?.title;
    const values = stacks.map(({ stats }) => (measure && stats[view.sort]) || []);
    const all = values.flat().filter(Number.isFinite); // one scale for all stacks
    const levels = values.map((of) => levelsBetween(of, Math.min(0, ...all), Math.max(1e-12, ...all)));
    for (const cell of this.cells) {
      const { place, stack, at, node } = cell;
      const isHere = place.stack === view.stack && place.layer === view.layer;
      const isShown = isHere && place.head === view.head;
      const isChosen = chooses ? isHere && view.heads.includes(place.head) : isShown;
      const partners = partnersOf(stacks[stack], place.head);
      const value = values[stack][at];
      const does = value === undefined ? stacks[stack].labels[at] : `${measure} ${number(value)}`;
      const isOut = isOff(header.off, place);
      const done = (isOut && "switched off") || (names(place) && "edited") || "";
      const label = nameOf(place, [does, partners && `shares its keys and values: ${partners}`, done]);
      const level = levels[stack](at);
      const shade = level === null ? "" : cssColour(theme.sequential, level);
      const colour = chooses && isChosen ? theme.heads[place.head % theme.heads.length] : shade;
      if (isShown) this.shown = cell;
      if (!isNew(node, [isShown, isChosen, label, colour, done])) continue;
      node.setAttribute("aria-label", (stacks[1] ? `${stacks[stack].title}, ` : "") + label);
      node.setAttribute("aria-current", String(isShown));
      node.setAttribute("aria-selected", String(isChosen));
      node.className = isOut ? "off" : done;
      node.style.setProperty("--shade", colour || null);
    }
    if (this.shown && this.shown !== before) this.show(this.shown);
    this.tell();
  }

  /** Scrolls the picture, not the page, to the cell of the shown head. @param {Cell} cell */
  show({ node }) {
    this.reach();
    if (this.board.matches(":is(:hover, :focus-within)")) return;
    const { clientWidth, clientHeight } = this.board;
    this.board.scrollTo(node.offsetLeft - clientWidth / 2, node.offsetTop - clientHeight / 2);
  }
}
