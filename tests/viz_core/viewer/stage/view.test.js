import assert from "node:assert/strict";
import { test } from "node:test";
import {
  columnOf,
  headsAfter,
  heaviestKey,
  keenestQuery,
  rowOf,
  settle,
  stepOf,
  usualView,
} from "../../../../viz_core/viewer/stage/view.js";

const STACK = {
  id: "encoder.self",
  layers: [0, 1],
  heads: 4,
  nQuery: 5,
  nKey: 6,
  whole: true,
  querySide: "encoder",
};
const CROSS = { ...STACK, id: "decoder.cross", querySide: "decoder" };
const dataOf = (steps, ...stacks) => ({
  header: { steps: Array.from({ length: steps }, () => ({})) },
  stack: (id) => stacks.find((stack) => stack.id === id) ?? stacks[0],
});
const VIEW = {
  view: "head",
  stack: "encoder.self",
  layer: 1,
  head: 2,
  heads: [2],
  step: 0,
  query: 3,
  key: 4,
  special: "shown",
  when: "after",
};

test("where the pattern alone is traced, it alone is shown", () => {
  const data = dataOf(0, { ...STACK, whole: false });
  const shown = settle({ ...VIEW, view: "numbers", show: "scores" }, data);
  assert.deepEqual([shown.view, shown.show], ["head", "pattern"]);
});

test("where special tokens are hidden the marked cell lies beside them, and only there", () => {
  const data = dataOf(0, { ...STACK, keySide: "encoder" });
  data.header.special = { encoder: [3, 4] };
  for (const [view, special, place] of [
    ["head", "hidden", [2, 5]],
    ["lines", "renormalised", [2, 5]],
    ["picture", "hidden", [3, 4]],
    ["head", "shown", [3, 4]],
  ]) {
    data.header.sight = {};
    const kept = settle({ ...VIEW, view, special }, data);
    assert.deepEqual([[kept.query, kept.key], kept.special], [place, special]);
  }
  data.header.special = { encoder: [] };
  const none = settle({ ...VIEW, special: "hidden" }, data);
  assert.deepEqual([none.query, none.special], [3, "shown"]);
});

test("a view shows of an edited pass what it can", () => {
  const edited = dataOf(2, STACK);
  Object.assign(edited.header, { before: {}, change: {} });
  /** @param {object} changes */
  const shown = (changes, data = edited) => settle({ ...VIEW, show: "pattern", ...changes }, data);
  assert.equal(shown({ when: "difference" }).when, "difference");
  assert.equal(shown({ view: "lines", when: "difference" }).when, "after");
  assert.equal(shown({ view: "lines", when: "before" }).when, "before");
  assert.equal(shown({ view: "map", when: "before" }).when, "after");
  assert.equal(shown({ show: "rollout", when: "before" }).show, "pattern");
  assert.equal(shown({ show: "rollout" }).show, "rollout");
  assert.equal(shown({ view: "effect" }).view, "effect");
  const plain = shown({ view: "effect", when: "before" }, dataOf(2, STACK));
  assert.deepEqual([plain.view, plain.when], ["grid", "after"]);
});

test("a state of the view stays within what the trace has", () => {
  const data = dataOf(0, STACK);
  assert.deepEqual(settle({ ...VIEW }, data), VIEW);
  const wild = {
    ...VIEW,
    view: "output",
    stack: "none",
    layer: 9,
    head: -1,
    heads: [7, 8],
    query: 99,
    key: -3,
  };
  const kept = { view: "grid", stack: "encoder.self", layer: 1, head: 0, heads: [0], query: 4, key: 0 };
  assert.deepEqual(settle({ ...wild }, data), { ...VIEW, ...kept });
  assert.deepEqual(settle({ ...VIEW, heads: [5, 1, 3] }, data).heads, [1, 3]);
});

test("what is left open is the last step, its row in a decoder, and the first row elsewhere", () => {
  const open = { ...VIEW, step: null, query: null, key: null };
  const read = settle({ ...open }, dataOf(3, STACK));
  assert.deepEqual([read.step, read.query, read.key], [2, 0, 0]);
  const written = settle({ ...open, stack: "decoder.cross" }, dataOf(3, STACK, CROSS));
  assert.deepEqual([written.step, written.query, written.key], [2, 2, 0]);
});

test("the stack that a model opens with is opened where the text says, other stacks are not", () => {
  const header = { defaults: { stack: "encoder.self", query: null }, focus: { query: 7, key: 2 } };
  assert.deepEqual(usualView(header, undefined, "lab"), { stack: "encoder.self", query: 7, key: 2 });
  assert.deepEqual(usualView(header, "encoder.self", "lab"), { stack: "encoder.self", query: 7, key: 2 });
  assert.deepEqual(usualView(header, "decoder.cross", "lab"), { stack: "encoder.self", query: null });
  const letters = { defaults: { stack: "decoder.self", query: null }, focus: { query: 9, head: 1 } };
  assert.deepEqual(usualView(letters, undefined, "lab"), { stack: "decoder.self", query: 9, head: 1 });
});

