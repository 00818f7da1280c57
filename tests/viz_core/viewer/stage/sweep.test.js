import assert from "node:assert/strict";
import { test } from "node:test";

const GOALS = ["logits", "logit", "probability", "kl", "loss", "score"];
const offered = (values) => ({ options: values.map((value) => ({ value, text: value })) });
globalThis.CHOICES = { goal: offered(GOALS), put: offered(["zero", "mean", "from"]) };
globalThis.document = { createElement: () => ({ getContext: () => ({}) }) };
const { targetsOf, requestOf } = await import("../../../../viz_core/viewer/stage/sweep.js");
const { sweepSentence } = await import("../../../../viz_core/viewer/stage/sweep.js");

test("what a sweep shows is said with its number, or why there is none", () => {
  const effects = { "encoder.self": [[0.1, -0.25]], "decoder.self": [[0.2, 0]] };
  const found = { title: "probability of “il”", before: 0.75, effects };
  assert.equal(
    sweepSentence(found, "heads"),
    "How the probability of “il”, now 0.750, changes when each head is switched off alone " +
      "(warm: it grows, cold: it falls; at most 0.25).",
  );
  const patched = { ...found, effects: { encoder: [[0, 0.5]] } };
  assert.match(
    sweepSentence({ ...patched, notDirect: "norms stand between" }, "positions"),
    /as in the other text/,
  );
  assert.match(
    sweepSentence({ ...found, effects: { encoder: [[0, 1e-6]] } }, "positions"),
    /^No position changes the pro/,
  );
  assert.match(
    sweepSentence({ ...found, notDirect: "norms stand between" }, "heads"),
    /not shown: norms stand/,
  );
  assert.match(sweepSentence(found, "heads", "from"), /each head alone gives what it gives in the other/);
  assert.equal(sweepSentence({ problem: "Too long." }, "heads"), "Too long.");
  assert.equal(sweepSentence(null, "heads"), "Computing…");
});

test("parts and paths are said with what they sum to, and with both divergences", () => {
  assert.equal(
    sweepSentence({ title: "logit of “il”", before: 2.5, parts: [] }, "parts"),
    "The logit of “il”, 2.500, is the sum of what these parts add to the last stream, with the scale of " +
      "the last norm frozen.",
  );
  assert.equal(
    sweepSentence({ title: "a through q of b", kl: [0.25, 0.125, 0.5], outputs: [] }, "path"),
    "a through q of b: KL(before ‖ after) is 0.250 nats where only the receiver hears of it, with " +
      "feed-forward recomputed (Wang et al. 2022), 0.125 with it frozen, and 0.500 nats " +
      "where all hear it.",
  );
});

const HEADER = { tokens: { encoder: [] }, scored: false, swap: { text: "next", other: "another" } };
const VIEW = {
  sweep: "heads",
  goal: "score",
  step: 3,
  put: "mean",
  other: "",
  sender: "",
  receiver: "x",
  through: "k",
};
const USUAL = { sender: "a", receiver: "b" };

test("only what a model and a sweep have can be looked at", () => {
  const values = (sweep, header = HEADER) => targetsOf(sweep, header).map(({ value }) => value);
  assert.deepEqual(values("heads"), ["logits", "logit", "probability", "kl"]);
  const all = { ...HEADER, tokens: { decoder: [] }, scored: true };
  assert.deepEqual(values("heads", all), ["logits", "logit", "probability", "kl", "loss", "score"]);
  assert.equal(values("positions", all).includes("score"), false);
  assert.deepEqual(values("parts", all), ["logits", "logit"]);
});

test("the server is asked for what matters to the sweep alone", () => {
  const scored = { ...HEADER, scored: true };
  const heads = { ...VIEW, other: "", sender: "", receiver: "", through: "qkv" };
  assert.deepEqual(requestOf(VIEW, scored, USUAL), heads);
  assert.deepEqual(requestOf(VIEW, HEADER, USUAL), { ...heads, goal: "logits" });
  const moved = requestOf({ ...VIEW, sweep: "positions", goal: "kl" }, HEADER, USUAL);
  assert.deepEqual(moved, { ...heads, sweep: "positions", goal: "kl", put: "zero", other: "another" });
  const path = requestOf({ ...VIEW, sweep: "path", goal: "kl" }, HEADER, USUAL);
  assert.deepEqual(path, { ...VIEW, sweep: "path", goal: "logits", sender: "a" });
  const taken = requestOf({ ...VIEW, put: "from" }, scored, USUAL);
  assert.deepEqual(taken, { ...heads, put: "from", other: "another" });
  const onPath = requestOf({ ...VIEW, sweep: "path", put: "from" }, HEADER, USUAL);
  assert.equal(onPath.put + onPath.other, "zero");
});
