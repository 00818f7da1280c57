/* What is made of the tensors of a pass: windows, thumbnails, sums, probabilities; and a header as bytes. */

import { Framed } from "../browser/message.js";
import { upTo } from "../stage/view.js";

/** @import { Tensor } from "./types" */
/** @typedef {[first: number, count: number]} Span */

/** As Python writes so many digits, and reads them again. @param {number} value */
export const rounded = (value, digits = 6) => Number(value.toPrecision(digits));

/** The nearest whole number, of two alike the even one. @param {number} value */
const even = (value) => (value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** @param {number} value */
export const fourDigits = (value) => even(value * 1e4) / 1e4;

/** The first and the last position of each of at most `size` bins.
   @param {number} length @param {number} size */
function binsOf(length, size) {
  const bins = Math.min(size, length);
  return upTo(bins).map((at) => [at, at + 1].map((edge) => Math.floor((edge * length) / bins)));
}

/** The largest weight of each bin as a byte, [head, query, key].
   @param {Tensor} pattern @param {number} size */
export function thumbnails({ data, dims: [heads, nQuery, nKey] }, size) {
  const [rows, columns] = [binsOf(nQuery, size), binsOf(nKey, size)];
  const bytes = new Uint8Array(heads * rows.length * columns.length);
  let at = 0;
  for (let head = 0; head < heads; head++)
    for (const [q0, q1] of rows)
      for (const [k0, k1] of columns) {
        let most = 0;
        for (let q = q0; q < q1; q++)
          for (let k = k0; k < k1; k++) most = Math.max(most, data[(head * nQuery + q) * nKey + k]);
        bytes[at++] = even(Math.fround(Math.fround(Math.min(most, 1)) * 255));
      }
  return new Framed(bytes, [heads, rows.length, columns.length]);
}

/** Some heads of an array.
   @param {Tensor} tensor @param {number[]} heads @param {Span} rows @param {Span} columns */
export function windowOf({ data, dims: [, n, width] }, heads, [r0, nr], [c0, nc]) {
  const part = new Float32Array(heads.length * nr * nc);
  heads.forEach((head, place) => {
    for (let row = 0; row < nr; row++) {
      const start = (head * n + r0 + row) * width + c0;
      part.set(data.subarray(start, start + nc), (place * nr + row) * nc);
    }
  });
  return { data: part, dims: [heads.length, nr, nc] };
}

/** The weight of each row on some keys. @param {Tensor} pattern @param {(key: number) => boolean} counts */
export function rowSums({ data, dims: [heads, nQuery, nKey] }, counts) {
  const keys = upTo(nKey).filter(counts);
  return Float32Array.from({ length: heads * nQuery }, (_, row) =>
    keys.reduce((sum, key) => sum + data[row * nKey + key], 0),
  );
}

/** The rows of an array [row, column]. @param {Tensor} tensor */
export const rowsOf = ({ data, dims: [n, width] }) =>
  upTo(n).map((row) => data.subarray(row * width, (row + 1) * width));

/** @param {Float32Array} row */
export function logSoftmax(row) {
  let [most, sum] = [-Infinity, 0];
  for (let at = 0; at < row.length; at++) most = Math.max(most, row[at]); // 50,000 may be in a row
  for (let at = 0; at < row.length; at++) sum += Math.exp(row[at] - most);
  const below = most + Math.log(sum);
  const known = new Float64Array(row.length);
  for (let at = 0; at < row.length; at++) known[at] = row[at] - below;
  return known;
}

/** The places of the largest numbers, in their order.
   @param {ArrayLike<number>} values @param {number} count */
export function top(values, count) {
  /** @type {number[]} */ const best = [];
  for (let at = 0; at < values.length; at++) {
    if (best.length === count && !(values[at] > values[best[count - 1]])) continue;
    const place = best.findIndex((other) => values[at] > values[other]);
    best.splice(place < 0 ? best.length : place, 0, at);
    if (best.length > count) best.pop();
  }
  return best;
}
