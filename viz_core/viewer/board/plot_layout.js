/* A chart as Plotly takes it: its size, its layout and its traces at a frame, with the placeholders of
   viz_core/boards/chart.py filled in. Nothing here touches the page. */

import { asTyped, shorten } from "../browser/dom.js";
import { Framed } from "../browser/message.js";
import { anyNumber, shortNumber } from "../browser/numbers.js";
import { t } from "../browser/words.js";

/** @import { ChartSpec, PictureSpec, Described, Theme } from "./specs" */
/** @import { Numbers } from "../browser/message.js" */
/** @typedef {(text: string) => number} Measure how wide a word of the legend is, in pixels */
/** @typedef {{upright?: boolean, lines?: number, line?: number, most?: number}} Room */
/** @typedef {{l: number, r: number, t: number, b: number}} Margin */
/** @typedef {import("./specs").Described} Ticks */
/** @typedef {Pick<import("./specs").Theme, "heads" | "template">} Colours and the colours that are named */
/** @typedef {import("./specs").PlotSpec} Spec */

/** written: whether numbers over bars have room; isNamed: whether a legend has; x, y: what an axis gets
   beside its description.
   @typedef {{width: number, height: number, margin: Margin, written: boolean, isNamed?: boolean,
     x?: Ticks, y?: Ticks}} Size */

const LEAST_BODY = 40; // pixels between a chart's axes
const LETTER = 7.4;
const RIGHT = 18; // pixels beside a chart's body
const WRITTEN_ROOM = 34; // pixels from one number over a bar to the next

/** As many names as fit on an axis: all in one line, every other one a line lower, or fewer.
   @param {string[]} names @param {number} pixels @param {Room} room */
export function ticksOf(names, pixels, { upright = false, lines = 1, line = 14, most = 12 } = {}) {
  const step = Math.max(1, pixels) / Math.max(1, names.length);
  const cut = names.map((name) => shorten(name, most));
  const widest = longest(cut) * LETTER + 6;
  let every = Math.max(1, Math.ceil((upright ? line : widest) / step));
  const lowered = every === 2 && lines === 2;
  if (lowered) every = 1;
  const shown = names.map((_, at) => at).filter((at) => at % every === 0);
  const text = cut.map((name, at) => (lowered && at % 2 ? `<br>${asTyped(name)}` : asTyped(name)));
  return { tickvals: shown, ticktext: shown.map((at) => text[at]) };
}

/** What an axis says that names only some of its entries, as viz_core/labels.py; numbers say it themselves.
   @param {string[]} names @param {number[]} shown */
export function skipping(names, shown) {
  const step = shown.length > 1 ? shown[1] : names.length;
  if (shown.length === names.length || names.every((name) => /^[-−]?\d+$/.test(name))) return "";
  return step === 2 ? " · every 2nd named" : step === 3 ? " · every 3rd named" : ` · every ${step}th named`;
}

/** An axis's title with what it skips, in fewer words where they do not fit: in one line, or in two where it
   may; without the title where that is longer than the axis; nothing where the title stays as it is.
   @param {import("./specs").Axis} axis @param {string[]} names @param {Ticks} ticks @param {number} pixels
   @param {number} lines @returns {Ticks} */
export function titled(axis, names, ticks, pixels, lines = 1) {
  const title = axis.title?.text ?? "";
  const skipped = skipping(names, ticks.tickvals);
  const fits = (/** @type {string} */ text) => LETTER * text.length <= pixels + 8;
  const as = (/** @type {string} */ text) => ({ title: { ...axis.title, text } });
  if (!title) return {};
  if (!fits(title)) return as("");
  if (!skipped) return {};
  const [long, short] = [skipped, skipped.replace(" named", "")].map(t);
  const below = short.slice(3);
  const beside = [long, short].find((said) => fits(title + said));
  if (beside) return as(title + beside);
  return lines === 2 && fits(below) ? as(`${title}<br>${below}`) : {};
}

/** Plotly writes all entries in one line, or in columns as wide as the widest.
   @param {import("./specs").Described[]} traces @param {number} width @param {Measure} measure */
function legendLines(traces, width, measure) {
  const names = traces.filter((trace) => trace.showlegend).map(({ name }) => name);
  const widths = names.map((name) => Math.ceil(measure(name)) + 40);
  if (widths.reduce((a, b) => a + b, 0) <= width) return Math.min(1, names.length);
  return Math.ceil(names.length / Math.max(1, Math.floor(width / Math.max(...widths))));
}

