import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { forget, marks, noteOpened, notePredictions } from "../../../../viz_core/viewer/browser/marks.js";

const shown = []; // the answers that are on the page
let changed; // tells that the page changed
let stopped;

beforeEach(() => {
  const kept = new Map();
  globalThis.localStorage = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
  globalThis.document = { body: {}, querySelectorAll: () => shown };
  globalThis.MutationObserver = class {
    constructor(look) {
      changed = look;
    }
    observe() {
      stopped = false;
    }
    disconnect() {
      stopped = true;
    }
  };
  shown.length = 0;
});

test("what was opened is remembered until it is forgotten", () => {
  assert.deepEqual(marks(), {});
  noteOpened("masks", "reach");
  noteOpened("masks", "cost");
  noteOpened("masks", "reach");
  assert.deepEqual(marks(), { "masks/reach": {}, "masks/cost": {} });
  forget();
  assert.deepEqual(marks(), {});
});

test("of a question, the first prediction is remembered", () => {
  let changes = 0;
  const stop = notePredictions(() => changes++);
  shown.push({ dataset: { predicted: "masks/reach/1", right: "0" } });
  changed();
  shown[0] = { dataset: { predicted: "masks/reach/1", right: "1" } };
  shown.push({ dataset: { predicted: "masks/reach/0", right: "1" } });
  changed();
  noteOpened("masks", "reach");
  assert.deepEqual(marks(), { "masks/reach": { 1: false, 0: true } });
  stop();
  assert.ok(stopped);
  assert.equal(changes, 2);
});

test("a browser that keeps nothing, or something else, is no error", () => {
  for (const strange of ["[", "null", "3"]) {
    localStorage.setItem("attention-lab.marks", strange);
    assert.deepEqual(marks(), {});
  }
  const refuse = () => {
    throw new Error("The operation is insecure.");
  };
  globalThis.localStorage = { getItem: refuse, setItem: refuse, removeItem: refuse };
  noteOpened("masks", "reach");
  forget();
  assert.deepEqual(marks(), {});
});
