/* What part of a pattern the map shows, and the same as Plotly gets it: cells as heat maps, axes that name
   positions or, near enough, tokens. Nothing here touches the page. */

import { shorten } from "../browser/dom.js";
import { buttonsOf } from "../browser/plotly.js";
import { t } from "../browser/words.js";

/** @typedef {{from: number, to: number}} Span positions, the last one not among them */
/** @typedef {{rows: Span, keys: Span}} Area */
/** @typedef {{rows: number, keys: number}} Sizes how many queries and keys there are */
/** @typedef {{x: number[], y: number[]}} Ranges of the axes, as Plotly has them */
/** @typedef {import("../browser/message.js").Framed} Framed */
/** @typedef {{cells: Framed, q0: number, k0: number, tall: number, wide: number}} Sent */
/** @typedef {object} Given
   @property {number} largest of all weights of the whole
   @property {boolean} log
   @property {import("../browser/theme.js").Theme} theme
   @property {{queries: string[], keys: string[]}} tokens
   @property {Area} area
   @property {{query: number, key: number} | undefined} looked
   @property {number} width
   @property {number} height */

const FLOOR = 1e-6; // the smallest weight on a logarithmic scale
const TICKS = 14;
const NEAR = 42; // so few positions have room for their tokens
const LONGEST_TICK = 12;
const LETTER = 8; // pixels that a letter of a tick takes at most, on average
const TITLE = 42; // pixels that an axis' title takes, with the space around it
const MARGIN = { l: 92, r: 8, t: 12, b: 64 };
const CLEAR = "rgba(0, 0, 0, 0)";

/** @param {Sent} sent @param {Given} given */
export function traceOf({ cells, q0, k0, tall, wide }, { largest, log, theme }) {
  const [rows, columns] = [cells.size(2), cells.size(1)];
  const z = Array.from({ length: rows }, (_, row) =>
    Array.from(cells.values.subarray(row * columns, (row + 1) * columns), (w) => level(w, largest, log)),
  );
  return {
    type: "heatmap",
    z,
    x0: k0 + (wide - 1) / 2,
    dx: wide,
    y0: q0 + (tall - 1) / 2,
    dy: tall,
    zmin: 0,
    zmax: 1,
    colorscale: theme.template.layout.colorscale.sequential,
    showscale: false,
    hoverinfo: "none",
  };
}

/** The ticks of an axis, and the pixels of the longest. @param {Span} span @param {string[]} names */
function ticksOf(span, names) {
  const near = span.to - span.from <= NEAR;
  const tickvals = places(span, near ? NEAR : TICKS);
  const ticktext = tickvals.map((at) => (near ? shorten(names[at], LONGEST_TICK) : at.toLocaleString("en")));
  return { tickvals, ticktext, longest: LETTER * Math.max(...ticktext.map((text) => text.length)) };
}

/** @param {Given} given */
export function layoutOf({ theme, tokens, area: { rows, keys }, looked, width, height }) {
  const [down, across] = [ticksOf(rows, tokens.queries), ticksOf(keys, tokens.keys)];
  const left = Math.max(MARGIN.l, TITLE + down.longest);
  const turned = across.longest * across.tickvals.length > width - left - MARGIN.r;
  const bottom = turned ? Math.max(MARGIN.b, TITLE + across.longest) : MARGIN.b;
  /** @type {(title: string, color: string, ticks: ReturnType<typeof ticksOf>) => object} */
  const axis = (title, color, { tickvals, ticktext }) => {
    const frame = { showgrid: false, zeroline: false, showline: true, mirror: true, linecolor: theme.grid };
    const words = { title: { text: title, font: { color } }, tickfont: { color }, tickvals, ticktext };
    return { ...words, ...frame, automargin: false };
  };
  return {
    template: theme.template,
    width,
    height,
    margin: { ...MARGIN, l: left, b: bottom },
    font: { family: theme.font, size: 13 },
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    dragmode: "pan",
    shapes: looked ? [outline(looked, theme.accent)] : [],
    modebar: { orientation: "v", ...buttonsOf(theme) },
    xaxis: {
      ...axis(t("key"), theme.key, across),
      range: [keys.from - 0.5, keys.to - 0.5],
      tickangle: turned ? 90 : 0,
    },
    yaxis: { ...axis(t("query"), theme.query, down), range: [rows.to - 0.5, rows.from - 0.5] },
  };
}

