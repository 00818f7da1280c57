/* Fills in what a chart's description leaves open: the frame's numbers, colours, numbers as words. */

import { Framed } from "../browser/message.js";
import { anyNumber, shortNumber } from "../browser/numbers.js";

/** @typedef {import("../browser/message.js").Numbers} Numbers */
/** @typedef {Pick<import("./specs").Theme, "heads" | "template">} Theme and the colours that are named */

/**
 * Numbers of an array as Plotly takes them: one, a list, or a list of rows.
 * @param {Numbers} values
 * @param {number[]} shape
 */
function plain(values, shape) {
  if (shape.length === 0) return values[0];
  if (shape.length === 1) return values;
  const [rows, columns] = shape;
  return Array.from({ length: rows }, (_, i) => values.subarray(i * columns, (i + 1) * columns));
}

/** @param {import("./specs").Moving} moving @param {number} frame */
function entry(moving, frame) {
  const { values, shape } = moving.values;
  const own = shape.slice(1);
  const size = own.reduce((a, b) => a * b, 1);
  return plain(values.subarray(frame * size, (frame + 1) * size), own);
}

/** @param {import("./specs").Paint} paint @param {Theme} theme */
function colour({ name, alpha }, theme) {
  if (name === "sequential" || name === "diverging") return theme.template.layout.colorscale[name];
  const hex =
    typeof name === "number" ? theme.heads[name % theme.heads.length] : /** @type {any} */ (theme)[name];
  if (alpha === 1) return hex;
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${parts.join(", ")}, ${alpha})`;
}

/** @type {Record<string, (leaf: any, frame: number, theme: Theme) => any>} */
const LEAVES = {
  Moving: (value, frame) => entry(value, frame),
  Paint: (value, _frame, theme) => colour(value, theme),
  Written: ({ values, digits, nan_is_empty }, frame, theme) =>
    Array.from(filled(values, frame, theme), (value) =>
      nan_is_empty && Number.isNaN(value)
        ? ""
        : digits === null
          ? anyNumber(value)
          : shortNumber(value, digits),
    ),
};

/**
 * A description with its placeholders filled in.
 * @param {any} value
 * @param {number} frame
 * @param {Theme} theme
 * @returns {any}
 */
export function filled(value, frame, theme) {
  if (value instanceof Framed) return plain(value.values, value.shape);
  if (Array.isArray(value)) return value.map((each) => filled(each, frame, theme));
  if (value === null || typeof value !== "object") return value;
  if (LEAVES[value.kind]) return LEAVES[value.kind](value, frame, theme);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, frame, theme)]));
}

/** @param {any} value @returns {boolean} */
function moves(value) {
  if (value === null || typeof value !== "object" || value instanceof Framed) return false;
  return value.kind === "Moving" || Object.values(value).some(moves);
}

/** The names of what moves in a trace. @param {import("./specs").Described} trace */
export function movingOf(trace) {
  return Object.keys(trace).filter((name) => moves(trace[name]));
}
