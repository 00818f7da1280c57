// @ts-nocheck
/* What the status line says of the point of a chart that is pointed at, and what lights up with it. */

import { number, plainNumber } from "../browser/numbers.js";
import { filled } from "./filled.js";

function ofBar(spec, point, values) {
  const at = point.pointNumber;
  const title = spec.title ? `${spec.title}: ` : "";
  return { lit: { [spec.axis]: at }, words: `${title}${spec.labels[at]} = ${number(values.y[at], 4)}` };
}

function ofLines(spec, point, values, frame) {
  const at = point.pointNumber;
  const lines = spec.chart.traces.filter((trace) => trace.mode === "lines" && trace.name);
  const parts = lines.map((line) => `${line.name} ${number(filled(line.y, frame)[at], 4)}`);
  return { lit: {}, words: `${spec.x_label} ${plainNumber(values.x[at])}: ${parts.join(" · ")}` };
}

/* Where a cell stands, what it says, and its number with all its digits. */
export function cellWords(spec, i, j, value, board) {
  const place = (axis, names, at) => `${axis} ${names[at] ?? board.nameOf(axis, at)}`.trim();
  const where = [place(spec.row_axis, spec.rows, i), place(spec.column_axis, spec.columns, j)].join(", ");
  const said = spec.nan_is_empty && Number.isNaN(value) ? "not computed yet" : number(value, 4);
  const text = spec.texts[i] ? `: ${spec.texts[i][j]}` : "";
  return `${spec.title ? `${spec.title}: ` : ""}${where}${text} = ${said}`;
}

function ofCell(spec, point, frame, board) {
  const [i, j] = point.pointNumber;
  const value = spec.values.frame(frame, 2)[i * spec.values.size(1) + j];
  const lit = { [spec.row_axis]: i, [spec.column_axis]: j };
  return { lit, words: cellWords(spec, i, j, value, board) };
}

/* For Plotly's `point` of a panel's chart at a frame: {lit, words}, as board.light takes them. */
export function told(spec, point, frame, board) {
  if (spec.chart.form === "cells") return ofCell(spec, point, frame, board);
  const values = filled(spec.chart.traces[point.curveNumber], frame, board.theme);
  if (values.type === "bar") return ofBar(spec, point, values);
  if (spec.chart.form === "wide") return ofLines(spec, point, values, frame);
  return { lit: {}, words: undefined };
}
