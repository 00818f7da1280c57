/* View 2: one head as a heatmap, which Plotly draws. Hover, or move the marked cell with the arrow
   keys, to read its numbers; drag to look closer, double-click to see all again. */

import { filled } from "../board/plot_layout.js";
import { move } from "../board/plot_move.js";
import { asTyped, el, fitCanvas, reveal, shorten, textWidth } from "../browser/dom.js";
import { colourLevels, imageOfBytes } from "../browser/images.js";
import { number } from "../browser/numbers.js";
import { buttonsOf, configOf, loadPlotly, styled } from "../browser/plotly.js";
import { t } from "../browser/words.js";
import { beside, matrixOf, partnersOf, shownOf } from "./data.js";
import { Plane } from "./planes.js";
import { fitting, isFurther, isSigned, numbersOf, requestOf } from "./quantities.js";
import { Legend, legendEnds, readoutOf } from "./side.js";
import { MOVES, optionOf, upTo, within } from "./view.js";
import { CellWeight } from "./weights_by_hand.js";

/** @import { Exact, Area, Theme } from "./types" */
/** @import { Reading as Row } from "./side.js" */
/** @typedef {{query: number, key: number}} Place */

const SIDE = 190;

/** Where a window of `size` begins whose middle is at `at`, within `count`.
   @param {number} at @param {number} count @param {number} size */
export function windowAround(at, count, size) {
  return Math.max(0, Math.min(count - size, at - Math.floor(size / 2)));
}

export class MiniMap {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", {
      class: "minimap",
      role: "img",
      "aria-label": "The whole matrix; click to move the window",
      onclick: (/** @type {MouseEvent} */ event) => this.jump(event),
    });
    this.note = el("p", { class: "muted" });
    this.parts = [this.canvas, this.note];
  }

  /** @param {import("./types").Exact | null} exact the numbers that were sent */
  draw(exact) {
    const { stack, theme, passes, view } = this.stage;
    const windowed = exact && (exact.nq < stack.nQuery || exact.nk < stack.nKey);
    this.canvas.hidden = this.note.hidden = !windowed;
    if (!windowed) return;
    const { q0, k0, nq, nk } = exact;
    this.size = { nq, nk };
    const context = fitCanvas(this.canvas, SIDE, SIDE);
    const thumb = passes.after.thumb(stack, view.layer, view.head);
    const image = imageOfBytes(stack.thumbKey, stack.thumbQuery, thumb, theme.sequential);
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, SIDE, SIDE);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    const [across, down] = [SIDE / stack.nKey, SIDE / stack.nQuery];
    context.strokeRect(across * k0, down * q0, across * nk, down * nq);
    const part = `Queries ${q0}–${q0 + nq - 1} and keys ${k0}–${k0 + nk - 1} of ${stack.nQuery}`;
    this.note.textContent = t(`${part}. Click in the matrix to move there.`);
  }

  /** @param {MouseEvent} event */
  jump(event) {
    if (!this.size) return;
    const { stack } = this.stage;
    const box = this.canvas.getBoundingClientRect();
    const query = Math.floor(((event.clientY - box.top) / box.height) * stack.nQuery);
    const key = Math.floor(((event.clientX - box.left) / box.width) * stack.nKey);
    const q0 = windowAround(query, stack.nQuery, this.size.nq);
    const k0 = windowAround(key, stack.nKey, this.size.nk);
    this.stage.set({ q0, k0, query, key });
  }
}

/** What is read of a cell: its tokens, then its weight with what that was computed from, or its change.
   @param {HeadView} head @param {{query: number, key: number}} place @returns {Row[]} */
