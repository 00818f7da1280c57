import assert from "node:assert/strict";
import { test } from "node:test";
import {
  cellAt,
  isWhole,
  leftOut,
  level,
  moved,
  places,
  within,
  zoomed,
} from "../../../../pages/documents/map/view.js";

test("a span stays within the text and keeps its length where it can", () => {
  assert.deepEqual(within({ from: -20, to: 80 }, 1000), { from: 0, to: 100 });
  assert.deepEqual(within({ from: 950, to: 1050 }, 1000), { from: 900, to: 1000 });
  assert.deepEqual(within({ from: 10, to: 12 }, 1000), { from: 10, to: 18 });
  assert.deepEqual(within({ from: -5, to: 5000 }, 1000), { from: 0, to: 1000 });
  assert.deepEqual(within({ from: 1, to: 3 }, 4), { from: 0, to: 4 });
});

test("zooming keeps the middle, moving the length", () => {
  assert.deepEqual(zoomed({ from: 100, to: 200 }, 0.5), { from: 125, to: 175 });
  assert.deepEqual(zoomed({ from: 100, to: 200 }, 2), { from: 50, to: 250 });
  assert.deepEqual(moved({ from: 100, to: 200 }, -0.25), { from: 75, to: 175 });
});

test("the whole is known as such", () => {
  const all = { from: 0, to: 50 };
  assert.equal(isWhole({ rows: all, keys: all }, { rows: 50, keys: 50 }), true);
  assert.equal(isWhole({ rows: all, keys: { from: 1, to: 50 } }, { rows: 50, keys: 50 }), false);
  assert.equal(isWhole({ rows: all, keys: { from: 0, to: 9 } }, { rows: 50, keys: 9 }), true);
});

test("colours are weights beside the largest, or their logarithms down to a millionth", () => {
  assert.equal(level(0.25, 0.5, false), 0.5);
  assert.equal(level(0, 0, false), 0);
  assert.equal(level(1, 0.5, true), 1);
  assert.equal(level(1e-3, 1, true), 0.5);
  assert.equal(level(0, 1, true), 0);
});

test("an axis names round positions, at most so many", () => {
  assert.deepEqual(places({ from: 0, to: 100 }, 10), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
  assert.deepEqual(places({ from: 37, to: 1180 }, 6), [200, 400, 600, 800, 1000]);
  assert.deepEqual(places({ from: 3, to: 8 }, 40), [3, 4, 5, 6, 7]);
});

test("the cell that holds a pair is found, or none", () => {
  const picture = { q0: 100, k0: 50, tall: 4, wide: 2, rows: 3, columns: 5 };
  assert.deepEqual(cellAt(picture, 107, 55), { row: 1, column: 2 });
  assert.equal(cellAt(picture, 112, 55), null);
  assert.equal(cellAt(picture, 99, 55), null);
  assert.equal(cellAt(picture, 100, 60), null);
});

test("queries that see one key alone are said to be left out", () => {
  assert.equal(leftOut(0, 9), "");
  assert.equal(
    leftOut(1, 9),
    "One query sees one key alone and is left out: that weight is 1 whatever the text.",
  );
  assert.match(leftOut(1200, 2000), /^1,200 queries see one key alone and are left out/);
  assert.match(leftOut(9, 9), /^All queries see/);
});
