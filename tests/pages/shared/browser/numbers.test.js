import assert from "node:assert/strict";
import { test } from "node:test";
import {
  number,
  plainNumber,
  shortNumber,
  tickText,
  written,
} from "../../../../pages/shared/browser/numbers.js";

test("numbers have a true minus, names for what is none, an exponent where digits hide them", () => {
  assert.equal(number(-1.256), "−1.26");
  assert.equal(number(0), "0.00");
  assert.equal(number(0.0004), "4.0e−4");
  assert.equal(number(-Infinity), "−∞");
  assert.equal(number(NaN), "NaN");
});

test("where room is short, what rounds away is about nothing", () => {
  assert.equal(shortNumber(0.0004), "≈0");
  assert.equal(shortNumber(0), "0.00");
});

test("whole numbers stand in groups of three", () => {
  assert.equal(written(-1234567, 0), "−1,234,567");
  assert.equal(written(0.5, 2), "0.50");
});

test("ticks are short, a link's numbers exact to six digits", () => {
  assert.equal(tickText(1e6), "1e6");
  assert.equal(tickText(-0.0001), "−1e−4");
  assert.equal(tickText(0.30000000000000004), "0.3");
  assert.equal(plainNumber(1 / 3), "0.333333");
});
