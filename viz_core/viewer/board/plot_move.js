/* Puts other numbers into a figure that is there.

   Plotly's own ways (animate, restyle) read all settings of all traces again, several times as long as it
   takes to draw them: too long for a slider that moves six charts. So this file, and no other, leans on
   private parts of Plotly (names with _, calcdata); tests/browser/test_board.py fails when they go. */

import { between, play } from "../browser/motion.js";

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

/** @typedef {[place: number, numbers: import("./specs").Described][]} Moved as in {x: [...], y: [...]} */

/** What a figure shows now of what moves.
   @param {Body} body @param {string[][]} moving the names of what moves in each trace @returns {Moved} */
export function shownOf({ _fullData: traces }, moving) {
  return moving.map((names, at) => [at, Object.fromEntries(names.map((name) => [name, traces[at]?.[name]]))]);
}

/** Gives each trace that moves its numbers, and draws what that changes, in so many milliseconds.
   @param {Body} body @param {Moved} numbers @param {number} lasts @param {Moved} from what was shown of all
   traces */
export function move(body, numbers, lasts = 0, from = []) {
  for (const [at, values] of numbers) Object.assign(body.data[at], values);
  body.stop?.();
  // Plotly leaves a heat map of no number out, with all its settings, until it reads them again
  if (numbers.some(([at]) => body._fullData[at].visible === false)) return globalThis.LabPlotly.redraw(body);
  body.stop = play(lasts, (share) => {
    const way = share === 1 ? numbers : numbers.map(([at, to]) => midway(body, at, from[at][1], to, share));
    draw(body, /** @type {Moved} */ (way));
  });
}

/** @param {Body} body @param {number} at @param {any} from @param {any} to @param {number} share
   @returns {Moved[number]} */
function midway({ _fullData: traces }, at, from, to, share) {
  const nothing = traces[at].type === "bar" ? 0 : Number.NaN; // what is not there yet rises from the ground
  const names = Object.keys(to);
  return [at, Object.fromEntries(names.map((name) => [name, between(from[name], to[name], share, nothing)]))];
}

/** @param {Body} body @param {Moved} numbers */
function draw(body, numbers) {
  /** @type {{_fullData: any[], _fullLayout: any}} */ const { _fullData: traces, _fullLayout: layout } = body;
  for (const [at, values] of numbers) {
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
