import assert from "node:assert/strict";
import { test } from "node:test";
import {
  axisAt,
  dragged,
  gripAt,
  isWhole,
  placesOf,
  stepped,
  wordsAt,
} from "../../../../viz_core/viewer/board/panels/parallel.js";

const HEADS = { name: "heads", range: null, stops: [0, 0.25, 0.5, 1], said: ["1", "2", "4", "8"] };
const NORM = { name: "norm", range: null, stops: [0, 0.5, 1], said: ["pre", "post"] };

test("the axes stand where the figure draws them, also when it is zoomed", () => {
  const body = { left: 10, top: 20, width: 200, height: 100 };
  const whole = placesOf({ x: [-0.5, 1.5], y: [0, 1.25] }, body, 2);
  assert.deepEqual(whole[0], { left: 60, top: 40, height: 80 });
  assert.deepEqual(whole[1], { left: 160, top: 40, height: 80 });
  const [zoomed] = placesOf({ x: [0, 1], y: [0, 0.5] }, body, 2);
  assert.deepEqual(zoomed, { left: 10, top: -80, height: 200 });
});

test("a point near an axis is on it, at its height, and others are on none", () => {
  const places = [
    { left: 60, top: 40, height: 80 },
    { left: 160, top: 40, height: 80 },
  ];
  assert.deepEqual(axisAt(places, 165, 60), { at: 1, height: 0.75 });
  assert.deepEqual(axisAt(places, 50, 124), { at: 0, height: 0 });
  assert.equal(axisAt(places, 110, 60), null);
  assert.equal(axisAt(places, 60, 20), null);
});

test("an end is gripped near it, the range between its ends, and a new one elsewhere", () => {
  assert.equal(gripAt(null, 0.5, 100), "new");
  assert.equal(gripAt([0, 1], 0.5, 100), "new");
  assert.deepEqual(
    [0.1, 0.21, 0.5, 0.78, 0.83, 0.9].map((height) => gripAt([0.2, 0.8], height, 100)),
    ["new", "low", "all", "high", "high", "new"],
  );
  assert.equal(gripAt([0.5, 0.5], 0.51, 100), "high");
});

test("a drag makes a range, moves an end past the other, or moves the range within its axis", () => {
  assert.deepEqual(dragged("new", null, 0.75, 0.25), [0.25, 0.75]);
  assert.deepEqual(dragged("new", [0.1, 0.2], 0.5, 1.5), [0.5, 1]);
  assert.deepEqual(dragged("low", [0.25, 0.5], 0.25, 0.75), [0.5, 0.75]);
  assert.deepEqual(dragged("high", [0.25, 0.5], 0.5, 1), [0.25, 1]);
  assert.deepEqual(dragged("all", [0.25, 0.5], 0.4, 0.65), [0.5, 0.75]);
  assert.deepEqual(dragged("all", [0.25, 0.5], 0.4, -1), [0, 0.25]);
});

test("keys move an end from value to value, and not past the other", () => {
  const { stops } = HEADS;
  assert.deepEqual(stepped(null, 0, "ArrowUp", stops), [0.25, 1]);
  assert.deepEqual(stepped([0.25, 1], 1, "ArrowDown", stops), [0.25, 0.5]);
  assert.deepEqual(stepped([0.25, 0.5], 0, "End", stops), [0.5, 0.5]);
  assert.deepEqual(stepped([0.5, 0.5], 0, "ArrowUp", stops), [0.5, 0.5]);
  assert.deepEqual(stepped([0.5, 0.5], 1, "Home", stops), [0.5, 0.5]);
  assert.deepEqual(stepped([0.3, 0.6], 0, "ArrowDown", stops), [0.25, 0.6]); // from between two values
  assert.equal(stepped(null, 0, "a", stops), null);
  assert.deepEqual(stepped(null, 1, "ArrowDown", [0.5]), [0, 0.5]); // all trials have the same value
});

test("an end says the value that it stands at, and of choices the outermost it takes in", () => {
  assert.equal(wordsAt(HEADS, 0, 0.26), "2");
  assert.equal(wordsAt(HEADS, 1, 1), "8");
  assert.deepEqual(
    [wordsAt(NORM, 0, 0), wordsAt(NORM, 1, 0.5), wordsAt(NORM, 0, 0.5)],
    ["pre", "pre", "post"],
  );
  assert.equal(wordsAt({ ...HEADS, stops: [], said: [] }, 0, 0), "–");
});

test("all of an axis is no range", () => {
  assert.ok(isWhole(null) && isWhole([0, 1]));
  assert.ok(!isWhole([0, 0.99]) && !isWhole([0.5, 0.5]));
});
