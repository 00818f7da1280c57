/* One head as a Plotly figure: what viz_core says of it, with the size and the tokens put in. */

import { filled } from "../../shared/board/filled.js";
import { asTyped } from "../../shared/browser/dom.js";
import { buttonsOf } from "../../shared/browser/plotly.js";
import { FURTHER } from "./further.js";

/** @typedef {import("./types").Area} Area */
/** @typedef {import("./types").Theme} Theme */
/**
 * @typedef {object} Given
 * @property {number} cell pixels of a cell
 * @property {number} left pixels around the cells
 * @property {number} top
 * @property {number} right
 * @property {Theme & {template?: any}} theme
 * @property {Area} area
 * @property {string[]} keys names of the columns, or none
 * @property {string[]} queries names of the rows, or none
 * @property {boolean} signed
 */

export const FONT = 13;
export const BELOW = 6; // pixels below the cells
const LINE = 15; // pixels from one token to the next
const CLEAR = "rgba(0, 0, 0, 0)";

/**
 * The trace without its numbers, which are levels 0..255, and the layout.
 * @param {any} chart
 * @param {Given} given
 */
export function describe(chart, { cell, left, top, right, theme, area, keys, queries, signed }) {
  const { traces, x, y } = filled(chart, 0, theme);
  const frame = { showline: true, mirror: true, linecolor: theme.grid };
  /** @param {object} axis @param {string} color @param {string[]} names @param {[number, number]} range */
  const axis = (axis, color, names, range) => {
    return {
      ...axis,
      names: null,
      ...ticks(names, cell),
      tickfont: { size: FONT, color },
      range,
      zeroline: false,
      ...frame,
    };
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

/**
 * The names that have room beside cells of so many pixels, and where they stand.
 * @param {string[]} names
 * @param {number} cell
 */
function ticks(names, cell) {
  const every = Math.max(1, Math.ceil(LINE / cell));
  const tickvals = names.map((_, at) => at).filter((at) => at % every === 0);
  return { tickvals, ticktext: tickvals.map((at) => asTyped(names[at])) };
}

/**
 * What to change of a figure's layout for the names to fit the part that is seen.
 * @param {{xaxis: {range: [number, number]}, yaxis: {range: [number, number]}}} layout
 * @param {number} cell pixels of a cell where all are seen
 * @param {string[]} keys
 * @param {string[]} queries
 */
export function named({ xaxis, yaxis }, cell, keys, queries) {
  /** @param {[number, number]} range @param {string[]} names */
  const fitting = ([from, to], names) => ticks(names, (cell * names.length) / Math.abs(to - from));
  const [x, y] = [fitting(xaxis.range, keys), fitting(yaxis.range, queries)];
  return {
    "xaxis.tickvals": x.tickvals,
    "xaxis.ticktext": x.ticktext,
    "yaxis.tickvals": y.tickvals,
    "yaxis.ticktext": y.ticktext,
  };
}

/**
 * A cell's outline, and strips of colour at the names of its row and its column.
 * @param {{query: number, key: number}} place
 * @param {Area} area
 * @param {Theme} theme
 */
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

/**
 * What a reader of the screen hears of the figure.
 * @param {import("./types").View} view
 * @param {string} head its name
 * @param {Area} area
 */
export function labelOf({ show, when }, head, { nq, nk }) {
  const shown = show in SHOWS ? SHOWS[/** @type {"dots"} */ (show)] : FURTHER[show].text;
  const change = when === "difference" ? "change by the edits of the " : "";
  return `${change}${shown} of ${head}: ${nq} queries by ${nk} keys`;
}

/** The largest number that is one, or 1. @param {ArrayLike<number>} values */
export function longest(values) {
  let most = 0;
  for (let at = 0; at < values.length; at++) if (values[at] > most) most = values[at];
  return most || 1;
}
