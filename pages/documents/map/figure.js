/* The map as Plotly gets it: cells as heat maps, axes that name positions or, near enough, tokens. */

import { buttonsOf } from "../../shared/browser/plotly.js";
import { level, places } from "./view.js";

/** @typedef {import("../../shared/browser/message.js").Framed} Framed */
/** @typedef {{cells: Framed, q0: number, k0: number, tall: number, wide: number}} Sent */
/**
 * @typedef {object} Given
 * @property {number} largest of all weights of the whole
 * @property {boolean} log
 * @property {import("../../shared/browser/theme.js").Theme} theme
 * @property {{queries: string[], keys: string[]}} tokens
 * @property {import("./view.js").Seen} seen
 * @property {{query: number, key: number} | undefined} looked
 * @property {number} width
 * @property {number} height
 */

const TICKS = 14;
const NEAR = 42; // so few positions have room for their tokens
const LONGEST_TICK = 12;
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

/** @param {Given} given */
export function layoutOf({ theme, tokens, seen: { rows, keys }, looked, width, height }) {
  /** @type {(title: string, color: string, span: import("./view.js").Span, names: string[]) => object} */
  const axis = (title, color, span, names) => {
    const near = span.to - span.from <= NEAR;
    const tickvals = places(span, near ? NEAR : TICKS);
    const ticktext = tickvals.map((at) => (near ? shorten(names[at]) : at.toLocaleString("en")));
    const frame = { showgrid: false, zeroline: false, showline: true, mirror: true, linecolor: theme.grid };
    return { title: { text: title, font: { color } }, tickfont: { color }, tickvals, ticktext, ...frame };
  };
  return {
    template: theme.template,
    width,
    height,
    margin: { l: 92, r: 8, t: 8, b: 64 },
    font: { family: theme.font, size: 13 },
    paper_bgcolor: CLEAR,
    plot_bgcolor: CLEAR,
    dragmode: "pan",
    shapes: looked ? [outline(looked, theme.accent)] : [],
    modebar: { orientation: "v", ...buttonsOf(theme) },
    xaxis: { ...axis("key", theme.key, keys, tokens.keys), range: [keys.from - 0.5, keys.to - 0.5] },
    yaxis: { ...axis("query", theme.query, rows, tokens.queries), range: [rows.to - 0.5, rows.from - 0.5] },
  };
}

/**
 * The key and the query under a pointer; null where it is beside the picture.
 * @param {HTMLElement} plot
 * @param {{clientX: number, clientY: number}} pointer
 */
export function placeOf(plot, { clientX, clientY }) {
  const { xaxis, yaxis } = /** @type {any} */ (plot)._fullLayout;
  const box = plot.getBoundingClientRect();
  const [x, y] = [clientX - box.left - xaxis._offset, clientY - box.top - yaxis._offset];
  const isInside = x >= 0 && y >= 0 && x < xaxis._length && y < yaxis._length;
  return isInside ? { key: Math.round(xaxis.p2l(x)), query: Math.round(yaxis.p2l(y)) } : null;
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

/** @param {string} text */
const shorten = (text) => (text.length > LONGEST_TICK ? `${text.slice(0, LONGEST_TICK - 1)}…` : text);
