import assert from "node:assert/strict";
import { test } from "node:test";
import { filled, movingOf } from "../../../../viz_core/viewer/board/plot_layout.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

const scales = { sequential: [[0, "#000000"]], diverging: [[0, "#ffffff"]] };
const theme = {
  accent: "#0b62a8",
  heads: ["#102030", "#405060"],
  template: { layout: { colorscale: scales } },
};
const array = (values, ...shape) => new Framed(Float32Array.from(values), shape);
const moving = (values, ...shape) => ({ kind: "Moving", values: array(values, ...shape) });
const paint = (name, alpha = 1) => ({ kind: "Paint", name, alpha });
const written = (values, nan_is_empty = false) => ({ kind: "Written", values, digits: 2, nan_is_empty });

test("a frame takes its entry of what moves: a number, a list, or rows", () => {
  assert.equal(filled(moving([3, 4, 5], 3), 2, theme), 5);
  assert.deepEqual(filled(moving([1, 2, 3, 4], 2, 2), 1, theme), Float32Array.of(3, 4));
  const rows = filled(moving([1, 2, 3, 4, 5, 6, 7, 8], 2, 2, 2), 1, theme);
  assert.deepEqual(rows, [Float32Array.of(5, 6), Float32Array.of(7, 8)]);
});

test("what does not move is the same in every frame", () => {
  assert.deepEqual(filled(array([1, 2, 3, 4], 2, 2), 7, theme), [
    Float32Array.of(1, 2),
    Float32Array.of(3, 4),
  ]);
  assert.deepEqual(filled({ mode: "lines", width: [1, null, "a"] }, 7, theme), {
    mode: "lines",
    width: [1, null, "a"],
  });
});

test("colours are those of the theme, of a head in turn, or a scale", () => {
  assert.equal(filled(paint("accent"), 0, theme), "#0b62a8");
  assert.equal(filled(paint("accent", 0.25), 0, theme), "rgba(11, 98, 168, 0.25)");
  assert.equal(filled(paint(3), 0, theme), "#405060");
  assert.equal(filled({ line: { color: paint("diverging") } }, 0, theme).line.color, scales.diverging);
});

test("numbers are written with their digits; what is not computed yet is not written", () => {
  assert.deepEqual(filled(written(moving([1, NaN, 0.001, -2], 2, 2), true), 0, theme), ["1.00", ""]);
  assert.deepEqual(filled(written(array([0.001, NaN, -2], 3)), 0, theme), ["≈0", "NaN", "−2.00"]);
});

test("what moves in a trace is found by its leaves, however deep", () => {
  const trace = {
    y: moving([1, 2], 2),
    x: array([1, 2], 2),
    text: written(moving([1, 2], 2)),
    marker: { size: [moving([1, 2], 2)], color: paint("accent") },
    name: null,
  };
  assert.deepEqual(movingOf(trace), ["y", "text", "marker"]);
});