/** @param {ChartSpec} spec @param {number} room @param {number} most @param {Measure} measure
   @returns {Size} */
function wide({ chart }, room, most, measure) {
  const lineCount = legendLines(chart.traces, room - RIGHT, measure);
  const isNamed = lineCount < 3 || 38 * lineCount < most; // else most of it would be names
  const legend = isNamed ? 19 * lineCount : 0;
  const below = chart.x.title?.text ? 46 : chart.x.names ? 40 : 26;
  const margin = { l: 60, r: RIGHT, t: Math.max(12, legend + 10), b: below };
  const names = chart.x.names;
  const pixels = room - margin.l - margin.r;
  const lines = chart.x.title?.text ? 1 : 2; // a second line of names stands where nothing else does
  const between = Math.floor(pixels / (names?.length || 1) / LETTER) - 1; // letters, from tick to tick
  const ticks = ticksOf(names ?? [], pixels, { lines, most: Math.max(12, between) });
  const height = Math.max(
    LEAST_BODY + margin.t + margin.b,
    Math.floor(most * 0.62) + Math.max(0, legend - 2),
  );
  return {
    width: room,
    height,
    margin,
    y: wrapped(chart.y.title?.text, height - margin.t - margin.b),
    ...(isNamed ? null : { isNamed }),
    written: !names || pixels / names.length >= WRITTEN_ROOM,
    x: names ? { names: null, ...titled(chart.x, names, ticks, pixels), ...ticks } : {},
  };
}

/** The title of an upright axis in two lines where one is too long.
   @param {string | undefined} title @param {number} pixels */
export function wrapped(title, pixels) {
  if (!title || LETTER * title.length <= pixels) return {};
  const middle = title.length / 2;
  const blanks = [...title.matchAll(/ /g)].map(({ index }) => index);
  if (!blanks.length) return {};
  const at = blanks.reduce((a, b) => (Math.abs(b - middle) < Math.abs(a - middle) ? b : a));
  return { title: { text: `${title.slice(0, at)} <br>${title.slice(at + 1)}`, font: { size: 12 } } };
}

/** @param {ChartSpec} _spec @param {number} room @param {number} most @returns {Size} */
function square(_spec, room, most) {
  const side = Math.floor(Math.min(room, most * 0.8));
  return { width: side, height: side, margin: { l: 0, r: 0, t: 0, b: 0 }, written: true };
}

/** A picture has square cells as long as they can be seen; names stand upright where they do not fit side by
   side.
   @param {PictureSpec} spec @param {number} room @param {number} most
   @param {number} lines of the upright title @returns {Size} */
function cells(spec, room, most, lines = 1) {
  const { chart, values, picture, named, large, together } = spec;
  const [nRows, nColumns] = values.shape.slice(-2);
  const [rows, columns] = [chart.y.names ?? [], chart.x.names ?? []];
  /** @param {import("./specs").Axis} axis @param {number} count of its lines */
  const title = (axis, count) => (axis.title?.text ? 6 + 16 * count : 0);
  /** @param {string} along */
  const strip = (along) => (chart.shapes.some((shape) => shape[`${along}sizemode`] === "pixel") ? 8 : 0);
  const described = title(chart.y, lines) + (rows.length ? Math.min(90, LETTER * longest(rows) + 12) : 2);
  const isBare = room - described - strip("x") - 8 < LEAST_BODY; // its rows are seen rather than named
  const left = (isBare ? 2 : described) + strip("x");
  const alone = !picture || together; // other pictures come several to a page
  const share = most * (large ? 0.7 : alone ? 1 : 0.5);
  // Few rows are as high as a line of text, so that names have room and pictures of the same rows match.
  const text = together ? 12 : 14; // those that stand beside each other leave room for what is below
  const written = nRows <= 24 ? Math.min(named ? Infinity : share, text * nRows) : 0;
  const highest = Math.max(share, written);
  const free = room - left - 8;
  const cell = Math.min(free / nColumns, highest / nRows, 20);
  const isSquare = cell >= 3;
  const width = isSquare ? cell * nColumns : Math.min(free, 640);
  const height = Math.max(written, isSquare ? cell * nRows : Math.min(highest, Math.max(120, 4 * nRows)));
  const line = Math.min(13, text);
  const widest = LETTER * longest(columns) + 6;
  const upright = widest > width / nColumns && (named || width / nColumns >= line / 1.5);
  const above = columns.length ? (upright ? LETTER * Math.min(9, longest(columns)) + 2 : 22) : 4;
  const margin = { l: left, r: 4, t: title(chart.x, 1) + strip("y") + above, b: 4 };
  const across = ticksOf(columns, width, { upright, line, most: 9 });
  const down = ticksOf(rows, height, { upright: true, line: text, most: 12 });
  const small = { tickfont: { size: 12 } };
  const bare = { title: { text: "" }, tickvals: [], ticktext: [] };
  const y = isBare ? bare : titled(chart.y, rows, down, height, 2);
  if (lines === 1 && y.title?.text.includes("<br>")) return cells(spec, room, most, 2);
  // The title stands over the middle, and may reach beyond the picture as far to the right as to the left.
  const beside = Math.max(0, Math.min(left, room - left - width - 8));
  const x = titled(chart.x, columns, across, width + 2 * beside);
  const length = LETTER * ((x.title ?? chart.x.title)?.text.length ?? 0);
  margin.r += Math.max(0, Math.ceil((length - width) / 2));
  return {
    width: Math.ceil(left + width + margin.r),
    height: Math.ceil(margin.t + height + 4),
    margin,
    written: true,
    x: { names: null, ...small, ...x, tickangle: upright ? -90 : 0, ...across },
    y: { names: null, ...small, ...down, ...y },
  };
}

