// Between score and weight: the numbers from which each normalizer's weights follow.

import assert from "node:assert/strict";
import { test } from "node:test";
import { normalizerStep } from "../../../../viz_core/viewer/stage/numbers.js";

const ROW = Float32Array.from([0.5, -1, 2, -Infinity]);
const OPEN = [0.5, -1, 2];
const near = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) < 1e-6, `${a} ${b}`);

test("exponentials over their sum are the softmax", () => {
  const { of, column } = normalizerStep("softmax", ROW, true);
  const total = OPEN.reduce((sum, score) => sum + Math.exp(score), 0);
  const shown = OPEN.map(of).reduce((sum, value) => sum + value, 0);
  for (const score of OPEN) near(of(score) / shown, Math.exp(score) / total);
  assert.equal(of(-Infinity), 0);
  assert.equal(column, "exp(score − largest)");
  assert.equal(normalizerStep("softmax", ROW, false).column, "exp(score − largest here)");
});

test("plus one stands below the exponentials' sum", () => {
  const { of, title } = normalizerStep("softmax-plus-one", ROW, true);
  assert.equal(title, "softmax over the row and a score of 0 that is no key's");
  for (const score of OPEN) near(of(score), Math.exp(score));
});

test("a sigmoid counts the open keys, where all are here", () => {
  const { of } = normalizerStep("sigmoid", ROW, true);
  for (const score of OPEN) near(1 / (1 + Math.exp(-of(score))), 1 / (1 + 3 * Math.exp(-score)));
  assert.equal(of(-Infinity), -Infinity);
  assert.ok(Number.isNaN(normalizerStep("sigmoid", ROW, false).of(1)));
});
