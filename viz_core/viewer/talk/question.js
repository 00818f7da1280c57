/* A question to the hall, with how many chose each option. */

import { el, typed } from "../browser/dom.js";

/** @import { Asked } from "./types" */

/** The options of a question; behind each a bar of its share, where the counts are known.
   @param {Asked} asked @param {number[] | null} counts */
export function optionsOf({ options, right }, counts) {
  const all = counts?.reduce((sum, count) => sum + count, 0) ?? 0;
  const items = options.map((text, at) => {
    const share = counts && all ? counts[at] / all : 0;
    const words = counts ? [el("b", { text: String(counts[at]) })] : [];
    return el("li", { class: at === right ? "right" : "", style: `--share: ${(100 * share).toFixed(1)}%` }, [
      el("span", {}, [typed(text)]),
      at === right && el("span", { text: " ✓" }),
      ...words,
    ]);
  });
  return el("ol", { class: `options${counts ? " counted" : ""}` }, items);
}
