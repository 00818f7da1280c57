/* The sentences above the views. */

import { el, shorten, typed } from "../browser/dom.js";
import { number, shortNumber } from "../browser/numbers.js";
import { t, tWith } from "../browser/words.js";
import { hiddenInRow, placeIn } from "./data.js";
import { columnOf, heaviestKey, keenestQuery } from "./view.js";

/** @import { Stage, Side, View, Header } from "./types" */

const MOST_CLASSES = 3;

/** What to notice in what is shown, with its live number. @param {Stage} stage */
export function caption(stage) {
  return sentence(stage).flatMap((part) => (typeof part === "string" ? stage.glossary.nodes(part) : [part]));
}

/** @param {Stage} stage @returns {(string | Node)[]} */
function sentence(stage) {
  const { data, view } = stage;
  const own = data.header.captions?.[view.view];
  const isOfEdits = view.when === "difference" || (view.when === "after" && view.view === "grid");
  if (view.view === "effect" || (isOfEdits && data.header.change)) return ofEdits(stage);
  if (own || view.view === "grid") return [t(own ?? data.header.caption.grid)];
  if (["map", "sums", "sweep"].includes(view.view)) return [t(data.header.caption[view.view])];
  if (view.view === "story") return stage.views.story.say();
  if (view.view === "output") return ofOutput(stage, view.step);
  if (view.view === "numbers") return ofPair(stage);
  const { query, key } = marked(stage);
  if (query !== undefined) return ofQuery(stage, query);
  if (key !== undefined) return ofKey(stage, key);
  const { layer, heads } = view;
  if (heads.length > 1) return [t(`Layer ${layer} heads ${heads.join(", ")}: hover a token.`)];
  return [t(`Layer ${layer} head ${heads[0]}: hover a token.`)];
}

/** How far the edits moved what is open. @param {Stage} stage */
function ofEdits({ data, view, stack }) {
  const { change, caption } = data.header;
  const { answer, moved: far } = change ?? {};
  const said = answer ? `${t(answer)} ` : "";
  if (view.view === "effect") return [said + t(String(said ? far : caption.effect))];
  const seen = view.when === "difference" ? "difference" : "grid";
  if (view.view === "grid") return [said + t(caption[seen])];
  const moved = stack.stats.moved[placeIn(stack, view.layer, view.head)];
  const [part, layer, head] = [number(moved), view.layer, view.head];
  return [t(`The edits moved ${part} of the attention of layer ${layer} head ${head}.`)];
}

/** What is likeliest at a step. @param {Stage} stage @param {number} at */
export function ofOutput({ data }, at) {
  const { steps, pooled, stepSide, caption } = data.header;
  const step = steps[at];
  if (!step) return [t(caption.output)];
  const [top, probability] = step.top[0];
  const best = typed(shorten(data.output(stepSide, at, top), 18));
  const share = number(probability, 3);
  const here = typed(pooled ? "" : data.tokens(stepSide)[at].text);
  if (pooled) return tWith`“${best}” is likeliest: ${share}, by the last linear layer and softmax.`;
  return stepSide === "decoder"
    ? tWith`After “${here}”, “${best}” is likeliest: ${share}, by the last linear layer and softmax.`
    : tWith`At “${here}”, “${best}” is likeliest: ${share}, by the last linear layer and softmax.`;
}

/** The token under the pointer, else the one that is kept. @param {Stage} stage @returns {Partial<View>} */
function marked({ view, views }) {
  if (view.view === "lines") return views.lines.target();
  const over = view.view === "head" ? views.head.over : null;
  return { query: (over ?? view).query };
}

/** Where a query looks. @param {Stage} stage @param {number} query */
export function ofQuery(stage, query) {
  const { data, view, stack } = stage;
  const row = stage.row(query);
  if (!row) return [t(`Layer ${view.layer} head ${view.head}.`)];
  const best = heaviestKey(row);
  if (row.weights[best - row.k0] < NOTHING) return ofNothing(data.tokens(stack.querySide)[query]);
  const chosen = stack.querySide === "decoder" && data.header.steps[query]?.chosen;
  const asker = strong(data.tokens(stack.querySide)[query], "query"); // what it writes is said apart
  const isSelf = best === query && stack.querySide === stack.keySide;
  const keys = `${row.k0}–${row.k0 + row.weights.length - 1}`;
  const among = row.weights.length < stack.nKey ? t(`, among keys ${keys}`) : "";
  const hidden = row.hidden === undefined ? "" : hiddenInRow(data.how, row.hidden, row.left ?? 0);
  const share = `${number(row.weights[best - row.k0], 3)} ${where(stage, row.heads)}${among}${hidden}`;
  const key = strong(data.names(stack, "key")[best], "key");
  if (!chosen)
    return isSelf
      ? tWith`“${asker}” looks at itself: ${share}.`
      : tWith`“${asker}” looks at “${key}”: ${share}.`;
  const word = typed(shorten(data.output("decoder", query, chosen), 18));
  return isSelf
    ? tWith`To write “${word}” after “${asker}”, it looks at itself: ${share}.`
    : tWith`To write “${word}” after “${asker}”, it looks at “${key}”: ${share}.`;
}

