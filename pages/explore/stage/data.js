/* What Explore's server sends of a trace (pages/explore/payload.py), and the numbers of one head in it. */

import { withoutSpecial } from "./hiding.js";
import { take } from "./random_tokens.js";
import { placeIn } from "./sorting.js";

/** @typedef {import("../../shared/browser/message.js").Framed} Framed */
/**
 * @typedef {object} Stack
 * @property {string} id
 * @property {string} title
 * @property {number[]} layers their numbers, as addresses have them
 * @property {number} heads
 * @property {number} dHead
 * @property {string} normalizer
 * @property {number[]} scales what multiplies q · k, a layer each
 * @property {number | null} cap scores are cap × tanh(scale × q · k / cap), where it is given
 * @property {boolean} turned positions turn queries and keys
 * @property {boolean} whole queries, keys, values and scores are traced, not the pattern alone
 * @property {number} sharing how many query heads share one key head
 * @property {"encoder" | "decoder"} querySide
 * @property {"encoder" | "decoder"} keySide
 * @property {number} nQuery
 * @property {number} nKey
 * @property {number} thumbQuery
 * @property {number} thumbKey
 * @property {Framed} thumbs
 * @property {Record<string, number[]>} stats a number per head [layer * heads + head] of each measure
 * @property {string[]} labels
 * @property {string} pairs what pairs of queries and keys are, where some belong together
 * @property {number[]} [hidden] the mean weight on special tokens of each head's rows; [] without any
 */
/** @typedef {{q0: number, k0: number, nq: number, nk: number}} Area */
/** @typedef {Record<"q" | "k" | "v" | "z" | "scores" | "pattern" | "softmax", Float32Array>} Arrays */
/** @typedef {Record<"hidden" | "left" | "bias", Float32Array>} Some */
/** @typedef {{dots: Float64Array, blank: Uint8Array}} Made */
/** @typedef {Area & Arrays & {d: number} & Partial<Some & Made>} Exact */

export class TraceData {
  signed = false; // whether weights lie on both sides of 0

  /** @param {import("./types").Header} header */
  constructor(header) {
    this.header = header;
    this.stacks = this.header.stacks;
    take(this.stacks, this.header.repeated);
    /** @type {Map<string, Exact | null>} */
    this.cache = new Map();
    this.how = "shown"; // what is shown of special tokens
  }

  /** Shows special tokens from now on, or leaves them out. @param {string} how */
  hide(how) {
    if (how !== this.how) this.cache.clear();
    this.how = how;
  }

  /** The positions that are left out. @param {"encoder" | "decoder"} side @returns {Set<number>} */
  gone(side) {
    return new Set(this.how === "shown" ? [] : this.header.special?.[side]);
  }

  /** Whether thumbnails and other bytes are of what is shown. */
  get fits() {
    return (this.header.specialTokens ?? "shown") === this.how;
  }

  /** @param {string} id */
  stack(id) {
    return this.stacks.find((stack) => stack.id === id) || this.stacks[0];
  }

  /** @param {"encoder" | "decoder"} side @returns {{text: string, mark?: string}[]} */
  tokens(side) {
    const gone = this.gone(side);
    const tokens = this.header.tokens[side];
    return gone.size
      ? tokens.map((token, at) => (gone.has(at) ? { text: "", mark: "gone" } : token))
      : tokens;
  }

  /** @param {Stack} stack @param {number} layer @param {number} head @returns {ArrayLike<number>} */
  thumb(stack, layer, head) {
    const own = this.stack(stack.id); // of this pass
    return own.thumbs.entry(placeIn(own, layer, head));
  }

  /** Thumbnails of short texts hold every cell, rounded to 1/255. @param {Stack} stack */
  thumbIsWhole(stack) {
    return stack.thumbQuery === stack.nQuery && stack.thumbKey === stack.nKey;
  }

  /**
   * The trace's own float32 numbers of one head, or null where the server has not sent them. `bias` is there
   * only when positions add something to the scores. `softmax` is what the softmax gave, `pattern` what is
   * shown of it.
   * @param {string} stackId
   * @param {number} layer
   * @param {number} head
   */
  exact(stackId, layer, head) {
    const name = `${stackId}/${layer}/${head}`;
    const known = this.cache.get(name);
    if (known !== undefined) return known;
    const found = this.readExact(stackId, layer, head);
    this.cache.set(name, found);
    return found;
  }

