import assert from "node:assert/strict";
import { test } from "node:test";
import { isOff, readyEdits, toggled, touches, withCell } from "../../../../pages/explore/stage/edits.js";

const VIEW = { view: "grid", stack: "encoder.self", layer: 1, head: 3, query: 10, key: 4 };
const lineOf = (value, view = VIEW, feeds = true) =>
  readyEdits(view, { feeds }).find((each) => each.value === value)?.line;

test("the edits of a press name the open head, its row, and its layer", () => {
  assert.equal(lineOf("zero"), "encoder.1.self heads 3: zero");
  assert.equal(lineOf("uniform"), "encoder.1.self.pattern heads 3: uniform");
  assert.equal(lineOf("ff"), "encoder.1.ff: zero");
  assert.equal(lineOf("whole"), "encoder.1: off");
  assert.equal(lineOf("only"), undefined); // no row is marked in the grid
  assert.equal(lineOf("only", { ...VIEW, view: "head" }), "encoder.1.self.pattern heads 3 at 10: only 4");
  assert.equal(lineOf("ff", VIEW, false), undefined);
  const cross = { ...VIEW, stack: "decoder.cross" };
  assert.equal(lineOf("layer", cross), "decoder.1.cross: zero");
  assert.equal(lineOf("identity", cross), undefined);
});

test("an edit takes the place of one at the same place, and goes when it is made again", () => {
  const off = "encoder.1.self heads 3: zero";
  assert.deepEqual(toggled(["encoder.0: off"], off), ["encoder.0: off", off]);
  assert.deepEqual(toggled(["encoder.1.self heads 3: mean", "encoder.0: off"], off), ["encoder.0: off", off]);
  assert.deepEqual(toggled([off], off), []);
  assert.equal(isOff([off], "encoder.self", 1, 3), true);
  assert.equal(isOff([off], "encoder.self", 1, 2), false);
});

test("a cell joins those of its row that are set already", () => {
  const place = "encoder.1.self.pattern heads 3 at 10: ";
  const first = withCell([], VIEW, 0.8, true);
  assert.deepEqual(first, [`${place}set 4=0.8 renormalised`]);
  const second = withCell(first, { ...VIEW, key: 2 }, 0.15, false);
  assert.deepEqual(second, [`${place}set 2=0.15 4=0.8`]);
  assert.deepEqual(withCell(second, VIEW, 0.5, true), [`${place}set 2=0.15 4=0.5 renormalised`]);
  const others = [`${place}uniform`, "encoder.0: off"];
  assert.deepEqual(withCell(others, VIEW, 1, false), ["encoder.0: off", `${place}set 4=1`]);
});

test("an attention is touched by edits of its own values alone", () => {
  const lines = ["encoder.1.self.pattern heads 3: uniform"];
  assert.equal(touches(lines, "encoder.self", 1), true);
  assert.equal(touches(lines, "encoder.self", 0), false);
  assert.equal(touches(lines, "decoder.self", 1), false);
});
