import assert from "node:assert/strict";
import { test } from "node:test";
import { headerOf, packMessage } from "../../../../viz_core/viewer/browser/message.js";
import { Held } from "../../../../viz_core/viewer/browser/model.js";
import { drawn, memberAt } from "../../../../viz_core/viewer/live/live.js";
import { Visit } from "../../../../viz_core/viewer/live/visit.js";

const LISTED = [
  { value: "small", memory: "pairs" },
  { value: "plain", memory: "pairs" },
  { value: "wide", memory: "wide" },
];
const TOKENIZER = { kind: "words", vocabulary: ["[PAD]", "a", "b", "<unk>", "c", "d", "the", "cat", "dog"] };

/* A model that answers a text with its words. */
class Echo extends Held {
  asked = {};

  constructor(name) {
    super();
    const words = { en: ["the", "cat", "dog"], fr: [] };
    const own = name === "wide" ? { reads: "text" } : { reads: "translation", wider: "wide" };
    const tokenizer =
      name === "wide" ? { kind: "characters", vocabulary: [..."abcdeghilnotuvy "] } : TOKENIZER;
    const shape = { length: 20, names: TOKENIZER.vocabulary, usual: {}, template: { controls: {} } };
    this.model = { name, title: name, text: `${name}'s`, wider: "", ...own, tokenizer, words, ...shape };
  }

  async ask(change, { widened } = {}) {
    if (change.text === "") return this.set("problem", "the text is empty; give at least one word");
    this.asked = { ...this.asked, ...change };
    this.set("problem", "");
    const asked = { model: this.model.name, settings: {}, edits: "", ...this.asked };
    const controls = { models: LISTED, examples: [{ text: "small's" }, { text: "wide's" }] };
    const { linked, viewToken } = this.model.template;
    this.set("message", packMessage({ asked, controls, notes: { widened }, linked, viewToken }));
  }

  send({ text, turned }) {
    return this.ask(turned ? { settings: turned } : { text });
  }
}

async function begun() {
  const opened = [];
  const visit = new Visit("models/", "small", async (_, name) => {
    opened.push(name);
    return new Echo(name);
  });
  const first = new Echo("small");
  await first.ask({ text: "small's" });
  visit.begin(first.get("message"), { view: "head" });
  return { visit, opened, shown: () => headerOf(visit.get("message")) };
}

test("nothing is fetched before something is asked", async () => {
  const { visit, opened, shown } = await begun();
  assert.deepEqual([opened, shown().linked], [[], { view: "head" }]);
  await visit.send({ type: "ask", turned: { direction: "fr-en" } });
  assert.deepEqual([opened, shown().asked.settings], [["small"], { direction: "fr-en" }]);
});

test("words that a model lacks are read by the wider one, until the visitor goes back", async () => {
  const { visit, opened, shown } = await begun();
  await visit.send({ type: "ask", text: "the cat" });
  assert.deepEqual([opened, shown().asked.model], [["small"], "small"]);
  await visit.send({ type: "ask", text: "the ant" });
  assert.deepEqual([shown().asked.model, shown().notes.widened.lacking], ["wide", ["ant"]]);
  await visit.send({ type: "ask", text: "the dog" });
  assert.equal(shown().asked.model, "small");
  await visit.send({ type: "ask", text: "the ant is far too long for that one" });
  assert.equal(shown().asked.model, "small", "what the wider model cannot read, the first one does");
  await visit.send({ type: "ask", model: "small", text: "the ant", stays: true });
  assert.deepEqual([shown().asked.model, shown().notes.widened], ["small", undefined]);
  await visit.send({ type: "ask", text: "the ant again" });
  assert.equal(shown().asked.model, "small");
  assert.deepEqual(opened, ["small", "wide"]);
});

test("a sentence goes along to a model that can read it", async () => {
  const { visit, shown } = await begun();
  await visit.send({ type: "contrast", model: "plain", stack: "a", layer: 0, head: 1, level: "lab" });
  assert.deepEqual([shown().asked.text, shown().linked.level], ["small's", "lab"], "of one memory");
  await visit.send({ type: "ask", model: "wide" });
  assert.equal(shown().asked.text, "wide's", "an example stays behind");
  await visit.send({ type: "ask", model: "small" });
  await visit.send({ type: "ask", text: "the cat" });
  await visit.send({ type: "ask", model: "wide" });
  assert.equal(shown().asked.text, "the cat");
  await visit.send({ type: "ask", text: "" });
  assert.deepEqual([shown().asked.text, visit.get("problem").slice(0, 11)], ["the cat", "the text is"]);
  await visit.send({ type: "ask", reset: true });
  assert.deepEqual([shown().asked.model, shown().asked.text], ["small", "small's"]);
});

test("a token is drawn by its share, and at temperature 0 the likeliest", () => {
  assert.equal(
    drawn([0, 2, 1], 0, () => 0.99),
    1,
  );
  assert.equal(
    drawn([0, 0, 0, 0], 1, () => 0.6),
    2,
  );
  assert.equal(
    drawn([0, 50, 0], 0.5, () => 0.999),
    1,
  );
});

const ALONE = {
  family: {
    alone: true,
    first: { n_heads: 4, dropout: 0 },
    members: { sizes: {}, "sizes.n_heads-8": { n_heads: 8 }, "sizes.dropout-0.1": { dropout: 0.1 } },
  },
};

test("a turned dial names the member of a family, and the dial that goes back with it", () => {
  const at = (turned, dials = {}) => memberAt({ ...ALONE, dials }, turned);
  assert.deepEqual(at({ n_heads: 8 }), { file: "sizes.n_heads-8", followed: "" });
  assert.deepEqual(at({ dropout: "0.1" }, { n_heads: 8 }), {
    file: "sizes.dropout-0.1",
    followed: "n_heads = 4",
  });
  assert.deepEqual(at({ n_heads: 4 }, { n_heads: 8 }), { file: "sizes", followed: "" });
  assert.equal(at({ direction: "fr-en" }), null);
  assert.equal(memberAt({}, { n_heads: 8 }), null);
  const all = { first: { n_layers: 1, n_heads: 1 }, members: { few: {}, many: { n_layers: 2, n_heads: 8 } } };
  const together = { family: { alone: false, ...all }, dials: { n_layers: 2 } };
  assert.equal(memberAt(together, { n_heads: 8 }).file, "many");
});

test("whoever comes back to a family finds the member that was shown last", async () => {
  const opened = [];
  const visit = new Visit("models/", "sizes", async (_, file) => {
    opened.push(file);
    const member = new Echo("sizes");
    const dials = file === "sizes" ? {} : { n_heads: 8 };
    Object.assign(member.model, { ...ALONE, dials });
    return member;
  });
  const first = new Echo("sizes");
  await first.ask({ text: "the cat" });
  visit.begin(first.get("message"), {});
  await visit.send({ type: "ask", turned: { n_heads: 8 } });
  await visit.send({ type: "ask", text: "the dog" });
  await visit.send({ type: "ask", model: "sizes", text: "the ant", stays: true });
  assert.deepEqual(opened, ["sizes", "sizes.n_heads-8"]);
  assert.deepEqual(visit.live.model.dials, { n_heads: 8 });
  assert.equal(headerOf(visit.get("message")).asked.text, "the ant");
});
