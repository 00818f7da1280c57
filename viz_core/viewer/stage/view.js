/* The state of the view: what is open of a trace. Nothing here touches the page. */

import { page } from "../browser/page.js";
import { kept } from "../browser/storage.js";
import { beside, hidingOf, timesOf } from "./data.js";
import { isFurther, isSigned } from "./quantities.js";

/** @import { Header, View, Loose, Row } from "./types" */
/** @import { Framed } from "../browser/message.js" */
/** @import { TraceData } from "./data.js" */

/** An option of a field of the view, with its words (view.toml).
   @param {Offered} name @param {string} value */
export const optionOf = (name, value) =>
  /** @type {Option} */ (CHOICES[name].options.find((option) => option.value === value));

/** @type {Record<string, [number, number]>} from a key to rows down and columns along */
export const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The titles of how far each stack's residual stream moved: two whole sentences, for the languages. */
export const MOVED = {
  encoder: "How far the encoder's residual stream moved",
  decoder: "How far the decoder's residual stream moved",
};

/** @param {number} count */
export const upTo = (count) => Array.from({ length: count }, (_, at) => at);

/** @param {number | null | undefined} at @param {number} count */
export function within(at, count) {
  return Math.max(0, Math.min(count - 1, at ?? 0));
}

/** The first of the numbers that is nearest. @param {number} at @param {number[]} numbers */
export const nearest = (at, numbers) =>
  numbers.reduce((best, each) => (Math.abs(each - at) < Math.abs(best - at) ? each : best));

/** What the view is where nobody has chosen: in the stack that the model opens with, it is where the text or
   the example says, such as at the first pronoun.
   Who reads sees the story, or a picture as one.
   @param {Pick<Header, "defaults" | "focus" | "pictures">} header @param {string | undefined} stack
   @param {View["level"]} level @returns {Loose} */
export function usualView({ defaults, focus, pictures }, stack, level) {
  /** @type {Partial<View>} */ const read = level === "read" ? { view: pictures ? "picture" : "story" } : {};
  return { ...defaults, ...((stack || defaults.stack) === defaults.stack ? focus : {}), ...read };
}

export const LEVEL = "attention-lab.level";

/** The level on which a link opens: the one that it names; all controls where it names anything else of a
   view, or edits; else as this browser was left, at first for reading, as a stop of a talk always is.
   @param {Pick<Header, "linked" | "edits">} header @returns {View["level"]} */
export function levelOf({ linked, edits }) {
  if (linked.level) return linked.level;
  if (edits.length || Object.keys(linked).length) return "lab";
  if (page.hides) return "read"; // what a talk shows is the same on every machine
  return kept(LEVEL) === "lab" ? "lab" : "read";
}

/** Keeps a state of the view within what the trace has.
   @param {Loose} view @param {TraceData} data @returns {View} */
export function settle(view, data) {
  const stack = data.stack(view.stack);
  const { steps } = data.header;
  if (view.view === "output" && !steps.length) view.view = "grid";
  if (view.view === "picture" && !data.header.sight) view.view = "grid";
  if (view.sight === "rolled" && data.header.sight && !data.header.sight.rolled) view.sight = "mean";
  if (view.view === "sweep" && !(data.header.editable && steps.length)) view.view = "grid";
  if (view.view === "effect" && !data.header.change) view.view = "grid";
  if (!timesOf(view.view, data.header).includes(view.when)) view.when = "after";
  if (view.when !== "after" && isFurther(view.show)) view.show = "pattern"; // computed of the edited pass
  if (!stack.whole) {
    if (isSigned(view.show)) view.show = "pattern";
    if (view.view === "numbers") view.view = "head";
  }
  view.stack = stack.id;
  view.layer = nearest(view.layer, stack.layers);
  view.head = within(view.head, stack.heads);
  view.heads = view.heads.filter((head) => head < stack.heads);
  if (!view.heads.length) view.heads = [view.head];
  view.step = within(view.step ?? stepOf(view, data), steps.length);
  view.query = within(view.query ?? (stack.querySide === "decoder" ? view.step : 0), stack.nQuery);
  view.key = within(view.key, stack.nKey);
  besideSpecial(view, data, stack);
  return /** @type {View} */ (view);
}

/** Where a view opens whose link names no step: the effect where its headline speaks of it; a sweep and the
   output where an answer that has ended was least sure; all others at the end, where a text goes on.
   @param {Pick<Loose, "view">} view @param {TraceData} data */
export function stepOf({ view }, { header }) {
  const { at, kl } = header.change ?? {};
  if (view === "effect" && kl?.length) return at ?? Infinity;
  if (!["output", "sweep"].includes(view) || !header.steps.at(-1)?.chosen) return Infinity;
  const sure = header.steps.map(({ top }) => top[0][1]);
  return sure.reduce((least, share, at) => (share < sure[least] ? at : least), 0);
}

/** The marked cell lies beside special tokens where these are hidden; a text without any hides none.
   @param {Loose} view @param {TraceData} data @param {import("./types").Stack} stack */
function besideSpecial(view, { header }, { querySide, keySide, nQuery, nKey }) {
  const { special = {} } = header;
  if (!Object.values(special).some((each) => each.length)) view.special = "shown";
  if (hidingOf(/** @type {View} */ (view)) === "shown") return;
  view.query = beside(view.query ?? 0, nQuery, new Set(special[querySide]));
  view.key = beside(view.key ?? 0, nKey, new Set(special[keySide]));
}

/** The weights of a query in the heads that are shown, or null where they were not sent.
   @param {View} view @param {TraceData} data @param {number} query @returns {Row | null} */
