// @ts-nocheck
/* A chart that Plotly draws: the traces and axes that viz_core describes (viz_core/boards/chart.py), put up
   once; a frame moves what moves in them. */

import { el } from "../../browser/dom.js";
import { buttonsOf, configOf, loadPlotly, registerFor, styled } from "../../browser/plotly.js";
import { filled, movingOf } from "../filled.js";
import { move } from "../plot_move.js";
import { sizeOf } from "../plot_size.js";
import { told } from "../told.js";
import { caption } from "../words.js";

const LEAST = 20; // pixels of width: a picture of two channels is narrow, a row not laid out has none
/* Right above the body, in the room that plot_size.js keeps for it, from the figure's left edge: then Plotly
   lets it grow to the body's right end. */
const legendAt = ({ width, margin: { l, r } }) => ({
  orientation: "h",
  x: -l / (width - l - r),
  xanchor: "left",
  y: 1,
  yanchor: "bottom",
  indentation: -5,
  bgcolor: "rgba(0, 0, 0, 0)",
});

const isLine = (trace) => trace.mode === "lines" && Boolean(trace.name);

function shareOf({ values, rows }) {
  const names = rows.length ? Math.min(90, 8 * Math.max(...rows.map((name) => name.length)) + 8) : 0;
  const columns = values.size(1);
  return `${columns} 1 ${Math.min(260, names + 8 * columns)}px`;
}

export class Panel {
  constructor(board, spec) {
    this.board = board;
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
    else if (spec.chart.form === "cells") this.root.style.flex = shareOf(spec);
    this.update(spec);
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

  update(spec) {
    this.own = this.spec = spec;
    this.key = null;
  }

  /* The traces as Plotly takes them, at the frame that is shown. */
  traces(chart) {
    return chart.traces.map((trace) => filled(trace, this.frame, this.board.theme));
  }

  /* The large matrix of a board shows the thumbnail that was pressed last. */
  follow() {
    const spec = this.board.pressed ? { ...this.board.pressed.spec, small: false, large: true } : this.own;
    if (spec.chart === this.spec.chart) return;
    this.spec = spec;
    this.key = null;
    this.root.querySelector("figcaption")?.replaceChildren(spec.title);
  }

  draw(frame) {
    this.frame = frame;
    if (this.own.large) this.follow();
    const { board, spec } = this;
    const size = sizeOf(spec, Math.floor(this.root.clientWidth), board.heightOf(), board.theme.font);
    if (size.width < LEAST) return; // its row is not laid out yet
    const key = `${size.width}/${size.height}/${board.theme.background}`;
    if (this.key !== key)
      Object.assign(this.body.style, { width: `${size.width}px`, height: `${size.height}px` });
    if (!this.Plotly) return;
    if (this.key !== key) this.put(key, size);
    else if (!this.coming && this.drawn !== frame) this.move();
  }

  put(key, size) {
    const { Plotly, body, board, spec } = this;
    const { theme } = board;
    const axis = (given, ticks = {}) => ({
      ...filled(given, this.frame, theme),
      ...ticks,
      tickfont: { color: theme.muted, ...ticks.tickfont },
      automargin: false,
    });
    const layout = {
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
        unifiedhovertitle: { text: `${spec.x_label} %{x:.4~g}` },
        ...axis(spec.chart.x, size.x),
      },
      yaxis: { zeroline: false, nticks: 6, ticklabelstandoff: 5, ...axis(spec.chart.y, size.y) },
    };
    const config = configOf(spec.title || "figure");
    this.key = key;
    this.moving = spec.chart.traces.map(movingOf);
    this.drawn = this.frame;
    const first = !body.on;
    registerFor(Plotly, spec.chart.traces);
    this.coming = Plotly.react(body, this.shown(size), layout, config).then(() => {
      this.coming = null;
      body.setAttribute("aria-busy", "false");
      if (first) this.listen();
      if (this.drawn !== this.frame) this.move();
    });
  }

  /* Numbers over bars that stand too close are left out; the label of all lines names their x once. */
  shown(size) {
    return this.traces(this.spec.chart).map((trace) => ({
      ...trace,
      ...(isLine(trace) ? { hovertemplate: "<b>%{y:.4~g}</b>" } : {}),
      visible: trace.mode !== "text" || size.written,
    }));
  }

  /* Puts the numbers of another frame into the figure that is there. */
  move() {
    const { board, frame, moving } = this;
    this.drawn = frame;
    const given = (names, at) =>
      names.map((name) => [name, filled(this.spec.chart.traces[at][name], frame, board.theme)]);
    const numbers = moving.map((names, at) => [at, Object.fromEntries(given(names, at))]);
    const moved = numbers.filter(([at]) => moving[at].length);
    if (moved.length) move(this.body, moved);
  }

  listen() {
    this.body.on("plotly_hover", ({ points }) => {
      const { lit, words } = told(this.spec, points[0], this.frame, this.board);
      this.board.light(lit, words);
      for (const word of this.body.querySelectorAll(".hoverlayer tspan"))
        if (word.textContent === "-Infinity") word.textContent = "−∞"; // where a mask forbids
    });
    this.body.on("plotly_unhover", () => this.board.light({}));
  }

  /* The bar of the entry that is pointed at elsewhere gets an outline. */
  light(lit) {
    const { axis, labels } = this.spec;
    const at = axis ? lit[axis] : undefined;
    if (!labels || at === this.lit || this.key === null || this.coming) return;
    this.lit = at;
    this.Plotly.restyle(this.body, { "marker.line.width": [labels.map((_, i) => (i === at ? 2 : 0))] }, [0]);
  }
}
