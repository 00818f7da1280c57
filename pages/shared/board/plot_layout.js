/* The layout of a chart and its traces at a frame, as Plotly takes them. Nothing here touches the page. */

import { buttonsOf } from "../browser/plotly.js";
import { filled } from "./filled.js";

/** @typedef {import("./specs").PlotSpec} Spec */
/** @typedef {import("./specs").Described} Described */
/** @typedef {import("./specs").Theme} Theme */
/** @typedef {ReturnType<typeof import("./plot_size.js").sizeOf>} Size */

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

/** How many numbers an upright axis has room for. @param {Pick<Size, "height" | "margin">} size */
export function ticksIn({ height, margin: { t, b } }) {
  return Math.max(2, Math.min(6, Math.floor((height - t - b) / 20)));
}

/** @param {Described} trace */
const isLine = (trace) => trace.mode === "lines" && Boolean(trace.name);

/**
 * A picture's share of its row: rows are shared by columns, so that cells come out alike.
 * @param {Pick<import("./specs").PictureSpec, "values" | "rows">} spec
 */
export function shareOf({ values, rows }) {
  const names = rows.length ? Math.min(90, 8 * Math.max(...rows.map((name) => name.length)) + 8) : 0;
  const columns = values.size(1);
  return `${columns} 1 ${Math.min(260, names + 8 * columns)}px`;
}

/** @param {Spec} spec @param {number} frame @param {Theme} theme @param {Size} size */
export function layoutOf(spec, frame, theme, size) {
  const { traces, under, shapes, x, y } = spec.chart;
  /** @param {Described} given @param {Described} ticks */
  const axis = (given, ticks = {}) => ({
    ...filled({ ...given, ...ticks }, frame, theme),
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
    plot_bgcolor: under ? filled(under, 0, theme) : "rgba(0, 0, 0, 0)",
    hovermode: traces.some(isLine) ? "x unified" : "closest",
    modebar: buttonsOf(theme),
    hoverdistance: -1,
    legend: { ...legendAt(size), font: { size: 12, color: theme.ink } },
    shapes: (shapes ?? []).map((shape) => filled(shape, 0, theme)),
    xaxis: {
      zeroline: false,
      ticklabelstandoff: 4,
      unifiedhovertitle: { text: `${spec.x_label} %{x:,.6~r}` },
      ...axis(x, size.x),
    },
    yaxis: { zeroline: false, nticks: ticksIn(size), ticklabelstandoff: 5, ...axis(y, size.y) },
  };
}

/**
 * The traces at a frame. Numbers over bars that stand too close are left out; the label of all lines names
 * their x once.
 * @param {Spec} spec
 * @param {number} frame
 * @param {Theme} theme
 * @param {Size} size
 */
export function tracesOf(spec, frame, theme, size) {
  return spec.chart.traces.map((trace) => ({
    ...filled(trace, frame, theme),
    ...(isLine(trace) ? { hovertemplate: "<b>%{customdata}</b>" } : {}),
    visible: trace.mode !== "text" || size.written,
  }));
}

/**
 * What moves in the traces, at a frame: the place of each such trace, and its entries.
 * @param {Spec} spec
 * @param {string[][]} moving the names of what moves in each trace
 * @param {number} frame
 * @param {Theme} theme
 * @returns {[number, Described][]}
 */
export function movedOf(spec, moving, frame, theme) {
  /** @type {(names: string[], at: number) => [number, Described]} */
  const given = (names, at) => [
    at,
    Object.fromEntries(names.map((name) => [name, filled(spec.chart.traces[at][name], frame, theme)])),
  ];
  return moving.map(given).filter(([at]) => moving[at].length);
}
