/* What each view shows, in rows (browser/reading.js). */

import { apart } from "../browser/reading.js";
import { measureOf, placesOf, productsOf } from "./data.js";
import { labelOf } from "./head.js";
import { byValue, definitionOf } from "./sums.js";
import { WAYS } from "./sweep.js";
import { heaviestKey, MOVED, rowOf, upTo } from "./view.js";

/** @import { Stage, Side, Area, View } from "./types" */
/** @import { Framed } from "../browser/message.js" */
/** @import { Reading } from "../browser/reading.js" */

/** @param {string} title @param {string} rowAxis @param {string[]} rows @param {string[]} columns
   @param {Reading["at"]} at @param {Partial<Reading>} rest @returns {Reading} */
const list = (title, rowAxis, rows, columns, at, rest = {}) => {
  return { title, form: "rows", rowAxis, rows, columns, at, ...rest };
};

/** @param {Stage} stage @param {"query" | "key"} role */
const namesOf = ({ data, stack }, role) => apart(data.names(stack, role).map(({ text }) => text));

/** A matrix of a head, of queries that have happened and of tokens that are not hidden.
   @param {Stage} stage @param {string} title @param {Area} area
   @param {(at: number) => number} value @param {boolean} weights @returns {Reading} */
function gridOf(stage, title, { q0, k0, nq, nk }, value, weights) {
  const { data, stack, view } = stage;
  const [queries, keys] = [namesOf(stage, "query"), namesOf(stage, "key")];
  const gone = [data.gone(stack.querySide), data.gone(stack.keySide)];
  const asking = upTo(nq).filter((i) => q0 + i <= stage.lastRow() && !gone[0].has(q0 + i));
  const seen = upTo(nk).filter((j) => !gone[1].has(k0 + j));
  return {
    ...{ title, form: "grid", rowAxis: "query", columnAxis: "key", weights },
    rows: asking.map((i) => queries[q0 + i]),
    columns: seen.map((j) => keys[k0 + j]),
    at: (i, j) => {
      const number = value(asking[i] * nk + seen[j]);
      return number === -Infinity ? "masked" : number;
    },
    row: Math.max(0, asking.indexOf(view.query - q0)),
  };
}

/** Outputs with their probabilities. @param {string} title @param {[string, ...number[]][]} outputs
   @param {string[]} columns */
const outputsOf = (title, outputs, columns) =>
  list(
    title,
    "output",
    outputs.map(([name]) => name),
    columns,
    (i, j) => /** @type {number} */ (outputs[i][j + 1]),
  );

/** What a query gives to each key. @param {Stage} stage @param {string} title @param {boolean} scores */
function rowReading(stage, title, scores) {
  const { data, stack, view } = stage;
  const row = stage.row(view.query);
  if (!row) return [];
  const exact = scores && stack.whole ? stage.exactHead() : null;
  const score = (/** @type {number} */ j) => exact?.scores[(view.query - exact.q0) * exact.nk + j] ?? "";
  const gone = data.gone(stack.keySide);
  const keys = upTo(row.weights.length).filter((j) => !gone.has(row.k0 + j));
  const names = namesOf(stage, "key");
  return [
    list(
      title || `“${namesOf(stage, "query")[view.query]}” in ${stage.headName()}`,
      "key",
      keys.map((j) => names[row.k0 + j]),
      ["weight", ...(exact ? ["score"] : [])],
      (i, column) => {
        const number = column ? score(keys[i]) : row.weights[keys[i]];
        return number === -Infinity ? "masked" : number;
      },
    ),
  ];
}

/** Every head of the stack: where it looks, and its numbers.
   @param {Stage} stage @param {[string, (i: number) => string | number][]} [more] columns */
