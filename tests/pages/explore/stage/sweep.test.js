import assert from "node:assert/strict";
import { test } from "node:test";

test("what a sweep shows is said with its number, or why there is none", async () => {
  globalThis.document = { createElement: () => ({ getContext: () => ({}) }) };
  const { saidOf } = await import("../../../../pages/explore/stage/sweep.js");
  const found = { title: "probability of “il”", before: 0.75 };
  assert.equal(
    saidOf(found, "heads"),
    "How the probability of “il”, now 0.750, changes when each head is switched off alone " +
      "(warm colours: it grows; cold ones: it falls).",
  );
  assert.match(saidOf({ ...found, notDirect: "norms stand between" }, "positions"), /as in the other text/);
  assert.match(saidOf({ ...found, notDirect: "norms stand between" }, "heads"), /not shown: norms stand/);
  assert.equal(saidOf({ problem: "Too long." }, "heads"), "Too long.");
  assert.equal(saidOf(null, "heads"), "Computing…");
});
