import assert from "node:assert/strict";
import { test } from "node:test";
import { visible } from "../../../../viz_core/viewer/live/labels.js";

test("the blanks around a token are seen, however many it has inside", () => {
  assert.equal(visible("  a "), "␣␣a␣");
  const before = performance.now();
  assert.equal(visible(`a${" ".repeat(60_000)}b`).length, 40);
  assert.ok(performance.now() - before < 500);
});