function headsOf(stage, more = []) {
  const { data, stack, view } = stage;
  const chosen = measureOf(data.header.measures, stack, view);
  const others = data.header.measures.filter((each) => each !== chosen && stack.stats[each.name]);
  const measures = chosen ? [chosen, ...others] : others;
  const places = placesOf(stack, view, chosen);
  /** @param {import("./types").Measure} measure @returns {[string, (i: number) => number]} */
  const ofMeasure = ({ name, title }) => [title, (i) => stack.stats[name][places[i].at]];
  const [queries, keys] = [namesOf(stage, "query"), namesOf(stage, "key")];
  const rows = places.map((place) => rowOf({ ...view, ...place, view: "head" }, data, view.query));
  /** @type {[string, (i: number) => string | number][]} */
  const columns = [
    ...more,
    ...measures.slice(0, chosen ? 1 : 0).map(ofMeasure),
    [`“${queries[view.query]}” looks most at`, (i) => (rows[i] ? keys[heaviestKey(rows[i])] : "…")],
    [
      `largest weight of “${queries[view.query]}”`,
      (i) => (rows[i] ? rows[i].weights[heaviestKey(rows[i]) - rows[i].k0] : "…"),
    ],
    ["pattern", (i) => stack.labels[places[i].at] ?? ""],
    ...measures.slice(chosen ? 1 : 0).map(ofMeasure),
  ];
  return [
    list(
      `All heads of ${stack.title}`,
      "head",
      places.map(({ layer, head }) => `layer ${layer} head ${head}`),
      columns.map(([name]) => name),
      (i, j) => columns[j][1](i),
      { marked: (i, j) => !j && view.keep !== "all" && chosen && places[i].passes },
    ),
  ];
}

