import assert from "node:assert/strict";
import { test } from "node:test";
import {
  colourLevels,
  cssColour,
  inkOn,
  levelsBetween,
  lookupTable,
} from "../../../../viz_core/viewer/browser/images.js";

const levels = (values, columns, range, signed) => {
  const { level, extent } = colourLevels(values, columns, range, signed);
  return [values.map((_, at) => level(at)), extent];
};

test("weights run from 0 to 1, to the row's largest, or over four powers of ten", () => {
  assert.deepEqual(levels([0, 0.2, 1, 0.1], 2, "full", false), [[0, 51, 255, 26], 1]);
  assert.deepEqual(levels([0, 0.2, 1, 0.1], 2, "row", false)[0], [0, 255, 255, 26]);
  assert.deepEqual(levels([1, 0.01, 0.0001, 0], 4, "log", false)[0], [255, 128, 0, 0]);
});

test("signed values lie around the middle, masked ones nowhere", () => {
  assert.deepEqual(levels([-2, 0, 1, -Infinity], 2, "full", true), [[0, 128, 191, null], 2]);
  assert.deepEqual(levels([-2, 0, 1, -Infinity], 2, "row", true)[0], [0, 128, 255, null]);
});

test("a table of colours comes as hexadecimal digits, and ink reads on it", () => {
  const table = lookupTable("ffffff0b62a8");
  assert.equal(cssColour(table, 1), "rgb(11,98,168)");
  assert.deepEqual([inkOn(table, 0), inkOn(table, 1)], ["#000", "#fff"]);
});

test("a scale has its own ends; what is no number has no colour", () => {
  const level = levelsBetween([-1, 0, 1, 3, NaN, -Infinity], -1, 1);
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(level), [0, 128, 255, 255, null, null]);
});
