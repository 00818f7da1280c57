/* Weights set by hand: the marked cell's by a slider, by + and −, or by dragging the cell up and down
   with Shift held; a row's by painting a bar a key, at one key, or alike everywhere. They write the
   line that a person would. */

import { button, el, reveal, shorten } from "../browser/dom.js";
import { number } from "../browser/numbers.js";
import { page } from "../browser/page.js";
import { t } from "../browser/words.js";
import { bounded, rowOf, setLine } from "./edits.js";
import { within } from "./view.js";

/** @typedef {{at: number, weight: number}} Spot */
/** @typedef {{query: number, key: number}} Place */

const PRESS = 0.05;

/** What a stroke from one bar to another paints: those between get the weights between.
   @param {Spot | null} from @param {Spot} to @returns {Spot[]} */
export function stroke(from, to) {
  if (!from || from.at === to.at) return [to];
  const steps = Math.abs(to.at - from.at);
  return Array.from({ length: steps }, (_, step) => {
    const share = (step + 1) / steps;
    return {
      at: from.at + Math.sign(to.at - from.at) * (step + 1),
      weight: from.weight + share * (to.weight - from.weight),
    };
  });
}

export class RowPaint {
  /** @type {Map<number, number>} key to weight, painted and not yet sent */ draft = new Map();
  /** @type {HTMLElement[]} */ bars = [];
  /** @type {Spot | null} where the pointer was */ last = null;
  row = { weights: /** @type {number[]} */ ([]), closed: /** @type {boolean[]} */ ([]), k0: 0 };
  signature = "";

  /** @param {import("./types").Stage} stage @param {() => boolean} shares */
  constructor(stage, shares) {
    this.stage = stage;
    this.shares = shares;
    this.strip = el("div", { class: "row-strip", role: "group", "aria-label": "Weights of the row" });
    this.note = el("span", { class: "row-note" });
    const only = () => stage.edit(`${this.place}: only ${stage.view.key}`, "put");
    const alike = () => stage.edit(`${this.place}: uniform`, "put");
    const undo = () => stage.edit(`${this.place}: uniform`, "undo");
    this.undo = button({ text: t("undo"), title: "The row as it was computed", onclick: undo });
    const buttons = el("div", { class: "choice row-buttons" }, [
      button({ text: "only this key", title: "The whole row looks at the marked key", onclick: only }),
      button({ text: t("alike"), title: "All keys get the same weight", onclick: alike }),
      this.undo,
    ]);
    this.root = el("div", { class: "row-paint" }, [this.note, this.strip, buttons]);
    this.listen();
  }

  get place() {
    return rowOf(this.stage.view);
  }

  draw() {
    const { stage } = this;
    const { view, data } = stage;
    const exact = stage.exactHead();
    const i = exact ? view.query - exact.q0 : -1;
    const open = exact && i >= 0 && i < exact.nq;
    reveal(this.root, open);
    if (!exact || !open) return;
    const { nk, k0, scores, softmax } = exact;
    const signature = JSON.stringify([stage.generation, this.place, k0, view.key]);
    if (signature === this.signature) return;
    this.signature = signature;
    this.draft.clear();
    const [from, to] = [i * nk, (i + 1) * nk];
    const closed = Array.from(scores?.subarray(from, to) ?? Array(nk), (score) => score === -Infinity);
    this.row = { k0, weights: Array.from(softmax.subarray(from, to)), closed };
    this.undo.disabled = !data.header.edits.some((line) => line.startsWith(`${this.place}:`));
    this.fill(nk);
    this.tell(null);
  }

  /** @param {number} count */
  fill(count) {
    if (this.bars.length !== count) {
      this.bars = Array.from({ length: count }, (_, j) =>
        el("span", {
          role: "slider",
          tabindex: j ? "-1" : "0",
          "aria-valuemin": "0",
          "aria-valuemax": "1",
          "aria-orientation": "vertical",
          onfocus: () => this.tell(j),
        }),
      );
      this.strip.replaceChildren(...this.bars);
    }
    this.bars.forEach((_, j) => this.show(j));
  }

  /** @param {number} j */
  show(j) {
    const { k0, weights, closed } = this.row;
    const [bar, weight] = [this.bars[j], this.draft.get(k0 + j) ?? weights[j]];
    bar.style.setProperty("--weight", `${100 * bounded(weight)}%`);
    bar.setAttribute("aria-valuenow", weight.toFixed(3));
    bar.setAttribute("aria-label", t(`Weight of “${this.name(j)}”`));
    bar.setAttribute("aria-disabled", String(closed[j]));
    bar.classList.toggle("painted", this.draft.has(k0 + j));
    bar.classList.toggle("marked", k0 + j === this.stage.view.key);
  }

  /** @param {number} j */
  name(j) {
    const { data, stack } = this.stage;
    return shorten(data.names(stack, "key")[this.row.k0 + j]?.text ?? "", 14);
  }

  /** @param {number | null} j of the bar that is spoken of, if one is */
  tell(j) {
    const { data, stack, view } = this.stage;
    const query = shorten(data.names(stack, "query")[view.query]?.text ?? "", 14);
    if (j === null) this.note.textContent = t(`paint the row of “${query}”: drag over it`);
    else {
      const weight = this.draft.get(this.row.k0 + j) ?? this.row.weights[j];
      this.note.textContent = t(`“${query}” → “${this.name(j)}” ${number(weight, 3)}`);
    }
  }

  /** @param {Spot} spot of a bar, counted from the first that is shown */
  paint({ at, weight }) {
    if (this.row.closed[at]) return;
    this.draft.set(this.row.k0 + at, bounded(weight));
    this.show(at);
    this.tell(at);
  }

