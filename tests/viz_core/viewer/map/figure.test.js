import assert from "node:assert/strict";
import { test } from "node:test";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";
import {
  cellAt,
  largestOf,
  layoutOf,
  leftOut,
  level,
  moved,
  placeOf,
  places,
  rangesOf,
  traceOf,
  within,
  zoomed,
} from "../../../../viz_core/viewer/map/figure.js";

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
    width: 500,
    height: 400,
  };
  const far = layoutOf({ ...given, area: { rows: { from: 0, to: 1000 }, keys: { from: 0, to: 1000 } } });
  assert.equal(far.xaxis.ticktext[1], "100");
  assert.deepEqual(far.yaxis.range, [999.5, -0.5]);
  assert.deepEqual(far.shapes, []);
  const near = { rows: { from: 7, to: 20 }, keys: { from: 900, to: 930 } };
  const close = layoutOf({ ...given, area: near, looked: { query: 8, key: 901 } });
  assert.equal(close.yaxis.ticktext[0], "token-numbe…");
  assert.equal(close.shapes[0].x0, 900.5);
  assert.ok(close.margin.l > far.margin.l && close.margin.b > far.margin.b, "tokens have room");
  assert.deepEqual([far.xaxis.tickangle, close.xaxis.tickangle], [0, 90]);
});

test("a point of the picture is a query and a key, also while a hand moves it", () => {
  const layout = { margin: { l: 100, r: 10, t: 5, b: 45 }, width: 310, height: 150 };
  const whole = { x: [-0.5, 99.5], y: [49.5, -0.5] };
  assert.deepEqual(placeOf(layout, whole, { left: 101, top: 6 }), { key: 0, query: 0 });
  assert.deepEqual(placeOf(layout, whole, { left: 200, top: 55 }), { key: 50, query: 25 });
  for (const [left, top] of [
    [99, 50],
    [301, 50],
    [150, 4],
    [150, 106],
  ])
    assert.equal(placeOf(layout, whole, { left, top }), null);
  const along = rangesOf({ "xaxis.range[0]": 9.5, "xaxis.range[1]": 109.5 }, whole);
  assert.deepEqual(placeOf(layout, along, { left: 101, top: 6 }), { key: 10, query: 0 });
});

test("the largest weight is found", () => {
  assert.equal(largestOf([0.1, 0.7, 0.3]), 0.7);
});

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
  assert.equal(leftOut(1, 9), "One query sees only one key and is left out.");
  assert.match(leftOut(1200, 2000), /^1,200 queries see only one key and are left out/);
  assert.match(leftOut(9, 9), /^All queries see/);
});
