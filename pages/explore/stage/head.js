/* View 2: one head as a heatmap, which Plotly draws. Hover, or move the marked cell with the arrow keys, to
   read its numbers; drag to look closer, double-click to see all again. */

import { move } from "../../shared/board/plot_move.js";
import { contextOf, el, shorten } from "../../shared/browser/dom.js";
import { colourLevels } from "../../shared/browser/images.js";
import { configOf, loadPlotly, styled } from "../../shared/browser/plotly.js";
import { CellWeight } from "./cell_weight.js";
import { matrixOf, shownOf } from "./data.js";
import { FURTHER, fitting, isSigned, numbersOf, wish } from "./further.js";
import { BELOW, describe, FONT, labelOf, longest, marks, named } from "./head_figure.js";
import { beside } from "./hiding.js";
import { Legend, legendEnds } from "./legend.js";
import { MiniMap } from "./minimap.js";
import { Plane } from "./plane.js";
import { readRows } from "./readout.js";
import { within } from "./view.js";

/** @typedef {import("./types").Side} Side */
/** @typedef {{query: number, key: number}} Place */

/** @type {Record<string, [number, number]>} from a key to rows and columns */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const LARGEST = 46; // pixels of a cell
const TITLE = 32; // the room of an axis's name
const TOOLS = 36; // the room on the right of the names that Plotly's buttons stand in
const RULER = contextOf(document.createElement("canvas"));

