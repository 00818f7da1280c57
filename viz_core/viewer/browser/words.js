/* What people read, in their language: as pages/shared/words.py looks it up, where a host has handed over a
   catalogue as `attentionLabWords`; else in English. */

/** @typedef {{size: number, pattern: RegExp, text: string}} Entry */
/** @typedef {Record<string, Entry[]>} Filled by their longest word */
/** @typedef {typeof globalThis.attentionLabWords | null} Given */
/** @typedef {Map<string, string | undefined>} Known texts, undefined where there is no message */
/** @typedef {{whole: Record<string, string>, filled: Filled, known: Known}} Words */

const LONGEST = 3000; // characters of a text that is looked up
// lines, sentences (not after "et al."), clauses
const CUTS = [/(\n+)/, /((?<=[.!?])(?<! al\.)[*\])”"]*\s+)/, /((?<=[:;])[*\])”"]*\s+)/];
const LIST = /(, and |, or | and | or |, )/;
const AROUND = /^[ →←·:*\d]+|[ →←·:*\d]+$/g; // what may stand around words that are a message
const LETTERS = /\p{L}+/gu;
const MARK = "\uE000"; // around the number of an element, which no text has
const SLOT = /\{(\d+)(?::n)?\}/g; // as in pages/shared/words.py

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

/** Has a document that holds a catalogue speak its language. @param {Given | undefined} given */
export function speak(given) {
  if (!given) return;
  globalThis.attentionLabWords = given;
  document.documentElement.lang = given.language;
}

/** A text of the program in the visitor's language. @param {string} text @returns {string} */
export function t(text) {
  words ??= catalogue();
  if (!words || text.length > LONGEST || !text.trim()) return text;
  return found(text, words) ?? byParts(text, t) ?? text;
}

/** A message with elements in it, which stay as they are. @param {TemplateStringsArray} texts
   @param {(string | number | Node)[]} values @returns {(string | Node)[]} */
export function tWith(texts, ...values) {
  const isNode = (/** @type {unknown} */ value) => typeof value === "object";
  const filled = values.map((value, at) => (isNode(value) ? `${MARK}${at}${MARK}` : value));
  const pieces = t(String.raw({ raw: texts }, ...filled)).split(MARK);
  return pieces.map((piece, at) => (at % 2 ? /** @type {Node} */ (values[+piece]) : piece)).filter(Boolean);
}

/** The same for what may also be a token: a single word stays as it is. @param {string} text */
export function tIfWords(text) {
  return text.trim().includes(" ") ? t(text) : text;
}

/** A text in whole; undefined where some of it has no message.
   @param {string} text @param {Words} words @returns {string | undefined} */
function found(text, words) {
  if (!words.known.has(text)) words.known.set(text, sought(text, words));
  return words.known.get(text);
}

/** @param {string} text @param {Words} words @returns {string | undefined} */
function sought(text, words) {
  let inner = text.trim();
  const line = text.includes("\n") ? text.replace(/\s+/g, " ") : text;
  if (Object.hasOwn(words.whole, line)) return words.whole[line];
  if (inner === text) {
    const forms = formsOf(text);
    for (const form of forms) {
      const whole = Object.hasOwn(words.whole, form) ? words.whole[form] : undefined;
      const said = whole ?? byParts(form, (part) => found(part, words));
      if (said) return alike(said, text, form);
    }
    const said = filledIn(text, forms, words);
    if (said) return said;
    inner = text.replace(AROUND, "");
    if (!inner.includes(" ") && text.includes("*")) inner = text; // a single word in bold may be a name
  }
  const said = inner && inner !== text ? found(inner, words) : undefined;
  return said === undefined ? undefined : text.replace(inner, () => said);
}

/** A text of several words as it is, and without a capital, a full stop, or both that it was given.
   @param {string} text */
function formsOf(text) {
  const lower = text.charAt(0).toLowerCase() + text.slice(1);
  const forms = [text, text.replace(/\.$/, ""), lower, lower.replace(/\.$/, "")];
  return text.includes(" ") ? [...new Set(forms)] : [text];
}

