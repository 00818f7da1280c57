import assert from "node:assert/strict";
import { test } from "node:test";
import { sizeOf, skipping, ticksOf, titled, wrapped } from "../../../../viz_core/viewer/board/plot_layout.js";
import { Framed } from "../../../../viz_core/viewer/browser/message.js";

const measure = (text) => 10 * text.length;
const words = (count, length) => Array.from({ length: count }, () => "w".repeat(length));

test("names that fit stand in one line; else every other one a line lower; else only some", () => {
  const names = ["aaaa", "bbbb", "cccc", "dddd"]; // 36 pixels each
  assert.deepEqual(ticksOf(names, 4 * 36), { tickvals: [0, 1, 2, 3], ticktext: names });
  assert.deepEqual(ticksOf(names, 4 * 20, { lines: 2 }), {
    tickvals: [0, 1, 2, 3],
    ticktext: ["aaaa", "<br>bbbb", "cccc", "<br>dddd"],
  });
  assert.deepEqual(ticksOf(names, 4 * 20).tickvals, [0, 2]);
  assert.deepEqual(ticksOf(names, 4 * 10, { lines: 2 }).tickvals, [0]);
  assert.deepEqual(ticksOf(names, 4 * 14, { upright: true }).tickvals, [0, 1, 2, 3]);
  assert.deepEqual(ticksOf(["abcdefgh"], 200, { most: 5 }).ticktext, ["abcd…"]);
  assert.deepEqual(ticksOf(["<b>&x"], 200).ticktext, ["&lt;b&gt;&amp;x"]);
  assert.deepEqual(ticksOf([], 200), { tickvals: [], ticktext: [] });
});

test("an axis says which of its names it shows; numbers say it themselves", () => {
  const names = ["the", "cat", "sat", "on"];
  assert.equal(skipping(names, [0, 1, 2, 3]), "");
  assert.equal(skipping(names, [0, 2]), " · every 2nd named");
  assert.equal(skipping(names, [0, 3]), " · every 3rd named");
  assert.equal(skipping(names, [0]), " · every 4th named");
  assert.equal(skipping(["0", "1", "−2"], [0, 2]), "");
  const bars = curves([], { names: words(40, 6), title: { text: "key" } });
  assert.match(sizeOf(bars, 412, 300, measure).x.title.text, /^key · every \d+th named$/);
});

const curves = (names, x = {}) => ({
  chart: { form: "wide", traces: names.map((name) => ({ name, showlegend: true })), x, y: {} },
});

test("a chart fills its row, with room for its legend's lines above", () => {
  assert.deepEqual(sizeOf(curves([]), 400, 300, measure), {
    width: 400,
    height: 186,
    margin: { l: 60, r: 18, t: 12, b: 26 },
    written: true,
    x: {},
    y: {},
  });
  const legend = (names) => sizeOf(curves(names), 400, 300, measure);
  assert.deepEqual([legend(words(2, 10)).margin.t, legend(words(2, 10)).height], [29, 203]);
  assert.equal(legend(words(3, 10)).margin.t, 19 * 2 + 10); // 420 pixels in a line, so two columns
  assert.equal(legend(words(5, 40)).margin.t, 19 * 5 + 10);
});

const picture = (rows, columns, more = {}) => ({
  values: new Framed(new Float32Array(rows * columns), [rows, columns]),
  chart: {
    form: "cells",
    traces: [],
    shapes: [],
    x: { names: more.columns ?? [], title: { text: more.columnAxis ?? "" } },
    y: { names: more.rows ?? [], title: { text: more.rowAxis ?? "" } },
  },
  ...more.own,
});

/* The pixels of a picture's cells. */
const body = ({ width, height, margin }) => [width - margin.l - margin.r, height - margin.t - margin.b];

test("cells are square until they would be too small to see", () => {
  assert.deepEqual(body(sizeOf(picture(30, 20), 1000, 600, measure)), [400, 600]); // at most 20 pixels
  assert.deepEqual(body(sizeOf(picture(30, 20), 110, 600, measure)), [100, 150]); // 5, by the room
  assert.deepEqual(body(sizeOf(picture(30, 400), 810, 300, measure)), [640, 120]); // 2 would be too small
});

test("a picture shares the window's height with others; a large one takes more", () => {
  const height = (own) => body(sizeOf(picture(30, 30, { own }), 1000, 300, measure))[1];
  assert.deepEqual([height({}), height({ picture: true }), height({ large: true })], [300, 150, 210]);
});

test("names stand upright where they do not fit side by side", () => {
  const named = (columns) => sizeOf(picture(30, 10, { columns }), 1000, 600, measure).x;
  assert.equal(named(words(10, 1)).tickangle, 0);
  assert.equal(named(words(10, 6)).tickangle, -90);
  assert.deepEqual(named(words(10, 6)).tickvals, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("the name of an axis takes room, and is left out where it would be cut", () => {
  const axes = { rowAxis: "query", columnAxis: "channel" };
  const sized = (columns, room = 1000) => sizeOf(picture(30, columns, axes), room, 600, measure);
  assert.deepEqual(sized(10).margin, { l: 24, r: 4, t: 26, b: 4 });
  assert.equal("title" in sized(10).x, false);
  // 7 letters of 7.4 pixels over 40 reach 6 beyond them at either end.
  assert.deepEqual([sized(2).x.title, sized(2).margin.r, sized(2).width], [undefined, 10, 74]);
  assert.deepEqual([sized(2, 32).x.title, sized(2, 32).margin.r], [{ text: "" }, 4]);
});

test("an upright axis says in a second line what it skips where one is too short", () => {
  const rows = words(12, 5);
  const sized = (most) => sizeOf(picture(12, 12, { rows, rowAxis: "← token" }), 1000, most, measure);
  const [high, low] = [sized(140), sized(60)];
  assert.deepEqual([high.y.title.text, low.y.title.text], ["← token · every 2nd", "← token<br>every 3rd"]);
  assert.equal(low.margin.l - high.margin.l, 16);
});

test("a title says what it skips in one line, or in two if it may", () => {
  const axis = { title: { text: "key →", font: { size: 13 } } };
  const names = words(12, 5);
  const said = (pixels, lines) => titled(axis, names, { tickvals: [0, 6] }, pixels, lines).title?.text;
  assert.equal(said(165), "key → · every 6th named");
  assert.equal(said(130), "key → · every 6th");
  assert.equal(said(70), undefined);
  assert.equal(said(70, 2), "key →<br>every 6th");
  assert.equal(said(40, 2), undefined);
  assert.equal(said(20, 2), "");
  assert.equal(titled(axis, names, { tickvals: [0, 6] }, 165).title.font.size, 13);
  assert.deepEqual(titled({}, names, { tickvals: [0, 6] }, 130), {});
});

test("a long title of an upright axis breaks at the blank nearest its middle", () => {
  assert.deepEqual(wrapped("norm of the Jacobian", 148), {});
  assert.deepEqual(wrapped("norm of the Jacobian", 147).title, {
    text: "norm of the <br>Jacobian",
    font: { size: 12 },
  });
  assert.deepEqual([wrapped("probability", 20), wrapped(undefined, 20)], [{}, {}]);
});

test("pictures beside each other keep every name where they leave room for what is below", () => {
  const names = { rows: words(14, 6), columns: words(14, 6) };
  const size = sizeOf(picture(14, 14, { ...names, own: { together: "A", named: true } }), 400, 60, measure);
  assert.deepEqual(body(size).map(Math.floor), [168, 168]);
  assert.deepEqual([size.x.tickvals.length, size.y.tickvals.length], [14, 14]);
});
