import assert from "node:assert/strict";
import { test } from "node:test";
import { move, shownOf } from "../../../../viz_core/viewer/board/plot_move.js";

/* An element as Plotly leaves it, which notes what is asked of Plotly's modules. */
function figure(...types) {
  const asked = { calculated: [], across: 0, drawn: null, options: null };
  const modules = new Map();
  const moduleOf = (type) => {
    if (!modules.has(type))
      modules.set(type, {
        calc: (_body, { at, y }) => {
          asked.calculated.push(at);
          return y.map((each) => ({ y: each }));
        },
        crossTraceCalc: () => asked.across++,
      });
    return modules.get(type);
  };
  const plot = (_body, drawn, options) => Object.assign(asked, { drawn, options });
  return {
    asked,
    data: types.map(() => ({})),
    calcdata: types.map(() => "as before"),
    _fullData: types.map((type, at) => ({ type, at, visible: true, _module: moduleOf(type) })),
    _fullLayout: { _plots: { xy: {} }, _basePlotModules: [{ plot }] },
  };
}

test("only what moves is calculated; only lines are drawn without their neighbours", () => {
  const body = figure("scatter", "scatter", "bar", "heatmap");
  move(body, [[1, { y: [5] }]]);
  assert.deepEqual(body.asked.calculated, [1]);
  assert.deepEqual(body.asked.drawn, [1, 2, 3]);
  assert.deepEqual(body.asked.options, { duration: 0 });
  assert.equal(body.asked.across, 3); // once a kind of traces
  assert.equal(body.calcdata[0], "as before");
  assert.deepEqual([body.calcdata[1][0].y, body.calcdata[1][0].trace], [5, body._fullData[1]]);
  assert.deepEqual([body.data[1].y, body._fullData[1].y], [[5], [5]]);
});

test("a trace that the legend hides gets its numbers and is not calculated", () => {
  const body = figure("scatter");
  body._fullData[0].visible = "legendonly";
  move(body, [[0, { y: [5] }]]);
  assert.deepEqual(body.asked.calculated, []);
  assert.equal(body.calcdata[0], "as before");
  assert.deepEqual(body.data[0].y, [5]);
});

test("a heat map that had no number, so that Plotly left it out, is read anew", () => {
  const body = figure("heatmap");
  body._fullData[0].visible = false;
  const asked = [];
  globalThis.LabPlotly = { redraw: (figure) => asked.push(figure) };
  move(body, [[0, { z: [[5]] }]]);
  assert.deepEqual(asked, [body]);
  assert.deepEqual(body.data[0].z, [[5]]);
});

test("a trace without points keeps a place where Plotly looks for its settings", () => {
  const body = figure("scatter");
  move(body, [[0, { y: [] }]]);
  assert.deepEqual(body.calcdata[0], [{ x: undefined, y: undefined, t: {}, trace: body._fullData[0] }]);
});

test("a figure has its numbers at once, and its picture follows", () => {
  const asked = [];
  globalThis.requestAnimationFrame = (step) => asked.push(step);
  globalThis.cancelAnimationFrame = () => {};
  const body = figure("bar");
  body._fullData[0].y = [0];
  move(body, [[0, { y: [8] }]], 20, shownOf(body, [["y"]]));
  assert.deepEqual(body.data[0].y, [8]);
  assert.ok(body._fullData[0].y[0] < 8);
  while (asked.length) asked.shift()();
  assert.deepEqual(body._fullData[0].y, [8]);
});
