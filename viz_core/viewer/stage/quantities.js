/* Quantities of a head, or of its stack up to a layer, that the server computes when they are chosen. */

/** @import { View } from "./types" */
/** @typedef {import("./types").Further} Result */

export const MIXES = 4; // the beat of the story in which values mix
const TRACED = ["pattern", "scores", "dots"];

/** Whether the server computes a quantity when it is chosen. @param {string} show */
export const isFurther = (show) => !TRACED.includes(show);

/** Scores and dot products lie on both sides of 0. @param {string} show */
export const isSigned = (show) => show === "scores" || show === "dots";

/** The act that asks for what is chosen, or what the story names; null where the trace itself has all.
   @param {View} view */
export function requestOf({ view, beat, show, stack, layer, head, q0, k0 }) {
  const of = { stack, layer, head, q0, k0 };
  if (view === "story") return beat === MIXES ? { type: "further", show: "nearest", ...of } : null;
  return view === "head" && isFurther(show) ? { type: "further", show, ...of } : null;
}

/** Of what the server sent, what is asked for; null where it is of something else.
   @param {Result | undefined} sent @param {ReturnType<typeof requestOf>} request */
export function fitting(sent, request) {
  if (!sent?.asked || !request) return null;
  const { show, stack, layer, head, q0, k0 } = request;
  return String(sent.asked) === String([show, stack, layer, head, q0, k0]) ? sent : null;
}

/** The numbers of a window of so many cells: as they were sent, else none.
   @param {Result | null} answer @param {{nq: number, nk: number}} area */
export function numbersOf(answer, { nq, nk }) {
  const whole = answer?.shape?.[0] === nq && answer.shape[1] === nk;
  return Float64Array.from(whole && answer.values ? answer.values : Array(nq * nk).fill(Number.NaN));
}