  /** @param {string} stackId @param {number} layer @param {number} head @returns {Exact | null} */
  readExact(stackId, layer, head) {
    const block = this.sent(stackId, layer).find((each) => each.heads.includes(head));
    if (!block) return null;
    const place = block.heads.indexOf(head);
    const named = Object.entries(block.arrays).map(([name, array]) => [name, array.entry(place)]);
    const { q0, k0, nq, nk } = block;
    const { dHead: d, querySide, keySide } = this.stack(stackId);
    const gone = { queries: this.gone(querySide), keys: this.gone(keySide) };
    return withoutSpecial({ q0, k0, nq, nk, d, ...Object.fromEntries(named) }, this.how, gone);
  }

  /**
   * What was sent of a layer in full: of which heads, and all heads of its window as bytes.
   * @param {string} stackId
   * @param {number} layer
   * @returns {(Area & {heads: number[], arrays: Record<string, Framed>, coarse: Framed | null})[]}
   */
  sent(stackId, layer) {
    const blocks = /** @type {any[]} */ (this.header.exact);
    return blocks.filter((block) => block.stack === stackId && block.layer === layer);
  }

  /**
   * The weights of one head as they were sent, or null. All others than the trace's own numbers are bytes,
   * rounded to 1/255.
   * @param {Stack} stack
   * @param {number} layer
   * @param {number} head
   */
  cells(stack, layer, head) {
    const exact = this.exact(stack.id, layer, head);
    if (exact) return { ...exact, values: exact.pattern, unit: 1, exact: true };
    if (!this.fits) return null;
    const rounded = { unit: 1 / 255, exact: false };
    const whole = { q0: 0, k0: 0, nq: stack.nQuery, nk: stack.nKey };
    if (this.thumbIsWhole(stack)) return { ...whole, ...rounded, values: this.thumb(stack, layer, head) };
    const block = this.sent(stack.id, layer).find((each) => each.coarse);
    return block?.coarse ? { ...block, ...rounded, values: block.coarse.entry(head) } : null;
  }
}

/** @param {Exact} exact @param {number} i @param {number} j */
function dotProduct({ q, k, d }, i, j) {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += q[i * d + c] * k[j * d + c];
  return sum;
}

/**
 * The heads that share one head of keys and values with this one, in words; "" where each has its own.
 * @param {import("./types").Stack} stack
 * @param {number} head
 */
export function partnersOf({ sharing }, head) {
  const first = head - (head % sharing);
  return sharing > 1 ? `heads ${first} to ${first + sharing - 1}` : "";
}

/**
 * One matrix of an exact head: its pattern, its scores, or its dot products, summed here from q and k.
 * @param {Exact} exact
 * @param {"pattern" | "scores" | "dots"} show
 */
export function matrixOf(exact, show) {
  if (show !== "dots") return exact[show];
  const { nq, nk } = exact;
  exact.dots ??= Float64Array.from({ length: nq * nk }, (_, at) =>
    dotProduct(exact, Math.floor(at / nk), at % nk),
  );
  return exact.dots;
}

/**
 * The numbers of a head without those of hidden tokens.
 * @param {Exact} exact @param {Float32Array | Float64Array} values
 */
export const shownOf = ({ blank }, values) =>
  blank ? Float64Array.from(values, (value, at) => (blank[at] ? Number.NaN : value)) : values;

/**
 * The keys that a row looks at most, heaviest first; the key j is always among them, hidden ones never.
 * @param {Exact} exact
 * @param {number} i
 * @param {number} j
 * @param {number} count
 */
export function topKeys({ softmax, blank, nk }, i, j, count) {
  const row = softmax.subarray(i * nk, (i + 1) * nk);
  const order = Array.from(row, (_, at) => at).filter((at) => !blank?.[i * nk + at]);
  const top = order.sort((a, b) => row[b] - row[a]).slice(0, count);
  if (!top.includes(j)) top[top.length - 1] = j;
  return top;
}

/**
 * What z of a row is the sum of: the values of these keys times their weights, and all others together.
 * @param {Exact} exact
 * @param {number} i
 * @param {number[]} keys
 */
export function partsOf({ z: all, v, softmax, nk, d }, i, keys) {
  const z = all.subarray(i * d, (i + 1) * d);
  const weighted = keys.map((at) =>
    Float64Array.from(v.subarray(at * d, (at + 1) * d), (value) => value * softmax[i * nk + at]),
  );
  const others = Float64Array.from(z, (total, channel) =>
    weighted.reduce((rest, row) => rest - row[channel], total),
  );
  return { z, weighted, others };
}