  send() {
    this.last = null;
    if (!this.draft.size) return;
    this.signature = ""; // what is refused is not shown any longer
    this.stage.edit(setLine(this.stage.view, this.draft), this.shares() ? "join renormalised" : "join");
  }

  listen() {
    const { strip } = this;
    /** @param {PointerEvent} event @returns {Spot} */
    const spot = ({ clientX, clientY }) => {
      const { left, top, width, height } = strip.getBoundingClientRect();
      const at = Math.floor(((clientX - left) / width) * this.bars.length);
      return { at: within(at, this.bars.length), weight: bounded(1 - (clientY - top) / height) };
    };
    const move = (/** @type {PointerEvent} */ event) => {
      const here = spot(event);
      if (!strip.hasPointerCapture(event.pointerId)) return this.tell(here.at);
      for (const each of stroke(this.last, here)) this.paint(each);
      this.last = here;
    };
    strip.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      event.preventDefault();
      strip.setPointerCapture(event.pointerId);
      this.bars[spot(event).at].focus({ preventScroll: true });
      move(event);
    });
    strip.addEventListener("pointermove", move);
    strip.addEventListener("pointerup", () => this.send());
    strip.addEventListener("pointercancel", () => this.send());
    strip.addEventListener("pointerleave", () => this.last || this.tell(null));
    strip.addEventListener("keydown", (event) => this.key(event));
    strip.addEventListener("keyup", (event) => event.key.startsWith("Arrow") && this.send());
    strip.addEventListener("focusout", () => this.send());
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = this.bars.indexOf(/** @type {HTMLElement} */ (event.target));
    const by = { ArrowUp: PRESS, ArrowDown: -STEP }[event.key];
    const aside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (at < 0 || !(by || aside)) return;
    event.preventDefault();
    event.stopPropagation();
    const weight = this.draft.get(this.row.k0 + at) ?? this.row.weights[at];
    if (by) return this.paint({ at, weight: weight + by });
    const next = this.bars[(at + (aside ?? 0) + this.bars.length) % this.bars.length];
    for (const bar of this.bars) bar.tabIndex = bar === next ? 0 : -1;
    next.focus();
  }
}

const STEP = 0.1;
const REACH = 160; // pixels of a drag from 0 to 1

export class CellWeight {
  /** @type {Place} */ place = { query: 0, key: 0 };

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    const label = "Set the weight of the marked cell";
    const listeners = { oninput: () => this.tell(), onchange: () => this.put(+this.slider.value) };
    const range = { type: "range", min: 0, max: 1, step: 0.01, "aria-label": label };
    this.slider = el("input", { ...range, ...listeners });
    this.value = el("output", {});
    this.shares = el("input", { type: "checkbox", checked: true });
    this.row = new RowPaint(stage, () => this.shares.checked);
    const title = "The other keys share the rest as before";
    this.root = el("div", { class: "cell-weight" }, [
      el("span", { class: "choice-label", text: "set its weight", "aria-hidden": "true" }),
      el("div", { class: "set" }, [this.slider, this.value]),
      el("label", { title }, [this.shares, " the rest of the row shares what is left"]),
      this.row.root,
    ]);
  }

  /** Whether a weight can be set here. */
  get isOpen() {
    const { data, view, exactHead } = this.stage;
    return (
      page.computes && data.header.editable && view.when === "after" && Boolean(exactHead.call(this.stage))
    );
  }

  /** @param {Place} place @param {number | undefined} weight of it now */
  draw(place, weight) {
    this.root.classList.toggle("absent", !this.isOpen || this.stage.view.show !== "pattern");
    this.row.draw();
    this.place = place;
    this.slider.value = String(weight ?? 0);
    this.tell(weight);
  }

  tell(weight = +this.slider.value) {
    this.value.textContent = number(weight, 3);
  }

  /** @param {number} weight */
  put(weight) {
    const { query, key } = this.place;
    const line = setLine({ ...this.stage.view, query }, [[key, bounded(weight)]]);
    this.stage.edit(line, this.shares.checked ? "join renormalised" : "join");
  }

  /** + and − change the marked cell. @param {KeyboardEvent} event */
  key(event) {
    const by = { "+": STEP, "-": -STEP }[event.key];
    if (!by || !this.isOpen) return;
    event.preventDefault();
    this.put(+this.slider.value + by);
  }

  /** A drag up or down with Shift held, on the cell that the pointer is on.
     @param {HTMLElement} board @param {() => {place: Place, weight: number} | null} over */
  listen(board, over) {
    const begin = (/** @type {PointerEvent} */ event) => {
      const cell = event.shiftKey && this.isOpen ? over() : null;
      if (!cell) return;
      event.preventDefault();
      event.stopPropagation();
      board.setPointerCapture(event.pointerId);
      const weight = (/** @type {PointerEvent} */ moved) =>
        bounded(cell.weight + (event.clientY - moved.clientY) / REACH);
      const move = (/** @type {PointerEvent} */ moved) => this.draw(cell.place, weight(moved));
      const end = (/** @type {PointerEvent} */ moved) => {
        board.removeEventListener("pointermove", move);
        this.place = cell.place;
        if (Math.abs(moved.clientY - event.clientY) > 2) this.put(weight(moved));
      };
      board.addEventListener("pointermove", move);
      board.addEventListener("pointerup", end, { once: true });
    };
    board.addEventListener("pointerdown", begin, { capture: true });
    // Plotly listens to the mouse
    const hold = (/** @type {MouseEvent} */ event) =>
      event.shiftKey && this.isOpen && event.stopPropagation();
    board.addEventListener("mousedown", hold, { capture: true });
  }
}
