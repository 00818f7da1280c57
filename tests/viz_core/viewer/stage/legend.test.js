import assert from "node:assert/strict";
import { test } from "node:test";
import { windowAround } from "../../../../viz_core/viewer/stage/head.js";
import { legendEnds } from "../../../../viz_core/viewer/stage/side.js";

test("the ends of the colours name the scale", () => {
  assert.deepEqual(legendEnds("full", false, 1), ["0", "0.5", "1"]);
  assert.deepEqual(legendEnds("row", false, 1), ["0", "row's largest"]);
  assert.deepEqual(legendEnds("log", false, 1), ["≤ 0.0001", "0.01", "1"]);
  assert.deepEqual(legendEnds("full", true, 3.456), ["−3.46", "0", "3.46"]);
  assert.deepEqual(legendEnds("row", true, 3.456), ["−row's largest", "0", "+row's largest"]);
});

test("a window lies around where one clicks, and never leaves the matrix", () => {
  assert.deepEqual(
    [windowAround(200, 512, 128), windowAround(3, 512, 128), windowAround(511, 512, 128)],
    [136, 0, 384],
  );
  assert.equal(windowAround(5, 100, 128), 0);
});
