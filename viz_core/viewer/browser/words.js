/* What people read, in their language: as pages/shared/words.py looks it up, where a host has handed over a
   catalogue as `attentionLabWords`; else in English. */

/** @typedef {{size: number, pattern: RegExp, text: string}} Entry */
/** @typedef {Record<string, Entry[]>} Filled by their longest word */
/** @typedef {{whole: Record<string, string>, filled: Filled, known: Map<string, string>}} Words */

const LONGEST = 3000; // characters of a text that is looked up
const CUTS = [/(\n+)/, /((?<=[.!?:;])[*\])”"]*\s+)/]; // into lines, else into sentences
const LETTERS = /\p{L}+/gu;
const SLOT = /\{(\d+)\}/g;

/** @type {Words | undefined} */ let words;

/** @returns {Words | undefined} */
function catalogue() {
  const given = globalThis.attentionLabWords;
  if (!given) return undefined;
  /** @param {[number, string, string]} entry */
  const entry = ([size, pattern, text]) => ({ size, pattern: new RegExp(`^${pattern}$`, "s"), text });
  const filled = Object.entries(given.filled).map(([word, entries]) => [word, entries.map(entry)]);
  return { whole: given.whole, filled: Object.fromEntries(filled), known: new Map() };
}

/** A text of the program in the visitor's language. @param {string} text @returns {string} */
export function t(text) {
  words ??= catalogue();
  if (!words || text.length > LONGEST) return text;
  const known = words.known.get(text);
  if (known !== undefined) return known;
  const now = found(text, words);
  words.known.set(text, now);
  return now;
}

/** The same for what may also be a token: a single word stays as it is. @param {string} text */
export function tIfWords(text) {
  return text.trim().includes(" ") ? t(text) : text;
}

/** @param {string} text @param {Words} words */
function found(text, words) {
  const inner = text.trim();
  if (!inner) return text;
  if (inner !== text) return text.replace(inner, () => t(inner));
  const message = Object.hasOwn(words.whole, text) ? words.whole[text] : filledIn(text, words);
  if (message !== undefined) return message;
  for (const cut of CUTS) {
    const pieces = text.split(cut);
    if (pieces.length > 1) return pieces.map((piece, at) => (at % 2 ? piece : t(piece))).join("");
  }
  return text;
}

/** The message of which a text is filled in; of several, the one that says most itself.
   @param {string} text @param {Words} words */
function filledIn(text, { filled }) {
  const all = [...new Set([...(text.match(LETTERS) ?? []), ""])].sort();
  const entries = all.flatMap((word) => (Object.hasOwn(filled, word) ? filled[word] : []));
  for (const { pattern, text: translation } of entries.sort((a, b) => b.size - a.size)) {
    const values = pattern.exec(text)?.slice(1).map(tIfWords);
    if (values) return translation.replace(SLOT, (_, at) => values[at]);
  }
  return undefined;
}

/* What of a message people read, by the name of its field; in the others are keys, code and tokens. */
const READ = new Set([
  ...["title", "notice", "x_label", "y_label", "unit", "label", "together", "claim", "where", "ask"],
  ...["options", "panels", "after", "section", "caption", "see", "help"],
]);
const READ_IF_WORDS = new Set([
  "text",
  "name",
  "names",
  "labels",
  "rows",
  "columns",
  "words",
  "note",
  "values",
  "cells",
]);

/** A field of a message in the visitor's language. @param {string} name @param {any} value */
export function read(name, value) {
  const say = READ.has(name) ? t : READ_IF_WORDS.has(name) ? tIfWords : null;
  if (!say || !globalThis.attentionLabWords) return value;
  if (typeof value === "string") return say(value);
  return Array.isArray(value) ? value.map((each) => (typeof each === "string" ? say(each) : each)) : value;
}
