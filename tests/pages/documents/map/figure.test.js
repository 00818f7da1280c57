import assert from "node:assert/strict";
import { test } from "node:test";
import { largestOf, layoutOf, traceOf } from "../../../../pages/documents/map/figure.js";
import { Framed } from "../../../../pages/shared/browser/message.js";

const THEME = {
  template: { layout: { colorscale: { sequential: "blues" } } },
  accent: "#00f",
  key: "#a00",
  query: "#0a0",
  grid: "#ccc",
  font: "sans",
  muted: "#888",
};
const SENT = {
  cells: new Framed(new Float32Array([0, 0.25, 0.5, 1]), [2, 2]),
  q0: 8,
  k0: 100,
  tall: 4,
  wide: 3,
};

test("cells stand at the middle of the positions that they hold", () => {
  const trace = traceOf(SENT, { largest: 1, log: false, theme: THEME });
  assert.deepEqual(trace.z, [
    [0, 0.25],
    [0.5, 1],
  ]);
  assert.deepEqual([trace.x0, trace.dx, trace.y0, trace.dy], [101, 3, 9.5, 4]);
});

test("axes name positions from afar and tokens from near; queries run downwards", () => {
  const tokens = Array.from({ length: 1000 }, (_, at) => `token-number-${at}`);
  const given = {
    theme: THEME,
    tokens: { queries: tokens, keys: tokens },
    looked: undefined,
    width: 10,
    height: 10,
  };
  const far = layoutOf({ ...given, seen: { rows: { from: 0, to: 1000 }, keys: { from: 0, to: 1000 } } });
  assert.equal(far.xaxis.ticktext[1], "100");
  assert.deepEqual(far.yaxis.range, [999.5, -0.5]);
  assert.deepEqual(far.shapes, []);
  const near = { rows: { from: 7, to: 20 }, keys: { from: 900, to: 930 } };
  const close = layoutOf({ ...given, seen: near, looked: { query: 8, key: 901 } });
  assert.equal(close.yaxis.ticktext[0], "token-numbe…");
  assert.equal(close.shapes[0].x0, 900.5);
});

test("the largest weight is found", () => {
  assert.equal(largestOf([0.1, 0.7, 0.3]), 0.7);
});
