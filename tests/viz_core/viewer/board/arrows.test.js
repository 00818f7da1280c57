import assert from "node:assert/strict";
import { test } from "node:test";
import { arrowsOf } from "../../../../viz_core/viewer/board/panels/diagram.js";

const SIZE = [40, 20];
const rows = (n) => Array.from({ length: 2 * n }, (_, at) => [60 * (at % n), 50 * Math.floor(at / n)]);

test("arrows keep to the sides of boxes where nothing is in their way", () => {
  const boxes = [
    [0, 50],
    [60, 0],
    [120, 50],
  ];
  const edges = [
    [boxes[0], boxes[1]],
    [boxes[0], boxes[2]],
  ];
  assert.deepEqual(arrowsOf(edges, boxes, SIZE), [
    [
      [20, 50],
      [40, 0],
    ],
    [
      [20, 50],
      [100, 50],
    ],
  ]);
});

test("arrows to another row leave by the top where the way from the side leads behind boxes", () => {
  const boxes = rows(4);
  const far = [boxes[4], boxes[3]];
  const near = [boxes[4], boxes[1]];
  assert.deepEqual(arrowsOf([near, far], boxes, SIZE), [
    [
      [0, 40],
      [60, 10],
    ],
    [
      [0, 40],
      [180, 10],
    ],
  ]);
});

test("an arrow straight up goes from top to bottom", () => {
  const boxes = rows(1);
  assert.deepEqual(arrowsOf([[boxes[1], boxes[0]]], boxes, SIZE), [
    [
      [0, 40],
      [0, 10],
    ],
  ]);
});

test("no rounding of a width makes an arrow pass behind the boxes that it joins", () => {
  for (let step = 70; step < 90; step += 0.7) {
    const boxes = [0, 1, 2].map((at) => [(at + 0.5) * step, 20 + (at % 2) * 20]);
    const edges = [0, 1].map((at) => [boxes[at], boxes[at + 1]]);
    for (const [[, from], [, to]] of arrowsOf(edges, boxes, [0.75 * step, 15]))
      assert.equal(Math.abs(from - to), 20); // from side to side, not from bottom to top
  }
});
