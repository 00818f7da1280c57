import assert from "node:assert/strict";
import { test } from "node:test";
import { boxOf } from "../../../../viz_core/viewer/board/cursor.js";

const body = { left: 10, top: 20, width: 100, height: 40 };
const whole = { x: [-0.5, 9.5], y: [3.5, -0.5] }; // 10 columns, 4 rows, the first on top

test("the frame lies on its cell", () => {
  assert.deepEqual(boxOf(whole, body, 0, 0), { left: 10, top: 20, w: 10, h: 10 });
  assert.deepEqual(boxOf(whole, body, 3, 9), { left: 100, top: 50, w: 10, h: 10 });
});

test("a small cell has a frame that can be seen, around its middle", () => {
  const many = { x: [-0.5, 99.5], y: [39.5, -0.5] };
  const { left, top, w, h } = boxOf(many, body, 0, 0);
  assert.deepEqual([left, top, w, h], [10.5 - 3.5, 20.5 - 3.5, 7, 7]);
});

test("what is zoomed out of sight has none", () => {
  const zoomed = { x: [4.5, 9.5], y: [3.5, -0.5] };
  assert.equal(boxOf(zoomed, body, 0, 4), null);
  assert.deepEqual(boxOf(zoomed, body, 0, 5), { left: 10, top: 20, w: 20, h: 10 });
});
