import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addStop,
  freePlace,
  keepOwn,
  keptPlaces,
  MOST_STOPS,
  openedPlace,
  ownText,
} from "../../../../viz_core/viewer/talk/own_talks.js";

/** @type {Map<string, string>} */ const kept = new Map();
const localStorage = {
  getItem: (/** @type {string} */ name) => kept.get(name) ?? null,
  setItem: (/** @type {string} */ name, /** @type {string} */ value) => kept.set(name, value),
  removeItem: (/** @type {string} */ name) => kept.delete(name),
};
Object.defineProperty(globalThis, "localStorage", { value: localStorage });

test("a stop is called by its headline's first sentence that says something, cut between words", () => {
  assert.equal(
    addStop("Each head looks its own way: 0.5 here. Press one.", "masks?part=reach"),
    "stop 1 added",
  );
  assert.equal(addStop("It holds here. With two layers, more. And so on.", "findings"), "stop 2 added");
  assert.equal(addStop(`${"word ".repeat(23)}unspeakable end`, "?"), "stop 3 added");
  assert.deepEqual(ownText().match(/(?<=^## ).*/gm), [
    "Each head looks its own way: 0.5 here.",
    "It holds here. With two layers, more.",
    `${"word ".repeat(23).trim()}…`,
  ]);
});

test("several talks are kept, the one of before first, and a stop goes to the one opened last", () => {
  kept.clear();
  kept.set("attention-lab.talk", "# Of before\n\n## One\n");
  const place = /** @type {string} */ (freePlace());
  keepOwn("# Another\n", place);
  assert.deepEqual([keptPlaces(), openedPlace()], [["", place], place]);
  assert.equal(addStop("A headline of some length.", "masks"), "stop 1 added");
  assert.deepEqual([ownText(""), ownText(place).includes("(/masks)")], ["# Of before\n\n## One\n", true]);
  while (freePlace() !== undefined) keepOwn("# One more\n", freePlace());
  assert.equal(keptPlaces().length, 20);
  keepOwn("", place);
  assert.equal(freePlace(), place);
  keepOwn(`# Full\n\n${"## Stop\n\n".repeat(MOST_STOPS)}`, place);
  assert.equal(addStop("One too many.", "masks"), "A talk of 101 stops: at most 100 are read; make it two.");
});

test("a file of nothing but a fence is counted at once, and headings in code are none", () => {
  kept.clear();
  keepOwn("# Own\n\n## One\n\n````\n## no stop\n```\n## nor this\n````\n");
  assert.equal(addStop("Another one.", "masks"), "stop 2 added");
  keepOwn(`# Own\n\n${"`".repeat(60_000)}\n`); // for which one expression over the whole file takes seconds
  const before = performance.now();
  assert.equal(addStop("After the code.", "masks"), "stop 0 added");
  assert.ok(performance.now() - before < 500);
});
