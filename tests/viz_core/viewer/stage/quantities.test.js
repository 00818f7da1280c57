import assert from "node:assert/strict";
import { test } from "node:test";
import { fitting, isSigned, numbersOf, requestOf } from "../../../../viz_core/viewer/stage/quantities.js";

const VIEW = { view: "head", show: "flow", stack: "encoder.self", layer: 1, head: 2, q0: 0, k0: 5 };
const SENT = { asked: ["flow", "encoder.self", 1, 2, 0, 5], values: [1, 2], shape: [1, 2] };

test("only quantities that the trace does not have are asked for, and only where a head is open", () => {
  assert.deepEqual(requestOf(VIEW), {
    type: "further",
    show: "flow",
    stack: "encoder.self",
    layer: 1,
    head: 2,
    q0: 0,
    k0: 5,
  });
  assert.equal(requestOf({ ...VIEW, view: "lines" }), null);
  for (const show of ["pattern", "scores", "dots"]) assert.equal(requestOf({ ...VIEW, show }), null);
});

test("what was computed of another head, window or quantity is not shown", () => {
  assert.equal(fitting(SENT, requestOf(VIEW)), SENT);
  for (const other of [{ head: 1 }, { k0: 0 }, { show: "rollout" }, { show: "pattern" }])
    assert.equal(fitting(SENT, requestOf({ ...VIEW, ...other })), null);
  assert.equal(fitting(undefined, requestOf(VIEW)), null);
  assert.equal(fitting({}, requestOf(VIEW)), null);
});

test("cells without a number stay blank", () => {
  assert.deepEqual([...numbersOf(SENT, { nq: 1, nk: 2 })], [1, 2]);
  assert.deepEqual([...numbersOf(SENT, { nq: 2, nk: 1 })], [Number.NaN, Number.NaN]);
  assert.deepEqual([...numbersOf(null, { nq: 1, nk: 1 })], [Number.NaN]);
  assert.deepEqual(["pattern", "scores", "dots", "length"].map(isSigned), [false, true, true, false]);
});
