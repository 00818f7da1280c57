import assert from "node:assert/strict";
import { test } from "node:test";
import { extent, Framed, readMessage } from "../../../../viz_core/viewer/browser/message.js";

/* A message as pack.py writes it, at an odd place of a larger buffer, as a websocket may deliver it. */
function message(header, arrays) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const whole = new Uint8Array(3 + start + arrays.length);
  new DataView(whole.buffer).setUint32(3, text.length, true);
  whole.set(text, 7);
  whole.set(arrays, 3 + start);
  return whole.subarray(3);
}

test("arrays come with their shapes, wherever the header points to them", () => {
  const numbers = new Uint8Array(Float32Array.of(1.5, -2, 3, 4).buffer);
  const read = readMessage(message({ é: "“", deep: [{ values: { $: [0, "float32", [2, 2]] } }] }, numbers));
  assert.equal(read.é, "“");
  const { values } = read.deep[0];
  assert.deepEqual([...values.frame(1, 1)], [3, 4]);
  assert.deepEqual([...values.frame(1, 2)], [1.5, -2, 3, 4]);
  assert.deepEqual([values.size(1), values.size(2)], [2, 2]);
});

test("half precision keeps its values: normal, subnormal, infinite, none", () => {
  const bits = new Uint8Array(Uint16Array.of(0x3c00, 0xc000, 0x0001, 0x7bff, 0xfc00, 0x7e00).buffer);
  const { x } = readMessage(message({ x: { $: [0, "float16", [6]] } }, bits));
  assert.deepEqual([...x.values], [1, -2, 2 ** -24, 65504, -Infinity, NaN]);
});

test("an array without frames is the same in each", () => {
  const still = new Framed(Float32Array.of(1, 2), [2]);
  assert.deepEqual([...still.frame(7, 1)], [1, 2]);
  assert.deepEqual([...still.entry(1)], [2]);
});

test("the extent leaves out what is no number", () => {
  assert.deepEqual(extent([3, NaN, -Infinity, -1]), [-1, 3]);
  assert.deepEqual(extent([NaN]), [0, 1]);
});
