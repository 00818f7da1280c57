/* A chart that Plotly draws: the traces and axes that viz_core describes (viz_core/boards/chart.py), put up
   once; a frame moves what moves in them. */

import { el, textWidth } from "../../browser/dom.js";
import { cut, sweep } from "../../browser/motion.js";
import { asOurs, numberAsOurs } from "../../browser/numbers.js";
import { find } from "../../browser/page.js";
import { loadPlotly, styled, WITHOUT_BUTTONS } from "../../browser/plotly.js";
import { choiceOf } from "../cells.js";
import { Cursor, told } from "../cursor.js";
import { layoutOf, movedOf, movingOf, shareOf, sizeOf, tracesOf } from "../plot_layout.js";
import { move, shownOf } from "../plot_move.js";
import { readingsOf } from "../rows.js";
import { caption } from "../words.js";

/** @typedef {import("../specs").PlotSpec} Spec */
/** @typedef {ReturnType<typeof sizeOf>} Size */

const LEAST = 20; // pixels of width: a picture of two channels is narrow, a row not laid out has none

export class PlotPanel {
  // these come with the first drawing
  /** @type {any} */ Plotly;
  /** @type {number} the frame asked for */ frame;
  /** @type {number} the frame that the figure shows */ drawn;
  /** @type {string[][]} what moves in each trace */ moving = [];
  /** @type {Promise<void> | null} a figure on its way */ coming = null;
  /** @type {string | null} the size and the theme of the figure */ key = null;
  share = 1; // of the height that a chart usually has
  changed = true; // whether its numbers are other ones than those of the figure
  /** @type {number | undefined} the entry that is pointed at elsewhere */ lit;

  /** @param {import("../specs").Board} board @param {Spec} spec */
  constructor(board, spec) {
    this.board = board;
    this.own = this.spec = spec;
    /** @type {any} */
    this.body = el("div", {
      class: "plot",
      role: "group",
      "aria-busy": "true",
      "aria-label": spec.title || spec.kind,
    });
    const kind = spec.chart.form === "cells" ? "matrix picture" : `chart ${spec.kind.toLowerCase()}`;
    this.cursor = new Cursor(this.body);
    this.root = el("figure", { class: `panel ${kind}` }, [caption(spec), this.body, this.cursor.root]);
    this.root.classList.toggle("large", Boolean(spec.large));
    if (spec.large) this.root.style.flex = "1 1 260px";
    else if (spec.together) this.root.style.flex = "1 1 150px";
    else if (spec.chart.form === "cells") this.root.style.flex = shareOf(/** @type {any} */ (spec));
    this.load();
  }

  /* Fetches the Plotly that its traces need. */
  async load() {
    const Plotly = await loadPlotly(this.spec.chart.traces);
    if (Plotly !== this.Plotly) this.key = null;
    this.Plotly = Plotly;
    styled(this.body.getRootNode());
    if (this.frame !== undefined) this.draw(this.frame);
  }

  /* A picture shares its row with others; a chart wants this many pixels. */
  get needs() {
    return { fixed: this.spec.chart.form === "cells" ? 0 : 260, columns: 0 };
  }

  /* Pixels from the top of the panel to the first row of a picture whose axes others share. */
  get above() {
    if (!this.spec.together) return 0;
    return (find("figcaption", this.root)?.offsetHeight ?? 0) + this.size().margin.t;
  }

  /** Its first row stands where those beside it do. @param {number} above */
  lower(above) {
    if (this.spec.together) this.body.style.marginTop = `${above - this.above}px`;
  }

  /** @param {Spec} spec */
  update(spec) {
    this.own = this.spec = spec;
    this.key = null;
    this.changed = true;
    this.load();
  }

  /* The large matrix of a board shows the thumbnail that was pressed last. */
  follow() {
    const { pressed } = this.board;
    const spec = pressed ? { ...pressed.spec, small: false, large: true } : this.own;
    if (spec.chart === this.spec.chart) return;
    this.spec = spec;
    this.key = null;
    this.root.querySelector("figcaption")?.replaceChildren(spec.title);
  }

