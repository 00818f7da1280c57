import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isOff,
  mostMoved,
  readyEdits,
  switched,
  toggled,
  touches,
  withCell,
  withoutLook,
  withRow,
} from "../../../../pages/explore/stage/edits.js";
import { saidOf } from "../../../../pages/explore/stage/effect.js";
import { stroke } from "../../../../pages/explore/stage/weights_by_hand.js";

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
});

test("a head's switch knows it among others, and brings it alone back", () => {
  const at = { stack: "encoder.self", layer: 1, head: 3 };
  const off = "encoder.1.self heads 3: zero";
  const four = "encoder.1.self heads 0,1,2,3: zero";
  assert.equal(isOff([off], at), true);
  assert.equal(isOff([off], { ...at, head: 2 }), false);
  assert.equal(isOff([four], at), true);
  assert.equal(isOff([four], { ...at, layer: 0 }), false);
  assert.equal(isOff(["encoder.1.self: zero"], at), true);
  assert.equal(isOff(["encoder.1.self heads 3: mean"], at), false);
  assert.deepEqual(switched([], at, 4), [off]);
  assert.deepEqual(switched(["encoder.0: off", off], at, 4), ["encoder.0: off"]);
  assert.deepEqual(switched([four], { ...at, head: 1 }, 4), ["encoder.1.self heads 0,2,3: zero"]);
  assert.deepEqual(switched(["encoder.1.self: zero"], at, 4), ["encoder.1.self heads 0,1,2: zero"]);
  assert.equal(isOff(["encoder.1.self heads 0,2-4: zero"], at), true);
  assert.equal(isOff(["encoder.1.self heads 0-2: zero"], at), false);
  assert.deepEqual(switched(["encoder.1.self heads 0,2-4: zero"], at, 5), [
    "encoder.1.self heads 0,2,4: zero",
  ]);
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

test("a painted row has no more than 1 where the rest shares, and what is painted comes first", () => {
  const place = "encoder.1.self.pattern heads 3 at 10: ";
  const painted = (lines, cells, shared) =>
    withRow(lines, VIEW, new Map(cells), shared)[0].slice(place.length);
  const cells = [
    [5, 0.25],
    [1, 0.125],
  ];
  assert.equal(painted([], cells, true), "set 1=0.125 5=0.25 renormalised");
  assert.equal(painted([`${place}set 2=0.5 5=1`], cells, false), "set 1=0.125 2=0.5 5=0.25");
  assert.equal(
    painted([`${place}set 2=0.5 3=0.75`], cells, true),
    "set 1=0.125 2=0.25 3=0.375 5=0.25 renormalised",
  );
  const much = Array.from({ length: 7 }, (_, key) => [key, 0.9]);
  const line = painted([`${place}set 9=0.5`], much, true);
  assert.ok(line.startsWith("set 0=0.142 1=0.142"));
  const sum = line
    .split(/[ =]/)
    .filter((part) => part.includes("."))
    .reduce((all, part) => all + +part, 0);
  assert.ok(sum <= 1);
});

test("a stroke paints the bars that the pointer passed between two places", () => {
  assert.deepEqual(stroke(null, { at: 3, weight: 0.5 }), [{ at: 3, weight: 0.5 }]);
  assert.deepEqual(stroke({ at: 3, weight: 0.5 }, { at: 3, weight: 0.25 }), [{ at: 3, weight: 0.25 }]);
  assert.deepEqual(stroke({ at: 4, weight: 0 }, { at: 2, weight: 1 }), [
    { at: 3, weight: 0.5 },
    { at: 2, weight: 1 },
  ]);
});

test("an attention is touched by edits of its own values alone", () => {
  const lines = ["encoder.1.self.pattern heads 3: uniform"];
  assert.equal(touches(lines, "encoder.self", 1), true);
  assert.equal(touches(lines, "encoder.self", 0), false);
  assert.equal(touches(lines, "decoder.self", 1), false);
});

test("the heads that look from one token at another are switched off together", () => {
  const heads = [0.9, 0.2, 0.5].map((weight) => ({ q0: 4, k0: 1, nk: 2, pattern: [0, 0, 0, weight] }));
  const data = { stack: () => ({ heads: 3 }), exact: (_stack, _layer, head) => heads[head] };
  const found = withoutLook(VIEW, data, { query: 5, key: 2 });
  assert.equal(found, "encoder.1.self heads 0,2: zero");
  assert.equal(withoutLook(VIEW, data, { query: 5, key: 1 }), null);
  assert.equal(withoutLook(VIEW, data, { query: 5 }), null);
  assert.equal(mostMoved([0.1, 0.3, 0.3]), 1);
});

test("what a search for the smallest set has found is said with what was tried", () => {
  const lines = ["encoder.0.self heads 1,3: zero", "decoder.1.cross heads 0: zero"];
  assert.equal(
    saidOf({ lines, answer: "elle", tried: 40, whole: 2, heads: 8 }),
    "No set of up to 2 is enough. Without heads 1, 3 of self-attention in layer 0 and head 0 of " +
      "cross-attention in layer 1 it writes “elle”; 40 sets were tried. ",
  );
  const none = { lines: [], answer: "il", tried: 255, whole: 8, heads: 8 };
  assert.match(saidOf(none), /^No set of them, switched off alone, changes the answer; 255 sets/);
  assert.match(saidOf({ ...none, whole: 1 }), /^No set of up to 1 of its 8 heads/);
  assert.equal(saidOf({ problem: "Too long." }), "Too long.");
});