/** @type {Record<View["view"], (stage: Stage) => Reading[]>} */
const VIEWS = {
  grid: (stage) => headsOf(stage),
  map: (stage) => {
    const { points } = stage.views.map.map ?? {};
    if (!points) return headsOf(stage);
    const { heads, layers } = stage.stack;
    const far = (/** @type {number} */ a, /** @type {number} */ b) =>
      Math.hypot(points[a][0] - points[b][0], points[a][1] - points[b][1]);
    const nearest = points.map((_, at) =>
      upTo(points.length).reduce(
        (best, each) => (each !== at && far(at, each) < far(at, best) ? each : best),
        at ? 0 : 1,
      ),
    );
    const name = (/** @type {number} */ at) => `layer ${layers[Math.floor(at / heads)]} head ${at % heads}`;
    const { data, view } = stage;
    const at = placesOf(stage.stack, view, measureOf(data.header.measures, stage.stack, view)).map(
      (each) => each.at,
    );
    return headsOf(stage, [
      ["distance on the map", (i) => far(at[i], nearest[at[i]])],
      ["to the nearest head", (i) => name(nearest[at[i]])],
    ]);
  },
  head: (stage) => {
    const { data, stack, view, views } = stage;
    const { area, numbers, exact, answer } = views.head;
    const title = labelOf(view, stage.headName(), area);
    if (view.show === "plane") {
      const { queries = [], keys = [] } = answer ?? {};
      const name = (/** @type {"query" | "key"} */ role, /** @type {number} */ from) =>
        namesOf(stage, role)
          .slice(from)
          .map((text) => `${role} ${text}`);
      const rows = [...name("query", area.q0).slice(0, queries.length), ...name("key", area.k0)];
      const places = [...queries, ...keys];
      return [list(title, "", rows.slice(0, places.length), ["x", "y"], (i, j) => places[i][j])];
    }
    if (!exact && !data.thumbIsWhole(stack)) return [];
    return [gridOf(stage, title, area, (at) => numbers[at], view.show === "pattern")];
  },
  lines: (stage) => {
    const { data, stack, view } = stage;
    return view.heads.flatMap((head) => {
      const cells = data.cells(stack, view.layer, head);
      const title = `Layer ${view.layer} head ${head}`;
      return cells ? [gridOf(stage, title, cells, (at) => cells.values[at] * cells.unit, true)] : [];
    });
  },
  numbers: (stage) => {
    const { stack, view } = stage;
    const exact = stage.exactHead();
    if (!exact) return [];
    const [i, j] = [view.query - exact.q0, view.key - exact.k0];
    const products = productsOf(exact, i, j, stack.scales[stack.layers.indexOf(view.layer)]);
    const { q, k, v, z, d } = exact;
    const wide = v.length / exact.nk; // of a pair of heads, twice as wide as q and k
    const [ofQ, ofK] = [q.subarray(i * d, (i + 1) * d), k.subarray(j * d, (j + 1) * d)];
    const columns = [products, ofQ, ofK, v.subarray(j * wide), z.subarray(i * wide)];
    const names = ["q × k, scaled", "q", "k", "v", "z"];
    const pair = `“${namesOf(stage, "query")[view.query]}” and “${namesOf(stage, "key")[view.key]}”`;
    const channels = list(
      `${pair}, channel by channel`,
      "channel",
      upTo(wide).map(String),
      names,
      (at, column) => columns[column][at] ?? "",
    );
    return [...rowReading(stage, "", true), channels];
  },
  story: (stage) => {
    const { steps } = stage.data.header;
    const { story } = stage.views;
    const step = story.answerStep();
    const outputs = step === null ? [] : steps[step].top;
    const named = outputs.map(
      ([name, share]) => /** @type {[string, number]} */ ([story.output(step, name), share]),
    );
    return [...rowReading(stage, "", true), outputsOf("What the model answers", named, ["probability"])];
  },
  picture: (stage) => rowReading(stage, "Where in the picture it looks", false),
  sums: ({ views: { sums } }) => {
    const { answer, chosen } = sums;
    const values = answer?.values ?? [];
    const heads = values.length ? byValue(values, sums.heads) : [];
    const rows = heads.map(({ layer, head }) => `layer ${layer} head ${head}`);
    const title = `Each number ${definitionOf(chosen, 1)}`;
    return [list(title, "head", rows, ["weight"], (i) => values[heads[i].at])];
  },
  output: ({ data, view }) => {
    const { steps, antecedents, tokens, stepSide, pooled } = data.header;
    const title = pooled ?? `After “${tokens[stepSide][view.step]?.text}”`;
    const meant = antecedents ?? [];
    return [
      outputsOf(title, steps[view.step]?.top ?? [], ["probability"]),
      list(
        "Who is meant",
        "pronoun",
        meant.map(({ position }) => tokens.encoder[position].text),
        ["probability", "antecedent"],
        (i, j) => (j ? meant[i].word : meant[i].probability),
      ),
    ];
  },
  sweep: ({ data, views: { sweep } }) => {
    const { effects = {}, direct = {}, layers = {}, parts = [], outputs = [] } = sweep.answer ?? {};
    const grids = [effects, direct].flatMap((all, which) =>
      Object.entries(all).map(([name, rows]) => {
        const ofHeads = name.includes(".");
        const heads = upTo(rows[0].length).map((head) => `head ${head}`);
        const tokens = apart((data.header.tokens[/** @type {Side} */ (name)] ?? []).map(({ text }) => text));
        /** @type {Reading} */ const grid = {
          title: `${name}${which ? ", on the direct way to the output alone" : ""}`,
          ...{ form: "grid", rows: layers[name].map((layer) => `layer ${layer}`) },
          ...{ columns: ofHeads ? heads : tokens, at: (i, j) => rows[i][j] },
        };
        return grid;
      }),
    );
    const names = parts.map(([name]) => name);
    return [
      ...grids,
      list("What each part gives", "part", names, ["value"], (i) => parts[i][1]),
      outputsOf("Probabilities of the likeliest outputs", outputs, WAYS),
    ];
  },
  effect: ({ data, view }) => {
    const { change, tokens, stepSide } = data.header;
    if (!change) return [];
    const { kl, outputs, stream } = change;
    const names = apart(tokens[stepSide].map(({ text }) => text)).slice(0, kl.length);
    const at = Math.min(view.step, outputs.length - 1);
    /** @type {Reading[]} */
    const moved = /** @type {[Side, Framed][]} */ (Object.entries(stream)).map(([side, own]) => ({
      ...{ title: MOVED[side], form: "grid", columnAxis: "token" },
      rows: upTo(own.size(2)).map((place) => (place ? `after ${place} layers` : "entering")),
      columns: apart(tokens[side].map(({ text }) => text)).slice(0, own.size(1)),
      at: (i, j) => own.values[i * own.size(1) + j],
    }));
    return [
      outputsOf(`At “${names[at] ?? ""}”`, outputs[at] ?? [], ["before", "after"]),
      list("KL(before ‖ after) in nats", "position", names, ["nats"], (i) => kl[i]),
      ...moved,
    ];
  },
};

/** @param {Stage} stage */
export const rowsOf = (stage) => VIEWS[stage.view.view](stage);
