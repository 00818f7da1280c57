import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, marks, namesOf } from "../../../../viz_core/viewer/stage/head.js";

const SCALES = { sequential: [[0, "white"]], diverging: [[0, "red"]] };
const THEME = {
  ...{ query: "#111111", key: "#222222", accent: "#333333", muted: "#444444", grid: "#555555" },
  ...{ font: "serif", template: { layout: { colorscale: SCALES } } },
};
const CHART = {
  traces: [{ type: "heatmap", z: [[0]], zmin: 0, zmax: 1, hovertemplate: "%{z}", showscale: false }],
  x: { title: { text: "key", font: { color: { kind: "Paint", name: "key", alpha: 1 } } }, side: "top" },
  y: { title: { text: "query" } },
};
const AREA = { q0: 4, k0: 2, nq: 2, nk: 3 };
const SIZE = { cell: 20, left: 50, top: 60, right: 36 };
const given = (more = {}) => ({
  ...SIZE,
  theme: THEME,
  area: AREA,
  keys: ["a", "b", "c"],
  queries: ["x", "y"],
  signed: false,
  ...more,
});

test("a head's figure has what viz_core says, in its size, with its tokens", () => {
  const [trace, layout] = describe(CHART, given());
  assert.equal(trace.type, "heatmap");
  assert.deepEqual([trace.zmin, trace.zmax, trace.hovertemplate], [0, 255, null]);
  assert.deepEqual(trace.colorscale, SCALES.sequential);
  assert.deepEqual([layout.width, layout.height], [50 + 60 + 36, 60 + 40 + 6]);
  assert.deepEqual(
    [layout.xaxis.ticktext, layout.yaxis.ticktext],
    [
      ["a", "b", "c"],
      ["x", "y"],
    ],
  );
  assert.deepEqual(layout.xaxis.title, { text: "key", font: { color: "#222222" } });
  assert.deepEqual(
    [layout.xaxis.range, layout.yaxis.range],
    [
      [-0.5, 2.5],
      [1.5, -0.5],
    ],
  );
  assert.deepEqual(describe(CHART, given({ signed: true }))[0].colorscale, SCALES.diverging);
});

test("small cells leave out names that would not fit, and none is invented", () => {
  const [, layout] = describe(CHART, given({ cell: 8 }));
  assert.deepEqual(
    [layout.xaxis.tickvals, layout.xaxis.ticktext],
    [
      [0, 2],
      ["a", "c"],
    ],
  );
  assert.deepEqual(describe(CHART, given({ keys: [] }))[1].xaxis.ticktext, []);
});

test("a cell is marked where it is shown", () => {
  const [cell, above, before] = marks({ query: 5, key: 2 }, AREA, THEME);
  assert.deepEqual([cell.x0, cell.x1, cell.y0, cell.y1], [-0.5, 0.5, 0.5, 1.5]);
  assert.deepEqual([above.x0, above.yref, above.fillcolor], [-0.5, "y domain", "#222222"]);
  assert.deepEqual([before.y0, before.xref, before.fillcolor], [0.5, "x domain", "#111111"]);
  for (const place of [
    { query: 3, key: 2 },
    { query: 6, key: 2 },
    { query: 5, key: 5 },
  ])
    assert.deepEqual(marks(place, AREA, THEME), []);
});

test("cells that stand for several tokens have the name of the first", () => {
  const tokens = ["a", "b", "c", "d", "e", "f"].map((text) => ({ text }));
  assert.deepEqual(namesOf(tokens, 1, 2, 1), ["b", "c"]);
  assert.deepEqual(namesOf(tokens, 0, 4, 6 / 4), ["a", "b", "d", "e"]);
});
