import assert from "node:assert/strict";
import { test } from "node:test";
import { addStop, ownText } from "../../../../viz_core/viewer/talk/own.js";

/** @type {Map<string, string>} */ const kept = new Map();
const localStorage = {
  getItem: (/** @type {string} */ name) => kept.get(name) ?? null,
  setItem: (/** @type {string} */ name, /** @type {string} */ value) => kept.set(name, value),
};
Object.defineProperty(globalThis, "localStorage", { value: localStorage });

test("a stop is called by its headline's first sentence that says something, cut between words", () => {
  assert.equal(addStop("Each head looks its own way: 0.5 here. Press one.", "masks?part=reach"), 1);
  assert.equal(addStop("It holds here. With two layers, more. And so on.", "findings"), 2);
  assert.equal(addStop(`${"word ".repeat(23)}unspeakable end`, "?"), 3);
  assert.deepEqual(ownText().match(/(?<=^## ).*/gm), [
    "Each head looks its own way: 0.5 here.",
    "It holds here. With two layers, more.",
    `${"word ".repeat(23).trim()}…`,
  ]);
});
