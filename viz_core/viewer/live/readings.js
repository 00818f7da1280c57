/* What a person typed, as a model reads it: `read` of each task in models/data/tasks, with its sentences. */

import { decode, encode, idsOf, spoken, words } from "./tokens.js";

/** @import { Model, Reading, Run, Settings } from "./types" */

const SPACE = "\\s\\u0085\\u001c-\\u001f";
const BLANKS = new RegExp(`[${SPACE}]+`, "u");

/** As Python cuts a text at its blanks. @param {string} text */
const split = (text) => text.split(BLANKS).filter(Boolean);

/** @param {string} text */
const trimmed = (text) => text.replace(new RegExp(`^[${SPACE}]+|[${SPACE}]+$`, "gu"), "");

/** @param {number} count */
const grouped = (count) => count.toLocaleString("en");

/** The sentence that refuses a text, or a part of it. @param {Model} model @param {string} text */
const refusalOf = ({ refusal }, text) => refusal.replace("§", () => [...text].slice(0, 40).join(""));

/** @param {number} n @param {number} most */
function checkRoom(n, most, unit = "tokens") {
  if (n > most)
    throw new Error(
      `the text has ${grouped(n)} ${unit}, but this model reads at most ${grouped(most)}; ` +
        `remove ${grouped(n - most)}`,
    );
}

const EMPTY = "the text is empty; give at least one word";
const LANGUAGES = { en: "English", fr: "French" };

/** @param {string} text @param {Record<string, number[]>} inputs @param {Record<string, string[]>} tokens
   @param {Partial<Reading>} more @returns {Reading} */
function readingOf(text, inputs, tokens, more = {}) {
  const usual = { unknown: [], answer: "", following: null, forced: false, advice: null };
  return { inputs, tokens, text, ...usual, ...more };
}

/* Where each word that a model of pieces does not know stands, nobody has noted. */
const NOWHERE = { start: 0, end: 0, suggestions: [], where: "text" };
const asUnknown = (/** @type {string} */ text) => ({ text, ...NOWHERE });

/** The ids of tokens; one that is not known is refused. @param {Model} model @param {string[]} tokens */
function labelled(model, tokens, known = model.names) {
  const ids = idsOf(known);
  return tokens.map((token) => {
    const id = ids.get(token);
    if (id === undefined) throw new Error(refusalOf(model, token));
    return id;
  });
}

/** Words of one language and not of the other.
   @param {Model} model @param {string[]} typed @param {"en" | "fr"} language */
function only({ words: lists }, typed, language) {
  const [own, other] = [lists[language], lists[language === "en" ? "fr" : "en"]].map((list) => idsOf(list));
  return typed.filter((word) => own.has(word.toLowerCase()) && !other.has(word.toLowerCase())).length;
}

/** @param {string} direction @returns {[read: "en" | "fr", written: "en" | "fr"]} */
const sidesOf = (direction) => (direction === "fr-en" ? ["fr", "en"] : ["en", "fr"]);

/** @param {Model} model @param {string} text @param {"en" | "fr"} language */
function wordsOf(model, text, language) {
  const read = words(model.tokenizer, text, model.words[language]);
  checkRoom(read.ids.length, model.length - 2, "words");
  return read;
}

/** The pieces of a text of everyday language. @param {Model} model @param {string} text */
const piecesOf = (model, text) =>
  encode(model.tokenizer, ` ${trimmed(text.replaceAll("’", "'").replace(/[\u00a0\u202f]/g, " "))}`);

const [BOS, EOS, TO_FRENCH, TO_ENGLISH] = [1, 2, 4, 5];
const firstOf = (/** @type {string} */ direction) => (direction === "fr-en" ? TO_ENGLISH : TO_FRENCH);

