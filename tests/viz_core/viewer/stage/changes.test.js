import assert from "node:assert/strict";
import { test } from "node:test";
import { translationOf } from "../../../../viz_core/viewer/stage/caption.js";
import { changeSentence } from "../../../../viz_core/viewer/stage/grid.js";
import { legendEnds } from "../../../../viz_core/viewer/stage/side.js";

test("what did not change is said to be so, not drawn on a scale of nothing", () => {
  assert.match(changeSentence(1e-12), /^No weight moved by 0\.004 here; /);
  assert.equal(changeSentence(51), "The strongest colours mean 0.20.");
  assert.deepEqual(legendEnds("full", true, 1e-12), ["", "0 everywhere", ""]);
  assert.deepEqual(legendEnds("full", true, 0.5), ["−0.50", "0", "0.50"]);
});

test("a translation above an edited pass is said to be the one without the edits", () => {
  const header = { edits: [], translation: [{ text: "il" }], see: "so French says il" };
  assert.deepEqual(translationOf(header), ["→ ", "il", " · so French says il"]);
  const edited = { ...header, edits: ["encoder.0: off"] };
  assert.deepEqual(translationOf(edited), ["without the edits → ", "il", " · so French says il"]);
  const none = { ...edited, translation: [], steps: [], stepSide: "decoder", see: "a head looks back" };
  assert.deepEqual(translationOf(none), []);
  assert.deepEqual(translationOf({ ...none, edits: [] }), ["a head looks back"]);
});

test("of a person's own text it is said when the model's own probability is small", () => {
  const steps = [0.9, 0.8].map((probability) => ({ top: [["il", probability]], chosen: null }));
  const header = { edits: [], translation: [{ text: "il" }], steps, asked: { text: "it" } };
  const doubt = " · doubtful: the model's own probability is 0.72";
  assert.deepEqual(translationOf(header, true), ["→ ", "il", doubt]);
  assert.deepEqual(translationOf({ ...header, steps: steps.slice(0, 1) }, true), ["→ ", "il"]);
  assert.deepEqual(translationOf({ ...header, edits: ["encoder.0: off"] }, true).length, 2);
  assert.deepEqual(translationOf({ ...header, typed: true }, true), ["→ typed: ", "il"]);
  assert.equal(translationOf({ ...header, asked: { text: "Με λένε" } }, true).length, 1);
});
