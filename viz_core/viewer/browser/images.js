/* Colours of numbers, and pictures of them. */

import { contextOf } from "./dom.js";

/** @typedef {Uint8ClampedArray} Table red, green, blue of 256 colours */
/** @typedef {(at: number) => number | null} Level from a cell to 0..255, or to null where it is blank */

/** @param {string} hex */
export function lookupTable(hex) {
  const table = new Uint8ClampedArray(hex.length / 2);
  for (let i = 0; i < table.length; i++) table[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return table;
}

/** An image of `width` x `height` cells.
   @param {number} width @param {number} height @param {Level} level @param {Table} table */
export function imageOf(width, height, level, table) {
  const image = new ImageData(width, height);
  const pixels = image.data;
  for (let at = 0; at < width * height; at++) {
    const value = level(at);
    if (value === null) continue;
    const from = 3 * value;
    pixels[4 * at] = table[from];
    pixels[4 * at + 1] = table[from + 1];
    pixels[4 * at + 2] = table[from + 2];
    pixels[4 * at + 3] = 255;
  }
  return canvasOf(image);
}

/** The colour levels of numbers on a scale from `low` to `high`; what lies outside has the colour of its end.
   @param {ArrayLike<number>} values @param {number} low @param {number} high @returns {Level} */
export function levelsBetween(values, low, high) {
  return (at) =>
    Number.isFinite(values[at])
      ? Math.round(Math.max(0, Math.min(1, (values[at] - low) / (high - low))) * 255)
      : null;
}

/** The colour levels of a matrix [query, key], and the number of the strongest colour. Weights run from 0 to
   1, to the row's largest, or over four powers of ten; signed values lie around 127.5.
   @param {ArrayLike<number>} values @param {number} columns @param {string} range "full", "row" or "log"
   @param {boolean} signed
   @param {number | undefined} common the number of the strongest colour of signed values, else their largest
   @returns {{level: Level, extent: number}} */
export function colourLevels(values, columns, range, signed, common = undefined) {
  const size = (/** @type {number} */ value) => (Number.isFinite(value) ? Math.abs(value) : 0);
  /** @param {number} from @param {number} to */
  const largest = (from, to) => {
    let most = 1e-12;
    for (let at = from; at < to; at++) most = Math.max(most, size(values[at]));
    return most;
  };
  const extent = signed ? (common ?? largest(0, values.length)) : 1;
  /** @type {number[]} */ const rows = [];
  if (range === "row")
    for (let at = 0; at < values.length; at += columns) rows.push(largest(at, at + columns));
  const reach = (/** @type {number} */ at) => (range === "row" ? rows[Math.floor(at / columns)] : extent);
  /** @type {Level} */
  const level = (at) => {
    const value = values[at];
    if (value === -Infinity) return null;
    if (signed) return Math.round(127.5 + (127.5 * value) / reach(at));
    if (range === "log") return Math.round(255 * Math.max(0, 1 + Math.log10(Math.max(value, 1e-12)) / 4));
    return Math.round((255 * value) / reach(at));
  };
  return { level, extent };
}

/** @type {{canvas?: HTMLCanvasElement, table?: Table, colours: Uint32Array}} */
const kept = { colours: new Uint32Array(256) };

/** The same for bytes that are levels already, for the many thumbnails of a grid: one look-up a cell, and one
   canvas for all, to be drawn from before the next one is made.
   @param {number} width @param {number} height @param {ArrayLike<number>} bytes @param {Table} table */
export function imageOfBytes(width, height, bytes, table) {
  const { colours } = kept;
  if (kept.table !== table) {
    const parts = new Uint8ClampedArray(colours.buffer);
    for (let level = 0; level < 256; level++)
      parts.set([...table.subarray(3 * level, 3 * level + 3), 255], 4 * level);
    kept.table = table;
  }
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < bytes.length; at++) pixels[at] = colours[bytes[at]];
  kept.canvas = canvasOf(image, kept.canvas);
  return kept.canvas;
}

/** @param {ImageData} image */
function canvasOf(image, canvas = document.createElement("canvas")) {
  if (canvas.width !== image.width) canvas.width = image.width;
  if (canvas.height !== image.height) canvas.height = image.height;
  contextOf(canvas).putImageData(image, 0, 0);
  return canvas;
}

/** @param {Table} table @param {number} level */
export function cssColour(table, level) {
  return `rgb(${table[3 * level]},${table[3 * level + 1]},${table[3 * level + 2]})`;
}

/** Black or white, whichever reads better on a colour of the table (relative luminance, WCAG 2).
   @param {Table} table @param {number} level */
export function inkOn(table, level) {
  const [r, g, b] = [0, 1, 2].map((c) => {
    const s = table[3 * level + c] / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}
