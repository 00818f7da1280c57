import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterPress,
  byValue,
  chosenOf,
  definitionOf,
  headsOver,
  meanOf,
  positionsOf,
  writtenAs,
} from "../../../../viz_core/viewer/stage/sums.js";

test("positions are written as ranges, and read back within the text", () => {
  for (const [written, positions] of [
    ["0-3.7", [0, 1, 2, 3, 7]],
    ["5", [5]],
    ["", []],
    ["0.2.4-5", [0, 2, 4, 5]],
  ]) {
    assert.deepEqual(positionsOf(written, 9), positions);
    assert.equal(writtenAs(positions), written);
  }
  assert.deepEqual(positionsOf("7.2-9.3", 5), [2, 3, 4]);
});

test("left open, the question of the text is chosen, or the marked cell", () => {
  const stack = { nQuery: 3, nKey: 4 };
  const open = { queries: "", keys: "", query: 1, key: 2 };
  assert.deepEqual(chosenOf(open, stack), { queries: [1], keys: [2] });
  const asks = { queries: [2], keys: [0, 3] };
  assert.deepEqual(chosenOf(open, stack, asks), asks);
  assert.deepEqual(chosenOf({ ...open, keys: "3" }, stack, asks), { queries: [0, 1, 2], keys: [3] });
  assert.deepEqual(chosenOf({ queries: "1", keys: "0.3", key: 2 }, stack), { queries: [1], keys: [0, 3] });
  assert.deepEqual(chosenOf({ queries: "8", keys: "9", key: 2 }, stack).keys, [2]);
});

test("a press adds a token or takes it away, with Shift all up to it; one stays", () => {
  assert.deepEqual(afterPress([1, 4], 3, null), [1, 3, 4]);
  assert.deepEqual(afterPress([1, 4], 4, null), [1]);
  assert.deepEqual(afterPress([4], 4, null), [4]);
  assert.deepEqual(afterPress([4], 1, 3), [1, 2, 3, 4]);
  assert.deepEqual(afterPress([0], 3, 2), [0, 2, 3]);
});

const STACK = { layers: [0, 1], heads: 2, stats: { entropy: [0.5, 2, 1, 3] } };
const VIEW = { layer: 1, head: 0, heads: [1], order: "value", keep: "least", limit: 1 };
const numbers = (over, measure) => headsOver(STACK, { ...VIEW, over }, measure).map(({ at }) => at);

test("the mean is over all heads, a layer, chosen ones, or those that pass the filter", () => {
  const measure = { name: "entropy" };
  assert.deepEqual(numbers("all", measure), [0, 1, 2, 3]);
  assert.deepEqual(numbers("layer", measure), [2, 3]);
  assert.deepEqual(numbers("heads", measure), [3]);
  assert.deepEqual(numbers("passing", measure), [1, 2, 3]);
  assert.deepEqual(numbers("passing", undefined), [0, 1, 2, 3]);
});

test("heads come by their numbers, and the one number is their mean", () => {
  const values = [0.25, 0.5, 0.125, 0.5];
  const heads = headsOver(STACK, { ...VIEW, over: "all" }, undefined);
  assert.deepEqual(
    byValue(values, heads).map(({ at }) => at),
    [1, 3, 0, 2],
  );
  assert.equal(meanOf(values, heads), 0.34375);
  assert.equal(
    definitionOf({ queries: [1], keys: [2, 3] }, 4),
    "is the weight on the 2 chosen keys together, on average over 1 query and 4 heads.",
  );
  assert.match(
    definitionOf({ queries: [1, 2], keys: [2] }, 1),
    /on the chosen key, .* 2 queries and 1 head\.$/,
  );
});
