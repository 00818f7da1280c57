import assert from "node:assert/strict";
import { test } from "node:test";
import { gradientOf, scalesOf } from "../../../../viz_core/viewer/board/words.js";

test("each scale of a board's matrices is explained once; masks and plain numbers need no colours", () => {
  const rows = [
    [{ scale: "signed" }, { kind: "Sign" }],
    [
      { scale: "signed" },
      { scale: "weights", quantity: "weight" },
      { scale: "weights", quantity: "weight" },
      { scale: "weights", quantity: "share of the true class" },
    ],
  ];
  assert.deepEqual(scalesOf(rows), [
    { table: "diverging", ends: ["below 0", "above 0"] },
    { table: "sequential", ends: ["weight 0", "1"] },
    { table: "sequential", ends: ["share of the true class 0", "1"] },
  ]);
  assert.deepEqual(scalesOf([[{ scale: "mask" }, { scale: "plain" }, { kind: "Curves" }]]), []);
});

test("a bar has the table's colours from its first to its last", () => {
  const table = Uint8ClampedArray.from({ length: 768 }, (_, at) => Math.floor(at / 3));
  const colours = gradientOf(table).match(/rgb\([^)]*\)/g);
  assert.deepEqual([colours.length, colours[0], colours[8]], [9, "rgb(0,0,0)", "rgb(255,255,255)"]);
  assert.equal(colours[4], "rgb(128,128,128)");
});
