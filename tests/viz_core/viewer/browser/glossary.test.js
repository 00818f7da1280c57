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

function elementOf(textContent, classes = new Set()) {
  const attributes = new Map();
  return {
    textContent,
    attributes,
    closest: () => null,
    setAttribute: (name, value) => attributes.set(name, value),
    removeAttribute: (name) => attributes.delete(name),
    classList: { toggle: (name, on) => (on ? classes.add(name) : classes.delete(name)) },
  };
}

test("an element says each meaning once, and nothing once its words have changed", () => {
  const classes = new Set();
  const element = elementOf("d_k of d_k <eos>", classes);
  glossary.explain(element);
  assert.deepEqual([element.attributes.get("data-means"), ...classes], ["D.\nE.", "explained"]);
  assert.equal(element.attributes.get("tabindex"), "0");
  element.textContent = "words";
  glossary.explain(element);
  assert.deepEqual([element.attributes.size, ...classes], [0]);
});

test("texts of questions are explained while they are open", () => {
  const text = elementOf("d_k?");
  hostedBy({ questions: ".questions" });
  globalThis.document = { documentElement: { dataset: {} }, querySelectorAll: () => [text] };
  glossary.explainAsked();
  assert.equal(text.attributes.size, 0);
  document.documentElement.dataset.drawer = "questions";
  glossary.explainAsked();
  assert.equal(text.attributes.get("data-means"), "D.");
});
