/* Which heads come first, and which of them pass: by a measure of the stack, as the state of the view says.
   Nothing here touches the page. */

/** @typedef {import("./types").Stack} Stack */
/** @typedef {import("./types").View} View */
/** @typedef {import("./types").Measure} Measure */
/** @typedef {{layer: number, head: number, at: number, passes: boolean}} Place at: of all heads in a row */

/** Which layer and head are at a place of [layer * head]. @param {Stack} stack @param {number} at */
export const headAt = ({ layers, heads }, at) => ({
  layer: layers[Math.floor(at / heads)],
  head: at % heads,
});

/** The place of a head in [layer * head]. @param {Stack} stack @param {number} layer @param {number} head */
export const placeIn = ({ layers, heads }, layer, head) => layers.indexOf(layer) * heads + head;

/**
 * The measure that is chosen, or undefined where none is, or where it is not defined for the stack.
 * @param {Measure[]} measures
 * @param {Stack} stack
 * @param {{sort: string}} view
 */
export function measureOf(measures, stack, { sort }) {
  return measures.find(({ name }) => name === sort && stack.stats[name]);
}

/**
 * Every head of a stack, in order; those that do not pass stay where they are.
 * @param {Stack} stack
 * @param {Pick<View, "order" | "keep" | "limit">} view
 * @param {Measure | undefined} measure
 * @returns {Place[]}
 */
export function placesOf(stack, { order, keep, limit }, measure) {
  const all = Array.from({ length: stack.layers.length * stack.heads }, (_, at) => ({
    ...headAt(stack, at),
    at,
    passes: true,
  }));
  if (!measure) return all;
  const values = stack.stats[measure.name];
  const sign = measure.smallestFirst ? 1 : -1;
  const sorted = [...all].sort((a, b) => sign * (values[a.at] - values[b.at]) || a.at - b.at);
  sorted.forEach((place, rank) => {
    place.passes = passes(values[place.at], rank, keep, limit);
  });
  return order === "layer" ? all : sorted;
}

/** @param {number} value @param {number} rank from 0 @param {View["keep"]} keep @param {number} limit */
function passes(value, rank, keep, limit) {
  if (keep === "least") return value >= limit;
  if (keep === "most") return value <= limit;
  return keep !== "top" || rank < limit;
}

/**
 * A limit to begin with: of the first heads so many, else what half of the heads reach.
 * @param {number[]} values
 * @param {View["keep"]} keep
 */
export function firstLimit(values, keep) {
  if (keep === "top") return Math.min(5, values.length);
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] * 100) / 100;
}