/** @type {Record<string, (model: Model, text: string, settings: Settings) => Reading>} */
const READERS = {
  translation(model, text, { direction = "" }) {
    const typed = () => words(model.tokenizer, text, []).tokens;
    const chosen = direction || (only(model, typed(), "fr") > only(model, typed(), "en") ? "fr-en" : "en-fr");
    const [read, written] = sidesOf(chosen);
    const { ids, tokens, unknown } = wordsOf(model, text, read);
    if (!ids.length) throw new Error(EMPTY);
    const first = firstOf(chosen);
    const source = [first, ...ids, EOS];
    const [there, here] = [only(model, tokens, written), only(model, tokens, read)];
    const because =
      `${there} of these words are known in ${LANGUAGES[written]} only, ` +
      `${here} in ${LANGUAGES[read]} only.`;
    const better = { setting: "direction", value: `${written}-${read}`, because };
    const labels = [model.names[first], ...tokens, model.names[EOS]];
    const advice = there > here ? better : null;
    return readingOf(text, { source }, { encoder: labels }, { unknown, advice });
  },
  everyday(model, text, { direction = "auto" }) {
    const ids = piecesOf(model, text);
    if (!trimmed(text)) throw new Error(EMPTY);
    const { en, fr } = model.counts;
    const total = (/** @type {number[]} */ counts) => counts.reduce((a, b) => a + b, 0) + model.names.length;
    const shift = Math.log(total(fr) / total(en));
    const leaning = ids.reduce((sum, id) => sum + Math.log((en[id] + 1) / (fr[id] + 1)) + shift, 0);
    const own = leaning < 0 ? "fr-en" : "en-fr";
    const chosen = direction === "auto" ? own : direction;
    const source = [firstOf(chosen), ...ids, EOS];
    checkRoom(source.length, model.length);
    const [read, other] = sidesOf(chosen).map((side) => LANGUAGES[side]);
    const because = `Its pieces are those of ${other} rather than of ${read}.`;
    const isOther = Math.abs(leaning) > 2 && own !== chosen;
    const advice = isOther ? { setting: "direction", value: own, because } : null;
    return readingOf(text, { source }, { encoder: source.map((id) => model.names[id]) }, { advice });
  },
  masked(model, text) {
    const typed = /(\[MASK\]|\[SEP\])/i;
    const signs = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[NEXT]", "[OTHER]"];
    const ids = [2];
    for (const part of text.split(typed)) {
      const sign = signs.indexOf(part.toUpperCase());
      ids.push(...(sign < 0 ? encode(model.tokenizer, part) : [sign]));
    }
    if (ids.length === 1) throw new Error(EMPTY);
    checkRoom(ids.length - 1, model.length - 2);
    const lacks = new Set(split(text.replace(new RegExp(typed, "gi"), " ")));
    return ofPieces(model, text, [...ids, 3], lacks);
  },
  classes(model, text) {
    const ids = encode(model.tokenizer, text);
    const room = model.length - (model.first ? 1 : 0);
    if (!ids.length) throw new Error("the text is empty; type a sentence");
    if (ids.length > room)
      throw new Error(`the text has ${grouped(ids.length)} words and signs; give at most ${room}`);
    return ofPieces(model, text, model.first ? [2, ...ids] : ids, new Set(split(text)));
  },
  text(model, text) {
    if (!text) throw new Error("the text is empty; give at least one character");
    const ids = encode(model.tokenizer, text);
    checkRoom(ids.length, model.length);
    const isLacking = (/** @type {string} */ sign) =>
      encode(model.tokenizer, sign)[0] === model.tokenizer.unknown_id;
    const unknown = [...new Set(text)].filter(isLacking).map(asUnknown);
    return readingOf(text, { tokens: ids }, { decoder: ids.map((id) => model.names[id]) }, { unknown });
  },
  tokens(model, text) {
    if (!trimmed(text)) throw new Error(EMPTY);
    const ids = encode(model.tokenizer, text);
    checkRoom(ids.length, model.length);
    const side = model.template.stacks[0].querySide;
    return readingOf(text, { tokens: ids }, { [side]: ids.map((id) => model.pieces[id]) });
  },
  letters(model, text) {
    const typed = [...split(text).join("")];
    const known = model.names.slice(1);
    const ids = labelled(model, typed, known).map((id) => id + 1);
    if (!ids.length || ids.length > 2 * model.length)
      throw new Error(`the text has ${ids.length} letters; give 1 to ${2 * model.length}`);
    return readingOf(typed.join(""), { tokens: ids }, { decoder: typed });
  },
  addition(model, text) {
    const typed = split(text.replaceAll("=", " = ").replaceAll("+", " "));
    const numbers = typed.at(-1) === "=" ? typed.slice(0, -1) : typed;
    const longest = String(model.modulus).length;
    const ids = numbers.filter((each) => /^[0-9]+$/.test(each) && each.length <= longest).map(Number);
    if (numbers.length !== 2 || ids.length !== 2 || Math.max(...ids) >= model.modulus)
      throw new Error(refusalOf(model, trimmed(text)));
    const labels = [...ids.map(String), "="];
    return readingOf(labels.join(" "), { tokens: [...ids, model.modulus] }, { decoder: labels });
  },
  needle(model, text) {
    const typed = split(text.toLowerCase().replaceAll(".", " . ").replaceAll("?", " ? "));
    const ids = labelled(model, typed);
    const question = questionOf(typed);
    const asks = /the code of (\S+)$/.exec(question.slice(-4).join(" "));
    if (!typed.includes("?") || !model.people.includes(asks?.[1] ?? ""))
      throw new Error("the text asks for no code; end it with 'what ? the code of ana'");
    const begun = typed.length - question.length;
    if (begun > model.numbers)
      throw new Error(`the answer has ${begun} words; give at most ${model.numbers}`);
    checkRoom(question.length + model.numbers, model.length, "words with the answer");
    return readingOf(typed.join(" "), { tokens: ids }, { decoder: typed });
  },
};

