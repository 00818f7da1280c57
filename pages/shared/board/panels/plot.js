/* A chart that Plotly draws: the traces and axes that viz_core describes (viz_core/boards/chart.py), put up
   once; a frame moves what moves in them. */

import { el, textWidth } from "../../browser/dom.js";
import { asOurs } from "../../browser/numbers.js";
import { buttonsOf, configOf, loadPlotly, registerFor, styled } from "../../browser/plotly.js";
import { filled, movingOf } from "../filled.js";
import { move } from "../plot_move.js";
import { sizeOf } from "../plot_size.js";
import { told } from "../told.js";
import { caption } from "../words.js";

/** @typedef {import("../specs").PlotSpec} Spec */
/** @typedef {import("../specs").Described} Described */
/** @typedef {ReturnType<typeof sizeOf>} Size */

const LEAST = 20; // pixels of width: a picture of two channels is narrow, a row not laid out has none
/**
 * Right above the body, in the room that plot_size.js keeps for it, from the figure's left edge: then Plotly
 * lets it grow to the body's right end.
 * @param {Size} size
 */
const legendAt = ({ width, margin: { l, r } }) => ({
  orientation: "h",
  x: -l / (width - l - r),
  xanchor: "left",
  y: 1,
  yanchor: "bottom",
  indentation: -5,
  bgcolor: "rgba(0, 0, 0, 0)",
});

/** How many numbers an upright axis has room for. @param {Size} size */
const ticksIn = ({ height, margin: { t, b } }) => Math.max(2, Math.min(6, Math.floor((height - t - b) / 20)));

/** @param {Described} trace */
const isLine = (trace) => trace.mode === "lines" && Boolean(trace.name);

/** @param {Pick<import("../specs").PictureSpec, "values" | "rows">} spec */
function shareOf({ values, rows }) {
  const names = rows.length ? Math.min(90, 8 * Math.max(...rows.map((name) => name.length)) + 8) : 0;
  const columns = values.size(1);
  return `${columns} 1 ${Math.min(260, names + 8 * columns)}px`;
}

export class Panel {
  // these come with the first drawing
  /** @type {any} */ Plotly;
  /** @type {number} the frame asked for */ frame;
  /** @type {number} the frame that the figure shows */ drawn;
  /** @type {string[][]} what moves in each trace */ moving = [];
  /** @type {Promise<void> | null} a figure on its way */ coming = null;
  /** @type {string | null} the size and the theme of the figure */ key = null;
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
    this.root = el("figure", { class: `panel ${kind}` }, [caption(spec), this.body]);
    // Pictures share a row by their columns, so that their cells come out alike.
    if (spec.large) this.root.style.flex = "1 1 300px";
    else if (spec.chart.form === "cells") this.root.style.flex = shareOf(/** @type {any} */ (spec));
    loadPlotly().then((Plotly) => {
      this.Plotly = Plotly;
      styled(this.body.getRootNode());
      if (this.frame !== undefined) this.draw(this.frame);
    });
  }

  /* A picture shares its row with others; a chart wants this many pixels. */
  get needs() {
    return { fixed: this.spec.chart.form === "cells" ? 0 : 260, columns: 0 };
  }

  /** @param {Spec} spec */
  update(spec) {
    this.own = this.spec = spec;
    this.key = null;
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
    /** @param {string} name */
    const measure = (name) => textWidth(name, `12px ${board.theme.font}`);
    const size = sizeOf(spec, Math.floor(this.root.clientWidth), board.heightOf(), measure);
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
    const { Plotly, body, spec } = this;
    this.key = key;
    this.moving = spec.chart.traces.map(movingOf);
    this.drawn = this.frame;
    const first = !body.on;
    registerFor(Plotly, spec.chart.traces);
    const config = configOf(spec.title || "figure");
    this.coming = Plotly.react(body, this.shown(size), this.layout(size), config).then(() => {
      this.coming = null;
      body.setAttribute("aria-busy", "false");
      if (first) this.listen();
      if (this.drawn !== this.frame) this.move();
    });
  }

  /** @param {Size} size */
  layout(size) {
    const { spec } = this;
    const { theme } = this.board;
    /** @param {Described} given @param {Described} ticks */
    const axis = (given, ticks = {}) => ({
      ...filled(given, this.frame, theme),
      ...ticks,
      tickfont: { color: theme.muted, ...ticks.tickfont },
      automargin: false,
    });
    return {
      template: theme.template,
      width: size.width,
      height: size.height,
      margin: { pad: 0, autoexpand: false, ...size.margin },
      font: { family: theme.font, size: 13 },
      paper_bgcolor: "rgba(0, 0, 0, 0)",
      plot_bgcolor: spec.chart.under ? filled(spec.chart.under, 0, theme) : "rgba(0, 0, 0, 0)",
      hovermode: spec.chart.traces.some(isLine) ? "x unified" : "closest",
      modebar: buttonsOf(theme),
      hoverdistance: -1,
      legend: { ...legendAt(size), font: { size: 12, color: theme.ink } },
      shapes: (spec.chart.shapes ?? []).map((shape) => filled(shape, 0, theme)),
      xaxis: {
        zeroline: false,
        ticklabelstandoff: 4,
        unifiedhovertitle: { text: `${spec.x_label} %{x:,.6~r}` },
        ...axis(spec.chart.x, size.x),
      },
      yaxis: { zeroline: false, nticks: ticksIn(size), ticklabelstandoff: 5, ...axis(spec.chart.y, size.y) },
    };
  }

  /**
   * The traces as Plotly takes them. Numbers over bars that stand too close are left out; the label of all
   * lines names their x once.
   * @param {Size} size
   */
  shown(size) {
    return this.spec.chart.traces.map((trace) => ({
      ...filled(trace, this.frame, this.board.theme),
      ...(isLine(trace) ? { hovertemplate: "<b>%{customdata}</b>" } : {}),
      visible: trace.mode !== "text" || size.written,
    }));
  }

  /* Puts the numbers of another frame into the figure that is there. */
  move() {
    const { board, frame, moving } = this;
    this.drawn = frame;
    const { traces } = this.spec.chart;
    /** @type {(names: string[], at: number) => [number, Described]} */
    const given = (names, at) => [
      at,
      Object.fromEntries(names.map((name) => [name, filled(traces[at][name], frame, board.theme)])),
    ];
    const moved = moving.map(given).filter(([at]) => moving[at].length);
    if (moved.length) move(this.body, moved);
  }

  listen() {
    this.body.on("plotly_hover", (/** @type {any} */ { points }) => {
      const { lit, words } = told(this.spec, points[0], this.frame, this.board);
      this.board.light(lit, words);
      for (const word of this.body.querySelectorAll(".hoverlayer tspan"))
        word.textContent = asOurs(word.textContent);
    });
    this.body.on("plotly_unhover", () => this.board.light({}));
  }

  /**
   * The bar of the entry that is pointed at elsewhere gets an outline.
   * @param {import("../specs").Lit} lit
   */
  light(lit) {
    const { axis, labels } = this.spec;
    const at = axis ? lit[axis] : undefined;
    if (!labels || at === this.lit || this.key === null || this.coming) return;
    this.lit = at;
    this.Plotly.restyle(this.body, { "marker.line.width": [labels.map((_, i) => (i === at ? 2 : 0))] }, [0]);
  }
}
