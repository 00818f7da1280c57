import assert from "node:assert/strict";
import { test } from "node:test";
import {
  arrangements,
  cellSize,
  linkOf,
  nameIn,
  nearest,
  signatureOf,
} from "../../../../viz_core/viewer/board/fitting.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

const matrix = (columns) => ({ fixed: 60, columns });

test("the matrices of a row share what their labels leave", () => {
  assert.equal(cellSize(700, [matrix(5), matrix(7)], false), Math.floor((700 - 2 * 78) / 12) - 2);
  assert.equal(cellSize(700, [matrix(5), { fixed: 11, columns: 0 }, matrix(7)], false), 40);
});

test("cells are neither larger than 54 pixels nor too small to read", () => {
  assert.equal(cellSize(2000, [matrix(4)], false), 54);
  assert.equal(cellSize(400, [{ fixed: 260, columns: 0 }], false), 54);
  assert.equal(cellSize(500, [matrix(23)], false), 32);
  assert.equal(cellSize(500, [matrix(24)], false), 24);
  assert.equal(cellSize(500, [matrix(24)], true), 15);
  assert.equal(cellSize(300, [matrix(24)], true), 14);
});

test("cells of a board that fits its window take its room, and no less than their numbers need", () => {
  assert.equal(cellSize(2000, [matrix(4)], false, true), 120);
  assert.equal(cellSize(500, [{ ...matrix(23), least: 25 }], false, true), 25);
  assert.equal(cellSize(500, [matrix(40)], false, true), 14);
});

test("a row that is broken shares the width among the matrices of its widest line", () => {
  const size = (...columns) => cellSize(1000, columns.map(matrix), false, true, 2);
  assert.equal(size(4, 4, 4, 4), 96); // (1000 - 2 * 78) / 8 - 2 is more
  assert.equal(size(7, 6, 2), Math.floor((1000 - 2 * 78) / 13) - 2);
  assert.equal(size(2, 2, 8, 9), Math.floor((1000 - 2 * 78) / 17) - 2);
  assert.equal(cellSize(200, [matrix(9), matrix(9), matrix(9)], false, true, 2), 14);
});

test("an entry is called what any panel with its axis calls it, or by its number", () => {
  const rows = [
    [{ row_axis: "query", rows: [], column_axis: "key", columns: ["the", "cat"] }],
    [
      { row_axis: "query", rows: ["le", "chat"], column_axis: "" },
      { axis: "scheme", labels: ["none", "ALiBi"] },
    ],
  ];
  assert.equal(nameIn(rows, "key", 1), "cat");
  assert.equal(nameIn(rows, "query", 0), "le"); // the first matrix has no names for it
  assert.equal(nameIn(rows, "scheme", 1), "ALiBi");
  const tokens = { row_axis: "token", rows: ["the", "cat"], column_axis: "channel" };
  assert.equal(nameIn([[tokens, { ...rows[0][0] }]], "query", 1), "cat");
  assert.deepEqual([nameIn(rows, "query", 2), nameIn(rows, "channel", 5), nameIn(rows, "", 3)], [2, 5, 3]);
});

test("rows stand in one stack, or the first of them beside the rest", () => {
  assert.deepEqual(arrangements(1), [{ first: 1, share: 1 }]);
  const ways = arrangements(3);
  assert.deepEqual(ways[0], { first: 3, share: 1 });
  assert.deepEqual([...new Set(ways.slice(1).map(({ first }) => first))], [1, 2]);
  assert.deepEqual(new Set(arrangements(4, false, 1).map(({ first }) => first)), new Set([4, 2, 3]));
  assert.deepEqual(arrangements(1, true), [
    { first: 1, share: 1 },
    { first: 1, share: 1, lines: 2 },
  ]);
});

test("the frame of a value is the nearest, the first of equal ones", () => {
  const values = Float32Array.of(0.1, 1, 10);
  assert.deepEqual([nearest(values, 0), nearest(values, 4), nearest(values, 1e9)], [0, 1, 2]);
  assert.equal(nearest([2, 4], 3), 0);
  assert.equal(nearest([], 3), 0);
});

const header = (scrub) => ({
  link: { part: "scale" },
  scrub,
  board: { scrub: scrub && { field: "d", values: new Framed(Float32Array.of(0.1, 1, 10), [3]) } },
});

test("a link names the scrub's value as a person types it, where it is not the usual one", () => {
  assert.equal(linkOf(header({ at: 1, usual: 1 }), 0).toString(), "part=scale&d=0.1");
  assert.equal(linkOf(header({ at: 1, usual: 1 }), 1).toString(), "part=scale");
  assert.equal(linkOf(header({ at: 1, usual: 1.2 }), 1).toString(), "part=scale");
  assert.equal(linkOf(header(null), 0).toString(), "part=scale");
});

test("panels are built anew where shapes or words change, not where numbers do", () => {
  const rows = (values, rest) => [[{ kind: "Matrix", title: "W", values, ...rest }]];
  const array = (...shape) => new Framed(new Float32Array(shape.reduce((a, b) => a * b)), shape);
  const usual = signatureOf("a", rows(array(7, 2, 3)));
  assert.equal(signatureOf("a", rows(array(2, 3), { colour: "key", texts: [["x"]], chart: {} })), usual);
  assert.notEqual(signatureOf("b", rows(array(7, 2, 3))), usual);
  assert.notEqual(signatureOf("a", rows(array(7, 3, 3))), usual);
  assert.notEqual(signatureOf("a", rows(array(7, 2, 3), { title: "V" })), usual);
  assert.equal(signatureOf("a", rows("one")), signatureOf("a", rows("two")));
});
