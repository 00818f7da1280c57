import assert from "node:assert/strict";
import { test } from "node:test";
import { Glossary } from "../../../../viz_core/viewer/browser/glossary.js";
import { hostedBy } from "../../../../viz_core/viewer/browser/page.js";

const glossary = new Glossary({
  residual: "R.",
  "residual stream": "S.",
  "<eos>": "E.",
  d_k: "D.",
  "top-k": "T.",
});

test("terms are found in any case and as whole words, the longest first", () => {
  const cut = (text) => glossary.cut(text).filter((_, at) => at % 2);
  assert.deepEqual(cut("The Residual stream, residual."), ["Residual stream", "residual"]);
  assert.deepEqual(cut("“<eos>” after √d_k; d_k2 and residuals are others"), ["<eos>", "d_k"]);
  assert.deepEqual(cut("top-k"), ["top-k"]);
  assert.equal(glossary.cut("a top-k b").join(""), "a top-k b");
});

test("a board without terms is left as it is", () => {
  assert.deepEqual(new Glossary({}).cut("the residual stream"), ["the residual stream"]);
});

test("an element says each meaning once, and nothing once its words have changed", () => {
  const classes = new Set();
  const toggle = (name, on) => (on ? classes.add(name) : classes.delete(name));
  const element = { textContent: "d_k of d_k <eos>", title: "", classList: { toggle } };
  glossary.explain(element);
  assert.deepEqual([element.title, ...classes], ["D.\nE.", "explained"]);
  element.textContent = "words";
  glossary.explain(element);
  assert.deepEqual([element.title, ...classes], [""]);
});

test("texts of questions are explained while they are open", () => {
  const text = { textContent: "d_k?", title: "", classList: { toggle() {} } };
  hostedBy({ questions: ".questions" });
  globalThis.document = { documentElement: { dataset: {} }, querySelectorAll: () => [text] };
  glossary.explainAsked();
  assert.equal(text.title, "");
  document.documentElement.dataset.drawer = "questions";
  glossary.explainAsked();
  assert.equal(text.title, "D.");
});
