import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import {
  anyNumber,
  asOurs,
  number,
  numberAsOurs,
  plainNumber,
  shortNumber,
  tickText,
  written,
} from "../../../../viz_core/viewer/browser/numbers.js";

const SAME = JSON.parse(readFileSync(new URL("../../../viz_core/numbers.json", import.meta.url), "utf8"));

test("numbers have a true minus, and names for what is none", () => {
  assert.equal(number(-1.256), "−1.26");
  assert.equal(number(0), "0.00");
  assert.equal(number(-Infinity), "−∞");
  assert.equal(number(NaN), "NaN");
});

test("the same numbers are written as Python writes them", () => {
  for (const [value, digits, text] of SAME.written) assert.equal(number(value, digits), text);
  for (const [value, digits, text] of SAME.brief) assert.equal(shortNumber(value, digits), text);
  for (const [value, , text] of SAME.tick) assert.equal(tickText(value), text);
  for (const [value, , text] of SAME.short) assert.equal(anyNumber(value), text);
});

test("a number in a label of Plotly's is written as all others are", () => {
  assert.equal(asOurs("2.412e-7"), "2.4\u00a0×\u00a010⁻⁷");
  assert.equal(asOurs("−1e−9"), "−1.0\u00a0×\u00a010⁻⁹");
  assert.equal(asOurs("2e+4"), "20,000");
  assert.equal(asOurs("-Infinity"), "−∞");
  assert.equal(asOurs("query le"), "query le");
  assert.equal(asOurs("0.12346"), "0.12346"); // a name may look so
  assert.equal(numberAsOurs("0.12346"), "0.123");
  assert.equal(numberAsOurs("−1234.5"), "−1,235");
  assert.equal(numberAsOurs("2.412e−7"), "2.4\u00a0×\u00a010⁻⁷");
  assert.equal(numberAsOurs("not computed yet"), "not computed yet");
});

test("where room is short, what rounds away is about nothing", () => {
  assert.equal(shortNumber(0.0004), "≈0");
  assert.equal(shortNumber(0), "0.00");
});

test("whole numbers stand in groups of three", () => {
  assert.equal(written(-1234567, 0), "−1,234,567");
  assert.equal(written(0.5, 2), "0.50");
});

test("a link's numbers are exact to six digits", () => {
  assert.equal(plainNumber(1 / 3), "0.333333");
});
