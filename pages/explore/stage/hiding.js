/* Special tokens, such as [CLS], left out of what is shown: which views can, what is then left of a head's
   weights, and what is said of it. Nothing here touches the page. */

import { number } from "../../shared/browser/numbers.js";
import { headAt } from "./sorting.js";

/** @typedef {import("./types").View} View */
/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").Stack} Stack */

export const SPECIALS = [
  { value: "shown", text: "shown" },
  { value: "hidden", text: "hidden", title: "Rows then add up to less than 1" },
  {
    value: "renormalised",
    text: "hidden, rows to 1",
    title: "Renormalised: each weight is divided by what is left of its row, so that rows add up to 1",
  },
];
const VIEWS = ["grid", "head", "lines", "numbers"];

/** Whether a view can leave special tokens out. @param {Pick<View, "view" | "show">} view */
export const canHide = ({ view, show }) => VIEWS.includes(view) && !(view === "head" && show === "plane");

/** What a view shows of special tokens. @param {View} view */
export const hidingOf = (view) => (canHide(view) ? (view.special ?? "shown") : "shown");

/**
 * The position itself, else the next one in a direction that is not gone, else the next one in the other.
 * @param {number} at @param {number} count @param {Set<number>} gone @param {number} by
 */
export function beside(at, count, gone, by = 1) {
  for (const step of [by, -by])
    for (let found = at; found >= 0 && found < count; found += step) if (!gone.has(found)) return found;
  return at;
}

/**
 * What a head's numbers are where special tokens are left out: `softmax` stays as it was traced, `pattern`
 * has 0 at the cells that are `blank`, and is divided by what is left of each row where that is asked for.
 * @template {{pattern: ArrayLike<number>, left?: ArrayLike<number>} & import("./types").Area} Sent
 * @param {Sent} sent
 * @param {string} how
 * @param {{queries: Set<number>, keys: Set<number>}} gone
 */
export function withoutSpecial(sent, how, { queries, keys }) {
  const { pattern, q0, k0, nq, nk, left } = sent;
  if (how === "shown" || !left || !(queries.size || keys.size)) return { ...sent, softmax: pattern };
  const blank = new Uint8Array(nq * nk);
  const shown = new Float32Array(nq * nk);
  for (let at = 0; at < nq * nk; at++) {
    const i = Math.floor(at / nk);
    blank[at] = Number(queries.has(q0 + i) || keys.has(k0 + (at % nk)));
    const by = how === "renormalised" && left[i] > 0 ? left[i] : 1;
    if (!blank[at]) shown[at] = pattern[at] / by;
  }
  return { ...sent, softmax: pattern, pattern: shown, blank };
}

/**
 * What the page adds to a row of which so much lies on hidden tokens, and so much on all others.
 * @param {string} how @param {number} hidden @param {number} left
 */
export function saidOfRow(how, hidden, left) {
  if (how === "shown") return "";
  const none = how === "renormalised" && !(left > 0) ? ", nothing is left" : "";
  return `; ${number(hidden, 3)} on hidden tokens${none}`;
}

/**
 * What the grid says: how much of a row lies on hidden tokens, on average over all heads, and in which
 * heads least and most.
 * @param {string} how @param {Stack} stack @param {boolean} ready
 */
export function saidOfHeads(how, stack, ready) {
  const { hidden } = stack;
  if (how === "shown" || !hidden?.length) return "";
  if (!ready) return " Leaving out special tokens…";
  const mean = hidden.reduce((sum, value) => sum + value, 0) / hidden.length;
  /** @param {number} value */
  const named = (value) => {
    const { layer, head } = headAt(stack, hidden.indexOf(value));
    return `${number(value, 3)} in layer ${layer}, head ${head}`;
  };
  const rest = how === "renormalised" ? ", and what is left of each row is made to add up to 1" : "";
  return (
    ` Special tokens are hidden${rest}: ${number(mean, 3)} of a row lies on them on average over all heads ` +
    `(from ${named(Math.min(...hidden))} to ${named(Math.max(...hidden))}). Measures are of whole patterns.`
  );
}
