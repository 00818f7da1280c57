/* A model of transformers comes in parts, as pages/explore/live.py writes them: its tokenizer, its graph, and
   its weights in fewer bits, of which the runtime gets float32. */

import { bytesAt } from "../browser/files.js";
import { readMessage } from "../browser/message.js";

/** @import { Framed } from "../browser/message.js" */
/** @import { Model } from "./types" */
/** @typedef {{name: string, turned: boolean, factor: number}} Place a tensor of the graph; one that is turned
   has the rows as its columns */
/** @typedef {{values: Framed, steps: Framed | null, first: number, rows: number, goes: Place[]}} Piece some
   rows of a matrix of so many: float16, or bytes that count the row's steps from the middle */
/** @typedef {Map<string, Float32Array>} Tensors by their names in the graph */

const MIDDLE = 128;
const asWritten = (/** @type {string} */ _, /** @type {any} */ value) => value;

/** Puts the numbers of a piece where they go. @param {Tensors} tensors @param {Piece} piece */
export function fill(tensors, { values: { values, shape }, steps, first, rows, goes }) {
  const [count, width] = shape;
  for (const { name, turned, factor } of goes) {
    const tensor = tensors.get(name) ?? new Float32Array(rows * width);
    tensors.set(name, tensor);
    for (let row = 0; row < count; row++) {
      const [step, middle] = steps ? [steps.values[row] * factor, MIDDLE] : [factor, 0];
      let [from, to] = [row * width, turned ? first + row : (first + row) * width];
      for (const stop = from + width; from < stop; from++, to += turned ? rows : 1)
        tensor[to] = (values[from] - middle) * step;
    }
  }
}

/** Fetches the parts of a model, which gets what it reads texts by.
   @param {string} folder @param {Model} model @param {Record<string, number>} sizes the bytes of each file
   @param {(come: number, all: number) => void} tell hears of the bytes that have come
   @returns {Promise<{graph: Uint8Array, externalData: {path: string, data: Uint8Array}[]}>} */
export async function openParts(folder, model, sizes, tell) {
  const all = Object.values(sizes).reduce((a, b) => a + b);
  let come = 0;
  /** @type {Tensors} */ const tensors = new Map();
  const fetched = Object.entries(sizes).map(async ([file, size], at) => {
    const bytes = await bytesAt(folder + file, true);
    tell((come += size), all);
    if (at < 2) return bytes;
    for (const piece of readMessage(bytes, asWritten).pieces) fill(tensors, piece);
    return bytes.subarray(0, 0);
  });
  const { Tokenizer } = await import(`${new URL(folder, location.href).href}tokenizers.js`);
  const [words, graph] = await Promise.all(fetched);
  const { file, config, pieces, left } = JSON.parse(new TextDecoder().decode(words));
  const own = new Tokenizer(file, config);
  const mask = config.mask_token?.content ?? config.mask_token;
  Object.assign(model, { tokenizer: { kind: "own", own, mask }, pieces, names: pieces, left: new Set(left) });
  const bytesOf = (/** @type {Float32Array} */ { buffer }) => new Uint8Array(buffer);
  return { graph, externalData: [...tensors].map(([path, numbers]) => ({ path, data: bytesOf(numbers) })) };
}
