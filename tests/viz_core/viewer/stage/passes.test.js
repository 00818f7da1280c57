import assert from "node:assert/strict";
import { test } from "node:test";
import { matrixOf, passesOf, timesOf } from "../../../../viz_core/viewer/stage/data.js";

/** Arrays of two heads as the server frames them. */
const framed = (...rows) => ({ entry: (at) => Float32Array.from(rows[at]) });
const stack = (thumb) => ({
  id: "encoder.self",
  layers: [0],
  heads: 2,
  dHead: 1,
  normalizer: "softmax",
  thumbs: framed([0, 0], thumb),
  stats: {},
});
const block = (pattern, scores, q) => ({
  ...{ stack: "encoder.self", layer: 0, heads: [1], q0: 3, k0: 0, nq: 1, nk: 2 },
  arrays: { pattern: framed(pattern), scores: framed(scores), q: framed(q), k: framed([1, 2]) },
});
const HEADER = {
  stacks: [stack([255, 0])],
  exact: [block([1, 0], [4, -Infinity], [4])],
  before: { stacks: [stack([155, 100])], exact: [block([0.25, 0.75], [1, 2], [1])], steps: ["before"] },
};

test("the difference is what came with the edits less what was there without them", () => {
  const { after, before, difference } = passesOf(HEADER);
  assert.deepEqual([...before.exact("encoder.self", 0, 1).pattern], [0.25, 0.75]);
  assert.deepEqual([...after.exact("encoder.self", 0, 1).pattern], [1, 0]);
  assert.deepEqual(before.header.steps, ["before"]);
  const found = difference.exact("encoder.self", 0, 1);
  assert.deepEqual([...found.pattern], [0.75, -0.75]);
  assert.deepEqual([...found.scores], [3, -Infinity]);
  assert.deepEqual([...matrixOf(found, "dots")], [3, 6]);
  assert.equal(found.q0, 3);
  assert.deepEqual([...difference.thumb(HEADER.stacks[0], 0, 1)], [100, -100]);
  assert.deepEqual([after.signed, difference.signed], [false, true]);
  assert.equal(difference.exact("encoder.self", 0, 0), null);
});

test("without edits there is one pass, and no choice", () => {
  const { before: _, ...plain } = HEADER;
  assert.deepEqual(Object.keys(passesOf(plain)), ["after"]);
  assert.deepEqual(timesOf("grid", plain), ["after"]);
  assert.deepEqual(timesOf("grid", HEADER), ["after", "before", "difference"]);
  assert.deepEqual(timesOf("lines", HEADER), ["after", "before"]);
  assert.deepEqual(timesOf("map", HEADER), ["after"]);
});