/** The ranges of the axes after a change that Plotly tells. @param {any} change @param {Ranges} before */
export const rangesOf = (change, { x, y }) => ({
  x: [change["xaxis.range[0]"] ?? x[0], change["xaxis.range[1]"] ?? x[1]],
  y: [change["yaxis.range[0]"] ?? y[0], change["yaxis.range[1]"] ?? y[1]],
});

/** The key and the query at a point of the plot; null where it is beside the picture.
   @param {{margin: typeof MARGIN, width: number, height: number}} layout @param {Ranges} ranges
   @param {{left: number, top: number}} point */
export function placeOf({ margin: { l, r, t, b }, width, height }, { x, y }, { left, top }) {
  const [across, down] = [(left - l) / (width - l - r), (top - t) / (height - t - b)];
  if (!(across >= 0 && across < 1 && down >= 0 && down < 1)) return null;
  return { key: Math.round(x[0] + across * (x[1] - x[0])), query: Math.round(y[1] + down * (y[0] - y[1])) };
}

/** Around the pair that is looked at. @param {{query: number, key: number}} pair @param {string} color */
function outline({ query, key }, color) {
  const place = { x0: key - 0.5, x1: key + 0.5, y0: query - 0.5, y1: query + 0.5 };
  return { type: "rect", ...place, line: { color, width: 2 } };
}

/** @param {ArrayLike<number>} values */
export function largestOf(values) {
  let top = 0;
  for (let at = 0; at < values.length; at++) if (values[at] > top) top = values[at];
  return top;
}

/** A span of at least `least` positions within 0..n that is as near to what was asked for as possible.
   @param {Span} span @param {number} n @returns {Span} */
export function within({ from, to }, n, least = 8) {
  const size = Math.min(n, Math.max(least, Math.round(to) - Math.round(from)));
  const start = Math.min(Math.max(0, Math.round(from)), n - size);
  return { from: start, to: start + size };
}

/** Around the same middle, so many times as long. @param {Span} span @param {number} times */
export function zoomed({ from, to }, times) {
  const [middle, half] = [(from + to) / 2, ((to - from) * times) / 2];
  return { from: middle - half, to: middle + half };
}

/** @param {Span} span @param {number} share of its length */
export function moved({ from, to }, share) {
  const by = Math.round((to - from) * share);
  return { from: from + by, to: to + by };
}

/** Whether this is everything. @param {Area} area @param {Sizes} sizes */
export const isWhole = ({ rows, keys }, sizes) =>
  rows.to - rows.from === sizes.rows && keys.to - keys.from === sizes.keys;

/** A colour's place from 0 to 1: of a weight beside the largest one, or of its logarithm.
   @param {number} weight @param {number} largest @param {boolean} log */
export function level(weight, largest, log) {
  if (!log) return weight / (largest || 1);
  const bottom = Math.log10(FLOOR);
  return Math.max(0, 1 - Math.log10(Math.max(weight, FLOOR)) / bottom);
}

/** The positions at an axis: at most so many, each as far from the next, at round numbers.
   @param {Span} span @param {number} most */
export function places({ from, to }, most) {
  const least = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least) ?? 10 * power;
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.ceil(to / step) - first) }, (_, at) => (first + at) * step);
}

/** The cell of a picture that holds a query and a key; null where it does not reach them.
   @param {{q0: number, k0: number, tall: number, wide: number, rows: number, columns: number}} picture
   @param {number} query @param {number} key */
export function cellAt({ q0, k0, tall, wide, rows, columns }, query, key) {
  const [row, column] = [Math.floor((query - q0) / tall), Math.floor((key - k0) / wide)];
  return row >= 0 && column >= 0 && row < rows && column < columns ? { row, column } : null;
}

/** What is said of the queries that are among no brightest pairs, since each sees one key alone.
   @param {number} lone how many @param {number} n of how many queries */
export function leftOut(lone, n) {
  if (!lone) return "";
  if (lone === 1) return "One query sees only one key and is left out.";
  const who = lone === n ? "All" : lone.toLocaleString("en");
  return `${who} queries see only one key and are left out.`;
}
