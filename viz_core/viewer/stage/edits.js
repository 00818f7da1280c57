/* Edits as lines of text, "place: change" (models/interventions has the grammar): which ones a person can
   make with a press. How they join those that are there, the server says (pages/explore/edit_lines.py).
   Nothing here touches the page. */

import { upTo } from "./view.js";

/** @import { View } from "./types" */
/** @typedef {{value: string, text: string, title: string, line: string}} Ready */
/** @typedef {Pick<View, "stack" | "layer" | "head">} HeadPlace */

/** The place of an attention's values of one head. @param {string} stack @param {number} layer */
export const attentionOf = (stack, layer) => stack.replace(".", `.${layer}.`);

/** The edit that switches a head off. @param {HeadPlace} place */
export const offLine = ({ stack, layer, head }) => `${attentionOf(stack, layer)} heads ${head}: zero`;

/** The edits that one press makes of what is open, in the order of a list.
   @param {Pick<View, "view" | "stack" | "layer" | "head" | "query" | "key">} view
   @param {{feeds: boolean}} model whether it has a feed-forward
   @returns {Ready[]} */
export function readyEdits({ view, stack, layer, head, query, key }, { feeds }) {
  const attention = attentionOf(stack, layer);
  const side = `${stack.split(".")[0]}.${layer}`;
  const one = `${attention} heads ${head}`;
  const pattern = `${attention}.pattern heads ${head}`;
  const here = `layer ${layer} head ${head}`;
  /** @param {string} value @param {string} text @param {string} title @param {string} line */
  const ready = (value, text, title, line) => ({ value, text, title, line });
  const ofHead = [
    ready("zero", "switch this head off", `z of ${here} is 0: it gives nothing`, `${one}: zero`),
    ready("mean", "its mean over the text", "Every position gets the mean z", `${one}: mean`),
    ready("flip", "flip its sign", "z times −1", `${one}: scale -1`),
    ready("uniform", "look everywhere alike", "Equal weights for all keys", `${pattern}: uniform`),
    ...(stack.endsWith("self")
      ? [ready("identity", "look at itself only", "Every query at itself", `${pattern}: identity`)]
      : []),
  ];
  const row = [
    ready("only", "this query: only the marked key", "Weight 1", `${pattern} at ${query}: only ${key}`),
    ready("row", "this query: all keys alike", "Equal weights", `${pattern} at ${query}: uniform`),
  ];
  const wider = [
    ready("layer", "all heads of this layer off", "Their z is 0", `${attention}: zero`),
    ...(feeds ? [ready("ff", "feed-forward of this layer off", "It adds 0", `${side}.ff: zero`)] : []),
    ready("whole", "the whole layer off", "The stream leaves as it entered", `${side}: off`),
  ];
  return [...ofHead, ...(["head", "lines", "numbers"].includes(view) ? row : []), ...wider];
}

/** A weight from 0 to 1. @param {number} weight */
export const bounded = (weight) => Math.max(0, Math.min(1, weight));

/** The cells of a row that are set by hand, as a line.
   @param {Pick<View, "stack" | "layer" | "head" | "query">} view
   @param {Iterable<[key: number, weight: number]>} cells */
export function setLine(view, cells) {
  const written = Array.from(cells, ([key, weight]) => `${key}=${Number(weight.toFixed(3))}`);
  return `${rowOf(view)}: set ${written.join(" ")}`;
}

/** The place of a row of a pattern. @param {Pick<View, "stack" | "layer" | "head" | "query">} view */
export const rowOf = ({ stack, layer, head, query }) =>
  `${attentionOf(stack, layer)}.pattern heads ${head} at ${query}`;

/** The edit that switches off the heads of the open layer that give half of a query's weight and more to a
   key, or null where none does.
   @param {Pick<View, "stack" | "layer">} view @param {import("./data.js").TraceData} data
   @param {{query?: number | null, key?: number | null}} focus */
export function withoutLook({ stack, layer }, data, { query, key }) {
  if (typeof query !== "number" || typeof key !== "number") return null;
  const heads = upTo(data.stack(stack).heads).filter((head) => {
    const exact = data.exact(stack, layer, head);
    const at = exact ? (query - exact.q0) * exact.nk + key - exact.k0 : -1;
    return exact && exact.pattern[at] >= 0.5;
  });
  return heads.length ? `${attentionOf(stack, layer)} heads ${heads.join(",")}: zero` : null;
}

/** Whether a head is switched off, alone or with others.
   @param {import("./types").Header["off"]} off @param {HeadPlace} at */
export function isOff(off, { stack, layer, head }) {
  const heads = off[attentionOf(stack, layer)];
  return heads === null || Boolean(heads?.includes(head));
}

/** The numbers of a list such as 2,5-7; null for all. @param {string | undefined} list */
export const numbersOf = (list) =>
  !list || list.trim() === "all"
    ? null
    : list.split(",").flatMap((part) => {
        const [first, last = first] = part.split("-").map(Number);
        return upTo(last - first + 1).map((at) => first + at);
      });

const PLACE = /^\s*([^\s:]+)(?:\s+heads\s+(all|[\d,\s-]+?))?(?:\s+at\s[^:]+)?\s*:/;

/** Tells which heads edits name: some of an attention, or all of it or of a layer. @param {string[]} lines */
export function edited(lines) {
  const places = lines.map((line) => PLACE.exec(line) ?? []);
  return (/** @type {HeadPlace} */ { stack, layer, head }) => {
    const [own, whole] = [attentionOf(stack, layer), `${stack.split(".")[0]}.${layer}`];
    return places.some(([, address = "", heads]) => {
      const isHere = address === whole || `${address}.`.startsWith(`${own}.`);
      return isHere && (numbersOf(heads)?.includes(head) ?? true);
    });
  };
}
