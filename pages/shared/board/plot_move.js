// @ts-nocheck
/* Puts other numbers into a figure that is there.

   Plotly's own ways (animate, restyle) read all settings of all traces again, several times as long as it
   takes to draw them: too long for a slider that moves six charts. So this file, and no other, leans on
   private parts of Plotly (names with _, calcdata); tests/browser/test_board.py fails when they go. */

function recalculate(body, at) {
  const trace = body._fullData[at];
  if (trace.visible !== true) return; // Plotly calculates it when the legend shows it
  const points = trace._module.calc(body, trace);
  const known = points?.[0] ? points : [{ x: undefined, y: undefined }];
  known[0].t ??= {};
  known[0].trace = trace;
  body.calcdata[at] = known;
}

/* numbers: for each trace that moves, its place and what it gets, as in {x: [...], y: [...]}. */
export function move(body, numbers) {
  const { _fullData: traces, _fullLayout: layout } = body;
  for (const [at, values] of numbers) {
    Object.assign(body.data[at], values);
    Object.assign(traces[at], values);
    recalculate(body, at);
  }
  for (const module of new Set(traces.map((trace) => trace._module)))
    module.crossTraceCalc?.(body, layout._plots.xy);
  // Only lines can be drawn without their neighbours; what is not listed of other kinds would be removed.
  const moved = new Set(numbers.map(([at]) => at));
  const drawn = traces.flatMap(({ type }, at) => (type !== "scatter" || moved.has(at) ? [at] : []));
  for (const { plot } of layout._basePlotModules) plot(body, drawn, { duration: 0 });
  layout._rehover?.();
}