export class HeadView {
  size = { cell: 0, left: 0, top: 0, right: 0 }; // of a cell, and of what lies around them, in CSS pixels
  extent = 1; // the number of the strongest colour
  /** @type {import("./types").Exact | null} the head's numbers, once they are here */ exact = null;
  /** @type {import("./types").Area} */ area;
  /** @type {Place | null} what the pointer is on */ over = null;
  /** @type {any} Plotly, once it is here */ Plotly;
  /** @type {import("../../shared/browser/images.js").Level} */ level;
  /** @type {import("./types").Further | null} what the server computed of it */ found = null;
  /** @type {ArrayLike<number>} what is drawn */ numbers = [];
  shown = ""; // all of the figure that is drawn but its numbers

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {any} */
    this.figure = el("div", { role: "group", "aria-label": "Attention of one head", "aria-busy": "true" });
    const label = "Heatmap: the arrow keys move the marked cell";
    const walk = (/** @type {KeyboardEvent} */ event) => this.walk(event);
    const board = { class: "head-board", tabindex: "0", role: "group", "aria-label": label, onkeydown: walk };
    this.board = el("div", board, [this.figure]);
    this.readout = el("div", { class: "readout", "aria-live": "polite" });
    this.legend = new Legend();
    this.map = new MiniMap(stage);
    this.weight = new CellWeight(stage);
    this.weight.listen(this.board, () => this.over && { place: this.over, weight: this.weightAt(this.over) });
    this.plane = new Plane(stage, () => this.draw());
    this.told = el("p", { class: "muted", "aria-live": "polite" });
    this.side = el("div", { class: "side" }, [
      this.readout,
      this.weight.root,
      ...this.legend.parts,
      this.plane.choice.root,
      this.told,
      this.plane.shares,
      ...this.map.parts,
    ]);
    this.root = el("div", { class: "view head-view" }, [this.board, this.plane.points, this.side]);
  }

  draw() {
    const { stage } = this;
    this.over = null;
    this.exact = stage.exactHead();
    const { stack } = stage;
    this.area = this.exact
      ? { q0: this.exact.q0, k0: this.exact.k0, nq: this.exact.nq, nk: this.exact.nk }
      : { q0: 0, k0: 0, nq: stack.thumbQuery, nk: stack.thumbKey };
    if (this.drawPlane()) return;
    this.fit();
    this.level = this.levels();
    this.paint();
    this.legend.draw(this.table(), legendEnds(stage.view.range, this.signed(), this.extent));
    this.map.draw(this.exact);
    this.tell();
  }

  /* Queries and keys as points, where these are chosen: there is no heat map then. */
  drawPlane() {
    const { stage, plane, area } = this;
    const shown = stage.view.show === "plane";
    for (const part of [plane.points, plane.choice.root, plane.shares])
      part.classList.toggle("absent", !shown);
    for (const part of [this.board, this.readout, ...this.legend.parts])
      part.classList.toggle("absent", shown);
    if (!shown) return false;
    this.found = fitting(stage.data.header.further, wish(stage.view));
    plane.draw(this.found, area);
    this.map.draw(this.exact);
    this.tell();
    return true;
  }

  /* What a quantity is that the server computed, or why it could not. */
  tell() {
    const { show } = this.stage.view;
    const told = FURTHER[show];
    const what = told && (this.found?.problem ?? (this.found ? `${told.title}.` : "Computing…"));
    this.told.textContent = what ?? "";
    this.told.classList.toggle("absent", !told);
  }

  fit() {
    const { stage, area } = this;
    RULER.font = `${FONT}px ${stage.theme.font}`;
    /** @param {Side} side @param {number} from @param {number} count */
    const widest = (side, from, count) =>
      Math.max(30, ...this.names(side, from, count).map((name) => RULER.measureText(name).width));
    const { stack } = stage;
    const left = TITLE + widest(stack.querySide, area.q0, area.nq);
    const top = TITLE + widest(stack.keySide, area.k0, area.nk) * 0.87 + 8; // the names rise by 60 degrees
    const right = TOOLS + widest(stack.keySide, area.k0 + area.nk - 1, 1) * 0.25;
    const side = this.side.offsetWidth;
    const isBelow = side >= this.root.clientWidth; // on a narrow screen, as high as it needs to be
    const width = this.root.clientWidth - (isBelow ? 0 : side + 24) - left - right;
    const height = isBelow ? Infinity : this.root.clientHeight - top - BELOW;
    const cell = Math.max(2, Math.min(width / area.nk, height / area.nq, LARGEST));
    this.size = { cell, left, top, right };
  }

  /** What is written beside the cells; nothing where they are no tokens. @param {Side} side */
  names(side, from = 0, count = 0) {
    const { data, stack } = this.stage;
    const tokens = this.exact || data.thumbIsWhole(stack) ? data.tokens(side) : [];
    return tokens.slice(from, from + count).map((token) => shorten(token.text));
  }

  /** @returns {[keys: string[], queries: string[]]} */
  sideNames() {
    const { area } = this;
    const { keySide, querySide } = this.stage.stack;
    return [this.names(keySide, area.k0, area.nk), this.names(querySide, area.q0, area.nq)];
  }

  values() {
    const { stage, exact } = this;
    const { show } = stage.view;
    this.found = fitting(stage.data.header.further, wish(stage.view));
    if (exact) {
      const known = show in FURTHER ? null : matrixOf(exact, /** @type {"pattern"} */ (show));
      return shownOf(exact, known ?? numbersOf(this.found, exact));
    }
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
    // lengths have no upper bound: the longest has the strongest colour
    const unit = stage.view.show === "length" ? longest(values) : 1;
    const scale = colourLevels(
      values.map((value) => value / unit),
      area.nk,
      stage.view.range,
      this.signed(),
    );
    this.extent = unit * scale.extent;
    this.numbers = values;
    // decoder rows after the chosen step have not happened yet
    const hidden = stage.lastRow() - area.q0;
    return (at) => (Math.floor(at / area.nk) > hidden ? null : scale.level(at));
  }

  signed() {
    const { data, view } = this.stage;
    return data.signed || (this.exact !== null && isSigned(view.show));
  }

  table() {
    const { theme } = this.stage;
    return this.signed() ? theme.diverging : theme.sequential;
  }

  paint() {
    if (!this.Plotly) this.load();
    else this.put();
    this.mark();
  }

  async load() {
    this.Plotly = await loadPlotly();
    if (!this.root.isConnected) return;
    this.paint();
  }

  /* Another head of the same text needs other numbers only. */
  put() {
    const { stage, figure, area, level } = this;
    const row = (/** @type {number} */ i) =>
      Float32Array.from({ length: area.nk }, (_, j) => level(i * area.nk + j) ?? Number.NaN);
    const z = Array.from({ length: area.nq }, (_, i) => row(i));
    const [trace, layout] = this.described();
    const shown = JSON.stringify([trace, layout]);
    const same = shown === this.shown;
    this.shown = shown;
    this.label();
    if (same) return move(figure, [[0, { z }]]);
    const first = !figure.on;
    this.Plotly.react(figure, [{ ...trace, z }], layout, configOf(stage.headName()));
    if (first) this.listen();
  }

  described() {
    const { stage, area } = this;
    const { theme, data } = stage;
    const [keys, queries] = this.sideNames();
    return describe(data.header.chart, { ...this.size, theme, area, keys, queries, signed: this.signed() });
  }

  label() {
    const { stage, area } = this;
    this.figure.setAttribute("aria-label", labelOf(stage.view, stage.headName(), area));
    this.figure.setAttribute("aria-busy", "false");
  }

  listen() {
    const { figure } = this;
    styled(figure.getRootNode());
    figure.on("plotly_hover", (/** @type {any} */ { points }) => this.hover(this.placeOf(points[0])));
    figure.on("plotly_unhover", () => this.hover(null));
    figure.on("plotly_click", (/** @type {any} */ { points }) => this.choose(this.placeOf(points[0])));
    figure.on("plotly_relayout", (/** @type {object} */ changed) => {
      if (Object.keys(changed).some((name) => name.includes("range"))) this.nameMore();
    });
  }

  /* Larger cells, as after a drag, leave room for more names. */
  nameMore() {
    const { figure, size } = this;
    this.Plotly.relayout(figure, named(figure.layout, size.cell, ...this.sideNames()));
  }

  /** @param {{pointNumber: [number, number]}} point @returns {Place} */
  placeOf({ pointNumber: [i, j] }) {
    return { query: i + this.area.q0, key: j + this.area.k0 };
  }

  /** @param {Place | null} place */
  hover(place) {
    this.over = place;
    this.mark();
    this.stage.drawNotice();
    if (place) this.stage.painted("hover");
  }

  /** @param {Place} place */
  choose(place) {
    this.board.focus({ preventScroll: true }); // the arrow keys go on from here
    if (this.exact || this.stage.data.thumbIsWhole(this.stage.stack)) this.stage.set(place);
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const move = MOVES[event.key];
    if (!move) return this.weight.key(event);
    event.preventDefault();
    const { view, stack } = this.stage;
    const { q0, k0, nq, nk } = this.exact ?? { q0: 0, k0: 0, nq: stack.nQuery, nk: stack.nKey };
    const query = q0 + within(view.query + move[0] - q0, Math.min(nq, this.stage.lastRow() + 1 - q0));
    const key = k0 + within(view.key + move[1] - k0, nk);
    const gone = [this.stage.data.gone(stack.querySide), this.stage.data.gone(stack.keySide)];
    this.stage.set({
      query: beside(query, stack.nQuery, gone[0], move[0] || 1),
      key: beside(key, stack.nKey, gone[1], move[1] || 1),
    });
  }

  mark() {
    const { view } = this.stage;
    const at = this.over || { query: view.query, key: view.key };
    if (this.figure.on) this.Plotly.relayout(this.figure, { shapes: marks(at, this.area, this.stage.theme) });
    this.read(at);
  }

  /** The weight of a cell of the window; 0 outside. @param {Place} at */
  weightAt({ query, key }) {
    const { q0, k0, nk } = this.area;
    return this.exact?.pattern[(query - q0) * nk + key - k0] ?? 0;
  }

  /** @param {Place} at */
  read(at) {
    this.readout.replaceChildren(...readRows(this, at));
    this.weight.draw(at, this.weightAt(at));
    this.stage.glossary.explainIn(this.readout);
  }
}
