import assert from "node:assert/strict";
import { test } from "node:test";
import { edited, isOff, readyEdits, setLine, withoutLook } from "../../../../viz_core/viewer/stage/edits.js";
import { searchSentence } from "../../../../viz_core/viewer/stage/effect.js";
import { stroke } from "../../../../viz_core/viewer/stage/weights_by_hand.js";

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

test("a head is off as the server says, alone or with all", () => {
  const at = { stack: "encoder.self", layer: 1, head: 3 };
  assert.equal(isOff({ "encoder.1.self": [0, 3] }, at), true);
  assert.equal(isOff({ "encoder.1.self": [0, 3] }, { ...at, head: 2 }), false);
  assert.equal(isOff({ "encoder.1.self": null }, at), true);
  assert.equal(isOff({ "encoder.0.self": null }, at), false);
});

test("an edit names the heads of its place: some, all of an attention, or all of a layer", () => {
  const at = { stack: "encoder.self", layer: 1, head: 3 };
  const names = (line, place = at) => edited([line])(place);
  assert.equal(names("encoder.1.self.pattern heads 3 at 9: set 2=0.25"), true);
  assert.equal(names("encoder.1.self.v heads 0,2-4: scale 2"), true);
  assert.equal(names("encoder.1.self.v heads 0,4 at 3: scale 2"), false);
  assert.equal(names("encoder.1.self: mean"), true);
  assert.equal(names("encoder.1.self heads all: mean"), true);
  assert.equal(names("encoder.1: off"), true);
  assert.equal(names("decoder.1: off", { ...at, stack: "decoder.cross" }), true);
  assert.equal(names("decoder.1: off"), false);
  assert.equal(names("encoder.0.self heads 3: mean"), false);
  assert.equal(names("encoder.1.cross heads 3: mean"), false);
  for (const place of ["encoder.1.ff", "encoder.1.resid_self", "encoder.embed", 'module "encoder.1.self"'])
    assert.equal(names(`${place}: zero`), false);
});

test("painted cells are written as a line, with three digits", () => {
  const cells = new Map([
    [4, 0.8],
    [2, 1 / 3],
  ]);
  assert.equal(setLine(VIEW, cells), "encoder.1.self.pattern heads 3 at 10: set 4=0.8 2=0.333");
});

test("a stroke paints the bars that the pointer passed between two places", () => {
  assert.deepEqual(stroke(null, { at: 3, weight: 0.5 }), [{ at: 3, weight: 0.5 }]);
  assert.deepEqual(stroke({ at: 3, weight: 0.5 }, { at: 3, weight: 0.25 }), [{ at: 3, weight: 0.25 }]);
  assert.deepEqual(stroke({ at: 4, weight: 0 }, { at: 2, weight: 1 }), [
    { at: 3, weight: 0.5 },
    { at: 2, weight: 1 },
  ]);
});

test("the heads that look from one token at another are switched off together", () => {
  const heads = [0.9, 0.2, 0.5].map((weight) => ({ q0: 4, k0: 1, nk: 2, pattern: [0, 0, 0, weight] }));
  const data = { stack: () => ({ heads: 3 }), exact: (_stack, _layer, head) => heads[head] };
  const found = withoutLook(VIEW, data, { query: 5, key: 2 });
  assert.equal(found, "encoder.1.self heads 0,2: zero");
  assert.equal(withoutLook(VIEW, data, { query: 5, key: 1 }), null);
  assert.equal(withoutLook(VIEW, data, { query: 5 }), null);
});

test("what a search for the smallest set has found is said with what was tried", () => {
  const lines = ["encoder.0.self heads 1,3: zero", "decoder.1.cross heads 0: zero"];
  assert.equal(
    searchSentence({ lines, answer: "elle", tried: 40, whole: 2, heads: 8 }),
    "No set of up to 2 is enough. Without self-attention layer 0 heads 1, 3 and cross-attention " +
      "layer 1 head 0 it writes “elle”; 40 sets were tried. ",
  );
  const none = { lines: [], answer: "il", tried: 255, whole: 8, heads: 8 };
  assert.match(searchSentence(none), /^No set of them alone changes the answer when off; 255 sets/);
  assert.match(searchSentence({ ...none, whole: 1 }), /^No set of up to 1 of its 8 heads/);
  assert.equal(searchSentence({ problem: "Too long." }), "Too long.");
});