/** What is said for a form of a text, with the capital and the full stop of the text.
   @param {string} said @param {string} text @param {string} form */
function alike(said, text, form) {
  const first = text[0] === form[0] ? said.charAt(0) : said.charAt(0).toUpperCase();
  return first + said.slice(1) + (text.length > form.length ? "." : "");
}

/** A text line by line, sentence by sentence, or clause by clause; undefined where `say` has not all.
   @param {string} text @param {(part: string) => string | undefined} say */
function byParts(text, say) {
  for (const cut of CUTS) {
    const parts = text.split(cut);
    const said = parts.length > 1 ? parts.map((part, at) => (at % 2 ? part : say(part))) : [];
    if (said.length && !said.includes(undefined)) return said.join("");
  }
  return undefined;
}

/** The message of which a text is filled in; of several, the one that says most itself.
   @param {string} text @param {string[]} forms @param {Words} words */
function filledIn(text, forms, { filled }) {
  const all = [...new Set([...(forms.join(" ").match(LETTERS) ?? []), ""])].sort();
  const entries = all.flatMap((word) => (Object.hasOwn(filled, word) ? filled[word] : []));
  for (const { pattern, text: translation } of entries.sort((a, b) => b.size - a.size)) {
    for (const form of forms) {
      const values = pattern.exec(form)?.slice(1).map(filling);
      const said = values && translation.replace(SLOT, (_, at) => values[at]);
      if (said) return alike(said, text, form);
    }
  }
  return undefined;
}

/** What is filled in: several words may be a message, or a list of some. @param {string} value */
function filling(value) {
  if (!value.includes(" ")) return value;
  if (words && Object.hasOwn(words.whole, value)) return words.whole[value];
  const parts = value.split(LIST);
  const said = parts.map((part, at) => (at % 2 ? joint(part) : part.includes(" ") ? t(part) : part));
  // what is no message, nor marked as quoted, may be of a text that somebody typed
  const isTyped = parts.some((part, at) => at % 2 === 0 && part === said[at] && !/^[“*']/.test(part));
  return parts.length > 1 && !isTyped ? said.join("") : t(value);
}

/** @param {string} words between the parts of a list */
function joint(words) {
  const word = words.replace(/[ ,]+/g, "");
  return word ? words.replace(word, t(word)) : words;
}

/* What of a message people read, by the name of its field; in the others are keys, code and tokens. */
const READ = new Set([
  ...["title", "notice", "x_label", "y_label", "unit", "together", "claim", "where", "ask"],
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

/** Puts words in their place into the visitor's language. @param {string[] | undefined} words */
const ownWords = (words) => words?.splice(0, words.length, ...words.map(t));

/** A field of a message in the visitor's language. @param {string} name @param {any} value */
export function read(name, value) {
  if (typeof value?.label === "string" && !value.is_token) value.label = t(value.label);
  if (name === "terms" && value && globalThis.attentionLabWords)
    return Object.fromEntries(
      Object.entries(value).map(([form, sentence]) => [t(form).toLowerCase(), t(String(sentence))]),
    );
  const { row_axis, rows, column_axis, columns, x_label, axis, labels, chart } = value ?? {};
  // names without an axis are the page's own, be they one word; those of an axis may be tokens
  if (row_axis === "") [rows, chart?.y.names].forEach(ownWords);
  if (column_axis === "") [columns, chart?.x.names].forEach(ownWords);
  if (axis === "" && !x_label) [labels, chart?.x.names].forEach(ownWords);
  if (name === "title" && value?.text) value.text = t(value.text); // of an axis
  if (value?.mode === "lines" && value.name) value.name = t(value.name); // of a curve
  const say = READ.has(name) ? t : READ_IF_WORDS.has(name) ? tIfWords : null;
  if (!say || !globalThis.attentionLabWords) return value;
  if (typeof value === "string") return say(value);
  return Array.isArray(value) ? value.map((each) => (typeof each === "string" ? say(each) : each)) : value;
}
