import assert from "node:assert/strict";
import { test } from "node:test";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";
import { mostTelling, TraceData } from "../../../../viz_core/viewer/stage/data.js";

const named = (...texts) => texts.map((text) => ({ text }));
const read = (encoder, decoder = []) => {
  const data = new TraceData({
    stacks: [],
    tokens: { encoder: named(...encoder), decoder: named(...decoder) },
  });
  data.plain = true;
  return data;
};
const texts = (data, side) => data.tokens(side).map(({ text }) => text);

test("pieces are read without the sign of the blank, and a hyphen stands where a word is cut", () => {
  const data = read(
    ["<2fr>", "␣the", "␣ve", "get", "able", "␣table", "?", "<eos>"],
    ["<bos>", "␣la", "␣leg", "ume"],
  );
  assert.deepEqual(texts(data, "encoder"), ["<2fr>", "the", "ve-", "-get-", "-able", "table", "?", "<eos>"]);
  assert.equal(data.output("decoder", 1, "␣leg"), "leg-"); // what was written, and goes on
  assert.equal(data.output("decoder", 2, "al"), "-al"); // another that might have been
  assert.equal(data.output("decoder", 0, "␣la"), "la");
  data.plain = false; // the lab shows what the model reads
  assert.equal(texts(data, "encoder")[2], "␣ve");
  assert.equal(data.output("decoder", 1, "␣leg"), "␣leg");
  const words = ["the", "run", "##ning", "dog", "[SEP]"]; // of WordPiece, in which words have no sign
  assert.deepEqual(texts(read(words), "encoder"), ["the", "run-", "-ning", "dog", "[SEP]"]);
});

test("the rows of cross-attention name both pieces", () => {
  const data = read(["␣the"], ["␣leg", "ume"]);
  const stack = {
    id: "decoder.cross",
    querySide: "decoder",
    rows: [{ text: "␣leg → ume", next: "ume" }, { text: "ume" }],
  };
  data.stacks.push(stack);
  assert.deepEqual(
    data.names(stack, "query").map(({ text }) => text),
    ["leg- → -ume", "ume"],
  );
});

test("words and letters stay as they are", () => {
  assert.deepEqual(texts(read(["the", "cat"]), "encoder"), ["the", "cat"]);
  assert.deepEqual(texts(read(["a", "␣", "b"]), "encoder"), ["a", "␣", "b"]);
});

test("the pieces of a word count as one: queries averaged, keys added up, in the place of the first", () => {
  const tokens = ["<2fr>", "␣My", "␣P", "ri", "ya", "␣like", "s", "<eos>"];
  const words = [[0], [1], [2, 3, 4], [5, 6], [7]];
  const [heads, n] = [2, tokens.length];
  const pattern = Float32Array.from({ length: heads * n * n }, (_, at) => ((at * 37) % 23) + 1);
  for (let row = 0; row < heads * n; row++) {
    const sum = pattern.subarray(row * n, (row + 1) * n).reduce((a, b) => a + b, 0);
    for (let key = 0; key < n; key++) pattern[row * n + key] /= sum;
  }
  const stack = {
    id: "encoder.self",
    layers: [0],
    heads,
    querySide: "encoder",
    keySide: "encoder",
    dHead: 1,
  };
  const block = { stack: stack.id, layer: 0, heads: [0, 1], q0: 0, k0: 0, nq: n, nk: n };
  const data = new TraceData({
    stacks: [{ ...stack, stats: {} }],
    exact: [{ ...block, arrays: { pattern: new Framed(pattern, [heads, n, n]) } }],
    tokens: { encoder: named(...tokens), decoder: [] },
  });
  const as_read = data.cells(data.stacks[0], 0, 1).values;
  assert.deepEqual([...as_read], [...pattern.subarray(n * n)]);
  data.join(true);
  const { values } = data.cells(data.stacks[0], 0, 1);
  for (const [row, queries] of words.entries()) {
    let total = 0;
    for (const keys of words) {
      let expected = 0;
      for (const i of queries) for (const j of keys) expected += as_read[i * n + j] / queries.length;
      const shown = values[queries[0] * n + keys[0]];
      assert.ok(Math.abs(shown - expected) < 1e-6, `${row}`);
      total += shown;
    }
    assert.ok(Math.abs(total - 1) < 1e-6);
  }
  assert.equal([...values].filter(Boolean).length, words.length ** 2); // nothing stands elsewhere
  const seen = data.names(data.stacks[0], "key");
  assert.deepEqual(
    seen.filter(({ mark }) => mark !== "part").map(({ text }) => text),
    ["<2fr>", "My", "Priya", "likes", "<eos>"],
  );
  data.join(false);
  assert.deepEqual([...data.cells(data.stacks[0], 0, 1).values], [...as_read]);
});

test("a person's own text opens where two of its longer words look most at each other", () => {
  const tokens = ["<2fr>", "␣My", "␣na", "me", "␣is", "␣Pri", "ya", "<eos>"];
  const n = tokens.length;
  const stack = { id: "encoder.self", layers: [0, 1], heads: 2, querySide: "encoder", keySide: "encoder" };
  const thumbs = new Uint8Array(4 * n * n).fill(20);
  const weigh = (at, query, key, weight) => {
    thumbs[at * n * n + query * n + key] = weight;
  };
  weigh(0, 1, 4, 250); // short words
  weigh(1, 5, 7, 250); // <eos>
  weigh(2, 6, 2, 200); // of Priya's second piece: counts half, and "me" beside "na" is added
  weigh(3, 5, 3, 90);
  weigh(3, 6, 3, 90);
  const sizes = { nQuery: n, nKey: n, thumbQuery: n, thumbKey: n, stats: {} };
  const data = new TraceData({
    stacks: [{ ...stack, ...sizes, thumbs: new Framed(thumbs, [4, n, n]) }],
    exact: [],
    tokens: { encoder: named(...tokens), decoder: [] },
  });
  assert.deepEqual(mostTelling(data), { stack: "encoder.self", layer: 1, head: 0, query: 5, key: 2 });
  assert.equal(data.whole, false);
  data.header.random = true;
  assert.equal(mostTelling(data), null);
});
