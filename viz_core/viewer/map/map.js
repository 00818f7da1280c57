/* The map of a long pattern: moved and zoomed by hand at once, then sharpened by the server. */

import { button, el, region } from "../browser/dom.js";
import { readMessage } from "../browser/message.js";
import { anyNumber } from "../browser/numbers.js";
import { page } from "../browser/page.js";
import { configOf, loadPlotly, styled } from "../browser/plotly.js";
import { rendering } from "../browser/rendering.js";
import { announce, moreMenu, putUp, storyLine } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";
import { t } from "../browser/words.js";
import {
  cellAt,
  isWhole,
  largestOf,
  layoutOf,
  leftOut,
  moved,
  placeOf,
  rangesOf,
  traceOf,
  within,
  zoomed,
} from "./figure.js";
import { Lists } from "./lists.js";

/** @typedef {import("../browser/rendering.js").Send} Send */
/** @typedef {import("./figure.js").Area} Area */
/** @typedef {import("./figure.js").Sent} Sent */

const WAIT = 120; // milliseconds without a move before the server is asked
const MOST_WORDS = 6;
const STRIDE = 0.25; // of what is shown, by an arrow key
const HINT = "Wheel or + and − zoom, arrow keys move, a press shows a row and a column.";

/** @type {PointerEvent | null} the window's, so that a map that is put up or moves under it knows it */
let pointer = null;

export class PatternMap {
  /** @type {any} */ header;
  /** @type {Area | undefined} what of it is shown */ shown;
  /** @type {any} Plotly's */ layout;
  /** @type {import("./figure.js").Ranges} of the axes, which follow a hand at once */ ranges;
  /** @type {Sent | null} */ tile = null;
  /** @type {Sent} */ whole;
  /** @type {string[]} */ queries;
  /** @type {string[]} */ keys;
  /** @type {{query: number, key: number, weight: number}[]} */ pairs;
  /** @type {string | undefined} */ token;
  withoutChoice = "";
  /** @type {Send} */ send;
  /** @type {import("../browser/theme.js").Theme} */ theme;
  byHand = false; // whether Plotly may still tell where a wheel or a drag has gone to
  waiting = 0;
  drawing = 0;
  listening = new AbortController();

  /** @param {HTMLElement} host */
  constructor(host) {
    const takeAway = () => this.send({ type: "takeaway", ...this.area() });
    const read = () => this.read();
    this.plot = el("div", { class: "plot" });
    this.story = storyLine("Figure, pairs, numbers and code to keep", takeAway, () => {}, read, [this.plot]);
    const { actions } = this.story;
    actions.replaceChildren(
      button({ text: "−", title: "Zoom out (key −)", onclick: () => this.zoom(2) }),
      button({ text: "+", title: "Zoom in (key +)", onclick: () => this.zoom(0.5) }),
      button({ text: t("whole"), title: "The whole document (key 0)", onclick: () => this.showAll() }),
      moreMenu([...actions.children], this.listening.signal),
    );
    this.over = el("p", { class: "over muted", "aria-live": "polite" });
    this.lists = new Lists((query, key) => this.visit(query, key));
    const sheet = el("div", { class: "sheet" }, [this.plot, this.lists.root]);
    this.root = region("shell map", "Map of a pattern", [this.story.root, sheet, this.over]);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.story.reader.listen(this.root);
    this.takeDown = putUp(host, this.root, () => this.draw(), { watched: this.plot });
    const { signal } = this.listening;
    window.addEventListener("pointermove", this.point, { signal });
    document.documentElement.addEventListener("pointerleave", this.point, { signal });
  }

  leave() {
    clearTimeout(this.waiting);
    this.listening.abort();
    this.takeDown();
  }

  /** @param {Uint8Array} bytes @param {Send} send */
  receive(bytes, send) {
    this.send = send;
    const header = readMessage(bytes);
    if (header.whole) {
      Object.assign(this, { whole: header.whole, keys: header.tokens, pairs: header.pairs, tile: null });
      this.queries = header.queries ?? header.tokens;
      this.withoutChoice = leftOut(header.lone, this.queries.length);
      this.token = header.token;
    } else if (this.token !== header.token) return send({ type: "again" });
    const sizes = this.sizes();
    const same =
      this.header && this.header.sizes.rows === sizes.rows && this.header.sizes.keys === sizes.keys;
    const { q0, q1, k0, k1 } = header.area ?? { q0: 0, q1: sizes.rows, k0: 0, k1: sizes.keys };
    if (!this.shown || !same)
      this.shown = {
        rows: within({ from: q0, to: q1 }, sizes.rows),
        keys: within({ from: k0, to: k1 }, sizes.keys),
      };
    this.header = { ...header, sizes };
    if (header.tile !== undefined) this.tile = header.tile;
    if (header.whole && !isWhole(this.shown, sizes)) this.askSoon();
    page.write?.(new URLSearchParams(header.link));
    this.draw();
  }

