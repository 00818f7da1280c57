/* Which word of a translation says which word that was read: `word_links` of
   models/data/grammar/annotations.py, whose lexicon comes as JSON; and of pairs that were aligned by hand. */

import { decode } from "./tokens.js";

/** @import { Model } from "./types" */
/** @import { Tokenizer } from "./tokens.js" */
/** @typedef {[query: number, key: number, sure: boolean]} Pair */
/** @typedef {Record<string, string[]>} Lexicon */
/** @typedef {{english: Lexicon, french: Lexicon, determiners: string[], articles: string[], have: string[],
   be: string[], beforeQue: Record<string, string>, within: number}} Grammar */

/** What the first word that has meanings of a kind may mean.
   @param {string[]} rest @param {Lexicon} known @param {string} kind */
function next(rest, known, kind) {
  for (const word of rest) {
    const meanings = (known[word] ?? []).filter((meaning) => meaning.startsWith(kind));
    if (meanings.length) return meanings.map((meaning) => meaning.slice(kind.length));
  }
  return [];
}

/** An article belongs to the article of the same noun. @param {string[]} rest @param {Lexicon} known */
const articles = (rest, known) => next(rest, known, "noun:").map((noun) => `the:${noun}`);

/** @param {Grammar} grammar @param {string[]} words @param {number} at */
function ofEnglish({ english: known, determiners }, words, at) {
  const [word, rest, before] = [words[at], words.slice(at + 1), words[at - 1] ?? ""];
  const meanings = known[word] ?? [];
  if (determiners.includes(word) || word === "an")
    return [...articles(rest, known), ...(word === "many" ? ["~many"] : [])];
  if (meanings.includes("~asked"))
    return [...meanings, ...next(rest, known, "verb:").map((verb) => `~finite:${verb}`)];
  if (before === "there" && meanings.includes("be")) return ["~has"];
  return word === "in" && rest[0] === "front" ? ["~front"] : meanings;
}

/** @param {Grammar} grammar @param {string[]} words @param {number} at */
function ofFrench(grammar, words, at) {
  const { french: known, have, be } = grammar;
  const [word, rest, before] = [words[at], words.slice(at + 1), words[at - 1] ?? ""];
  const helped = next(rest.slice(0, grammar.within), known, have.includes(word) ? "past:" : "gone:");
  if ((have.includes(word) || be.includes(word)) && helped.length)
    return helped.map((verb) => `~finite:${verb}`);
  if (word === "a" && before === "y") return ["~has"];
  if (be.includes(word)) return ["be"];
  if (word === "il" && rest[0] === "y") return ["~there"];
  if (word === "que" || word === "qu'") return [grammar.beforeQue[before] ?? "which"];
  if ((word === "de" || word === "d'") && before === "beaucoup") return ["~many"];
  if (grammar.articles.includes(word))
    return [...articles(rest, known), ...(before === "près" ? ["~near"] : [])];
  const into = (known[before] ?? []).filter((meaning) => meaning.startsWith("into:"));
  return word === "dans" && into.length ? into.map((meaning) => `~${meaning}`) : (known[word] ?? []);
}

/** @param {string[]} words @param {(words: string[], at: number) => string[]} meaningsOf */
function places(words, meaningsOf) {
  /** @type {Map<string, number[]>} */ const found = new Map();
  words.forEach((_, at) => {
    for (const meaning of new Set(meaningsOf(words, at)))
      found.set(meaning, [...(found.get(meaning) ?? []), at]);
  });
  return found;
}

/** The links of two sentences as pairs of places.
   @param {Grammar} grammar @param {string[]} english @param {string[]} french */
function linksOf(grammar, english, french) {
  const there = places(french, (words, at) => ofFrench(grammar, words, at));
  /** @type {Map<string, Pair>} */ const links = new Map();
  for (const [meaning, of] of places(english, (words, at) => ofEnglish(grammar, words, at)))
    (there.get(meaning) ?? []).slice(0, of.length).forEach((place, n) => {
      const sure = (links.get(`${of[n]} ${place}`)?.[2] ?? false) || !meaning.startsWith("~");
      links.set(`${of[n]} ${place}`, [of[n], place, sure]);
    });
  return [...links.values()];
}

const WORD = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]/gu;
const bytesIn = (/** @type {string} */ text) => new TextEncoder().encode(text).length;

/** For each piece the number of its word; -1 for one in which none begins or goes on.
   @param {Tokenizer} tokenizer @param {number[]} ids */
function wordsOf(tokenizer, ids) {
  const text = ` ${decode(tokenizer, ids).trim()}`;
  const ofByte = Array.from({ length: bytesIn(text) }, () => -1);
  [...text.matchAll(WORD)].forEach(({ 0: word, index }, number) => {
    const start = bytesIn(text.slice(0, index));
    ofByte.fill(number, start, start + bytesIn(word));
  });
  let end = 0;
  return ids.map((id) => {
    const start = end;
    end += tokenizer.vocabulary[id].length; // a letter a byte
    return ofByte.slice(start, end).find((number) => number >= 0) ?? -1;
  });
}

/** @param {Pair[]} links @param {number} one @param {number} other */
const sureOf = (links, one, other) => links.find(([a, b]) => a === one && b === other)?.[2];

/** @param {[english: string, french: string, links: Pair[]][]} pairs @param {Tokenizer} tokenizer
   @param {Record<string, number[]>} inputs */
function handLinks(pairs, tokenizer, { source, target }) {
  const [read, written] = [source.slice(1, source.indexOf(2)), target.slice(1)];
  const texts = [read, written].map((ids) => decode(tokenizer, ids).trim());
  const [english, french] = source[0] === 4 ? texts : texts.reverse();
  const links = pairs.find(([one, other]) => one === english && other === french)?.[2] ?? [];
  const keys = wordsOf(tokenizer, read);
  return wordsOf(tokenizer, written).flatMap((word, query) =>
    keys.flatMap((other, key) => {
      const sure = source[0] === 4 ? sureOf(links, other, word) : sureOf(links, word, other);
      return sure === undefined ? [] : [/** @type {Pair} */ ([query, 1 + key, sure])];
    }),
  );
}

/** For each position that writes a word, the words read that it says again, as pairs of query and key.
   @param {Model} model @param {import("./types").Reading} reading @returns {Pair[]} */
export function alignments({ grammar, byHand, tokenizer }, { inputs, tokens }) {
  if (byHand) return handLinks(byHand, tokenizer, inputs);
  if (!grammar) return [];
  const [read, written] = [tokens.encoder.slice(1, tokens.encoder.indexOf("<eos>")), tokens.decoder.slice(1)];
  // the decoder's position n, after <bos> and n words, writes the word n; the source has <2fr> in front
  if (inputs.source[0] === 4)
    return linksOf(grammar, read, written).map(([word, query, sure]) => [query, word + 1, sure]);
  return linksOf(grammar, written, read).map(([query, word, sure]) => [query, word + 1, sure]);
}