export function rowOf(view, data, query) {
  if (view.view === "picture") return seenFrom(view, data, query);
  const heads = view.view === "lines" ? view.heads : [view.head];
  const all = heads.flatMap((head) => data.exact(view.stack, view.layer, head) ?? []);
  const [first] = all;
  if (all.length < heads.length || query < first.q0 || query >= first.q0 + first.nq) return null;
  const weights = new Float64Array(first.nk);
  for (const exact of all)
    for (let j = 0; j < exact.nk; j++)
      weights[j] += exact.pattern[(query - exact.q0) * exact.nk + j] / all.length;
  const row = { weights, k0: first.k0, heads };
  if (!first.blank) return row;
  const mean = (/** @type {"hidden" | "left"} */ name) =>
    all.reduce((sum, each) => sum + (each[name]?.[query - first.q0] ?? 0), 0) / all.length;
  return { ...row, hidden: mean("hidden"), left: mean("left") };
}

/** The weights of a query over all keys in what a picture is seen through: the heads that are shown, their
   mean, or attention rolled out through all layers (then of no heads). Null where they were not sent.
   @param {View} view @param {TraceData} data @param {number} query @returns {Row | null} */
export function seenFrom(view, data, query) {
  const { sight } = data.header;
  if (!sight) return null;
  const source = view.view === "picture" ? view.sight : "head";
  if (source === "rolled" && sight.rolled)
    return { weights: part(sight.rolled.values, sight.rolled, query), k0: 0, heads: [] };
  const sent = sight.layers.find(({ layer }) => layer === view.layer);
  if (!sent) return null;
  const all = upTo(data.stack(view.stack).heads);
  if (source === "mean")
    return { weights: part(sent.weights.entry(0), sent.weights, query), k0: 0, heads: all };
  const heads = view.view === "lines" ? view.heads : [view.head];
  if (heads.some((head) => !sent.heads.includes(head))) return null;
  const rows = heads.map((head) =>
    part(sent.weights.entry(1 + sent.heads.indexOf(head)), sent.weights, query),
  );
  const weights = rows[0].map((_, at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
  return { weights, k0: 0, heads };
}

/** The row of a query in a pattern.
   @param {ArrayLike<number>} pattern @param {Framed} of it, or what it is a part of @param {number} query */
const part = (pattern, of, query) =>
  Float64Array.from(upTo(of.size(1)), (at) => pattern[query * of.size(1) + at]);

/** The weights that a key gets in the heads that are shown, of the queries from `q0` up to `last`; or null.
   @param {View} view @param {TraceData} data @param {number} key @param {number} last
   @returns {{weights: Float64Array, q0: number, heads: number[]} | null} */
export function columnOf(view, data, key, last) {
  const heads = view.view === "lines" ? view.heads : [view.head];
  const all = heads.flatMap((head) => data.exact(view.stack, view.layer, head) ?? []);
  const [first] = all;
  if (all.length < heads.length || key < first.k0 || key >= first.k0 + first.nk) return null;
  const { q0, nq, nk, k0 } = first;
  const weights = Float64Array.from({ length: Math.max(0, Math.min(nq, last + 1 - q0)) }, (_, i) =>
    all.reduce((sum, exact) => sum + exact.pattern[i * nk + key - k0] / all.length, 0),
  );
  return weights.length ? { weights, q0, heads } : null;
}

/** The first of the largest numbers. @param {Float64Array} weights */
const largest = (weights) => weights.reduce((top, weight, at) => (weight > weights[top] ? at : top), 0);

/** The query that looks most at a key. @param {{weights: Float64Array, q0: number}} column */
export const keenestQuery = ({ weights, q0 }) => largest(weights) + q0;

/** The key that a row looks at most; the first of equal ones. @param {Row} row */
export function heaviestKey(row) {
  return largest(row.weights) + row.k0;
}

/** Several heads may be chosen. @param {Pick<View, "view" | "over">} view */
export const choosesHeads = ({ view, over }) => view === "lines" || (view === "sums" && over === "heads");

/** What a press on a head changes where several can be shown: it adds the head or takes it away. One head
   always stays.
   @param {number[]} chosen @param {number} head */
export function headsAfter(chosen, head) {
  const others = chosen.filter((each) => each !== head);
  const heads = chosen.includes(head) ? others : [...chosen, head].sort((a, b) => a - b);
  return heads.length ? { head: heads.includes(head) ? head : heads[0], heads } : { head, heads: [head] };
}

/** Says in which view another model opens: the same; but the head with which this model opens becomes the
   head with which the other one does. @param {Record<string, any>} act */
export function viewOfOther({ type: _, model: __, usual, key: ___, ...view }) {
  const isUsual = ["stack", "layer", "head"].every((name) => String(view[name]) === String(usual?.[name]));
  const left = isUsual ? ["stack", "layer", "head", "heads"] : [];
  const kept = Object.entries(view).filter(([name, value]) => value !== null && !left.includes(name));
  return Object.fromEntries(kept);
}

/** Writes a value of the view as links have it. @param {unknown} value */
export const written = (value) => (Array.isArray(value) ? value.join(".") : String(value));

/** The query parameters of a link to what is shown: the server's part, and what differs from the usual view;
   its level, where another would be expected.
   @param {Record<string, string>} link @param {import("./types").Loose} usual @param {View} view */
export function linkOf(link, usual, view) {
  const params = new URLSearchParams(link);
  for (const name of /** @type {(keyof View)[]} */ (Object.keys(usual))) {
    const expected = name === "heads" ? [view.head] : usual[name];
    if (written(view[name]) !== written(expected)) params.set(name, written(view[name]));
  }
  params.delete("level");
  const expects = params.size > Object.keys(link).length ? "lab" : "read";
  if (view.level !== expects) params.set("level", view.level);
  return params;
}