export const NOTHING = 0.0005; // a weight that is written as 0.000

/** Of a query that gives no key any weight, as with softpick. @param {any} token */
export const ofNothing = (token) =>
  tWith`“${strong(token, "query")}” gives no key any weight: this head looks at nothing here.`;

/** What a query gives to a key. @param {Stage} stage */
function ofPair(stage) {
  const { data, view, stack } = stage;
  const row = stage.row(view.query);
  const weight = row?.weights[view.key - row.k0];
  if (!row || weight === undefined) return [t(`Layer ${view.layer} head ${view.head}.`)];
  const isSelf = view.query === view.key && stack.querySide === stack.keySide;
  const asker = strong(data.names(stack, "query")[view.query], "query");
  const key = strong(data.names(stack, "key")[view.key], "key");
  const share = `${number(weight, 3)} ${where(stage, row.heads)}`;
  return isSelf ? tWith`“${asker}” gives itself ${share}.` : tWith`“${asker}” gives “${key}” ${share}.`;
}

/** @param {Stage} stage @param {number} key */
function ofKey(stage, key) {
  const { data, view, stack } = stage;
  const column = columnOf(view, data, key, stage.lastRow());
  if (!column) return [t(`Layer ${view.layer} head ${view.head}.`)];
  const best = keenestQuery(column);
  const isSelf = best === key && stack.querySide === stack.keySide;
  const queries = `${column.q0}–${column.q0 + column.weights.length - 1}`;
  const among = column.weights.length < stack.nQuery ? t(`, among queries ${queries}`) : "";
  const share = `${number(column.weights[best - column.q0], 3)} ${where(stage, column.heads)}${among}`;
  const token = strong(data.names(stack, "key")[key], "key");
  const asker = strong(data.names(stack, "query")[best], "query");
  return isSelf
    ? tWith`“${token}” gets most from itself, ${share}.`
    : tWith`“${token}” gets most from “${asker}”, ${share}.`;
}

/** @param {{text: string}} token @param {"query" | "key"} role */
export const strong = ({ text }, role) => el("strong", { class: role }, [typed(shorten(text, 22))]);

/** @param {Stage} stage @param {number[]} heads */
const where = ({ view, data }, heads) => {
  if (!heads.length) return t("of its attention, rolled out through all layers");
  if (heads.length > 1) return t(`on average over ${heads.length} heads of layer ${view.layer}`);
  return data.how === "renormalised"
    ? t(`of its remaining attention in layer ${view.layer} head ${heads[0]}`)
    : t(`of its attention in layer ${view.layer} head ${heads[0]}`);
};

/** Says whether most letters of a text are not Latin ones. @param {string} text */
export function isForeign(text) {
  const letters = text.match(/\p{L}/gu) ?? [];
  return 2 * letters.filter((letter) => /\p{Script=Latin}/u.test(letter)).length < letters.length;
}

const FOREIGN = "This translator does not read the text's script.";
/* The translator gives its translations of 199 of 200 held-out sentences a larger probability, and all of
   these are right; translations of sentences that it does not know have smaller ones. */
const SURE = 0.9;

/** Shows what the model answers, what stands out in it, and what the example is there to show. Of a person's
   own text it says when the translation is doubtful: the model's own probability of it is small.
   @param {Header} header */
export function translationOf(header, isOwn = false) {
  const parts = answerOf(header);
  if (isOwn && header.translation?.length) {
    if (isForeign(header.asked?.text ?? "")) return [t(FOREIGN)];
    const probability = header.steps.reduce((product, { top }) => product * top[0][1], 1);
    const isDoubtful = probability < SURE && !header.edits.length && !header.typed;
    const doubt = t(` · doubtful: the model's own probability is ${shortNumber(probability)}`);
    return isDoubtful ? [...parts, doubt] : parts;
  }
  const see = header.edits.length && !header.translation?.length ? "" : header.see; // said of no edited pass
  return see ? [...parts, parts.length ? ` · ${see}` : see] : parts;
}

/** A translation with its pronouns, or the most probable classes or words. @param {Header} header */
function answerOf({ translation, typed: isTyped, edits, pooled, steps, focus, stepSide, tokens }) {
  if (translation?.length)
    return [
      isTyped ? t("→ typed: ") : edits.length ? t("without the edits → ") : "→ ",
      ...translation.map((part) => (part.strong ? el("strong", { text: part.text }) : part.text)),
    ];
  const at = pooled ? 0 : stepSide === "encoder" ? focus.step : undefined;
  const step = at === undefined ? undefined : steps[at];
  if (!step) return [];
  const question = pooled || at === undefined ? "" : `${tokens.encoder[at].text} `;
  const [[best, probability], ...others] = step.top.slice(0, MOST_CLASSES);
  const rest = others.map(([name, p]) => `, ${name} ${shortNumber(p, 3)}`).join("");
  return [`${question}→ `, el("strong", { text: best }), ` ${number(probability, 3)}${rest}`];
}