  /* The brightest pairs, and the row and the column that are looked at.
     @returns {import("../browser/reading.js").Reading[]} */
  read() {
    const { looked } = this.header;
    const nameOf = (/** @type {string[]} */ tokens, /** @type {number} */ at) => `${at} ${tokens[at]}`;
    const queries = (/** @type {number} */ at) => nameOf(this.queries, at);
    const keys = (/** @type {number} */ at) => nameOf(this.keys, at);
    /** @param {string} title @param {[string, number][]} rows */
    const list = (title, rows) => ({
      ...{ title, form: /** @type {"rows"} */ ("rows"), rows: rows.map(([name]) => name) },
      ...{ columns: ["weight"], at: (/** @type {number} */ i) => rows[i][1] },
    });
    /** @param {[number, number][]} weights @param {(at: number) => string} name */
    const named = (weights, name) =>
      weights.map(([at, weight]) => /** @type {[string, number]} */ ([name(at), weight]));
    const pairs = this.pairs.map(
      ({ query, key, weight }) =>
        /** @type {[string, number]} */ ([`${queries(query)} looks at ${keys(key)}`, weight]),
    );
    if (!looked) return [list("Brightest pairs", pairs)];
    const { query, key, row, column } = looked;
    return [
      list(`Query ${queries(query)} looks most at`, named(row, keys)),
      list(`Key ${keys(key)} is looked at most by`, named(column, queries)),
      list("Brightest pairs", pairs),
    ];
  }

  sizes() {
    return { rows: this.queries.length, keys: this.keys.length };
  }

  area() {
    const { rows, keys } = /** @type {Area} */ (this.shown);
    return { q0: rows.from, q1: rows.to, k0: keys.from, k1: keys.to };
  }

  showAll() {
    this.show(everything(this.sizes()));
  }

  /** @param {number} times */
  zoom(times) {
    const { rows, keys } = /** @type {Area} */ (this.shown);
    this.show({ rows: zoomed(rows, times), keys: zoomed(keys, times) });
  }

  /** Opens a place so near that its tokens can be read. @param {number} query @param {number} key */
  visit(query, key) {
    const near = (/** @type {number} */ at) => ({ from: at - 16, to: at + 16 });
    this.show({ rows: near(query), keys: near(key) });
    this.send({ type: "look", query, key });
  }

  /** @param {Area} area */
  show({ rows, keys }) {
    const sizes = this.sizes();
    this.shown = { rows: within(rows, sizes.rows), keys: within(keys, sizes.keys) };
    this.byHand = false;
    this.draw();
    this.askSoon();
  }

  askSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.send({ type: "window", ...this.area() }), WAIT);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { rows, keys } = /** @type {Area} */ (this.shown);
    /** @type {Record<string, () => void>} */
    const does = {
      "+": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      0: () => this.showAll(),
      ArrowUp: () => this.show({ rows: moved(rows, -STRIDE), keys }),
      ArrowDown: () => this.show({ rows: moved(rows, STRIDE), keys }),
      ArrowLeft: () => this.show({ rows, keys: moved(keys, -STRIDE) }),
      ArrowRight: () => this.show({ rows, keys: moved(keys, STRIDE) }),
    };
    const act = does[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  async draw() {
    if (!this.header || !this.plot.clientWidth) return;
    const turn = ++this.drawing;
    const Plotly = await loadPlotly();
    if (turn !== this.drawing) return;
    this.theme = themeOf(this.root);
    const { range, looked } = this.header;
    const { theme, plot } = this;
    const tokens = { queries: this.queries, keys: this.keys };
    const largest = largestOf(this.whole.cells.values);
    const area = /** @type {Area} */ (this.shown);
    const size = { width: plot.clientWidth, height: plot.clientHeight };
    const content = { largest, log: range === "log", theme, tokens, area, looked, ...size };
    const traces = [this.whole, ...(this.tile ? [this.tile] : [])].map((sent) => traceOf(sent, content));
    this.layout = layoutOf(content);
    this.ranges = rangesOf({}, { x: this.layout.xaxis.range, y: this.layout.yaxis.range });
    styled(this.root.getRootNode());
    const config = { ...configOf("pattern"), scrollZoom: true, doubleClick: false, responsive: false };
    await Plotly.react(this.plot, traces, this.layout, config);
    this.listen();
    this.say();
    this.lists.draw(this.header.looked, this.pairs, tokens, this.withoutChoice);
    announce(this.root, {
      what: "map",
      generation: this.header.generation,
      view: this.tile ? "window" : "whole",
    });
  }

  listen() {
    if (this.plot.dataset.heard) return;
    this.plot.dataset.heard = "yes";
    const plot = /** @type {any} */ (this.plot);
    plot.on("plotly_relayout", (/** @type {any} */ change) => this.relaid(change));
    plot.on("plotly_relayouting", (/** @type {any} */ change) => {
      // A key that was pressed since goes before; a box is only where the map is going to be.
      if (!this.byHand || this.layout.dragmode === "zoom") return;
      this.ranges = rangesOf(change, this.ranges);
      this.tell();
    });
    plot.on("plotly_doubleclick", () => this.showAll());
    plot.on("plotly_click", (/** @type {any} */ { points }) => this.press(points[0].x, points[0].y));
    for (const hand of ["wheel", "pointerdown"])
      this.plot.addEventListener(hand, () => (this.byHand = true), { capture: true, passive: true });
  }

  /** Plotly has moved or zoomed; a key that was pressed since goes before.
     @param {Record<string, number>} change */
  relaid(change) {
    if (change["xaxis.range[0]"] === undefined && change["yaxis.range[0]"] === undefined) return;
    if (!this.byHand) return void this.draw();
    const { x, y } = rangesOf(change, this.ranges);
    this.show({ rows: { from: y[1] + 0.5, to: y[0] + 0.5 }, keys: { from: x[0] + 0.5, to: x[1] + 0.5 } });
  }

  /** The sharpest picture that holds a place, and its cell. @param {number} key @param {number} query */
  find(key, query) {
    for (const sent of [this.tile, this.whole]) {
      if (!sent) continue;
      const sizes = { rows: sent.cells.size(2), columns: sent.cells.size(1) };
      const cell = cellAt({ ...sent, ...sizes }, query, key);
      if (cell) return { sent, ...cell, weight: sent.cells.values[cell.row * sizes.columns + cell.column] };
    }
    return null;
  }

  /** Not Plotly's hover, which tells nothing of a map that is drawn anew under a pointer at rest. */
  point = (/** @type {PointerEvent} */ event) => {
    pointer = event.type === "pointermove" ? event : null;
    if (this.plot.dataset.heard) this.tell();
  };

  /** What is under the pointer; where it points at nothing, what can be done. */
  tell() {
    const box = this.plot.getBoundingClientRect();
    const point = pointer && { left: pointer.clientX - box.left, top: pointer.clientY - box.top };
    const place = point && placeOf(this.layout, this.ranges, point);
    const cell = place && this.find(place.key, place.query);
    const words = cell ? this.words(cell) : HINT;
    if (this.over.textContent !== words) this.over.textContent = t(words);
  }

  /** @param {NonNullable<ReturnType<PatternMap["find"]>>} cell */
  words({ sent, row, column, weight }) {
    const { tall, wide, q0, k0 } = sent;
    const spanOf = (/** @type {number} */ at, /** @type {number} */ size, /** @type {string[]} */ tokens) => {
      const last = Math.min(at + size, tokens.length) - 1;
      const words = tokens.slice(at, Math.min(last + 1, at + MOST_WORDS)).join(" ");
      const span = last > at ? `–${last.toLocaleString("en")}` : "";
      return `${at.toLocaleString("en")}${span} “${words}${last - at >= MOST_WORDS ? " …" : ""}”`;
    };
    const what = tall * wide > 1 ? `${this.header.measure} of ${tall} × ${wide} pairs` : "weight";
    const queries = spanOf(q0 + row * tall, tall, this.queries);
    const keys = spanOf(k0 + column * wide, wide, this.keys);
    return `query ${queries} → key ${keys}: ${anyNumber(weight)} (${what})`;
  }

  /** @param {number} x @param {number} y */
  press(x, y) {
    const cell = this.find(x, y);
    if (!cell) return;
    const { sent, row, column } = cell;
    this.send({ type: "look", query: sent.q0 + row * sent.tall, key: sent.k0 + column * sent.wide });
  }

  say() {
    const { about } = this.header;
    const { rows, keys } = this.sizes();
    const [best] = this.pairs;
    const top = best && `brightest: “${this.queries[best.query]}” → “${this.keys[best.key]}”`;
    const counted = (/** @type {number} */ count) => count.toLocaleString("en");
    const alike = this.queries === this.keys;
    const read = alike ? `${counted(keys)} tokens` : `${counted(rows)} queries, ${counted(keys)} keys`;
    const said = [t(about), t(`${read}, ${counted(rows * keys)} pairs`), ...(top ? [t(top)] : [])];
    this.story.notice.textContent = `${said[0]}: ${said.slice(1).join("; ")}.`;
    this.tell();
  }
}

/** @param {import("./figure.js").Sizes} sizes @returns {Area} */
const everything = (sizes) => ({ rows: { from: 0, to: sizes.rows }, keys: { from: 0, to: sizes.keys } });

export const render = rendering(PatternMap);
