/* Tokens and heads that sums and means are over. Chosen positions are written as a link does: 0-3.7 is 0, 1,
   2, 3 and 7. Nothing here touches the page. */

import { placesOf } from "./sorting.js";

/** @typedef {import("./types").View} View */
/** @typedef {import("./types").Stack} Stack */
/** @typedef {import("./sorting.js").Place} Place */

/** The positions below `count`, in order. @param {string} written @param {number} count */
export function positionsOf(written, count) {
  /** @type {Set<number>} */
  const found = new Set();
  for (const part of written.split(".").filter(Boolean)) {
    const [first, last = first] = part.split("-").map(Number);
    for (let at = first; at <= Math.min(last, count - 1); at++) found.add(at);
  }
  return [...found].sort((a, b) => a - b);
}

/** Positions in order, as a link writes them. @param {number[]} positions */
export function writtenAs(positions) {
  /** @type {[number, number][]} */
  const ranges = [];
  for (const at of positions) {
    const range = ranges[ranges.length - 1];
    if (range && range[1] === at - 1) range[1] = at;
    else ranges.push([at, at]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(".");
}

/**
 * What is chosen of a side: as the state of the view says, else all queries and the marked key.
 * @param {Pick<View, "queries" | "keys" | "key">} view
 * @param {Pick<Stack, "nQuery" | "nKey">} stack
 */
export function chosenOf({ queries, keys, key }, { nQuery, nKey }) {
  const every = Array.from({ length: nQuery }, (_, at) => at);
  const some = positionsOf(queries, nQuery);
  const of = positionsOf(keys, nKey);
  return { queries: some.length ? some : every, keys: of.length ? of : [key] };
}

/**
 * What is chosen after a press on a token: it joins or leaves; with `through`, all from the one that was
 * pressed before join. One always stays.
 * @param {number[]} chosen @param {number} at @param {number | null} through
 */
export function afterPress(chosen, at, through) {
  const now = new Set(chosen);
  if (through !== null) {
    const [first, last] = [Math.min(at, through), Math.max(at, through)];
    for (let each = first; each <= last; each++) now.add(each);
  } else if (!now.delete(at)) now.add(at);
  return now.size ? [...now].sort((a, b) => a - b) : chosen;
}

/**
 * The heads that a mean is over.
 * @param {Stack} stack
 * @param {View} view
 * @param {import("./types").Measure | undefined} measure
 * @returns {Place[]}
 */
export function headsOver(stack, view, measure) {
  return placesOf(stack, { ...view, order: "layer" }, measure).filter(({ layer, head, passes }) => {
    if (view.over === "passing") return passes;
    if (view.over === "heads") return layer === view.layer && view.heads.includes(head);
    return view.over !== "layer" || layer === view.layer;
  });
}

/** The mean of the numbers of these heads. @param {number[]} values @param {Place[]} heads */
export const meanOf = (values, heads) => heads.reduce((sum, { at }) => sum + values[at], 0) / heads.length;

/** The heads with the largest numbers first. @param {number[]} values @param {Place[]} heads */
export const byValue = (values, heads) =>
  [...heads].sort((a, b) => values[b.at] - values[a.at] || a.at - b.at);

/**
 * What the one number is.
 * @param {{queries: number[], keys: number[]}} chosen @param {number} heads
 */
export function definitionOf({ queries, keys }, heads) {
  const on = keys.length === 1 ? "the chosen key" : `the ${keys.length} chosen keys together`;
  const over = `${queries.length} ${queries.length === 1 ? "query" : "queries"}`;
  return `is the weight on ${on}, on average over ${over} and ${heads} ${heads === 1 ? "head" : "heads"}.`;
}
