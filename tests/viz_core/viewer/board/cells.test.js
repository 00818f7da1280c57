import assert from "node:assert/strict";
import { test } from "node:test";
import {
  choiceOf,
  colourLevel,
  nextCell,
  reachOf,
  sentCells,
} from "../../../../viz_core/viewer/board/cells.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

test("the strongest colour is 1 for weights, the given reach, or the largest number of all frames", () => {
  const values = new Framed(Float32Array.of(1, -3, 2, NaN, -Infinity, 0), [3, 1, 2]);
  assert.equal(reachOf({ scale: "weights", reach: 5, values }), 1);
  assert.equal(reachOf({ scale: "signed", reach: 5, values }), 5);
  assert.equal(reachOf({ scale: "signed", reach: null, values }), 3);
  assert.equal(reachOf({ scale: "plain", reach: null, values: new Framed(new Float32Array(2), [1, 2]) }), 1);
});

test("weights are coloured from 0 up, signed numbers around the middle, others not at all", () => {
  const levels = (scale, reach, values) => values.map((value) => colourLevel(scale, reach, value));
  assert.deepEqual(levels("weights", 1, [-0.5, 0, 0.2, 1, 7]), [0, 0, 51, 255, 255]);
  assert.deepEqual(levels("signed", 2, [-9, -2, 0, 1, 2]), [0, 0, 128, 191, 255]);
  assert.deepEqual(levels("signed", 2, [NaN, Infinity, -Infinity]), [null, null, null]);
  assert.deepEqual(levels("plain", 2, [1]), [null]);
});

test("cells are sent row by row, a mask without commas", () => {
  assert.equal(sentCells(["1", "-2.5", "0", "1e3"], 2, false), "1,-2.5;0,1e3");
  assert.equal(sentCells(["1", "0", "1", "1", "0", "0"], 3, true), "101;100");
});

test("a press on a cell sends its place", () => {
  assert.deepEqual(choiceOf({ choose: "place" }, 1, 3), { type: "edit", field: "place", value: "1.3" });
});

test("arrow keys walk over the cells and stop at the edges", () => {
  const from = (at) =>
    ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"].map((key) => nextCell(key, at, 3, 6));
  assert.deepEqual(from(1), [0, 2, 1, 4]);
  assert.deepEqual(from(2), [1, 2, 2, 5]);
  assert.deepEqual(from(3), [3, 4, 0, 3]);
  assert.equal(nextCell("Enter", 1, 3, 6), null);
});
