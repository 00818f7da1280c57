/* What is pointed at: the frame around a cell of a picture, there or in another picture of the same
   axes, and what the status line says of it. */

import { el, reveal } from "../browser/dom.js";
import { number, plainNumber } from "../browser/numbers.js";
import { t } from "../browser/words.js";
import { filled } from "./plot_layout.js";

/** @import { ChartSpec, PictureSpec } from "./specs" */
/** @typedef {Pick<import("./specs").Board, "theme" | "nameOf" | "frame" | "header">} Board */
/** @typedef {{pointNumber: any, curveNumber: number}} Point of Plotly: [row, column] in a picture */
/** @typedef {{lit: import("./specs").Lit, words: string | undefined}} Told as board.light takes it */

const LEAST = 7; // pixels of its sides: a smaller one is overlooked

/** Where a cell is in a body: the pixels of its left upper corner and its sides, each side at least LEAST;
   null where it is zoomed out of sight.
   @param {{x: number[], y: number[]}} ranges from and to, as Plotly has them
   @param {{left: number, top: number, width: number, height: number}} body @param {number} row
   @param {number} column */
export function boxOf({ x, y }, { left, top, width, height }, row, column) {
  const [wide, tall] = [width / Math.abs(x[1] - x[0]), height / Math.abs(y[1] - y[0])];
  // rows are drawn from the top, where an upright axis ends
  const middle = [(column - x[0]) / (x[1] - x[0]), (row - y[1]) / (y[0] - y[1])];
  if (middle.some((share) => share < 0 || share > 1)) return null;
  const [w, h] = [Math.max(LEAST, wide), Math.max(LEAST, tall)];
  return { left: left + middle[0] * width - w / 2, top: top + middle[1] * height - h / 2, w, h };
}

export class Cursor {
  /** @param {any} body Plotly's element */
  constructor(body) {
    this.body = body;
    this.root = el("i", { class: "cursor absent", "aria-hidden": "true" });
  }

  /** @param {number | undefined} row @param {number | undefined} column */
  show(row, column) {
    const { body, root } = this;
    const { layout } = body;
    const is = layout && row !== undefined && column !== undefined;
    const box = is ? boxOf(rangesOf(layout), this.place(layout), row, column) : null;
    reveal(root, box);
    if (!box) return;
    const { left, top, w, h } = box;
    Object.assign(root.style, { left: `${left}px`, top: `${top}px`, width: `${w}px`, height: `${h}px` });
  }

  /** The body of the figure within the panel, in pixels. @param {any} layout */
  place({ width, height, margin: { l, r, t, b } }) {
    const { offsetLeft, offsetTop } = this.body;
    return { left: offsetLeft + l, top: offsetTop + t, width: width - l - r, height: height - t - b };
  }
}

/** @param {any} layout */
const rangesOf = ({ xaxis, yaxis }) => ({ x: xaxis.range, y: yaxis.range });

/** What the numbers of most matrices are; of others it is said. */
const WEIGHT = "weight";

/** What a label for Plotly says, as it was typed: viz_core/labels.py escapes it. @param {string} text */
export function unescaped(text) {
  const typed = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&#36;", "$");
  return typed.replaceAll("&amp;", "&");
}

/** @param {import("./specs").MatrixSpec} spec @param {number} value */
export function numberWords(spec, value) {
  const missing = Number.isNaN(value) && (spec.gap || (spec.nan_is_empty && t("not computed yet")));
  return missing || number(value, 4);
}

/** The numbers of all matrices that are read together, in a cell.
   @param {import("./specs").MatrixSpec} spec one of them @param {number} i @param {number} j
   @param {Pick<Board, "frame" | "header">} board */
function togetherWords(spec, i, j, { frame, header }) {
  const all = /** @type {import("./specs").MatrixSpec[]} */ (header.board.rows.flat()).filter(
    ({ together, row_axis, column_axis }) =>
      together && row_axis === spec.row_axis && column_axis === spec.column_axis,
  );
  /** @param {import("./specs").MatrixSpec} each */
  const value = (each) => each.values.frame(frame, 2)[i * each.values.size(1) + j];
  return all.map((each) => `${each.together} ${numberWords(each, value(each))}`).join(" · ");
}

/** Where a cell stands, what it says, and its number with all its digits.
   @param {import("./specs").MatrixSpec} spec @param {number} i @param {number} j @param {number} value
   @param {Pick<Board, "nameOf" | "frame" | "header">} board */
export function cellWords(spec, i, j, value, board) {
  /** @param {string} axis @param {string[]} names @param {number} at */
  const place = (axis, names, at) => `${t(axis)} ${names[at] ?? board.nameOf(axis, at)}`.trim();
  const where = [place(spec.row_axis, spec.rows, i), place(spec.column_axis, spec.columns, j)].join(", ");
  if (spec.together) return `${where}: ${togetherWords(spec, i, j, board)}`;
  const words = spec.scale === "mask" ? spec.words[Number(value !== 0)] : null;
  const said = words ?? numberWords(spec, value);
  const text = spec.texts[i] ? `: ${spec.texts[i][j]}` : "";
  const named = spec.quantity === WEIGHT ? ` = ${said}` : `${text ? "," : ":"} ${t(spec.quantity)} ${said}`;
  return `${spec.title ? `${spec.title}: ` : ""}${where}${text}${named}`;
}

/** What Plotly's `point` of a panel's chart is at a frame.
   @param {ChartSpec | PictureSpec} spec @param {Point} point @param {number} frame @param {Board} board
   @returns {Told} */
export function told(spec, point, frame, board) {
  if (spec.chart.form === "cells") {
    const picture = /** @type {PictureSpec} */ (spec);
    const [i, j] = point.pointNumber;
    const value = picture.values.frame(frame, 2)[i * picture.values.size(1) + j];
    const lit = { [picture.row_axis]: i, [picture.column_axis]: j };
    return { lit, words: cellWords(picture, i, j, value, board) };
  }
  const { axis = "", x_label } = /** @type {ChartSpec} */ (spec);
  const { traces, form } = spec.chart;
  const { type, x, y, meta, customdata } = traces[point.curveNumber];
  const at = point.pointNumber;
  if (meta === "told") return { lit: {}, words: unescaped(customdata[at]) };
  /** @param {any} numbers */
  const now = (numbers) => filled(numbers, frame, board.theme)[at];
  if (type === "bar") {
    const title = spec.title ? `${spec.title}: ` : "";
    return { lit: { [axis]: at }, words: `${title}${unescaped(now(customdata))} = ${number(now(y), 4)}` };
  }
  if (form !== "wide") return { lit: {}, words: undefined };
  const lines = traces.filter((trace) => trace.mode === "lines" && trace.name);
  const parts = lines.map((line) => `${line.name} ${number(now(line.y), 4)}`);
  return { lit: {}, words: `${x_label} ${plainNumber(now(x))}: ${parts.join(" · ")}` };
}
