import assert from "node:assert/strict";
import { test } from "node:test";
import { GridView } from "../../../../viz_core/viewer/stage/grid.js";

/* Columns and rows of so many layers of four heads in a place of this size. */
function plan(layers, clientWidth, clientHeight) {
  const places = Array.from({ length: 4 * layers }, (_, at) => ({ at }));
  const scroll = { clientWidth, clientHeight };
  const { columns, rows } = GridView.prototype.layout.call({ scroll }, { heads: 4 }, places, false);
  return [columns, rows];
}

test("a row is a layer, however wide the place", () => {
  assert.deepEqual(plan(3, 1440, 480), [4, 3]);
  assert.deepEqual(plan(2, 960, 400), [4, 2]);
  assert.deepEqual(plan(1, 1440, 700), [4, 1]);
});
