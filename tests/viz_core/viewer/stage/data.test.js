import assert from "node:assert/strict";
import { test } from "node:test";
import { matrixOf, partsOf, shownOf, TraceData, topKeys } from "../../../../viz_core/viewer/stage/data.js";

test("dot products are summed from q and k, once; the other matrices are the trace's own", () => {
  const exact = {
    ...{ q0: 4, k0: 0, nq: 2, nk: 3, d: 2, pattern: Float32Array.of(1), scores: Float32Array.of(2) },
    q: Float32Array.of(1, 2, -1, 0.5),
    k: Float32Array.of(1, 0, 0, 1, 3, -2),
  };
  assert.equal(matrixOf(exact, "pattern"), exact.pattern);
  assert.equal(matrixOf(exact, "scores"), exact.scores);
  const dots = matrixOf(exact, "dots");
  assert.deepEqual([...dots], [1, 2, -1, -1, 0.5, -4]);
  assert.equal(matrixOf(exact, "dots"), dots);
});

const ROWS = { nk: 4, d: 2, softmax: Float32Array.of(1, 0, 0, 0, 0.125, 0.5, 0.25, 0.125) };

test("the heaviest keys come first, and the chosen one takes the last place if need be", () => {
  assert.deepEqual(topKeys(ROWS, 1, 2, 2), [1, 2]);
  assert.deepEqual(topKeys(ROWS, 1, 3, 2), [1, 3]);
  assert.deepEqual(topKeys(ROWS, 1, 0, 8), [1, 2, 0, 3]);
});

test("hidden tokens are not among the heaviest keys, and their numbers are not drawn", () => {
  const blank = Uint8Array.of(1, 1, 1, 1, 0, 1, 0, 0);
  assert.deepEqual(topKeys({ ...ROWS, blank }, 1, 2, 8), [2, 0, 3]);
  assert.deepEqual([...shownOf({ blank }, [1, 2, 3, 4, 5, 6, 7, 8])].slice(3), [
    Number.NaN,
    5,
    Number.NaN,
    7,
    8,
  ]);
  assert.equal(shownOf({}, blank), blank);
});

test("weighted values and what is left of z add up to it", () => {
  const v = Float32Array.of(8, 0, 2, -2, 0, 4, 16, 8);
  const { z, weighted, others } = partsOf({ ...ROWS, v, z: Float32Array.of(9, 9, 4, 1) }, 1, [1, 2]);
  assert.deepEqual([...z], [4, 1]);
  assert.deepEqual(
    weighted.map((row) => [...row]),
    [
      [1, -1],
      [0, 1],
    ],
  );
  assert.deepEqual([...others], [3, 1]);
});

test("a query of cross-attention is called by the word read and the one written next", () => {
  const rows = ["<bos> → la", "la → rue", "rue → <eos>"].map((text) => ({ text }));
  const tokens = {
    encoder: [{ text: "the" }, { text: "street" }],
    decoder: [{ text: "<bos>" }, { text: "la" }, { text: "rue" }],
  };
  const cross = { id: "decoder.cross", querySide: "decoder", keySide: "encoder", rows, stats: {} };
  const self = { id: "decoder.self", querySide: "decoder", keySide: "decoder", rows: null, stats: {} };
  const header = { stacks: [self, cross], tokens, special: { decoder: [0] } };
  const data = new TraceData(/** @type {any} */ (header));
  const texts = (/** @type {any} */ stack, /** @type {"query" | "key"} */ role) =>
    data.names(stack, role).map(({ text }) => text);
  assert.deepEqual(texts(cross, "query"), ["<bos> → la", "la → rue", "rue → <eos>"]);
  assert.deepEqual(texts(cross, "key"), ["the", "street"]);
  assert.deepEqual(texts(self, "query"), ["<bos>", "la", "rue"]);
  data.hide("hidden");
  assert.deepEqual(texts(cross, "query"), ["", "la → rue", "rue → <eos>"]);
});

test("the values of a pair of heads are twice as wide as its queries and keys", () => {
  const v = Float32Array.from({ length: 16 }, (_, at) => at);
  const z = Float32Array.of(0, 0, 0, 0, 1, 2, 3, 4);
  const { z: own, weighted } = partsOf({ ...ROWS, v, z }, 1, [1]);
  assert.deepEqual([...own], [1, 2, 3, 4]);
  assert.deepEqual([...weighted[0]], [2, 2.5, 3, 3.5]);
});
