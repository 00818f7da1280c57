import assert from "node:assert/strict";
import { test } from "node:test";
import { apart, ranked, rowStandsOut, standsOut } from "../../../../viz_core/viewer/browser/reading.js";

const reading = (cells, rows, columns, rest = {}) => ({
  ...{ title: "", form: "grid", rows, columns, at: (i, j) => cells[i][j] },
  ...rest,
});
const ATTENTION = { rowAxis: "query", columnAxis: "key", weights: true };

test("attention says who looks most at whom, but not of a query that has no choice", () => {
  const cells = [
    [1, 0, 0],
    [0.25, 0.75, 0],
    [0.123, 0.623, 0.254],
  ];
  const causal = reading(cells, ["the", "cat", "the"], ["the", "cat", "the"], ATTENTION);
  assert.equal(standsOut(causal), "Of 3 queries, “cat” looks most at “cat”: 0.75.");
  assert.equal(
    rowStandsOut(causal, 2),
    "“the (2)” looks most at “cat” (0.623), then “the (2)” (0.254) and “the (0)” (0.123).",
  );
  assert.deepEqual(ranked(causal, 2), [1, 2, 0]);
  const alone = reading([[1, 0]], ["the"], ["the", "cat"], ATTENTION);
  assert.equal(standsOut(alone), "“the” looks most at “the”: 1.");
});

test("other matrices say their ends, how many are 1, or that all are alike; words are counted", () => {
  const axes = { rowAxis: "position", columnAxis: "channel" };
  const signed = reading(
    [
      [-0.5, 2],
      ["masked", Number.NaN],
    ],
    ["0", "1"],
    ["a", "b"],
    axes,
  );
  const ends = "the largest is 2 (position 0, channel b), the smallest −0.5 (position 0, channel a).";
  assert.equal(standsOut(signed), `Of 2 numbers, ${ends}`);
  assert.equal(rowStandsOut(signed, 0), "Largest of position 0: channel b (2), then channel a (−0.5).");
  const named = reading([[1, 2]], ["layer 0"], ["head 0", "head 1"], {
    rowAxis: "layer",
    columnAxis: "head",
  });
  assert.match(standsOut(named), /largest is 2 \(layer 0, head 1\)/);
  assert.equal(
    standsOut(reading([[1, 0, 1]], ["a"], ["b", "c", "d"])),
    "2 of 3 numbers are 1, the others 0.",
  );
  assert.equal(standsOut(reading([[3, 3]], ["a"], ["b", "c"])), "All 2 numbers are 3.");
  assert.equal(
    standsOut(reading([["yes", "no", "no"]], ["a"], ["b", "c", "d"])),
    "3 cells: yes in 1, no in 2.",
  );
});

test("each column of a list is something of its own; a series has a beginning and an end", () => {
  const cells = [
    [4, 0.5, "x"],
    [3, Number.NaN, "y"],
    [1, 0.5, "z"],
  ];
  const list = reading(cells, ["0", "10", "20"], ["loss", "share", "word"], {
    form: "rows",
    rowAxis: "step",
  });
  const said = "loss: largest 4 at step 0, smallest 1 at step 20. share: 0.5 everywhere.";
  assert.equal(standsOut(list), said);
  const way = "from 4 at 0 to 1 at 20; largest 4 at 0, smallest 1 at 20. share: 0.5 everywhere.";
  assert.equal(standsOut({ ...list, form: "series" }), `Over step: loss: ${way}`);
});

test("what is marked is named, words speak for themselves, and nothing is said to be nothing", () => {
  const boxes = reading([["b"], [""], ["a"]], ["a", "b", "c"], ["leads to"], { form: "rows" });
  assert.equal(standsOut(boxes), "a, leads to: b; c, leads to: a.");
  assert.equal(standsOut({ ...boxes, marked: (i) => i === 1 }), "Marked: b.");
  const many = reading([[1, 2, 3, 4, 5, 6]], ["r"], [..."abcdef"], { marked: () => true });
  assert.match(standsOut(many), /Marked: 6 cells, from r, a to r, f\.$/);
  assert.equal(standsOut(reading([], [], [])), "Nothing is here yet.");
});

test("names that come again say where they stand", () => {
  assert.deepEqual(apart(["the", "cat", "the"]), ["the (0)", "cat", "the (2)"]);
});
