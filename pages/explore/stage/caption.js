/* The sentences above the views. */

import { el, shorten } from "../../shared/browser/dom.js";
import { number } from "../../shared/browser/numbers.js";
import { heaviestKey } from "./view.js";

/** @param {string} text */
const words = (text) => document.createTextNode(text);

/** What to notice in what is shown, with its live number. @param {import("./types").Stage} stage */
export function caption(stage) {
  const { data, view, stack } = stage;
  /** @param {import("./types").Side} side @param {number} at @param {string} role */
  const strong = (side, at, role) =>
    el("strong", { class: role, text: `“${shorten(data.tokens(side)[at].text, 18)}”` });
  if (view.view === "output" || view.view === "grid")
    return [words({ ...data.header.caption, ...data.header.captions }[view.view])];
  const row = stage.row(view.query);
  const named = `Layer ${view.layer}, ${view.heads.length > 1 ? "heads" : "head"} ${view.heads.join(", ")}`;
  if (view.view === "lines" && view.pinned === "none")
    return [words(`${named}: hover a token to see where it looks.`)];
  if (!row) return [words(`Layer ${view.layer}, head ${view.head}.`)];
  const best = heaviestKey(row);
  const writes = stack.querySide === "decoder" && data.header.steps[view.query]?.chosen;
  const where =
    row.heads.length > 1
      ? `on average over ${row.heads.length} heads of layer ${view.layer}`
      : `of its attention in layer ${view.layer}, head ${view.head}`;
  const keys = `${row.k0}–${row.k0 + row.weights.length - 1}`;
  const among = row.weights.length < stack.nKey ? `, among keys ${keys}` : "";
  return [
    ...(writes ? [words("After ")] : []),
    strong(stack.querySide, view.query, "query"),
    words(writes ? `, to write “${shorten(writes, 18)}”, it looks at ` : " looks at "),
    strong(stack.keySide, best, "key"),
    words(`: ${number(row.weights[best - row.k0])} ${where}${among}.`),
  ];
}

/**
 * What the model wrote, a translation with its pronouns standing out, and what the example is there to show.
 * @param {import("./types").Header} header
 */
export function translationOf({ translation, typed, see }) {
  /** @type {Node[]} */
  const parts = (translation || []).map((part) =>
    part.strong ? el("strong", { text: part.text }) : words(part.text),
  );
  if (parts.length) parts.unshift(words(typed ? "→ typed: " : "→ "));
  return see ? [...parts, words(parts.length ? ` · ${see}` : see)] : parts;
}
