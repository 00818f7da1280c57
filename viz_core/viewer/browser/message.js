/* A message of the server: its header, with the arrays that it points into put in. Written by pack.py. */

import { read } from "./words.js";

/** @typedef {Float32Array | Int32Array | Uint8Array} Numbers */
const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

/* Half precision (IEEE 754, 5 bits of exponent, 10 of fraction); not every browser has an array of it. */
/** @type {Float32Array | undefined} */ let halfValues;

/** @param {number} bits */
function halfValue(bits) {
  const [exponent, fraction, sign] = [(bits >> 10) & 31, bits & 1023, bits >> 15 ? -1 : 1];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

/** @param {ArrayBuffer} buffer @param {number} offset @param {number} length */
function halves(buffer, offset, length) {
  halfValues ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => halfValue(bits));
  const known = halfValues;
  return Float32Array.from(new Uint16Array(buffer, offset, length), (bits) => known[bits]);
}

/* An array [*frame, ...]; without a frame axis it is the same in every frame. */
export class Framed {
  /** @param {Numbers} values @param {number[]} shape */
  constructor(values, shape) {
    this.values = values;
    this.shape = shape;
  }

  /** The numbers of one frame, which has `axes` axes. @param {number} at @param {number} axes */
  frame(at, axes) {
    return this.shape.length === axes ? this.values : this.entry(at);
  }

  /** The numbers at one place of the first axis. @param {number} at */
  entry(at) {
    const size = this.values.length / this.shape[0];
    return this.values.subarray(at * size, (at + 1) * size);
  }

  /** @param {number} axisFromEnd */
  size(axisFromEnd) {
    return this.shape[this.shape.length - axisFromEnd];
  }
}

/** The header alone, as it was sent: arrays are told by their places. @param {Uint8Array} bytes
   @returns {Record<string, any>} */
export function headerOf(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
}

/** @param {Uint8Array} bytes @param {typeof read} say what a field says to whoever reads the message */
export function readMessage(bytes, say = read) {
  const { buffer } = bytes.slice(); // a fresh buffer, so that typed arrays are aligned
  const start = Math.ceil((4 + new DataView(buffer).getUint32(0, true)) / 8) * 8;
  /** Far quicker than JSON's own way, which calls for each number, too. @param {string} name
     @param {any} value @returns {any} */
  const filled = (name, value) => {
    if (typeof value !== "object" || value === null)
      return typeof value === "string" ? say(name, value) : value;
    if (Array.isArray(value)) {
      for (
        let at = 0;
        at < value.length;
        at++ // texts in a list are the list's to say
      )
        if (typeof value[at] === "object") value[at] = filled("", value[at]);
      return name ? say(name, value) : value;
    }
    if (!value.$) {
      for (const each of Object.keys(value)) value[each] = filled(each, value[each]);
      return say(name, value);
    }
    /** @type {[number, keyof typeof ARRAY_TYPES | "float16", number[]]} */
    const [offset, type, shape] = value.$;
    const count = shape.reduce((a, b) => a * b, 1);
    if (type === "float16") return new Framed(halves(buffer, start + offset, count), shape);
    return new Framed(new ARRAY_TYPES[type](buffer, start + offset, count), shape);
  };
  return filled("", headerOf(bytes));
}

/** A header as the bytes that `readMessage` reads. @param {Record<string, any>} header */
export function packMessage(header) {
  /** @type {Framed["values"][]} */ const arrays = [];
  let size = 0;
  const text = JSON.stringify(header, (_name, value) => {
    if (!(value instanceof Framed)) return value;
    const type = value.values.constructor.name.replace("Array", "").toLowerCase();
    const place = { $: [size, type, value.shape] };
    arrays.push(value.values);
    size += Math.ceil(value.values.byteLength / 8) * 8;
    return place;
  });
  const json = new TextEncoder().encode(text);
  let at = Math.ceil((4 + json.length) / 8) * 8;
  const bytes = new Uint8Array(at + size);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, 4);
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += Math.ceil(byteLength / 8) * 8;
  }
  return bytes;
}

/** The smallest and largest finite number of an array. @param {Iterable<number>} values */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 1] : [low, high];
}
