/* What panels show, in rows (browser/reading.js): matrices from their numbers, charts from their traces. */

import { tickText } from "../browser/numbers.js";
import { numberWords, unescaped } from "./cursor.js";
import { filled } from "./plot_layout.js";

/** @import { ChartSpec, MatrixSpec, PlotSpec, Board } from "./specs" */
/** @import { Reading } from "../browser/reading.js" */
/** @typedef {Pick<Board, "nameOf" | "theme">} Names */

/** @param {MatrixSpec} spec @param {number} frame @param {Names} board @returns {Reading} */
export function gridOf(spec, frame, board) {
  const { title, row_axis, column_axis, texts, values, marked, scale, words } = spec;
  const [nRows, nColumns] = values.shape.slice(-2);
  const [now, marks] = [values.frame(frame, 2), marked?.frame(frame, 2)];
  const namesOf = (/** @type {string[]} */ own, /** @type {string} */ axis, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, at) => String(own[at] ?? board.nameOf(axis, at)));
  return {
    ...{ title, form: "grid", rowAxis: row_axis, columnAxis: column_axis, weights: scale === "weights" },
    rows: namesOf(spec.rows, row_axis, nRows),
    columns: namesOf(spec.columns, column_axis, nColumns),
    at: (i, j) => {
      const value = now[i * nColumns + j];
      if (texts.length) return texts[i][j];
      if (scale === "mask" && words.length) return words[Number(value !== 0)] ?? "";
      return Number.isFinite(value) ? value : numberWords(spec, value);
    },
    marked: (i, j) => marks?.[i * nColumns + j],
  };
}

/** @param {PlotSpec} spec @param {number} frame @param {Names} board @returns {Reading[]} */
export function readingsOf(spec, frame, board) {
  const { title, chart } = spec;
  if (chart.form === "cells") return [gridOf(/** @type {MatrixSpec} */ (spec), frame, board)];
  const traces = chart.traces.map((trace) => filled(trace, frame, board.theme));
  if (spec.kind === "Layers") return layersOf(spec, traces);
  const bars = traces.find(({ type }) => type === "bar");
  if (bars) {
    const columns = [unescaped(chart.y.title?.text || title || "value")];
    const rows = bars.customdata.map(unescaped);
    return [{ title, form: "rows", rowAxis: spec.x_label, rows, columns, at: (i) => bars.y[i] }];
  }
  if (chart.form === "square") {
    const arrows = traces.filter(({ name }) => name);
    const at = (/** @type {number} */ i, /** @type {number} */ j) => {
      const tip = [arrows[i].x[1], arrows[i].y[1]];
      return tip[j] ?? Math.hypot(...tip);
    };
    const rows = arrows.map(({ name }) => unescaped(name));
    return [{ title, form: "rows", rows, columns: ["x", "y", "length"], at }];
  }
  return linesOf(spec, traces);
}

/** Lines and points over one axis: a row for each place on it, a column for each of them.
   @param {ChartSpec} spec @param {any[]} traces @returns {Reading[]} */
function linesOf({ title, chart, x_label }, traces) {
  const shown = traces.filter(({ name, x }) => name && x.length);
  if (shown.some(({ x }) => new Set(x).size < x.length)) return [cloudOf(chart, shown, x_label)];
  const places = [...new Set(shown.flatMap(({ x }) => Array.from(x)))].sort((a, b) => a - b);
  const cells = shown.map(({ x, y }) => {
    const of = new Map(Array.from(x, (each, at) => [each, at]));
    return (/** @type {number} */ place) => y[of.get(place) ?? -1] ?? "";
  });
  return [
    {
      ...{ title, form: "series", rowAxis: x_label ?? "" },
      ...{ rows: places.map(tickText), columns: shown.map(({ name }) => unescaped(name)) },
      at: (i, j) => cells[j](places[i]),
    },
  ];
}

/** Points of which some lie over each other: a row for each.
   @param {ChartSpec["chart"]} chart @param {any[]} traces @param {string} [x_label] @returns {Reading} */
function cloudOf({ y: axis }, traces, x_label = "") {
  const points = traces.flatMap(({ name, x, y }) => Array.from(x, (each, at) => [name, each, y[at]]));
  return {
    ...{ title: "", form: "rows", rowAxis: "point", rows: points.map(([name]) => unescaped(name)) },
    columns: [x_label || "x", axis.title?.text || "y"].map(unescaped),
    at: (i, j) => points[i][j + 1],
  };
}

/** Tokens through layers: which are lit, and which each may look at.
   @param {ChartSpec} spec @param {any[]} traces links, lit links, nodes and lit ones @returns {Reading[]} */
function layersOf({ title, chart }, [links, , , lit]) {
  const tokens = chart.x.names ?? [];
  const rows = chart.y.ticktext.map(String);
  const isLit = (/** @type {number} */ i, /** @type {number} */ j) =>
    Number.isFinite(lit.y[i * tokens.length + j]);
  /** @type {string[][]} */ const seen = tokens.map(() => []);
  // those of the first layer, which all others repeat
  for (let at = 0; links.y[at] === 0; at += 3) seen[links.x[at + 1]].push(tokens[links.x[at]]);
  return [
    {
      ...{ title, form: "grid", rowAxis: "", columnAxis: "token", rows, columns: tokens },
      at: (i, j) => Number(isLit(i, j)),
    },
    {
      ...{ title: "What each token may look at in the layer below", form: "rows", rowAxis: "query" },
      ...{ rows: tokens, columns: ["keys"], at: (i) => seen[i].join(", ") },
    },
  ];
}
