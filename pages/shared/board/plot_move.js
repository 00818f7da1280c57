/* Puts other numbers into a figure that is there.

   Plotly's own ways (animate, restyle) read all settings of all traces again, several times as long as it
   takes to draw them: too long for a slider that moves six charts. So this file, and no other, leans on
   private parts of Plotly (names with _, calcdata); tests/browser/test_board.py fails when they go. */

/** @typedef {any} Body Plotly's element, with the private parts that this file leans on */

/** @param {Body} body @param {number} at */
function recalculate(body, at) {
  const trace = body._fullData[at];
  if (trace.visible !== true) return; // Plotly calculates it when the legend shows it
  const points = trace._module.calc(body, trace);
  const known = points?.[0] ? points : [{ x: undefined, y: undefined }];
  known[0].t ??= {};
  known[0].trace = trace;
  body.calcdata[at] = known;
}

/**
 * Gives each trace that moves its numbers, and draws what that changes.
 * @param {Body} body
 * @param {[place: number, numbers: import("./specs").Described][]} numbers as in {x: [...], y: [...]}
 */
export function move(body, numbers) {
  /** @type {{_fullData: any[], _fullLayout: any}} */ const { _fullData: traces, _fullLayout: layout } = body;
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
