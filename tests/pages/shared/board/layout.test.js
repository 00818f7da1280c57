import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellSize,
  linkOf,
  nearest,
  pictureHeight,
  signatureOf,
} from "../../../../pages/shared/board/layout.js";
import { Framed } from "../../../../pages/shared/browser/message.js";

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

test("a picture takes a share of the window", () => {
  assert.deepEqual([300, 800, 2000].map(pictureHeight), [220, 336, 420]);
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