/** @param {string[]} names */
function longest(names) {
  return Math.max(1, ...names.map((name) => [...name].length));
}

/** Width, height and margins in pixels of a panel's chart.
   @param {ChartSpec | PictureSpec} spec @param {number} room pixels in its row
   @param {number} most how high a picture may be @param {Measure} measure */
export function sizeOf(spec, room, most, measure) {
  if (spec.chart.form === "cells") return cells(/** @type {PictureSpec} */ (spec), room, most);
  return spec.chart.form === "square" ? square(spec, room, most) : wide(spec, room, most, measure);
}

/** Numbers of an array as Plotly takes them: one, a list, or a list of rows.
   @param {Numbers} values @param {number[]} shape */
function plain(values, shape) {
  if (shape.length === 0) return values[0];
  if (shape.length === 1) return values;
  const [rows, columns] = shape;
  return Array.from({ length: rows }, (_, i) => values.subarray(i * columns, (i + 1) * columns));
}

/** @param {import("./specs").Moving} moving @param {number} frame */
function entry(moving, frame) {
  const { values, shape } = moving.values;
  const own = shape.slice(1);
  const size = own.reduce((a, b) => a * b, 1);
  return plain(values.subarray(frame * size, (frame + 1) * size), own);
}

/** @param {import("./specs").Paint} paint @param {Colours} theme */
function colour({ name, alpha }, theme) {
  if (name === "sequential" || name === "diverging") return theme.template.layout.colorscale[name];
  const hex =
    typeof name === "number" ? theme.heads[name % theme.heads.length] : /** @type {any} */ (theme)[name];
  if (alpha === 1) return hex;
  const parts = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  return `rgba(${parts.join(", ")}, ${alpha})`;
}

/** @type {Record<string, (leaf: any, frame: number, theme: Colours) => any>} */
const LEAVES = {
  Moving: (value, frame) => entry(value, frame),
  Worded: ({ rows, at }, frame) => rows[at.values[frame]],
  Paint: (value, _frame, theme) => colour(value, theme),
  Written: ({ values, digits, nan_is_empty }, frame, theme) =>
    Array.from(filled(values, frame, theme), (value) =>
      nan_is_empty && Number.isNaN(value)
        ? ""
        : digits === null
          ? anyNumber(value)
          : shortNumber(value, digits),
    ),
};

/** A description with its placeholders filled in.
   @param {any} value @param {number} frame @param {Colours} theme @returns {any} */
export function filled(value, frame, theme) {
  if (value instanceof Framed) return plain(value.values, value.shape);
  if (Array.isArray(value)) return value.map((each) => filled(each, frame, theme));
  if (value === null || typeof value !== "object") return value;
  if (LEAVES[value.kind]) return LEAVES[value.kind](value, frame, theme);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, filled(each, frame, theme)]));
}

