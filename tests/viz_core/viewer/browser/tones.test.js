import assert from "node:assert/strict";
import { test } from "node:test";
import { tonesOf } from "../../../../viz_core/viewer/browser/tones.js";

test("a row goes from left to right, the largest number highest, and is silent where there is none", () => {
  const tones = tonesOf([0, 1, "masked", 0.5, Number.NaN]);
  assert.deepEqual(
    tones.map(({ frequency, pan }) => [frequency, pan]),
    [
      [220, -1],
      [880, -0.5],
      [440, 0.5],
    ],
  );
  assert.deepEqual(
    tones.map(({ begin }) => begin.toFixed(2)),
    ["0.00", "0.16", "0.48"],
  );
});

test("a long row lasts no longer, and what is below 0 is lowest", () => {
  const tones = tonesOf(Array.from({ length: 500 }, (_, at) => at - 250));
  assert.ok(tones.at(-1).end <= 5);
  assert.equal(tones[0].frequency, 220);
  assert.equal(tonesOf([0, 0])[1].frequency, 220);
});
