import assert from "node:assert/strict";
import { test } from "node:test";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";
import {
  boxOf,
  elsewhere,
  lay,
  placeAt,
  stepped,
  weighed,
} from "../../../../viz_core/viewer/stage/pictures.js";
import { seenFrom } from "../../../../viz_core/viewer/stage/view.js";

const PATCHES = [
  [1, 2, 3],
  [4, 5, 6],
]; // [CLS] is position 0
const ROWS = [
  [1, 1],
  [2, 2],
  [3, 3],
]; // of pixels: a position reads a row

test("a point of the picture belongs to the position that reads it", () => {
  assert.equal(placeAt(PATCHES, 0, 0), 1);
  assert.equal(placeAt(PATCHES, 0.49, 0.99), 3);
  assert.equal(placeAt(PATCHES, 0.51, 0.34), 5);
  assert.equal(placeAt(PATCHES, 1, 1), 6);
  assert.equal(placeAt(PATCHES, -0.2, 2), 3);
});

test("the part that a position reads, of pixels too, and none for a token beside them", () => {
  assert.deepEqual(boxOf(PATCHES, 5), { top: 1 / 2, left: 1 / 3, height: 1 / 2, width: 1 / 3 });
  assert.deepEqual(boxOf(ROWS, 2), { top: 1 / 3, left: 0, height: 1 / 3, width: 1 });
  assert.equal(boxOf(PATCHES, 0), null);
});

test("arrow keys go to the next part and stay at an edge; from a token beside them, to the first", () => {
  assert.equal(stepped(PATCHES, 1, [0, 1]), 2);
  assert.equal(stepped(PATCHES, 2, [1, 0]), 5);
  assert.equal(stepped(PATCHES, 3, [0, 1]), 3);
  assert.equal(stepped(PATCHES, 4, [0, -1]), 4);
  assert.equal(stepped(ROWS, 1, [1, 0]), 2);
  assert.equal(stepped(PATCHES, 0, [0, 1]), 1);
});

test("each part has its position's weight, and the tokens that read none are found", () => {
  const row = { weights: Float64Array.of(0.5, 0.1, 0, 0.2, 0, 0.15, 0.05), k0: 0, heads: [0] };
  assert.deepEqual(weighed(PATCHES, row), {
    weights: [
      [0.1, 0, 0.2],
      [0, 0.15, 0.05],
    ],
    most: 0.2,
  });
  assert.deepEqual(weighed(ROWS, null).most, 0);
  assert.deepEqual(elsewhere(PATCHES, 7), [0]);
  assert.deepEqual(elsewhere(ROWS, 5), [0, 4]);
});

test("the colour lies thickest on the greatest weight, each part in its place", () => {
  const laid = [];
  const context = {
    globalAlpha: 1,
    fillRect: (...box) => laid.push([...box, context.globalAlpha]),
  };
  lay(context, { weights: [[0.1, 0.4]], most: 0.4 }, "#123456", 20, 10);
  assert.deepEqual(laid, [
    [0, 0, 10, 10, 0.85 / 4],
    [10, 0, 10, 10, 0.85],
  ]);
  assert.deepEqual([context.fillStyle, context.globalAlpha], ["#123456", 1]);
});

const framed = (values, ...shape) => new Framed(Float32Array.from(values), shape);
// two tokens; the mean and heads 0 and 3 of layer 1
const SIGHT = {
  layers: [
    {
      layer: 1,
      heads: [0, 3],
      weights: framed([0.5, 0.5, 0.25, 0.75, 1, 0, 0.5, 0.5, 0, 1, 0, 1], 3, 2, 2),
    },
  ],
  rolled: framed([0.75, 0.25, 0.125, 0.875], 2, 2),
};
const DATA = { header: { sight: SIGHT }, stack: () => ({ heads: 4 }) };
const VIEW = { view: "picture", sight: "head", stack: "encoder.self", layer: 1, head: 3, heads: [0, 3] };
const seen = (change, query = 1) => seenFrom({ ...VIEW, ...change }, DATA, query);

test("a picture is seen through a head, the mean of all, or all layers rolled out", () => {
  assert.deepEqual(seen({}), { weights: Float64Array.of(0, 1), k0: 0, heads: [3] });
  assert.deepEqual(seen({ sight: "mean" }), {
    weights: Float64Array.of(0.25, 0.75),
    k0: 0,
    heads: [0, 1, 2, 3],
  });
  assert.deepEqual(seen({ sight: "rolled" }), {
    weights: Float64Array.of(0.125, 0.875),
    k0: 0,
    heads: [],
  });
  assert.deepEqual(seen({ sight: "rolled", layer: 0 }).weights, Float64Array.of(0.125, 0.875));
});

test("beside other views it is the heads that these show; what was not sent is not made up", () => {
  assert.deepEqual(seen({ view: "grid", sight: "mean", head: 0 }).weights, Float64Array.of(0.5, 0.5));
  assert.deepEqual(seen({ view: "lines" }).weights, Float64Array.of(0.25, 0.75));
  assert.equal(seen({ head: 2 }), null);
  assert.equal(seen({ layer: 0 }), null);
  assert.equal(seenFrom(VIEW, { header: {} }, 0), null);
});
