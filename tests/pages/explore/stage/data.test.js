import assert from "node:assert/strict";
import { test } from "node:test";
import { matrixOf } from "../../../../pages/explore/stage/data.js";

test("dot products are summed from q and k, once; the other matrices are the trace's own", () => {
  const exact = {
    ...{ q0: 4, k0: 0, nq: 2, nk: 3, d: 2, pattern: Float32Array.of(1), scores: Float32Array.of(2) },
    q: Float32Array.of(1, 2, -1, 0.5),
    k: Float32Array.of(1, 0, 0, 1, 3, -2),
  };
  assert.equal(matrixOf(exact, "pattern"), exact.pattern);
  assert.equal(matrixOf(exact, "scores"), exact.scores);
  const dots = matrixOf(exact, "dots");
  assert.deepEqual([...dots], [1, 2, -1, -1, 0.5, -4]);
  assert.equal(matrixOf(exact, "dots"), dots);
});
