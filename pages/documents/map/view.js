/* What part of a pattern is seen, and how. Nothing here touches the page. */

/** @typedef {{from: number, to: number}} Span positions, the last one not among them */
/** @typedef {{rows: Span, keys: Span}} Seen */
/** @typedef {{rows: number, keys: number}} Sizes how many queries and keys there are */

const FLOOR = 1e-6; // the smallest weight on a logarithmic scale

/**
 * A span of at least `least` positions within 0..n that is as near to what was asked for as possible.
 * @param {Span} span
 * @param {number} n
 * @returns {Span}
 */
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

/** Whether this is everything. @param {Seen} seen @param {Sizes} sizes */
export const isWhole = ({ rows, keys }, sizes) =>
  rows.to - rows.from === sizes.rows && keys.to - keys.from === sizes.keys;

/**
 * A colour's place from 0 to 1: of a weight beside the largest one, or of its logarithm.
 * @param {number} weight
 * @param {number} largest
 * @param {boolean} log
 */
export function level(weight, largest, log) {
  if (!log) return weight / (largest || 1);
  const bottom = Math.log10(FLOOR);
  return Math.max(0, 1 - Math.log10(Math.max(weight, FLOOR)) / bottom);
}

/**
 * The positions at an axis: at most so many, each as far from the next, at round numbers.
 * @param {Span} span
 * @param {number} most
 */
export function places({ from, to }, most) {
  const least = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least) ?? 10 * power;
  const found = [];
  for (let at = Math.ceil(from / step) * step; at < to; at += step) found.push(at);
  return found;
}

/**
 * The cell of a picture that holds a query and a key; null where it does not reach them.
 * @param {{q0: number, k0: number, tall: number, wide: number, rows: number, columns: number}} picture
 * @param {number} query
 * @param {number} key
 */
export function cellAt({ q0, k0, tall, wide, rows, columns }, query, key) {
  const [row, column] = [Math.floor((query - q0) / tall), Math.floor((key - k0) / wide)];
  return row >= 0 && column >= 0 && row < rows && column < columns ? { row, column } : null;
}

/**
 * What is said of the queries that are among no brightest pairs, since each sees one key alone.
 * @param {number} lone how many
 * @param {number} n of how many queries
 */
export function leftOut(lone, n) {
  if (!lone) return "";
  if (lone === 1) return "One query sees one key alone and is left out: that weight is 1 whatever the text.";
  const who = lone === n ? "All" : lone.toLocaleString("en");
  return `${who} queries see one key alone and are left out: that weight is 1 whatever the text.`;
}