/** What is read up to the name that is asked for. @param {string[]} typed */
function questionOf(typed) {
  return typed.includes("?") ? typed.slice(0, typed.indexOf("?") + 5) : typed;
}

/** @param {Model} model @param {string} text @param {number[]} ids @param {Set<string>} typed */
function ofPieces({ tokenizer }, text, ids, typed) {
  const isLacking = (/** @type {string} */ word) =>
    encode(tokenizer, word).includes(tokenizer.unknown_id ?? -1);
  const unknown = [...typed].filter(isLacking).map(asUnknown);
  const encoder = ids.map((id) => tokenizer.vocabulary[id]);
  return readingOf(text, { tokens: ids }, { encoder }, { unknown });
}

/** What would suit a text better, or which of its words are not known, each once.
   @param {Reading} reading @param {import("../stage/types").Declaration} controls
   @returns {import("../stage/types").Noted} */
export function notesOf({ advice, unknown }, { settings }) {
  if (advice) {
    const { options = [] } = settings.find(({ name }) => name === advice.setting) ?? {};
    const [better, read] = [true, false].map(
      (is) => options.find(({ value }) => (value === advice.value) === is && value !== "auto")?.text,
    );
    const text = `${advice.because} They are read as ${read}:`;
    return { advice: { text, better: `read ${better}`, setting: advice.setting, value: advice.value } };
  }
  const words = new Map(unknown.map(({ text: word, ...rest }) => [word, { word, ...rest }]));
  return words.size ? { unknown: [...words.values()] } : {};
}

/** A text as the model reads it, without its answer; a sentence is thrown where it cannot.
   @param {Model} model @param {string} text @param {Settings} settings */
export const read = (model, text, settings) => READERS[model.reads](model, text, settings);

/** The text of tokens that a model wrote. @param {Model} model @param {number[]} ids */
export const written = ({ tokenizer, names }, ids) =>
  tokenizer ? decode(tokenizer, ids) : ids.map((id) => names[id]).join("");

/** @param {ArrayLike<number>} logits [position, output] @param {number} count @param {number} row */
function likeliest(logits, count, row = logits.length / count - 1) {
  let best = row * count;
  for (let at = best; at < (row + 1) * count; at++) if (logits[at] > logits[best]) best = at;
  return best - row * count;
}

