import assert from "node:assert/strict";
import { test } from "node:test";
import { nameOf, pressOf, sizeOf } from "../../../../viz_core/viewer/stage/overview.js";

const shape = (layers, heads, id = "encoder.self") => ({
  id,
  layers: Array.from({ length: layers }, (_, at) => at),
  heads,
});

test("cells take the room that there is, and larger models get smaller ones", () => {
  assert.deepEqual(sizeOf([shape(2, 4)], false), [18, 16]);
  assert.deepEqual(sizeOf([shape(12, 12)], false), [18, 8]);
  assert.deepEqual(sizeOf([shape(6, 8), shape(6, 8), shape(6, 8)], false), [8, 16]);
  assert.deepEqual(sizeOf([shape(48, 25)], false), [8, 6]);
  assert.deepEqual(sizeOf([shape(2, 4)], true), [28, 28]);
  assert.deepEqual(sizeOf([shape(12, 12)], true), [27, 15]);
});

test("a cell says which head it is, what the head does, and what is done to it", () => {
  const place = { layer: 1, head: 3 };
  assert.equal(nameOf(place, ["", "", ""]), "layer 1 head 3");
  assert.equal(
    nameOf(place, ["previous-token 0.97", "", "switched off"]),
    "layer 1 head 3: previous-token 0.97, switched off",
  );
});

const HEAD = { stack: "encoder.self", layer: 1, head: 3 };
const VIEW = { view: "lines", stack: "encoder.self", layer: 1, head: 0, heads: [0, 2], over: "layer" };

test("a press shows a head, and another one opens it where a view shows all", () => {
  assert.deepEqual(pressOf(VIEW, HEAD, false), { layer: 1, head: 3, heads: [3] });
  const elsewhere = { ...VIEW, stack: "decoder.cross" };
  assert.deepEqual(pressOf(elsewhere, HEAD, false), { ...HEAD, heads: [3] });
  const shown = { ...VIEW, head: 3, heads: [3] };
  assert.deepEqual(pressOf(shown, HEAD, false), { layer: 1, head: 3, heads: [3] });
  for (const view of ["grid", "map", "sums", "output", "effect", "sweep"]) {
    assert.equal(pressOf({ ...VIEW, view }, HEAD, false).view, undefined);
    assert.equal(pressOf({ ...shown, view }, HEAD, false).view, "head");
  }
});

test("a press with shift adds a head or takes it away, where several of a layer are chosen", () => {
  assert.deepEqual(pressOf(VIEW, HEAD, true), { head: 3, heads: [0, 2, 3] });
  assert.deepEqual(pressOf({ ...VIEW, heads: [0, 3] }, HEAD, true), { head: 0, heads: [0] });
  assert.deepEqual(pressOf({ ...VIEW, layer: 0 }, HEAD, true), { layer: 1, head: 3, heads: [3] });
  assert.deepEqual(pressOf({ ...VIEW, view: "head" }, HEAD, true), { layer: 1, head: 3, heads: [3] });
});
