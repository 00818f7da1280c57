import assert from "node:assert/strict";
import { test } from "node:test";
import { firstLimit, headAt, measureOf, placeIn, placesOf } from "../../../../viz_core/viewer/stage/data.js";

const STATS = { previous: [0.5, 0.1, 0.9, 0.5, 0, 0.3], entropy: [2, 1, 0.5, 1, 3, 0] };
const STACK = { layers: [0, 1], heads: 3, stats: STATS };
const PREVIOUS = { name: "previous", smallestFirst: false };
const ENTROPY = { name: "entropy", smallestFirst: true };
const HITS = { name: "hits", smallestFirst: false };
const ALL = { order: "value", keep: "all", limit: 0.5 };

const order = (view, measure) => placesOf(STACK, view, measure).map(({ at }) => at);
const passing = (view, measure) =>
  placesOf(STACK, view, measure)
    .filter(({ passes }) => passes)
    .map(({ at }) => at);

test("a measure is chosen where the stack has it", () => {
  const measures = [ENTROPY, PREVIOUS, HITS];
  assert.equal(measureOf(measures, STACK, { sort: "previous" }), PREVIOUS);
  assert.equal(measureOf(measures, STACK, { sort: "hits" }), undefined);
  assert.equal(measureOf(measures, STACK, { sort: "layer" }), undefined);
});

test("heads come largest first, or smallest; equal ones in the model's order", () => {
  assert.deepEqual(order(ALL, PREVIOUS), [2, 0, 3, 5, 1, 4]);
  assert.deepEqual(order(ALL, ENTROPY), [5, 2, 1, 3, 0, 4]);
  assert.deepEqual(order({ ...ALL, order: "layer" }, PREVIOUS), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(order(ALL, undefined), [0, 1, 2, 3, 4, 5]);
  const [first] = placesOf(STACK, ALL, PREVIOUS);
  assert.deepEqual(first, { layer: 0, head: 2, at: 2, passes: true });
});

test("heads of at least or at most a value pass, or so many from the top; all stay in their places", () => {
  assert.deepEqual(passing({ ...ALL, keep: "least", limit: 0.5 }, PREVIOUS), [2, 0, 3]);
  assert.deepEqual(passing({ ...ALL, keep: "most", limit: 0.1 }, PREVIOUS), [1, 4]);
  assert.deepEqual(passing({ ...ALL, keep: "top", limit: 2 }, PREVIOUS), [2, 0]);
  assert.deepEqual(passing({ ...ALL, keep: "top", limit: 2 }, ENTROPY), [5, 2]);
  assert.deepEqual(passing({ ...ALL, keep: "top", limit: 3, order: "layer" }, PREVIOUS), [0, 2, 3]);
  assert.equal(placesOf(STACK, { ...ALL, keep: "least", limit: 9 }, PREVIOUS).length, 6);
  assert.equal(passing({ ...ALL, keep: "least", limit: 9 }, PREVIOUS).length, 0);
  assert.equal(passing({ ...ALL, keep: "top", limit: 1 }, undefined).length, 6);
});

test("a filter begins with five heads, or with the value that half of them reach", () => {
  assert.equal(firstLimit(STATS.previous, "top"), 5);
  assert.equal(firstLimit([1, 2], "top"), 2);
  assert.equal(firstLimit(STATS.previous, "least"), 0.5);
  assert.equal(firstLimit([0.127, 0.125], "most"), 0.13);
});

test("heads have the numbers of the layers that attend, and places in a row", () => {
  const hybrid = { layers: [3, 7], heads: 2, stats: {} };
  const named = placesOf(hybrid, ALL, undefined).map(({ layer, head }) => `${layer}.${head}`);
  assert.deepEqual(named, ["3.0", "3.1", "7.0", "7.1"]);
  assert.equal(placeIn(hybrid, 7, 1), 3);
  assert.deepEqual(headAt(hybrid, 2), { layer: 7, head: 0 });
});
