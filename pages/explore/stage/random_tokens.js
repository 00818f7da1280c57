/* Measures of what heads do with random tokens that the model reads twice in a row: the server computes them
   when one is chosen, once for a model. Nothing here touches the page. */

/** @typedef {import("./types").Stack} Stack */
/** @typedef {import("./types").Measure} Measure */
/** @typedef {import("./types").Header} Header */

/**
 * Whether a measure may be asked for in a stack: of cross-attention, no text repeats.
 * @param {Measure} measure
 * @param {Stack} stack
 */
export const isOffered = ({ name, random }, stack) =>
  name in stack.stats || (random && stack.querySide === stack.keySide);

/**
 * The measure that is chosen and whose numbers are not here yet.
 * @param {Measure[]} measures
 * @param {Stack} stack
 * @param {{sort: string}} view
 */
export function awaited(measures, stack, { sort }) {
  return measures.find((each) => each.name === sort && isOffered(each, stack) && !(sort in stack.stats));
}

/**
 * Puts what the server computed among the other numbers of each stack.
 * @param {Stack[]} stacks
 * @param {Header["repeated"]} sent
 */
export function take(stacks, sent) {
  for (const stack of stacks) Object.assign(stack.stats, sent?.stats?.[stack.id]);
}

/**
 * What is said beside a definition: what was counted, or which pairs are meant; or of random tokens, of which
 * texts a measure is, why there is none, or that it is on its way.
 * @param {Measure | undefined} measure
 * @param {Stack} stack
 * @param {Header["repeated"]} sent
 */
export function saidOf(measure, stack, sent) {
  if (measure?.said || measure?.paired) return measure.said || stack.pairs;
  if (!measure?.random) return "";
  return sent?.said ?? sent?.problem ?? "The model is reading random tokens…";
}
