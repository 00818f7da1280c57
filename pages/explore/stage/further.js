/* Quantities of a head, or of its stack up to a layer, that the server computes when they are chosen. */

/** @import { View } from "./types" */
/** @typedef {import("./types").Further} Result */

/** @type {Record<string, {text: string, title: string}>} */
export const FURTHER = {
  length: {
    text: "length",
    title:
      "‖weight × value × W_O‖: how long a vector the head adds to the query's residual stream " +
      "from each key (Kobayashi et al. 2020)",
  },
  rollout: {
    text: "rollout",
    title:
      "The share of each input token in each position after this layer, if attention, the mean of all " +
      "heads, and the residual stream, half each, were all that mixes them (Abnar & Zuidema 2020)",
  },
  flow: {
    text: "flow",
    title:
      "How much can flow from each input token to each position after this layer, if weights, the mean " +
      "of all heads, and the residual stream, half each, are the width of pipes (Abnar & Zuidema 2020)",
  },
  plane: {
    text: "queries and keys",
    title:
      "This head's queries (round) and keys (square) in the plane of their two principal components, both " +
      "centred alike (Pearson 1901)",
  },
};

/** Scores and dot products lie on both sides of 0. @param {string} show */
export const isSigned = (show) => show === "scores" || show === "dots";

/**
 * The act that asks for what is chosen; null where the trace itself has it.
 * @param {View} view
 */
export function wish({ view, show, stack, layer, head, q0, k0 }) {
  return view === "head" && show in FURTHER ? { type: "further", show, stack, layer, head, q0, k0 } : null;
}

/**
 * Of what the server sent, what is wished; null where it is of something else.
 * @param {Result | undefined} sent
 * @param {ReturnType<typeof wish>} wished
 */
export function fitting(sent, wished) {
  if (!sent?.asked || !wished) return null;
  const { show, stack, layer, head, q0, k0 } = wished;
  return String(sent.asked) === String([show, stack, layer, head, q0, k0]) ? sent : null;
}

/**
 * The numbers of a window of so many cells: as they were sent, else none.
 * @param {Result | null} found
 * @param {{nq: number, nk: number}} area
 */
export function numbersOf(found, { nq, nk }) {
  const whole = found?.shape?.[0] === nq && found.shape[1] === nk;
  return Float64Array.from(whole && found.values ? found.values : Array(nq * nk).fill(Number.NaN));
}