function rowsOf({ stage, exact, answer, numbers }, { query, key }) {
  if (!exact) return [["", "Reading this head's numbers…"]];
  const { stack, theme, data, view, passes } = stage;
  const { pattern, softmax, blank, left, hidden, q0, k0, nq, nk } = exact;
  const [i, j] = [query - q0, key - k0];
  if (i < 0 || j < 0 || i >= nq || j >= nk) return [["", "The chosen cell lies outside this window."]];
  const at = i * nk + j;
  if (blank?.[at]) return [["", "Special tokens are hidden."]];
  /** @param {"query" | "key"} role @param {number} at */
  const name = (role, at) => data.names(stack, role)[at]?.text ?? "";
  /** @type {Row[]} */
  const rows = [
    ["query", `${name("query", query)} (${query})`, theme.query],
    ["key", `${name("key", key)} (${key})`, theme.key],
  ];
  const weight = number(pattern[at], 3);
  if (data.signed) {
    const [before, after] = [passes.before, passes.after].map((pass) =>
      number(pass?.exact(view.stack, view.layer, view.head)?.pattern[at] ?? Number.NaN, 3),
    );
    rows.push(["before", before], ["after", after], ["change", weight]);
    return rows;
  }
  const partners = partnersOf(stack, view.head);
  if (partners) rows.push(["same k, v", partners]);
  if (stack.whole) {
    const score = exact.scores[at];
    rows.push(["dot product", number(matrixOf(exact, "dots")[at], 3)]);
    if (exact.bias) rows.push(["bias", number(exact.bias[at], 3)]);
    rows.push(["score", score === -Infinity ? "−∞ (masked)" : number(score, 3)]);
  }
  if (blank && left && hidden) {
    const divided = `${number(softmax[at], 3)} / ${number(left[i], 3)} = ${weight}`;
    rows.push(["weight", pattern[at] === softmax[at] ? weight : divided]);
    rows.push(["on hidden", `${number(hidden[i], 3)} of the row`]);
  } else rows.push(["weight", weight]);
  if (isFurther(view.show)) {
    const missing = answer?.problem ? "none" : "…";
    rows.push([optionOf("show", view.show).text, answer?.values ? number(numbers[at], 3) : missing]);
  }
  return rows;
}

/** @typedef {object} Room
   @property {number} cell pixels of a cell
   @property {number} left pixels around the cells
   @property {number} top
   @property {number} right
   @property {Theme & {template?: any}} theme
   @property {Area} area
   @property {string[]} keys names of the columns, or none
   @property {string[]} queries names of the rows, or none
   @property {boolean} signed */

export const FONT = 13;
export const BELOW = 6; // pixels below the cells
const LINE = 15; // pixels from one token to the next
const CLEAR = "rgba(0, 0, 0, 0)";

/** The trace without its numbers, which are levels 0..255, and the layout.
   @param {any} chart @param {Room} room */
export function describe(chart, { cell, left, top, right, theme, area, keys, queries, signed }) {
  const { traces, x, y } = filled(chart, 0, theme);
  const frame = { showline: true, mirror: true, linecolor: theme.grid };
  /** @param {object} axis @param {string} color @param {string[]} names @param {[number, number]} range */
  const axis = (axis, color, names, range) => {
    const own = { names: null, ...ticks(names, cell), tickfont: { size: FONT, color } };
    return { ...axis, ...own, range, zeroline: false, ...frame };
  };
  const colorscale = theme.template.layout.colorscale[signed ? "diverging" : "sequential"];
  const numbers = { z: null, zmin: 0, zmax: 255, hovertemplate: null, hoverinfo: "none" };
  const layout = {
    template: theme.template,
    width: left + cell * area.nk + right,
    height: top + cell * area.nq + BELOW,
    margin: { l: left, r: right, t: top, b: BELOW, pad: 0, autoexpand: false },
    font: { family: theme.font, size: FONT },
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    modebar: { orientation: "v", ...buttonsOf(theme) },
    hoverdistance: -1,
    xaxis: { ...axis(x, theme.key, keys, [-0.5, area.nk - 0.5]), tickangle: -60 },
    yaxis: axis(y, theme.query, queries, [area.nq - 0.5, -0.5]),
  };
  return [{ ...traces[0], ...numbers, colorscale }, layout];
}

/** The names of cells; one that stands for several tokens, while exact numbers are on their way, has the
   first's.
   @param {{text: string}[]} tokens @param {number} from @param {number} count
   @param {number} each tokens a cell */
export const namesOf = (tokens, from, count, each, most = 14) =>
  upTo(count).map((at) => shorten(tokens[Math.floor((from + at) * each)]?.text ?? "", most));

/** The names that have room beside cells of so many pixels, and where they stand.
   @param {string[]} names @param {number} cell */
function ticks(names, cell) {
  const every = Math.max(1, Math.ceil(LINE / cell));
  const tickvals = names.map((_, at) => at).filter((at) => at % every === 0);
  return { tickvals, ticktext: tickvals.map((at) => asTyped(names[at])) };
}

/** What to change of a figure's layout for the names to fit the part that is seen.
   @param {{xaxis: {range: [number, number]}, yaxis: {range: [number, number]}}} layout
   @param {number} cell pixels of a cell where all are seen @param {string[]} keys
   @param {string[]} queries */
export function ticksOfPart({ xaxis, yaxis }, cell, keys, queries) {
  /** @param {[number, number]} range @param {string[]} names */
  const fitting = ([from, to], names) => ticks(names, (cell * names.length) / Math.abs(to - from));
  const [x, y] = [fitting(xaxis.range, keys), fitting(yaxis.range, queries)];
  return {
    ...{ "xaxis.tickvals": x.tickvals, "xaxis.ticktext": x.ticktext },
    ...{ "yaxis.tickvals": y.tickvals, "yaxis.ticktext": y.ticktext },
  };
}

