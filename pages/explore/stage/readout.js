/* The numbers of the marked cell of a head, a row each. */

import { el } from "../../shared/browser/dom.js";
import { number } from "../../shared/browser/numbers.js";
import { matrixOf, partnersOf } from "./data.js";
import { FURTHER } from "./further.js";

/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").Exact} Exact */
/** @typedef {[term: string, value: string, colour?: string]} Row */
/** @typedef {import("./head.js").HeadView} HeadView */

/**
 * @param {HeadView} head
 * @param {{query: number, key: number}} place
 */
export function readRows(head, place) {
  return rowsOf(head, place).map(([term, value, colour]) =>
    el("div", {}, [
      el("span", { class: "term", text: term }),
      el("span", { class: "value", text: value, style: colour ? `color:${colour}` : null }),
    ]),
  );
}

/**
 * @param {HeadView} head
 * @param {{query: number, key: number}} place
 * @returns {Row[]}
 */
function rowsOf(head, { query, key }) {
  const { stage, exact } = head;
  if (!exact) return [["", "Reading this head's numbers…"]];
  const { stack, theme, data } = stage;
  const [i, j] = [query - exact.q0, key - exact.k0];
  if (i < 0 || j < 0 || i >= exact.nq || j >= exact.nk)
    return [["", "The chosen cell lies outside this window."]];
  const cell = i * exact.nk + j;
  if (exact.blank?.[cell]) return [["", "Special tokens are hidden."]];
  /** @param {Side} side @param {number} at */
  const name = (side, at) => data.tokens(side)[at]?.text ?? "";
  return [
    ["query", `${name(stack.querySide, query)} (${query})`, theme.query],
    ["key", `${name(stack.keySide, key)} (${key})`, theme.key],
    ...(data.signed ? changed(head, cell) : weighed(head, exact, cell, i)),
  ];
}

/**
 * The weight of a cell, with what it was computed from.
 * @param {HeadView} head
 * @param {Exact} exact
 * @param {number} at
 * @param {number} i its row
 * @returns {Row[]}
 */
function weighed(head, exact, at, i) {
  const { stack, view } = head.stage;
  return [
    ...shared(partnersOf(stack, view.head)),
    ...(stack.whole ? computed(exact, at) : []),
    ...weightOf(exact, at, i),
    ...further(head, at),
  ];
}

/**
 * The weight of a cell as it is shown; where its row is renormalised, what it was divided by.
 * @param {Exact} exact @param {number} at @param {number} i
 * @returns {Row[]}
 */
function weightOf({ pattern, softmax, blank, left, hidden }, at, i) {
  const shown = number(pattern[at], 3);
  if (!blank || !left || !hidden) return [["weight", shown]];
  const same = pattern[at] === softmax[at];
  const divided = `${number(softmax[at], 3)} / ${number(left[i], 3)} = ${shown}`;
  return [
    ["weight", same ? shown : divided],
    ["on hidden", `${number(hidden[i], 3)} of the row`],
  ];
}

/** Which heads have the same keys and values. @param {string} partners @returns {Row[]} */
const shared = (partners) => (partners ? [["same k, v", partners]] : []);

/**
 * The weight of a cell before and after the edits, and its change.
 * @param {HeadView} head
 * @param {number} at
 * @returns {Row[]}
 */
function changed({ stage, exact }, at) {
  const { after, before } = stage.passes;
  const { stack, layer, head } = stage.view;
  const weight = (/** @type {import("./data.js").TraceData | undefined} */ pass) =>
    number(pass?.exact(stack, layer, head)?.pattern[at] ?? Number.NaN, 3);
  return [
    ["before", weight(before)],
    ["after", weight(after)],
    ["change", number(exact?.pattern[at] ?? Number.NaN, 3)],
  ];
}

/**
 * What the weight of a cell was computed from.
 * @param {Exact} exact
 * @param {number} at
 * @returns {Row[]}
 */
function computed(exact, at) {
  const score = exact.scores[at];
  return [
    ["dot product", number(matrixOf(exact, "dots")[at], 3)],
    .../** @type {Row[]} */ (exact.bias ? [["bias", number(exact.bias[at], 3)]] : []),
    ["score", score === -Infinity ? "−∞ (masked)" : number(score, 3)],
  ];
}

/**
 * The number of a cell that the server computed.
 * @param {HeadView} head
 * @param {number} at
 * @returns {Row[]}
 */
function further({ stage, found, numbers }, at) {
  const { show } = stage.view;
  if (!(show in FURTHER)) return [];
  const missing = found?.problem ? "none" : "…";
  return [[FURTHER[show].text, found?.values ? number(numbers[at], 3) : missing]];
}
