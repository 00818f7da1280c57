import assert from "node:assert/strict";
import { test } from "node:test";
import { gridOf, readingsOf } from "../../../../viz_core/viewer/board/rows.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

const board = { theme: { heads: [] }, nameOf: (_axis, at) => at };
const array = (values, ...shape) => new Framed(Float32Array.from(values), shape);
const moving = (values, ...shape) => ({ kind: "Moving", values: array(values, ...shape) });
const cellsOf = ({ rows, columns, at }) => rows.map((_, i) => columns.map((_, j) => at(i, j)));

test("a matrix has the numbers of its frame, and words for those that are none", () => {
  const spec = {
    ...{ title: "scores", row_axis: "query", column_axis: "key", rows: [], columns: ["a", "b"] },
    ...{ texts: [], words: [], scale: "weights", quantity: "weight", nan_is_empty: true },
    values: array([9, 9, 9, 9, 0.5, -Infinity, NaN, 0.25], 2, 2, 2),
    marked: array([0, 1, 0, 0], 2, 2),
  };
  const grid = gridOf(spec, 1, board);
  assert.deepEqual(grid.rows, ["0", "1"]);
  assert.deepEqual(cellsOf(grid), [
    [0.5, "−∞"],
    ["not computed yet", 0.25],
  ]);
  assert.deepEqual([grid.marked(0, 1), grid.marked(1, 1), grid.weights], [1, 0, true]);
  assert.equal(gridOf({ ...spec, scale: "mask", words: ["hidden", "seen"] }, 1, board).at(0, 0), "seen");
  assert.equal(gridOf({ ...spec, texts: [["x", "y"]] }, 1, board).at(0, 1), "y");
});

const of = (traces, chart = {}, rest = {}) =>
  readingsOf({ title: "t", chart: { form: "wide", x: {}, y: {}, traces, ...chart }, ...rest }, 1, board);

test("bars are rows, and arrows have a length", () => {
  const bar = {
    type: "bar",
    x: array([0, 1], 2),
    y: moving([0, 0, 0.25, 0.5], 2, 2),
    customdata: ["&lt;s&gt;", "b"],
  };
  const [bars] = of([bar], { y: { title: { text: "p" } } }, { x_label: "word" });
  assert.deepEqual([bars.rows, bars.columns, cellsOf(bars)], [["<s>", "b"], ["p"], [[0.25], [0.5]]]);
  const arrow = { type: "scatter", name: "q", x: array([0, 3], 2), y: array([0, 4], 2) };
  const [plane] = of([{ type: "scatter", x: array([1], 1), y: array([1], 1) }, arrow], { form: "square" });
  assert.deepEqual([plane.rows, cellsOf(plane)], [["q"], [[3, 4, 5]]]);
});

test("lines share the places of their axis; a cloud is a row a point", () => {
  const line = { type: "scatter", name: "loss", x: array([0, 10], 2), y: moving([0, 0, 2, 1], 2, 2) };
  const dot = { type: "scatter", name: "test", x: array([10], 1), y: array([3], 1) };
  const [lines] = of([line, { ...line, name: "" }, dot], {}, { x_label: "step" });
  assert.equal(lines.form, "series");
  assert.deepEqual(lines.columns, ["loss", "test"]);
  assert.deepEqual(
    [lines.rows, cellsOf(lines)],
    [
      ["0", "10"],
      [
        [2, ""],
        [1, 3],
      ],
    ],
  );
  const cloud = { type: "scatter", name: "head", x: array([1, 1], 2), y: array([2, 3], 2) };
  assert.deepEqual(cellsOf(of([cloud])[0]), [
    [1, 2],
    [1, 3],
  ]);
});

test("tokens through layers say which are lit, and what each may look at", () => {
  const links = {
    x: array([0, 0, 0, 0, 1, 1, 1, 1, 1], 9),
    y: array([0, 1, NaN, 0, 1, NaN, 0, 1, NaN], 9),
  };
  const lit = { y: moving([NaN, NaN, NaN, NaN, 0, NaN, NaN, 1], 2, 4) };
  const chart = { x: { names: ["a", "b"] }, y: { ticktext: ["input", "layer 1"] } };
  const [nodes, seen] = of([links, {}, {}, lit], chart, { kind: "Layers" });
  assert.deepEqual(cellsOf(nodes), [
    [1, 0],
    [0, 1],
  ]);
  assert.deepEqual(cellsOf(seen), [["a"], ["a, b"]]);
});