/** @param {any} value @returns {boolean} */
function moves(value) {
  if (value === null || typeof value !== "object" || value instanceof Framed) return false;
  return ["Moving", "Worded"].includes(value.kind) || Object.values(value).some(moves);
}

/** The names of what moves in a trace. @param {import("./specs").Described} trace */
export function movingOf(trace) {
  return Object.keys(trace).filter((name) => moves(trace[name]));
}

/** Right above the body, in the room that `sizeOf` keeps for it, from the figure's left edge: then Plotly
   lets it grow to the body's right end.
   @param {Size} size */
const legendAt = ({ width, margin: { l, r } }) => ({
  orientation: "h",
  x: -l / (width - l - r),
  xanchor: "left",
  y: 1,
  yanchor: "bottom",
  indentation: -5,
  bgcolor: "rgba(0, 0, 0, 0)",
});

/** How many numbers an upright axis has room for. @param {Pick<Size, "height" | "margin">} size */
export function ticksIn({ height, margin: { t, b } }) {
  return Math.max(2, Math.min(6, Math.floor((height - t - b) / 20)));
}

const isLine = (/** @type {Described} */ trace) => trace.mode === "lines" && Boolean(trace.name);

/** A picture's share of its row: rows are shared by columns, so that cells come out alike; four have room,
   but where each name has to be read.
   @param {Pick<import("./specs").PictureSpec, "values" | "rows" | "named">} spec */
export function shareOf({ values, rows, named }) {
  const names = rows.length ? Math.min(90, 8 * Math.max(...rows.map((name) => name.length)) + 8) : 0;
  const columns = values.size(1);
  const width = `${Math.min(260, names + 8 * columns)}px`;
  return `${columns} 1 ${named ? width : `min(${width}, 22%)`}`;
}

/** @param {Spec} spec @param {number} frame @param {Theme} theme @param {Size} size */
export function layoutOf(spec, frame, theme, size) {
  const { traces, under, shapes, x, y } = spec.chart;
  /** @param {Described} given @param {Described} ticks */
  const axis = (given, ticks = {}) => ({
    ...filled({ ...given, ...ticks }, frame, theme),
    tickfont: { color: theme.muted, ...ticks.tickfont },
    automargin: false,
  });
  return {
    template: theme.template,
    width: size.width,
    height: size.height,
    margin: { pad: 0, autoexpand: false, ...size.margin },
    font: { family: theme.font, size: 13 },
    paper_bgcolor: "rgba(0, 0, 0, 0)",
    plot_bgcolor: under ? filled(under, 0, theme) : "rgba(0, 0, 0, 0)",
    hovermode: traces.some(isLine) ? "x unified" : "closest",
    hoverdistance: -1,
    legend: { ...legendAt(size), visible: size.isNamed !== false, font: { size: 12, color: theme.ink } },
    shapes: (shapes ?? []).map((shape) => filled(shape, 0, theme)),
    xaxis: {
      zeroline: false,
      ticklabelstandoff: 4,
      unifiedhovertitle: { text: `${spec.x_label} %{x:,.6~r}` },
      ...axis(x, size.x),
    },
    yaxis: { zeroline: false, nticks: ticksIn(size), ticklabelstandoff: 5, ...axis(y, size.y) },
  };
}

/** The traces at a frame. Numbers over bars that stand too close are left out; the label of all lines names
   their x once.
   @param {Spec} spec @param {number} frame @param {Theme} theme @param {Size} size */
export function tracesOf(spec, frame, theme, size) {
  return spec.chart.traces.map((trace) => ({
    ...filled(trace, frame, theme),
    ...(isLine(trace) ? { hovertemplate: "<b>%{customdata}</b>" } : {}),
    visible: trace.mode !== "text" || size.written,
  }));
}

/** What moves in the traces, at a frame: the place of each such trace, and its entries.
   @param {Spec} spec @param {string[][]} moving the names of what moves in each trace @param {number} frame
   @param {Theme} theme @returns {[number, Described][]} */
export function movedOf(spec, moving, frame, theme) {
  /** @type {(names: string[], at: number) => [number, Described]} */
  const given = (names, at) => [
    at,
    Object.fromEntries(names.map((name) => [name, filled(spec.chart.traces[at][name], frame, theme)])),
  ];
  return moving.map(given).filter(([at]) => moving[at].length);
}
