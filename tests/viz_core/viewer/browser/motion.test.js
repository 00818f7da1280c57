import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { between, eased, lasting, play, sweep } from "../../../../viz_core/viewer/browser/motion.js";

let still = false;

beforeEach(() => {
  still = false;
  globalThis.window = { matchMedia: () => ({ matches: still }) };
});

test("a motion takes no longer than 600 ms, nor than the time since the one before", () => {
  assert.deepEqual([5000, 250, 16].map(lasting), [600, 250, 0]);
  still = true;
  assert.equal(lasting(5000), 0);
});

test("numbers move, first fast; words, and lists of another length, are at their end at once", () => {
  assert.deepEqual([eased(0), eased(0.5), eased(1)], [0, 0.875, 1]);
  assert.deepEqual(between(Float32Array.of(0, 2), Float32Array.of(1, 4), 0.5), [0.5, 3]);
  assert.deepEqual(between([[0], [1]], [[1], [1]], 0.5), [[0.5], [1]]);
  assert.deepEqual(between(["a"], ["b"], 0.5), ["b"]);
  assert.deepEqual(between([1], [5, 6], 0.5), [5, 6]);
  assert.deepEqual(between([Number.NaN], [4], 0.5, 0), [2]); // a bar rises from the ground
  assert.deepEqual(between([Number.NaN], [4], 0.5), [4]);
  assert.ok(Number.isNaN(between(1, Number.NaN, 0.5)));
});

test("a sum adds up channel by channel", () => {
  let told = null;
  sweep({ animate: (frames, duration) => (told = { frames, duration }) }, 4, 600);
  assert.equal(told.duration, 600);
  assert.deepEqual(
    told.frames.map(({ clipPath }) => clipPath),
    [100, 75, 50, 25, 0].map((right) => `inset(0 ${right}% 0 0)`),
  );
  assert.deepEqual([told.frames[0].offset, told.frames[4].offset], [0, 1]);
});

test("a motion ends at its end, at once where it takes no time, and can be stopped", () => {
  let now = 0;
  const queue = [];
  Object.defineProperty(globalThis, "performance", { value: { now: () => now }, configurable: true });
  globalThis.requestAnimationFrame = (step) => queue.push(step);
  globalThis.cancelAnimationFrame = (at) => delete queue[at - 1];
  const seen = [];
  play(0, (share) => seen.push(share));
  assert.deepEqual([seen, queue.length], [[1], 0]);
  const stop = play(600, (share) => seen.push(share));
  for (now of [300, 700]) queue.at(-1)();
  assert.deepEqual(seen, [1, 0, 0.875, 1]);
  stop();
  const stopped = play(600, () => {});
  stopped();
  assert.equal(queue.at(-1), undefined);
});
