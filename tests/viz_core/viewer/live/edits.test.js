import assert from "node:assert/strict";
import { test } from "node:test";
import { afterPress, condition, factors, headsOff } from "../../../../viz_core/viewer/live/edits.js";

const HEAD = "encoder.1.self heads 2: zero";

test("a press switches a head off, and the next one on", () => {
  const off = afterPress(["decoder.0.cross: zero"], HEAD, "switch", 4);
  assert.deepEqual(headsOff(off), { "decoder.0.cross": null, "encoder.1.self": [2] });
  assert.deepEqual(afterPress(off, HEAD, "switch", 4), ["decoder.0.cross: zero"]);
  assert.deepEqual(afterPress(["encoder.1.self: zero"], HEAD, "switch", 4), [
    "encoder.1.self heads 0,1,3: zero",
  ]);
  assert.deepEqual(afterPress(off, HEAD, "put", 4), off);
  assert.deepEqual(afterPress(off, "encoder.1.self: zero", "undo", 4), ["decoder.0.cross: zero"]);
});

test("heads are counted for a sentence and given to a pass", () => {
  assert.equal(condition(["encoder.0.self heads 0-2: zero", HEAD]), "Without these 4 heads");
  assert.equal(condition(["encoder.0.self: zero"]), "With this edit");
  assert.deepEqual([...factors([HEAD], ["encoder.0.self", "encoder.1.self"], 3)], [1, 1, 1, 1, 1, 0]);
  assert.throws(() => factors([HEAD], ["encoder.1.self"], 2), /head.* 2 is not there; give 0 to 1/);
  assert.throws(() => factors([HEAD], ["decoder.0.self"], 4), /encoder.1.self is no attention of this model/);
});
