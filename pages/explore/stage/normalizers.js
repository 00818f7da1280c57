// What makes weights of a row's scores, step by step: the softmax, or what a model has instead.

/**
 * @typedef {object} Made
 * @property {string} title the step in words
 * @property {string} column what stands between score and weight
 * @property {(score: number) => number} of that number, of a score; NaN where the row is not all here
 */

/**
 * @param {string} normalizer of the model's config
 * @param {Float32Array} row the scores of one query, −∞ where masked
 * @param {boolean} whole all its keys are among them
 * @returns {Made}
 */
export function made(normalizer, row, whole) {
  if (normalizer === "sigmoid") {
    const open = whole ? row.reduce((count, score) => count + Number(score > -Infinity), 0) : NaN;
    return {
      title: "sigmoid of each score, less ln of the n keys that are open",
      column: "score − ln n",
      of: (score) => score - Math.log(open),
    };
  }
  if (normalizer === "softmax-plus-one")
    return {
      title: "softmax over the row and a score of 0 that is no key's",
      column: "exp(score)",
      of: (score) => Math.exp(score),
    };
  const largest = Math.max(...row);
  return {
    title: "softmax over the row",
    column: `exp(score − ${whole ? "largest" : "largest here"})`,
    of: (score) => Math.exp(score - largest),
  };
}