/** The same with the model's own greedy answer after it, or the one that was typed for it.
   @param {Model} model @param {Reading} reading @param {Run} run gives the logits of inputs
   @param {Settings} settings @param {number[]} draft tokens that it may write, to be quick
   @returns {Promise<Reading>} */
export async function answered(model, reading, run, { target = "", padding = 0 } = {}, draft = []) {
  const count = model.names.length;
  if ("source" in reading.inputs) {
    const { source } = reading.inputs;
    const room = model.length - source.length;
    if (padding > room)
      throw new Error(
        `padding=${padding} does not fit the ${source.length} tokens; give 0 to ${room}, or fewer words`,
      );
    /** @type {Reading} */
    const done = trimmed(target)
      ? forced(model, reading, target)
      : await translated(model, reading, run, draft);
    const pads = Array.from({ length: padding }, () => 0);
    const encoder = [...done.tokens.encoder, ...pads.map((id) => model.names[id])];
    const inputs = { ...done.inputs, source: [...source, ...pads] };
    return { ...done, inputs, tokens: { ...done.tokens, encoder } };
  }
  if (model.reads === "addition") {
    const sum = model.names[likeliest(await run(reading.inputs), count)];
    return { ...reading, answer: sum, following: sum };
  }
  if (model.reads !== "needle") return reading;
  const question = questionOf(split(reading.text));
  const answer = split(reading.text).slice(question.length);
  while (answer.length < model.numbers) {
    const ids = labelled(model, [...question, ...answer]);
    answer.push(model.names[likeliest(await run({ tokens: ids }), count)]);
  }
  const whole = READERS.needle(model, [...question, ...answer.slice(0, model.numbers - 1)].join(" "), {});
  return { ...whole, answer: answer.join(" "), following: /** @type {string} */ (answer.at(-1)) };
}

/** A pass tells what follows each of the tokens that it is given: a draft's count as long as they are those.
   @param {Model} model @param {Reading} reading @param {Run} run @param {number[]} draft */
async function translated(model, reading, run, draft) {
  const { source } = reading.inputs;
  const room = Math.min(2 * source.length + 8, model.length - 2);
  const guess = draft.slice(0, room - 1);
  /** @type {number[]} */ const written = [];
  const isDone = () => written.length >= room || written.at(-1) === EOS;
  while (!isDone()) {
    const logits = await run({ source, target: [BOS, ...written, ...guess] });
    do written.push(likeliest(logits, model.names.length, written.length));
    while (guess.shift() === written.at(-1) && !isDone());
  }
  return withTarget(model, reading, written, written.at(-1) === EOS);
}

/** @param {Model} model @param {Reading} reading @param {number[]} written @param {boolean} ends */
function withTarget({ tokenizer, names }, reading, written, ends) {
  const ids = written.filter((id) => id !== EOS);
  const { source } = reading.inputs;
  const french = source[0] === TO_FRENCH;
  const answer = tokenizer.kind === "bpe" ? trimmed(decode(tokenizer, ids)) : spoken(tokenizer, ids, french);
  const target = [BOS, ...ids];
  const tokens = { ...reading.tokens, decoder: target.map((id) => names[id]) };
  return { ...reading, inputs: { source, target }, tokens, answer, following: ends ? names[EOS] : null };
}

/** @param {Model} model @param {Reading} reading @param {string} target a typed translation */
function forced(model, reading, target) {
  const typed = { answer: target, forced: true };
  if (model.tokenizer.kind === "bpe") {
    const ids = piecesOf(model, target);
    checkRoom(ids.length + 2, model.length);
    return { ...withTarget(model, reading, ids, true), ...typed };
  }
  const french = reading.inputs.source[0] === TO_FRENCH;
  const { ids, tokens, unknown } = wordsOf(model, target, french ? "fr" : "en");
  const done = withTarget(model, reading, ids, true);
  const decoder = [model.names[BOS], ...tokens]; // what is not known is shown as it was typed
  const lacks = [...reading.unknown, ...unknown.map((word) => ({ ...word, where: "target" }))];
  return { ...done, ...typed, tokens: { ...done.tokens, decoder }, unknown: lacks };
}