/* A window of two queries from 1 and three keys from 2: query 1 of head 0 looks at key 3, of head 1 at 4. */
const EXACT = { q0: 1, k0: 2, nq: 2, nk: 3 };
const PATTERNS = [
  [0.25, 0.5, 0.25, 1, 0, 0],
  [0, 0.25, 0.75, 0, 0, 1],
];
const numbers = {
  exact: (_stack, _layer, head) =>
    PATTERNS[head] ? { ...EXACT, pattern: Float32Array.from(PATTERNS[head]) } : null,
};

test("the row of a query is that of the open head, and the mean where several are shown", () => {
  const one = rowOf({ ...VIEW, head: 1, heads: [0, 1] }, numbers, 1);
  assert.deepEqual({ ...one, weights: [...one.weights] }, { weights: [0, 0.25, 0.75], k0: 2, heads: [1] });
  const both = rowOf({ ...VIEW, view: "lines", head: 1, heads: [0, 1] }, numbers, 1);
  assert.deepEqual([...both.weights], [0.125, 0.375, 0.5]);
  assert.deepEqual([heaviestKey(one), heaviestKey(both)], [4, 4]);
});

test("the row of a query says how much of it lies on hidden tokens, on average over heads", () => {
  const hidden = [Float32Array.of(0.25, 0.5), Float32Array.of(0.75, 1)];
  const shown = {
    exact: (...place) => ({ ...numbers.exact(...place), hidden: hidden[place[2]], blank: new Uint8Array(6) }),
  };
  assert.equal(rowOf({ ...VIEW, head: 0, heads: [0] }, shown, 2).hidden, 0.5);
  assert.equal(rowOf({ ...VIEW, view: "lines", heads: [0, 1] }, shown, 1).hidden, 0.5);
  assert.equal(rowOf({ ...VIEW, head: 0, heads: [0] }, numbers, 1).hidden, undefined);
});

test("the column of a key is what queries give it, as far as they have happened", () => {
  const one = columnOf({ ...VIEW, head: 1, heads: [1] }, numbers, 4, Number.POSITIVE_INFINITY);
  assert.deepEqual({ ...one, weights: [...one.weights] }, { weights: [0.75, 1], q0: 1, heads: [1] });
  const both = columnOf({ ...VIEW, view: "lines", heads: [0, 1] }, numbers, 4, Number.POSITIVE_INFINITY);
  assert.deepEqual([[...both.weights], keenestQuery(both)], [[0.5, 0.5], 1]);
  const early = columnOf({ ...VIEW, head: 1, heads: [1] }, numbers, 4, 1);
  assert.deepEqual([[...early.weights], keenestQuery(early)], [[0.75], 1]);
  assert.equal(keenestQuery(one), 2);
  for (const [key, last] of [
    [1, 9],
    [5, 9],
    [4, 0],
  ])
    assert.equal(columnOf({ ...VIEW, head: 1, heads: [1] }, numbers, key, last), null);
});

test("no row where the window ends or a head's numbers were not sent; the first of equal keys counts", () => {
  const view = { ...VIEW, head: 0, heads: [0, 2] };
  assert.equal(rowOf(view, numbers, 0), null);
  assert.equal(rowOf(view, numbers, 3), null);
  assert.equal(rowOf({ ...view, head: 2 }, numbers, 1), null);
  assert.equal(rowOf({ ...view, view: "lines" }, numbers, 1), null);
  assert.equal(heaviestKey({ weights: Float64Array.of(0.1, 0.45, 0.45), k0: 10, heads: [0] }), 11);
});

test("a click adds a head in its place or takes it away; one always stays", () => {
  assert.deepEqual(headsAfter([1, 3], 2), { head: 2, heads: [1, 2, 3] });
  assert.deepEqual(headsAfter([1, 2, 3], 2), { head: 1, heads: [1, 3] });
  assert.deepEqual(headsAfter([2], 2), { head: 2, heads: [2] });
});

test("sweep and output open where an answer was least sure, and the effect where it is largest", () => {
  const steps = [0.9, 0.4, 0.8].map((p) => ({ top: [["a", p]], chosen: "a" }));
  assert.equal(stepOf({ view: "sweep" }, { header: { steps } }), 1);
  assert.equal(stepOf({ view: "output" }, { header: { steps } }), 1);
  assert.equal(stepOf({ view: "lines" }, { header: { steps } }), Infinity);
  const goesOn = [...steps, { top: [["a", 0.1]], chosen: null }];
  assert.equal(stepOf({ view: "sweep" }, { header: { steps: goesOn } }), Infinity);
  assert.equal(stepOf({ view: "effect" }, { header: { steps, change: { at: 1, kl: [0, 0.1, 0.3] } } }), 1);
  assert.equal(stepOf({ view: "effect" }, { header: { steps, change: { kl: [] } } }), Infinity);
});

test("a layer that does not attend gives way to the nearest that does", () => {
  const data = dataOf(0, { ...STACK, layers: [3, 7] });
  const settled = [0, 3, 5, 6, 40].map((layer) => settle({ ...VIEW, layer }, data).layer);
  assert.deepEqual(settled, [3, 3, 3, 7, 7]);
});