/** A cell's outline, and strips of colour at the names of its row and its column.
   @param {{query: number, key: number}} place @param {Area} area @param {Theme} theme */
export function marks({ query, key }, area, theme) {
  const [i, j] = [query - area.q0, key - area.k0];
  if (i < 0 || j < 0 || i >= area.nq || j >= area.nk) return [];
  const x = { xref: "x", x0: j - 0.5, x1: j + 0.5 };
  const y = { yref: "y", y0: i - 0.5, y1: i + 0.5 };
  const above = { yref: "y domain", ysizemode: "pixel", yanchor: 1, y0: 1, y1: 4 };
  const before = { xref: "x domain", xsizemode: "pixel", xanchor: 0, x0: -4, x1: -1 };
  const line = { width: 0 };
  return [
    { type: "rect", ...x, ...y, line: { color: theme.accent, width: 2 } },
    { type: "rect", ...x, ...above, fillcolor: theme.key, line },
    { type: "rect", ...before, ...y, fillcolor: theme.query, line },
  ];
}

const SHOWS = { pattern: "attention weights", scores: "scores", dots: "dot products" };

/** What a reader of the screen hears of the figure.
   @param {import("./types").View} view @param {string} head its name @param {Area} area */
export function labelOf({ show, when }, head, { nq, nk }) {
  const quantity = show in SHOWS ? SHOWS[/** @type {"dots"} */ (show)] : optionOf("show", show).text;
  const change = when === "difference" ? "change by the edits of the " : "";
  return `${change}${quantity} of ${head}: ${nq} queries by ${nk} keys`;
}

/** The largest number that is one, or 1. @param {ArrayLike<number>} values */
export function longest(values) {
  let most = 0;
  for (let at = 0; at < values.length; at++) if (values[at] > most) most = values[at];
  return most || 1;
}

const LARGEST = 48; // pixels of a cell
const TITLE = 32; // the room of an axis's name
const TOOLS = 36; // the room on the right of the names that Plotly's buttons stand in

