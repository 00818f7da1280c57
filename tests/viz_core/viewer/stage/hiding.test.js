import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beside,
  canHide,
  hiddenInHeads,
  hiddenInRow,
  hidingOf,
  withoutSpecial,
} from "../../../../viz_core/viewer/stage/data.js";

/* A window of two queries from 1 and three keys from 2. */
const SENT = {
  ...{ q0: 1, k0: 2, nq: 2, nk: 3, pattern: Float32Array.of(0.5, 0.25, 0.125, 1, 0, 0) },
  left: Float32Array.of(0.5, 0),
};
const gone = (queries, keys) => ({ queries: new Set(queries), keys: new Set(keys) });

test("hidden keys get nothing, and what is left of a row adds up to one where it is renormalised", () => {
  const hidden = withoutSpecial(SENT, "hidden", gone([], [2]));
  assert.deepEqual([...hidden.pattern], [0, 0.25, 0.125, 0, 0, 0]);
  assert.deepEqual([...hidden.blank], [1, 0, 0, 1, 0, 0]);
  assert.equal(hidden.softmax, SENT.pattern);
  const divided = withoutSpecial(SENT, "renormalised", gone([], [2]));
  assert.deepEqual([...divided.pattern], [0, 0.5, 0.25, 0, 0, 0]); // of the last row nothing is left
});

test("hidden queries have no row; where nothing is hidden the numbers are the trace's own", () => {
  const hidden = withoutSpecial(SENT, "hidden", gone([1], [9]));
  assert.deepEqual([...hidden.pattern], [0, 0, 0, 1, 0, 0]);
  for (const [how, places] of [
    ["shown", gone([1], [2])],
    ["hidden", gone([], [])],
  ]) {
    const same = withoutSpecial(SENT, how, places);
    assert.deepEqual([same.pattern, same.softmax, same.blank], [SENT.pattern, SENT.pattern, undefined]);
  }
});

test("only views of weights can hide, not the plane of queries and keys", () => {
  const able = ["grid", "map", "head", "lines", "numbers", "sums", "picture", "output"].filter((view) =>
    canHide({ view, show: "pattern" }),
  );
  assert.deepEqual(able, ["grid", "head", "lines", "numbers"]);
  assert.equal(hidingOf({ view: "head", show: "plane", special: "hidden" }), "shown");
  assert.equal(hidingOf({ view: "head", show: "dots", special: "hidden" }), "hidden");
});

test("the next token that is not hidden is looked for onwards first, then back", () => {
  const set = new Set([0, 3, 4]);
  assert.deepEqual(
    [0, 2, 3].map((at) => beside(at, 5, set)),
    [1, 2, 2],
  );
  assert.equal(beside(3, 6, set, -1), 2);
  assert.equal(beside(0, 6, set, -1), 1);
  assert.equal(beside(0, 1, set), 0);
});

test("the page says how much lies on what is hidden", () => {
  const said = ["shown", "hidden", "renormalised"].map((how) => hiddenInRow(how, 0.625, 0.375));
  assert.deepEqual(said, ["", "; 0.625 on hidden tokens", "; 0.625 on hidden tokens"]);
  assert.equal(hiddenInRow("renormalised", 1, 0), "; 1.000 on hidden tokens, nothing is left");
  const stack = { layers: [0, 1], heads: 2, hidden: [0.5, 0.25, 0.75, 0.125] };
  const whole = hiddenInHeads("hidden", stack, true);
  assert.match(whole, /^ Special tokens are hidden: 0\.406 of a row lies on them on average \(from/);
  assert.match(whole, /\(from 0\.125 in layer 1 head 1 to 0\.750 in layer 1 head 0\)/);
  assert.match(whole, /Measures include them\.$/);
  assert.match(hiddenInHeads("renormalised", stack, true), /each row is made to add up to 1/);
  assert.equal(hiddenInHeads("hidden", stack, false), " Leaving out special tokens…");
  assert.equal(
    hiddenInHeads("shown", stack, true) +
      hiddenInHeads("hidden", { layers: [0], heads: 2, hidden: [] }, true),
    "",
  );
});
