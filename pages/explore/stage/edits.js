/* Edits as lines of text, "place: change" (models/interventions has the grammar): which ones a person can
   make with a press, and how they join those that are there. Nothing here touches the page. */

/** @import { View } from "./types" */
/** @typedef {{value: string, text: string, title: string, line: string}} Ready */

const SET = /^set (.*?)( renormalised)?$/;
const OFF = /^(\S+?)(?: heads ([\d,-]+))?: zero$/;

/** The place of an attention's values of one head. @param {string} stack @param {number} layer */
export const attentionOf = (stack, layer) => stack.replace(".", `.${layer}.`);

/** What stands before the change. @param {string} line */
const placeOf = (line) => line.slice(0, line.indexOf(":"));

/**
 * The edits that one press makes of what is open, in the order of a list.
 * @param {Pick<View, "view" | "stack" | "layer" | "head" | "query" | "key">} view
 * @param {{feeds: boolean, whole: boolean}} model has a feed-forward; its values are traced, too
 * @returns {Ready[]}
 */
export function readyEdits({ view, stack, layer, head, query, key }, { feeds }) {
  const attention = attentionOf(stack, layer);
  const side = `${stack.split(".")[0]}.${layer}`;
  const one = `${attention} heads ${head}`;
  const pattern = `${attention}.pattern heads ${head}`;
  const here = `layer ${layer}, head ${head}`;
  /** @param {string} value @param {string} text @param {string} title @param {string} line */
  const ready = (value, text, title, line) => ({ value, text, title, line });
  const ofHead = [
    ready("zero", "switch this head off", `z of ${here} is 0: it gives nothing`, `${one}: zero`),
    ready("mean", "its mean over the text", "Every position gets the mean of z", `${one}: mean`),
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

/**
 * The lines with one more: it takes the place of one at the same place; the same line again goes.
 * @param {string[]} lines
 * @param {string} line
 */
export function toggled(lines, line) {
  if (lines.includes(line)) return lines.filter((each) => each !== line);
  return [...lines.filter((each) => placeOf(each) !== placeOf(line)), line];
}

/** A weight from 0 to 1. @param {number} weight */
export const bounded = (weight) => Math.max(0, Math.min(1, weight));

/**
 * The lines with one cell of a pattern set by hand, beside those of its row that are set already.
 * @param {string[]} lines
 * @param {Pick<View, "stack" | "layer" | "head" | "query" | "key">} at
 * @param {number} weight
 * @param {boolean} renormalised
 */
export const withCell = (lines, at, weight, renormalised) =>
  withRow(lines, at, new Map([[at.key, weight]]), renormalised);

/**
 * The lines with cells of a row painted, beside those that are set already. A row that is renormalised has no
 * more than 1 for all of them: what is painted comes first, the others share the room that is left.
 * @param {string[]} lines
 * @param {Pick<View, "stack" | "layer" | "head" | "query">} at
 * @param {Map<number, number>} painted
 * @param {boolean} renormalised
 */
export function withRow(lines, { stack, layer, head, query }, painted, renormalised) {
  const place = `${attentionOf(stack, layer)}.pattern heads ${head} at ${query}`;
  const before = lines.find((line) => placeOf(line) === place);
  const others = (before === undefined ? [] : cellsOf(before)).filter(([key]) => !painted.has(key));
  const mine = fitted([...painted], renormalised ? 1 : Infinity);
  const rest = fitted(others, renormalised ? 1 - total(mine) : Infinity);
  const all = [...rest, ...mine].sort((a, b) => a[0] - b[0]);
  const said = all.map(([key, weight]) => `${key}=${Number(weight.toFixed(3))}`).join(" ");
  const line = `${place}: set ${said}${renormalised ? " renormalised" : ""}`;
  return [...lines.filter((each) => placeOf(each) !== place), line];
}

/** @param {[number, number][]} cells */
const total = (cells) => cells.reduce((sum, [, weight]) => sum + weight, 0);

/**
 * Weights in three digits that sum to no more than there is room for.
 * @param {[number, number][]} cells
 * @param {number} room
 * @returns {[number, number][]}
 */
function fitted(cells, room) {
  const rounded = /** @type {[number, number][]} */ (cells.map(([key, w]) => [key, +w.toFixed(3)]));
  const sum = total(rounded);
  if (sum <= room + 1e-9) return rounded;
  const share = Math.max(0, room) / sum;
  return rounded.map(([key, weight]) => [key, Math.floor(1000 * weight * share + 1e-6) / 1000]);
}

/** The cells that a line sets. @param {string} line @returns {[number, number][]} */
function cellsOf(line) {
  const found = SET.exec(line.slice(line.indexOf(":") + 1).trim());
  return found ? found[1].split(" ").map((cell) => /** @type {any} */ (cell.split("=").map(Number))) : [];
}

/** The position whose outputs moved most. @param {number[]} kl */
export const mostMoved = (kl) => kl.reduce((top, value, at) => (value > kl[top] ? at : top), 0);

/**
 * The edit that switches off the heads of the open layer that give half of a query's weight and more to a
 * key, or null where none does.
 * @param {Pick<View, "stack" | "layer">} view
 * @param {import("./data.js").TraceData} data
 * @param {{query?: number | null, key?: number | null}} focus
 */
export function withoutLook({ stack, layer }, data, { query, key }) {
  if (typeof query !== "number" || typeof key !== "number") return null;
  const heads = Array.from({ length: data.stack(stack).heads }, (_, head) => head).filter((head) => {
    const exact = data.exact(stack, layer, head);
    const at = exact ? (query - exact.q0) * exact.nk + key - exact.k0 : -1;
    return exact && exact.pattern[at] >= 0.5;
  });
  return heads.length ? `${attentionOf(stack, layer)} heads ${heads.join(",")}: zero` : null;
}

/**
 * Whether an edit acts on an attention itself.
 * @param {string[]} lines
 * @param {string} stack
 * @param {number} layer
 */
export const touches = (lines, stack, layer) =>
  lines.some((line) => placeOf(line).startsWith(attentionOf(stack, layer)));

/** @typedef {{stack: string, layer: number, head: number}} Head */

/**
 * The heads that a line switches off in the attention of a head; none of another attention's.
 * @param {string} line
 * @param {Head} of
 * @param {number} count of the attention's heads
 */
function offIn(line, { stack, layer }, count) {
  const [, place, heads] = OFF.exec(line) ?? [];
  if (place !== attentionOf(stack, layer)) return [];
  return heads ? heads.split(",").flatMap(headsOf) : between(0, count - 1);
}

/** @param {number} first @param {number} last */
const between = (first, last) => Array.from({ length: last + 1 - first }, (_, at) => first + at);

/** The heads of a part such as 2 or 5-7. @param {string} part */
function headsOf(part) {
  const [first, last = first] = part.split("-").map(Number);
  return between(first, last);
}

/**
 * Whether a head is switched off, alone or with others.
 * @param {string[]} lines
 * @param {Head} at
 */
export const isOff = (lines, at) => lines.some((line) => offIn(line, at, at.head + 1).includes(at.head));

/**
 * The lines with one head switched: off, or on again beside those that were switched off with it.
 * @param {string[]} lines
 * @param {Head} at
 * @param {number} count of the attention's heads
 */
export function switched(lines, at, count) {
  const place = `${attentionOf(at.stack, at.layer)} heads `;
  if (!isOff(lines, at)) return toggled(lines, `${place}${at.head}: zero`);
  return lines.flatMap((line) => {
    const off = offIn(line, at, count);
    if (!off.includes(at.head)) return [line];
    const others = off.filter((head) => head !== at.head);
    return others.length ? [`${place}${others.join(",")}: zero`] : [];
  });
}
