/* Text to tokens and ids, as models/data/word_tokenizer.py and learnt_tokenizer.py have it, whose
   vocabularies and pairs come as JSON. A browser may know newer letters than the tokenizers of Python do. */

/** @typedef {{text: string, start: number, end: number, suggestions: string[], where: string}} Unknown
   start, end: in the text, counted in code points; end is 0 where nobody has noted the place */
/** @typedef {{ids: number[], tokens: string[], unknown: Unknown[]}} Encoded */
/** @typedef {{encode(text: string): {ids: number[]}, decode(ids: number[], how: object): string}} Own that of
   a model of transformers */
/** @typedef {{kind: "words" | "characters" | "bpe" | "wordpiece" | "own", vocabulary: string[],
   n_specials: number, unknown_id: number | null, merges: [string, string][], own?: Own, mask?: string}}
   Tokenizer */

export const UNK = 3;
const FIRST_WORD = 6; // after the special words of a vocabulary of words
const OTHER = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
const LETTER = `${OTHER}²³¹¼½¾`; // which a class that is negated, of the tokenizers' library, leaves out
const BLANK = "\\p{White_Space}";
const MARK = "!-\\/:-@\\[-`\\{-~";
const WORD = new RegExp(
  `<unk>|[${LETTER}]+n't|[${LETTER}]+'(?:m|s|re)(?![${LETTER}])|[${LETTER}]+(?:-[${LETTER}]+)*'|` +
    `[${LETTER}]+(?:-[${LETTER}]+)*|[${MARK}]|[^${OTHER}${BLANK}${MARK}]+`,
  "gu",
);
const BYTES = new RegExp(
  `'(?:s|t|re|ve|m|ll|d)| ?\\p{L}+| ?\\p{N}+| ?[^${BLANK}\\p{L}\\p{N}]+|${BLANK}+(?![^${BLANK}])|${BLANK}+`,
  "gu",
);
const PIECES = /[!-/:-@[-`{-~\p{P}\u166d\u{111c9}]|[^\p{White_Space}!-/:-@[-`{-~\p{P}\u166d\u{111c9}]+/gu;
const LONGEST_WORD = 100;
const INSIDE = "##";

/* Lower case sign by sign: a sigma at the end of a word is as any other. */
const lowered = (/** @type {string} */ text) =>
  Array.from(text.normalize("NFC"), (sign) => sign.toLowerCase())
    .join("")
    .replaceAll("’", "'");

/* Only a sign that combines (of a class other than 0) is put before one of the highest class. */
const isCombining = (/** @type {string} */ sign) => `\u0345${sign}`.normalize("NFD").endsWith("\u0345");

const graphemes = new Intl.Segmenter("en");

/** The text lowered, and which sign of the text each of its UTF-16 units comes from. @param {string} text */
function loweredFrom(text) {
  /** @type {number[]} */ const from = [];
  let written = "";
  let at = 0;
  for (const { segment } of graphemes.segment(text)) {
    const signs = [...segment];
    const each = signs.map(lowered);
    const whole = lowered(segment);
    // where signs are written as one, each that is left comes from one of the first
    const parts = each.join("") === whole ? each : [...whole];
    parts.forEach((part, i) => {
      for (let unit = 0; unit < part.length; unit++) from.push(at + Math.min(i, signs.length - 1));
    });
    written += whole;
    at += signs.length;
  }
  return { written, from };
}

/** A text's words, those of the vocabulary as it writes them, others as they were typed.
   @param {Tokenizer} tokenizer @param {string} text @param {string[]} among what may be suggested
   @returns {Encoded} */
export function words({ vocabulary }, text, among = vocabulary.slice(FIRST_WORD)) {
  const ids = idsOf(vocabulary);
  const signs = [...text];
  const { written, from } = loweredFrom(text);
  /** @type {Encoded} */ const encoded = { ids: [], tokens: [], unknown: [] };
  /** @type {Map<string, string[]>} */ const suggested = new Map();
  for (const { 0: word, index } of written.matchAll(WORD)) {
    const id = ids.get(word) ?? UNK;
    const start = from[index];
    let end = from[index + word.length - 1] + 1;
    while (end < signs.length && isCombining(signs[end])) end++; // a mark belongs to the letter before it
    const token = id === UNK ? signs.slice(start, end).join("") : word;
    encoded.ids.push(id);
    encoded.tokens.push(token);
    if (id !== UNK || token === vocabulary[UNK]) continue;
    if (!suggested.has(token) && suggested.size < 20) suggested.set(token, alike(token, among));
    const suggestions = suggested.get(token) ?? [];
    encoded.unknown.push({ text: token, start, end, suggestions, where: "text" });
  }
  return encoded;
}

/** @type {WeakMap<string[], Map<string, number>>} */ const known = new WeakMap();

/** @param {string[]} vocabulary */
export function idsOf(vocabulary) {
  let ids = known.get(vocabulary);
  if (!ids) known.set(vocabulary, (ids = new Map(vocabulary.map((word, id) => [word, id]))));
  return ids;
}

/** The ids of a text in characters, byte pairs or word pieces.
   @param {Tokenizer} tokenizer @param {string} text */
export function encode(tokenizer, text) {
  const { own, mask } = tokenizer;
  if (own) return own.encode(mask ? text.replaceAll("[MASK]", mask) : text).ids;
  const ids = idsOf(tokenizer.vocabulary);
  const unknown = tokenizer.unknown_id ?? 0;
  const ownId = (/** @type {string} */ token) => {
    const id = ids.get(token) ?? unknown;
    return id < tokenizer.n_specials ? unknown : id;
  };
  if (tokenizer.kind === "characters") return Array.from(text, ownId);
  if (tokenizer.kind === "bpe")
    return (text.match(BYTES) ?? []).flatMap(asLetters).flatMap((word) => merged(tokenizer, word).map(ownId));
  return (lowered(text).match(PIECES) ?? []).flatMap(
    (word) => piecesOf(word, ids, tokenizer.n_specials) ?? [unknown],
  );
}

/* GPT-2's letters for bytes: what can be printed stands for itself. */
const LETTERS = /** @type {string[]} */ ([]);
for (let byte = 0, other = 256; byte < 256; byte++) {
  const printed = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  LETTERS.push(String.fromCharCode(printed ? byte : other++));
}
const BYTE_OF = new Map(LETTERS.map((letter, byte) => [letter, byte]));

/** A word as letters for its bytes, cut where it is long. @param {string} word */
function asLetters(word) {
  const letters = Array.from(new TextEncoder().encode(word), (byte) => LETTERS[byte]).join("");
  return letters.match(new RegExp(`.{1,${LONGEST_WORD}}`, "gsu")) ?? [];
}

/** @type {WeakMap<Tokenizer, Map<string, number>>} */ const ranks = new WeakMap();

/** Pairs merged in the order in which they were learnt (Sennrich et al. 2016).
   @param {Tokenizer} tokenizer @param {string} word */
function merged(tokenizer, word) {
  let rank = ranks.get(tokenizer);
  if (!rank) ranks.set(tokenizer, (rank = new Map(tokenizer.merges.map((pair, at) => [pair.join(" "), at]))));
  const parts = [...word];
  for (;;) {
    let [best, place] = [Infinity, -1];
    for (let at = 0; at + 1 < parts.length; at++) {
      const next = rank.get(`${parts[at]} ${parts[at + 1]}`) ?? Infinity;
      if (next < best) [best, place] = [next, at];
    }
    if (place < 0) return parts;
    parts.splice(place, 2, parts[place] + parts[place + 1]);
  }
}

/** The longest pieces from the left (Devlin et al. 2019); null for a word that has none, or is too long.
   @param {string} word @param {Map<string, number>} ids @param {number} first */
function piecesOf(word, ids, first) {
  const signs = [...word];
  if (signs.length > LONGEST_WORD) return null;
  const pieces = [];
  for (let start = 0, end = 0; start < signs.length; start = end) {
    const id = (/** @type {number} */ stop) =>
      ids.get((start ? INSIDE : "") + signs.slice(start, stop).join("")) ?? -1;
    for (end = signs.length; end > start && id(end) < first; ) end--;
    if (end === start) return null;
    pieces.push(id(end));
  }
  return pieces;
}

/** Ids to text, without special tokens but the unknown one.
   @param {Tokenizer} tokenizer @param {number[]} ids */
export function decode({ kind, vocabulary, n_specials, unknown_id, own }, ids) {
  if (own) return own.decode(ids, { skip_special_tokens: true });
  const tokens = ids.filter((id) => id >= n_specials || id === unknown_id).map((id) => vocabulary[id]);
  if (kind === "characters") return tokens.join("");
  if (kind === "bpe")
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
      Uint8Array.from([...tokens.join("")], (letter) => BYTE_OF.get(letter) ?? 0),
    );
  const isInside = (/** @type {string} */ token) => token.startsWith(INSIDE) && token.length > INSIDE.length;
  return tokens
    .map((token) => (isInside(token) ? token.slice(INSIDE.length) : ` ${token}`))
    .join("")
    .replace(/^ /, "");
}

/** Words to text: l'animal, a comma at its word, and in French a no-break space before "?".
   @param {Tokenizer} tokenizer @param {number[]} ids @param {boolean} french */
export function spoken({ vocabulary }, ids, french) {
  let text = "";
  for (const id of ids) {
    if (id < FIRST_WORD && id !== UNK) continue;
    const word = vocabulary[id];
    if (word === "?" && french) text += (text && "\u00a0") + word;
    else text += (text && !text.endsWith("'") && ![",", ".", "?"].includes(word) ? " " : "") + word;
  }
  return text;
}

/** At most three of the known words that are a typing slip away from the given one, the nearest first.
   @param {string} typed @param {string[]} known */
export function alike(typed, known) {
  const word = [...typed].map((sign) => sign.toLowerCase()).join("");
  if (word.length > 40) return [];
  const most = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  const ranked = known
    .filter((other) => Math.abs(word.length - other.length) <= most)
    .map((other) => ({ other, steps: distance(word, other), ending: sameEnding(word, other) }))
    .filter(({ steps }) => steps > 0 && steps <= most);
  const apart = (/** @type {string} */ other) => Math.abs(word.length - other.length);
  ranked.sort(
    (a, b) =>
      a.steps - b.steps ||
      b.ending - a.ending ||
      apart(a.other) - apart(b.other) ||
      (a.other < b.other ? -1 : 1),
  );
  return ranked
    .filter(({ steps, other }) => steps < other.length)
    .slice(0, 3)
    .map(({ other }) => other);
}

/** Letters to put in, take out, replace or swap with their neighbour (Damerau 1964).
   @param {string} one @param {string} other */
function distance(one, other) {
  /** @type {number[]} */ let before = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 0; i < one.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < other.length; j++) {
      let steps = Math.min(above[j + 1] + 1, row[j] + 1, above[j] + Number(one[i] !== other[j]));
      if (i && j && one[i] === other[j - 1] && other[j] === one[i - 1])
        steps = Math.min(steps, before[j - 1] + 1);
      row.push(steps);
    }
    [before, above] = [above, row];
  }
  return above[other.length];
}

/** @param {string} one @param {string} other */
function sameEnding(one, other) {
  let at = 0;
  while (at < Math.min(one.length, other.length) && one.at(-1 - at) === other.at(-1 - at)) at++;
  return at;
}
