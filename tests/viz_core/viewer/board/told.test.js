import assert from "node:assert/strict";
import { test } from "node:test";
import { cellWords, told } from "../../../../viz_core/viewer/board/cursor.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

const board = { theme: { heads: [] }, nameOf: (axis, at) => `${axis}'s ${at}` };
const array = (values, ...shape) => new Framed(Float32Array.from(values), shape);
const moving = (values, ...shape) => ({ kind: "Moving", values: array(values, ...shape) });

test("a bar says its label and its number at the frame, and lights up its entry", () => {
  const traces = [
    { type: "bar", x: array([0, 1], 2), y: moving([0.1, 0.2, 0.3, 0.75], 2, 2), customdata: ["the", "cat"] },
  ];
  const spec = { title: "weights", axis: "key", chart: { form: "wide", traces } };
  const point = { curveNumber: 0, pointNumber: 1 };
  assert.deepEqual(told(spec, point, 1, board), { lit: { key: 1 }, words: "weights: cat = 0.7500" });
  assert.equal(told({ ...spec, title: "" }, point, 0, board).words, "cat = 0.2000");
});

test("a curve says x and what all named lines are there", () => {
  const x = array([1, 2.5], 2);
  const traces = [
    { type: "scatter", mode: "lines", name: "loss", x, y: moving([4, 3, 2, 1], 2, 2) },
    { type: "scatter", mode: "lines", name: "score", x, y: array([0.5, -0.25], 2) },
    { type: "scatter", mode: "lines", name: "", x, y: array([9, 9], 2) },
    { type: "scatter", mode: "markers", name: "now", x, y: array([9, 9], 2) },
  ];
  const spec = { title: "", x_label: "step", chart: { form: "wide", traces } };
  const words = "step 2.5: loss 1.0000 · score −0.2500";
  assert.deepEqual(told(spec, { curveNumber: 1, pointNumber: 1 }, 1, board), { lit: {}, words });
});

test("a cell says where it stands and its number; names come from the board where it has none", () => {
  const spec = {
    title: "scores",
    values: array([0, 0, 0, 0, 0.5, NaN], 1, 2, 3),
    rows: ["the", "cat"],
    columns: [],
    row_axis: "query",
    column_axis: "key",
    texts: [],
    quantity: "weight",
    chart: { form: "cells", traces: [] },
  };
  const at = (row, column) => ({ curveNumber: 0, pointNumber: [row, column] });
  assert.deepEqual(told(spec, at(1, 1), 0, board), {
    lit: { query: 1, key: 1 },
    words: "scores: query cat, key key's 1 = 0.5000",
  });
  assert.match(told(spec, at(1, 2), 0, board).words, /= NaN$/);
  const counted = { ...spec, quantity: "share of the true class", texts: [[], ["5", "15", "0"]] };
  assert.equal(
    told(counted, at(1, 1), 0, board).words,
    "scores: query cat, key key's 1: 15, share of the true class 0.5000",
  );
  assert.match(told({ ...spec, nan_is_empty: true }, at(1, 2), 0, board).words, /= not computed yet$/);
});

test("matrices that are read together say all their numbers in a cell, and what a gap is", () => {
  const axes = { row_axis: "query", column_axis: "key", texts: [], title: "A" };
  const first = { ...axes, together: "A", rows: ["it"], columns: ["cat"], values: array([0.25], 1, 1) };
  const other = {
    ...axes,
    together: "B",
    rows: ["–"],
    gap: "no such token",
    values: array([1, NaN], 2, 1, 1),
  };
  const alone = { ...axes, values: array([9], 1, 1) };
  const header = {
    board: {
      rows: [
        [first, { kind: "Facts" }],
        [other, alone],
      ],
    },
  };
  const words = cellWords(first, 0, 0, 0.25, { ...board, header, frame: 1 });
  assert.equal(words, "query it, key cat: A 0.2500 · B no such token");
});

test("a point of a plane says nothing", () => {
  const spec = { title: "", chart: { form: "square", traces: [{ type: "scatter", x: [1], y: [2] }] } };
  const point = { curveNumber: 0, pointNumber: 0 };
  assert.deepEqual(told(spec, point, 0, board), { lit: {}, words: undefined });
});

test("a point that has words of its own says them as they were typed", () => {
  const x = array([0, 1], 2);
  const said = ["trial 1: a &lt; b", "trial 2: x &amp;lt; &#36;"];
  const traces = [{ type: "scatter", mode: "markers", meta: "told", x, y: x, customdata: said }];
  const spec = { title: "", x_label: "trial", chart: { form: "wide", traces } };
  const words = (pointNumber) => told(spec, { curveNumber: 0, pointNumber }, 0, board).words;
  assert.deepEqual([words(0), words(1)], ["trial 1: a < b", "trial 2: x &lt; $"]);
});