export class HeadView {
  size = { cell: 0, left: 0, top: 0, right: 0 }; // of a cell, and of what lies around them, in CSS pixels
  extent = 1; // the number of the strongest colour
  /** @type {import("./types").Exact | null} the head's numbers, once they are here */ exact = null;
  /** @type {import("./types").Area} */ area;
  /** @type {Place | null} what the pointer is on */ over = null;
  /** @type {any} Plotly, once it is here */ Plotly;
  /** @type {import("../browser/images.js").Level} */ level;
  /** @type {import("./types").Further | null} what the server computed of it */ answer = null;
  /** @type {ArrayLike<number>} what is drawn */ numbers = [];
  signature = ""; // all of the figure that is drawn but its numbers

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {any} */
    this.figure = el("div", { role: "group", "aria-label": "Attention of one head", "aria-busy": "true" });
    const label = "Heatmap: arrow keys move the cell; v shows a table";
    const walk = (/** @type {KeyboardEvent} */ event) => this.walk(event);
    const board = { class: "head-board", tabindex: "0", role: "group", "aria-label": label, onkeydown: walk };
    this.board = el("div", board, [this.figure]);
    this.readout = el("div", { class: "readout", "aria-live": "polite" });
    this.legend = new Legend();
    this.map = new MiniMap(stage);
    this.weight = new CellWeight(stage);
    this.weight.listen(this.board, () => this.over && { place: this.over, weight: this.weightAt(this.over) });
    this.plane = new Plane(stage, () => this.draw());
    this.note = el("p", { class: "muted", "aria-live": "polite" });
    const above = [this.readout, this.weight.root, ...this.legend.parts];
    const below = [this.plane.choice.root, this.note, this.plane.shares, ...this.map.parts];
    this.side = el("div", { class: "side" }, [...above, ...below]);
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
    const isPlane = stage.view.show === "plane";
    for (const part of [plane.points, plane.choice.root, plane.shares]) reveal(part, isPlane);
    for (const part of [this.board, this.readout, ...this.legend.parts])
      part.classList.toggle("absent", isPlane);
    if (!isPlane) return false;
    this.answer = fitting(stage.data.header.further, requestOf(stage.view));
    plane.draw(this.answer, area);
    this.map.draw(this.exact);
    this.tell();
    return true;
  }

  /* What a quantity is that the server computed, or why it could not. */
  tell() {
    const { show } = this.stage.view;
    const option = isFurther(show) && optionOf("show", show);
    const what = option && (this.answer?.problem ?? (this.answer ? `${option.title}.` : "Computing…"));
    this.note.textContent = t(what || "");
    reveal(this.note, option);
  }

  fit() {
    const { stage, area } = this;
    const font = `${FONT}px ${stage.theme.font}`;
    /** @param {"query" | "key"} role @param {number} from @param {number} count */
    const widest = (role, from, count) =>
      Math.max(30, ...this.names(role, from, count).map((name) => textWidth(name, font)));
    const left = TITLE + widest("query", area.q0, area.nq);
    const top = TITLE + widest("key", area.k0, area.nk) * 0.87 + 8; // the names rise by 60 degrees
    const right = TOOLS + widest("key", area.k0 + area.nk - 1, 1) * 0.25;
    const side = this.side.offsetWidth;
    const isBelow = side >= this.root.clientWidth; // on a narrow screen, as high as it needs to be
    const width = this.root.clientWidth - (isBelow ? 0 : side + 24) - left - right;
    const height = isBelow ? Infinity : this.root.clientHeight - top - BELOW;
    const cell = Math.max(2, Math.min(width / area.nk, height / area.nq, LARGEST));
    this.size = { cell, left, top, right };
  }

  /** What is written beside the cells. @param {"query" | "key"} role */
  names(role, from = 0, count = 0) {
    const { data, stack } = this.stage;
    const [tokens, cells] = [data.names(stack, role), role === "query" ? stack.thumbQuery : stack.thumbKey];
    return namesOf(tokens, from, count, this.exact ? 1 : tokens.length / cells, stack.rows ? 22 : 14);
  }

  /** @returns {[keys: string[], queries: string[]]} */
  sideNames() {
    const { area } = this;
    return [this.names("key", area.k0, area.nk), this.names("query", area.q0, area.nq)];
  }

  values() {
    const { stage, exact } = this;
    const { show } = stage.view;
    this.answer = fitting(stage.data.header.further, requestOf(stage.view));
    if (exact) {
      const known = isFurther(show) ? null : matrixOf(exact, /** @type {"pattern"} */ (show));
      return shownOf(exact, known ?? numbersOf(this.answer, exact));
    }
    const thumb = stage.data.thumb(stage.stack, stage.view.layer, stage.view.head);
    return Float32Array.from(thumb, (level) => level / 255);
  }

  /** From a cell's index to its colour level 0..255, or to null where it is masked or has not happened yet.
     @returns {import("../browser/images.js").Level} */
  levels() {
    const { stage, area } = this;
    const values = this.values();
    // lengths have no upper bound: the longest has the strongest colour
    const unit = stage.view.show === "length" ? longest(values) : 1;
    const shares = values.map((value) => value / unit);
    const scale = colourLevels(shares, area.nk, stage.view.range, this.signed());
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
    const { theme, data } = stage;
    const [keys, queries] = this.sideNames();
    const room = { ...this.size, theme, area, keys, queries, signed: this.signed() };
    const [trace, layout] = describe(data.header.chart, room);
    const signature = JSON.stringify([trace, layout]);
    const same = signature === this.signature;
    this.signature = signature;
    figure.setAttribute("aria-label", t(labelOf(stage.view, stage.headName(), area)));
    figure.setAttribute("aria-busy", "false");
    if (same) return move(figure, [[0, { z }]]);
    const first = !figure.on;
    this.Plotly.react(figure, [{ ...trace, z }], layout, configOf(stage.headName()));
    if (first) this.listen();
  }

  listen() {
    const { figure } = this;
    styled(figure.getRootNode());
    figure.on("plotly_hover", (/** @type {any} */ { points, event }) => {
      // after a click, Plotly hovers once more at the place of an event whose target is gone
      if (event.target.isConnected && figure.matches(":hover")) this.hover(this.placeOf(points[0]));
    });
    figure.on("plotly_unhover", () => this.hover(null));
    figure.on("plotly_click", (/** @type {any} */ { points }) => this.choose(this.placeOf(points[0])));
    figure.on("plotly_relayout", (/** @type {object} */ changed) => {
      if (!Object.keys(changed).some((name) => name.includes("range"))) return;
      // larger cells, as after a drag, leave room for more names
      this.Plotly.relayout(figure, ticksOfPart(figure.layout, this.size.cell, ...this.sideNames()));
    });
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
    this.readout.replaceChildren(...readoutOf(rowsOf(this, at)));
    this.weight.draw(at, this.weightAt(at));
    this.stage.glossary.explainIn(this.readout);
  }
}