  /* Takes its place on the page; the figure follows when it is drawn. */
  size() {
    if (this.own.large) this.follow();
    const { board, spec, body } = this;
    const measure = (/** @type {string} */ name) => textWidth(name, `12px ${board.theme.font}`);
    const size = sizeOf(spec, Math.floor(this.root.clientWidth), this.share * board.most, measure);
    if (size.width >= LEAST)
      Object.assign(body.style, { width: `${size.width}px`, height: `${size.height}px` });
    return size;
  }

  /** @param {number} frame */
  draw(frame) {
    this.frame = frame;
    const size = this.size();
    const key = `${size.width}/${size.height}/${this.board.theme.background}`;
    if (!this.Plotly || size.width < LEAST) return; // its row is not laid out yet
    if (this.key !== key) this.put(key, size);
    else if (!this.coming && this.drawn !== frame) this.move();
  }

  /** @param {string} key @param {Size} size */
  put(key, size) {
    const { Plotly, body, spec, changed } = this;
    const first = !body.on;
    this.key = key;
    this.moving = spec.chart.traces.map(movingOf);
    this.drawn = this.frame;
    this.changed = false;
    const from = first || !changed ? null : shownOf(body, this.moving);
    const traces = tracesOf(spec, this.frame, this.board.theme, size);
    const layout = layoutOf(spec, this.frame, this.board.theme, size);
    this.coming = Plotly.react(body, traces, layout, WITHOUT_BUTTONS).then(() => {
      this.coming = null;
      body.setAttribute("aria-busy", "false");
      if (first) this.listen();
      if (this.drawn !== this.frame || from) this.move(from ?? undefined);
      if (changed) this.unfold();
    });
  }

  /** @param {number} frame */
  read(frame) {
    return readingsOf(this.spec, frame, this.board);
  }

  /* Puts the numbers of another frame into the figure that is there. */
  move(from = shownOf(this.body, this.moving)) {
    this.drawn = this.frame;
    const moved = movedOf(this.spec, this.moving, this.frame, this.board.theme);
    if (moved.length) move(this.body, moved, this.board.lasts, from);
  }

  /* Other numbers come before the eye: sums channel by channel, and heads cut from a matrix. */
  unfold() {
    const { board, body, spec } = this;
    if (!board.lasts) return;
    if (spec.sums) sweep(body.querySelector(".heatmaplayer image"), spec.values?.size(1) ?? 1, board.lasts);
    const line = spec.chart.traces[1]?.meta === "cut" && body.querySelector(".scatterlayer .js-line");
    if (line) cut(/** @type {SVGPathElement} */ (line), board.lasts);
  }

  listen() {
    this.body.on("plotly_hover", (/** @type {any} */ { points }) => {
      const { lit, words } = told(this.spec, points[0], this.frame, this.board);
      this.board.light(lit, words);
      const said = [...this.body.querySelectorAll(".hoverlayer tspan:not(:has(*))")];
      for (const word of said) word.textContent = asOurs(word.textContent);
      const value = this.spec.chart.form === "cells" ? said.at(-1) : null; // below the names of its place
      if (value) value.textContent = numberAsOurs(value.textContent);
    });
    this.body.on("plotly_unhover", () => this.board.light({}));
    this.body.on("plotly_click", (/** @type {any} */ { points }) => {
      const [row, column] = points[0].pointNumber;
      if (this.spec.choose) this.board.act(choiceOf(/** @type {any} */ (this.spec), row, column));
    });
  }

  /** The bar of the entry that is pointed at elsewhere gets an outline, and the cell of a picture a frame.
     @param {import("../specs").Lit} lit */
  light(lit) {
    const { axis, labels, together, row_axis, column_axis } = this.spec;
    if (together && this.Plotly) this.cursor.show(lit[row_axis ?? ""], lit[column_axis ?? ""]);
    const at = axis ? lit[axis] : undefined;
    if (!labels || at === this.lit || this.key === null || this.coming) return;
    this.lit = at;
    this.Plotly.restyle(this.body, { "marker.line.width": [labels.map((_, i) => (i === at ? 2 : 0))] }, [0]);
  }
}

export const Panel = PlotPanel;
