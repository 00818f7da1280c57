/* The passes that the server sent of an edited trace: with the edits, without them, and how they differ. */

import { matrixOf, TraceData } from "./data.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Stack} Stack */
/** @typedef {import("./types").Exact} Exact */
/** @typedef {import("./types").View} View */
/** @typedef {{after: TraceData, before?: TraceData, difference?: TraceData}} Passes */

/** @type {View["when"][]} */
const BOTH = ["after", "before"];
/** @type {Record<string, View["when"][]>} what can be seen of an edited pass, by the view */
const SEEN = {
  grid: [...BOTH, "difference"],
  head: [...BOTH, "difference"],
  lines: BOTH,
  numbers: BOTH,
  output: BOTH,
};

/** @param {Header} header @returns {Passes} */
export function passesOf(header) {
  const after = new TraceData(header);
  if (!header.before) return { after };
  const before = new TraceData({ ...header, ...header.before });
  return { after, before, difference: new Difference(after, before) };
}

/**
 * What can be seen in a view: nothing but "after" where nothing was edited.
 * @param {string} view
 * @param {Header} header
 * @returns {View["when"][]}
 */
export function timesOf(view, header) {
  return (header.before && SEEN[view]) || ["after"];
}

/** What the edits changed: every number after them, less the same number before. */
export class Difference extends TraceData {
  signed = true;

  /** @param {TraceData} after @param {TraceData} before */
  constructor(after, before) {
    super(after.header);
    this.after = after;
    this.before = before;
  }

  /** @param {string} how */
  hide(how) {
    super.hide(how);
    this.after.hide(how);
    this.before.hide(how);
  }

  /** @param {Stack} stack @param {number} layer @param {number} head */
  thumb(stack, layer, head) {
    return less(this.after.thumb(stack, layer, head), this.before.thumb(stack, layer, head));
  }

  /** @param {string} stackId @param {number} layer @param {number} head @returns {Exact | null} */
  readExact(stackId, layer, head) {
    const after = this.after.exact(stackId, layer, head);
    const before = this.before.exact(stackId, layer, head);
    if (!after || !before) return null;
    return {
      ...after,
      pattern: less(after.pattern, before.pattern),
      scores: after.scores && less(after.scores, before.scores),
      get dots() {
        return Float64Array.from(less(matrixOf(after, "dots"), matrixOf(before, "dots")));
      },
    };
  }
}

/** @param {ArrayLike<number>} after @param {ArrayLike<number>} before */
const less = (after, before) => Float32Array.from(after, (value, at) => value - before[at]);
