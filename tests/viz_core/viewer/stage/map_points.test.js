import assert from "node:assert/strict";
import { test } from "node:test";
import { colouring, namesWithRoom, placed } from "../../../../viz_core/viewer/stage/planes.js";

test("points fill the room with one unit for both axes, upwards, in the middle", () => {
  const points = [
    [-1, 0],
    [3, 0],
    [1, 1],
  ];
  assert.deepEqual(placed(points, 500, 300, 50), [
    [50, 200],
    [450, 200],
    [250, 100],
  ]);
  assert.deepEqual(placed(points, 500, 140, 50)[2], [250, 50]); // where it is low, the height decides
});

test("heads that are all alike lie in the middle", () => {
  const same = placed([[2, 2], [2, 2]], 100, 60, 10); // biome-ignore format: two points
  assert.deepEqual(same, [[50, 30], [50, 30]]); // biome-ignore format: two points
});

const STACK = { layers: [0, 1], heads: 2, stats: { entropy: [0.5, 1, 2, 1.5] } };

test("a head has the colour of its layer, or of its measure, from 0 on", () => {
  const byLayer = colouring(STACK, undefined);
  assert.deepEqual(byLayer.values, [0, 0, 1, 1]);
  assert.deepEqual(byLayer.levels, [byLayer.first, byLayer.first, 255, 255]);
  const byEntropy = colouring(STACK, { name: "entropy" });
  assert.deepEqual([byEntropy.low, byEntropy.high], [0, 2]);
  assert.deepEqual(byEntropy.levels, [94, 148, 255, 201]);
  assert.deepEqual(
    colouring({ ...STACK, stats: { hits: [0, 0, 0, 0] } }, { name: "hits" }).levels,
    [40, 40, 40, 40],
  );
});

test("a name that would lie on another point or on another name is left out", () => {
  const [far, near, below] = [[50, 50], [75, 50], [50, 65]]; // biome-ignore format: three points
  assert.deepEqual(namesWithRoom([far, near], [30, 30]), [true, false]); // on the name before
  assert.deepEqual(namesWithRoom([far, near], [20, 20]), [true, true]);
  assert.deepEqual(namesWithRoom([far, below], [20, 20]), [false, true]); // on a point
  assert.deepEqual(namesWithRoom([], []), []);
});
