import assert from "node:assert/strict";
import { test } from "node:test";
import { TraceData } from "../../../../viz_core/viewer/stage/data.js";

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
