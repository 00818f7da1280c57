import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutOf, movedOf, ticksIn, tracesOf } from "../../../../viz_core/viewer/board/plot_layout.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

const theme = {
  ink: "#111",
  muted: "#777",
  accent: "#00f",
  font: "Roboto",
  heads: [],
  template: { layout: {} },
};
const size = { width: 500, height: 200, margin: { l: 60, r: 40, t: 30, b: 50 }, written: true, x: {}, y: {} };
const array = (values, ...shape) => new Framed(Float32Array.from(values), shape);
const moving = (values, ...shape) => ({ kind: "Moving", values: array(values, ...shape) });
const chart = (...traces) => ({ x_label: "step", chart: { form: "wide", traces, x: {}, y: {} } });

test("named lines share one label, which names their x; all else is pointed at by itself", () => {
  const line = { mode: "lines", name: "loss", y: array([1, 2], 2) };
  const bare = { mode: "lines", name: "", y: array([1, 2], 2) };
  const layout = layoutOf(chart(line, bare), 0, theme, size);
  assert.deepEqual([layout.hovermode, layout.xaxis.unifiedhovertitle.text], ["x unified", "step %{x:,.6~r}"]);
  assert.equal(layoutOf(chart(bare), 0, theme, size).hovermode, "closest");
  const drawn = tracesOf(chart(line, bare), 0, theme, size);
  assert.deepEqual([drawn[0].hovertemplate, drawn[1].hovertemplate], ["<b>%{customdata}</b>", undefined]);
});

test("an axis has the theme's colour, and the ticks of its size before its own", () => {
  const spec = chart({ type: "bar" });
  spec.chart.x = { title: { text: "key" }, tickvals: [0, 1, 2], range: moving([0, 1, 0, 9], 2, 2) };
  const ticks = { tickvals: [0, 2], ticktext: ["the", "sat"], tickfont: { size: 12 } };
  const { xaxis } = layoutOf(spec, 1, theme, { ...size, x: ticks });
  assert.deepEqual(xaxis.tickvals, [0, 2]);
  assert.deepEqual(xaxis.tickfont, { color: "#777", size: 12 });
  assert.deepEqual([...xaxis.range], [0, 9]);
});

test("a frame moves what moves, in its traces alone", () => {
  const spec = chart({ x: array([0, 1], 2), y: moving([1, 2, 3, 4], 2, 2) }, { y: array([9, 9], 2) });
  const [[at, moved], ...others] = movedOf(spec, [["y"], []], 1, theme);
  assert.deepEqual([at, Object.keys(moved), [...moved.y], others], [0, ["y"], [3, 4], []]);
});

test("an upright axis has a number every 20 pixels, from two to six", () => {
  const ticks = (height) => ticksIn({ height, margin: { t: 10, b: 30 } });
  assert.deepEqual([60, 119, 120, 159, 160, 900].map(ticks), [2, 3, 4, 5, 6, 6]);
});

test("a title that is written again keeps its colour", () => {
  const title = { text: "key →", font: { color: { kind: "Paint", name: "muted", alpha: 1 } } };
  const again = { ...size, x: { title: { ...title, text: "key → · every 2nd" } } };
  const spec = { x_label: "", chart: { form: "cells", traces: [], x: { title }, y: {} } };
  assert.deepEqual(layoutOf(spec, 0, theme, again).xaxis.title, {
    text: "key → · every 2nd",
    font: { color: "#777" },
  });
});
