/* View 2: one head as a heatmap. Hover, or move the marked cell with the arrow keys, to read its numbers. */

import { contextOf, el, fitCanvas, shorten } from "../../shared/browser/dom.js";
import { colourLevels, imageOf } from "../../shared/browser/images.js";
import { number } from "../../shared/browser/numbers.js";
import { matrixOf } from "./data.js";
import { Legend, legendEnds } from "./legend.js";
import { MiniMap } from "./minimap.js";
import { within } from "./view.js";

/** @typedef {import("./types").Side} Side */
/** @typedef {{query: number, key: number}} Place */

/** @type {Record<string, [number, number]>} from a key to rows and columns */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class HeadView {
  /* Where the cells lie on the canvas, in CSS pixels. */
  cell = 0;
  left = 0;
  top = 0;
  right = 0;
  extent = 1; // the number of the strongest colour
  /** @type {import("./types").Exact | null} the head's numbers, once they are here */ exact = null;
  /** @type {import("./types").Area} */ area;
  /** @type {Place | null} what the pointer is on */ over = null;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", { role: "img", "aria-label": "Attention of one head" });
    this.marks = el("canvas", { class: "marks", "aria-hidden": "true" });
    this.board = el(
      "div",
      {
        class: "head-board",
        tabindex: "0",
        role: "group",
        "aria-label": "Heatmap: the arrow keys move the marked cell",
        onpointermove: (/** @type {PointerEvent} */ event) => this.hover(event),
        onpointerleave: () => this.leave(),
        onclick: (/** @type {MouseEvent} */ event) => this.choose(event),
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.walk(event),
      },
      [this.canvas, this.marks],
    );
    this.readout = el("div", { class: "readout", "aria-live": "polite" });
    this.legend = new Legend();
    this.map = new MiniMap(stage);
    this.side = el("div", { class: "side" }, [this.readout, ...this.legend.parts, ...this.map.parts]);
    this.root = el("div", { class: "view head-view" }, [this.board, this.side]);
  }

  draw() {
    const { stage } = this;
    this.over = null;
    this.exact = stage.exactHead();
    const { stack } = stage;
    this.area = this.exact
      ? { q0: this.exact.q0, k0: this.exact.k0, nq: this.exact.nq, nk: this.exact.nk }
      : { q0: 0, k0: 0, nq: stack.thumbQuery, nk: stack.thumbKey };
    this.fit();
    this.paint();
    this.mark();
    this.legend.draw(this.table(), legendEnds(stage.view.range, this.signed(), this.extent));
    this.map.draw(this.exact);
  }

  fit() {
    const { stage, area } = this;
    const measure = contextOf(this.canvas);
    measure.font = this.font();
    /** @param {Side} side @param {number} from @param {number} count */
    const widest = (side, from, count) =>
      Math.max(
        30,
        ...stage.data
          .tokens(side)
          .slice(from, from + count)
          .map((t) => measure.measureText(shorten(t.text)).width),
      );
    const { stack } = stage;
    this.left = 26 + widest(stack.querySide, area.q0, area.nq);
    this.top = 26 + widest(stack.keySide, area.k0, area.nk) * 0.87 + 8;
    const overhang = widest(stack.keySide, area.k0 + area.nk - 1, 1) * 0.5;
    const side = this.side.offsetWidth;
    const beside = side < this.root.clientWidth ? side + 24 : 0; // on a narrow screen the side lies below
    const width = this.root.clientWidth - beside - this.left - overhang;
    const height = this.root.clientHeight - this.top - 6;
    this.cell = Math.max(2, Math.min(width / area.nk, height / area.nq, 46));
    this.right = overhang;
  }

  font() {
    return `13px ${this.stage.theme.font}`;
  }

  values() {
    const { stage, exact } = this;
    if (exact) return matrixOf(exact, stage.view.show);
    const thumb = stage.data.thumb(stage.stack, stage.view.layer, stage.view.head);
    return Float32Array.from(thumb, (level) => level / 255);
  }

  /**
   * From a cell's index to its colour level 0..255, or to null where it is masked or has not happened yet.
   * @returns {import("../../shared/browser/images.js").Level}
   */
  levels() {
    const { stage, area } = this;
    const values = this.values();
    const scale = colourLevels(values, area.nk, stage.view.range, this.signed());
    this.extent = scale.extent;
    // decoder rows after the chosen step have not happened yet
    const hidden = stage.lastRow() - area.q0;
    return (at) => (Math.floor(at / area.nk) > hidden ? null : scale.level(at));
  }

  signed() {
    return this.exact !== null && this.stage.view.show !== "pattern";
  }

  table() {
    const { theme } = this.stage;
    return this.signed() ? theme.diverging : theme.sequential;
  }

  paint() {
    const { stage, area, cell, left, top } = this;
    const width = left + area.nk * cell + this.right;
    const context = fitCanvas(this.canvas, width, top + area.nq * cell + 4);
    fitCanvas(this.marks, width, top + area.nq * cell + 4);
    context.imageSmoothingEnabled = false;
    const image = imageOf(area.nk, area.nq, this.levels(), this.table());
    context.drawImage(image, left, top, area.nk * cell, area.nq * cell);
    context.strokeStyle = stage.theme.grid;
    context.strokeRect(left - 0.5, top - 0.5, area.nk * cell + 1, area.nq * cell + 1);
    this.labels(context);
    const show = { pattern: "attention weights", scores: "scores", dots: "dot products" }[stage.view.show];
    this.canvas.setAttribute(
      "aria-label",
      `${show} of ${stage.headName()}: ${area.nq} queries by ${area.nk} keys`,
    );
  }

  /** @param {CanvasRenderingContext2D} context */
  labels(context) {
    const { stage, area, cell, left, top } = this;
    const { stack, theme } = stage;
    const every = Math.max(1, Math.ceil(15 / cell));
    const whole = this.exact || stage.data.thumbIsWhole(stack);
    context.font = this.font();
    context.textBaseline = "middle";
    /** @param {Side} side @param {number} at */
    const text = (side, at) => (whole ? shorten(stage.data.tokens(side)[at].text) : "");
    context.textAlign = "right";
    context.fillStyle = theme.query;
    for (let i = 0; i < area.nq; i += every)
      context.fillText(text(stack.querySide, area.q0 + i), left - 6, top + (i + 0.5) * cell);
    context.textAlign = "left";
    context.fillStyle = theme.key;
    for (let j = 0; j < area.nk; j += every) {
      context.save();
      context.translate(left + (j + 0.5) * cell, top - 6);
      context.rotate(-Math.PI / 3);
      context.fillText(text(stack.keySide, area.k0 + j), 0, 0);
      context.restore();
    }
    context.font = `600 12px ${theme.font}`;
    context.fillText("key →", left, 10);
    context.fillStyle = theme.query;
    context.save();
    context.translate(10, top);
    context.rotate(-Math.PI / 2);
    context.textAlign = "right";
    context.fillText("← query", 0, 0);
    context.restore();
  }

  /** @param {MouseEvent} event */
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const j = Math.floor((event.clientX - box.left - this.left) / this.cell);
    const i = Math.floor((event.clientY - box.top - this.top) / this.cell);
    const inside = i >= 0 && j >= 0 && i < this.area.nq && j < this.area.nk;
    return inside ? { query: i + this.area.q0, key: j + this.area.k0 } : null;
  }

  /** @param {MouseEvent} event */
  hover(event) {
    this.over = this.cellAt(event);
    this.mark();
    this.stage.painted("hover");
  }

  leave() {
    this.over = null;
    this.mark();
  }

  /** @param {MouseEvent} event */
  choose(event) {
    const cell = this.cellAt(event);
    if (cell && (this.exact || this.stage.data.thumbIsWhole(this.stage.stack))) this.stage.set(cell);
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const move = MOVES[event.key];
    if (!move) return;
    event.preventDefault();
    const { view, stack } = this.stage;
    this.stage.set({
      query: within(view.query + move[0], stack.nQuery),
      key: within(view.key + move[1], stack.nKey),
    });
  }

  mark() {
    const { area, cell, left, top, stage } = this;
    const { theme, view } = stage;
    const at = this.over || { query: view.query, key: view.key };
    const context = fitCanvas(
      this.marks,
      parseFloat(this.canvas.style.width),
      parseFloat(this.canvas.style.height),
    );
    const i = at.query - area.q0;
    const j = at.key - area.k0;
    if (i >= 0 && j >= 0 && i < area.nq && j < area.nk) {
      context.fillStyle = theme.query;
      context.fillRect(left - 4, top + i * cell, 3, cell);
      context.fillStyle = theme.key;
      context.fillRect(left + j * cell, top - 4, cell, 3);
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(left + j * cell, top + i * cell, cell, cell);
    }
    this.read(at);
  }

  /** @param {Place} at */
  read({ query, key }) {
    const { stage, exact } = this;
    const { stack, theme } = stage;
    /** @param {Side} side @param {number} at */
    const name = (side, at) => stage.data.tokens(side)[at]?.text ?? "";
    /** @type {[term: string, value: string, colour?: string][]} */
    const rows = [];
    const i = exact ? query - exact.q0 : -1;
    const j = exact ? key - exact.k0 : -1;
    if (exact && i >= 0 && j >= 0 && i < exact.nq && j < exact.nk) {
      const at = i * exact.nk + j;
      const score = exact.scores[at];
      rows.push(
        ["query", `${name(stack.querySide, query)} (${query})`, theme.query],
        ["key", `${name(stack.keySide, key)} (${key})`, theme.key],
        ["dot product", number(matrixOf(exact, "dots")[at], 3)],
        .../** @type {[string, string][]} */ (exact.bias ? [["bias", number(exact.bias[at], 3)]] : []),
        ["score", score === -Infinity ? "−∞ (masked)" : number(score, 3)],
        ["weight", number(exact.pattern[at], 3)],
      );
    } else if (exact) {
      rows.push(["", "The chosen cell lies outside this window."]);
    } else {
      rows.push(["", "Reading this head's numbers…"]);
    }
    this.readout.replaceChildren(
      ...rows.map(([term, value, colour]) =>
        el("div", {}, [
          el("span", { class: "term", text: term }),
          el("span", { class: "value", text: value, style: colour ? `color:${colour}` : null }),
        ]),
      ),
    );
  }
}
