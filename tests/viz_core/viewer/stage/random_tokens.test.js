import assert from "node:assert/strict";
import { test } from "node:test";
import { awaited, isOffered, noteOnMeasure, take } from "../../../../viz_core/viewer/stage/data.js";

const stacks = () => [
  { id: "encoder.self", querySide: "encoder", keySide: "encoder", stats: { entropy: [1, 2] } },
  { id: "decoder.cross", querySide: "decoder", keySide: "encoder", stats: { entropy: [3, 4] } },
];
const ENTROPY = { name: "entropy", random: false };
const HITS = { name: "hits", random: false };
const RANDOM = { name: "random_induction", random: true };
const ALL = [ENTROPY, HITS, RANDOM];

test("a measure on random tokens is offered before it is there, but not of two texts", () => {
  const [own, cross] = stacks();
  assert.deepEqual(
    ALL.filter((each) => isOffered(each, own)),
    [ENTROPY, RANDOM],
  );
  assert.deepEqual(
    ALL.filter((each) => isOffered(each, cross)),
    [ENTROPY],
  );
});

test("it is awaited when it is chosen, until its numbers are there", () => {
  const [own, cross] = stacks();
  assert.equal(awaited(ALL, own, { sort: "random_induction" }), RANDOM);
  assert.equal(awaited(ALL, own, { sort: "entropy" }), undefined);
  assert.equal(awaited(ALL, own, { sort: "hits" }), undefined);
  assert.equal(awaited(ALL, cross, { sort: "random_induction" }), undefined);
  take([own, cross], { stats: { "encoder.self": { random_induction: [0.25, 0.5] } } });
  assert.deepEqual(own.stats, { entropy: [1, 2], random_induction: [0.25, 0.5] });
  assert.deepEqual(cross.stats, { entropy: [3, 4] });
  assert.equal(awaited(ALL, own, { sort: "random_induction" }), undefined);
  take([own], undefined);
  assert.deepEqual(own.stats.random_induction, [0.25, 0.5]);
});

test("it says of which texts it is, why it is not there, or that it will be", () => {
  const own = { ...stacks()[0], pairs: "Pairs are nouns." };
  assert.equal(noteOnMeasure({ ...HITS, paired: true }, own, undefined), "Pairs are nouns.");
  assert.equal(noteOnMeasure({ ...ENTROPY, said: "By counts." }, own, undefined), "By counts.");
  assert.equal(noteOnMeasure(RANDOM, own, {}), "The model is reading random tokens…");
  assert.equal(noteOnMeasure(RANDOM, own, { said: "Means over 4 texts." }), "Means over 4 texts.");
  assert.equal(noteOnMeasure(RANDOM, own, { problem: "It reads no texts." }), "It reads no texts.");
  assert.equal(noteOnMeasure(ENTROPY, own, { said: "Means over 4 texts." }), "");
  assert.equal(noteOnMeasure(undefined, own, {}), "");
});
