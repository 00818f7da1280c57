/* View 1: how one token's attention comes about, told in five beats: the sentence, the token asks, scores
   become shares, values mix, and what the model answers. All numbers are the trace's own; each leads to its
   computation. Pictures move for at most 600 ms, and stand still for those who want less motion. */

import { Choice } from "../browser/choice.js";
import { button, el, isForView, isNew, reveal, shorten, svg, typed } from "../browser/dom.js";
import { colourLevels, cssColour, imageOf } from "../browser/images.js";
import { isStill, MOST, sweep } from "../browser/motion.js";
import { number, shortNumber } from "../browser/numbers.js";
import { t, tWith } from "../browser/words.js";
import { NOTHING, ofNothing, ofOutput, ofQuery, strong, translationOf } from "./caption.js";
import { isSeen, JOINED, partsOf, productsOf, topKeys } from "./data.js";
import { fitting, MIXES, requestOf } from "./quantities.js";
import { Legend, legendEnds } from "./side.js";
import { nearest, upTo, within } from "./view.js";

/** @typedef {import("./types").Exact} Exact */
/** @typedef {{exact: Exact, i: number, keys: number[], top: number}} Told of keys, the heaviest is `top` */

export const BEATS = 5;
const BEAT_SECONDS = 4;
const COLUMN = [42, 60]; // pixels that a key needs, at least and at most
const PHONE = 500; // pixels of room, below which columns are narrow
const OUTPUTS = 4;
const CUTS = "Hyphens show where the model cuts a word.";
const WRITTEN = {
  piece: "a piece is written",
  number: "a number is written",
  letter: "a letter is written",
  word: "a word is written",
};
const NEXT_ASKS = {
  piece: "the next piece asks",
  number: "the next number asks",
  letter: "the next letter asks",
  word: "the next word asks",
};

export class StoryView {
  /** @type {{word: string, name: string, share: number} | null} the answer before a word was swapped */
  former = null;
  swaps = false; // a text with a word swapped is on its way
  /** @type {number | undefined} */ timer;
  reach = 1; // the number of the strongest colour of a strip
  end = ""; // where the thickest curve lies
  /** @type {ReturnType<typeof partsOf> | null} what is mixed */ parts = null;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.beats = new Choice("story", (beat) => this.show(beat), "beats");
    this.play = button({ class: "play", onclick: () => this.toggle() });
    this.bar = el("div", { class: "bar story-bar" }, [this.play, this.beats.root]);
    this.beats.root.addEventListener("keydown", (event) => this.walk(event)); // the focus moves along
    this.asker = el("span", { class: "query" });
    this.query = el("span", { class: "strip" });
    this.asked = el("span", { class: "key" });
    this.key = el("span", { class: "strip" });
    this.times = el("span");
    this.products = el("span", { class: "products" });
    this.score = el("strong");
    this.match = el("div", { class: "story-match" }, [
      ...[this.asker, this.query, el("span"), this.asked, this.key, el("span")],
      ...[this.times, this.products, this.score],
    ]);
    this.legend = new Legend();
    this.rows = el("div", { class: "story-rows", role: "group", "aria-label": "Ask from" });
    this.curves = svg("svg", { class: "curves", "aria-hidden": "true" });
    this.columns = el("div", { class: "story-columns" });
    this.mixed = el("span");
    this.answer = el("p", { class: "answer" });
    this.outputs = el("div", { class: "outputs", role: "group", "aria-label": "Likeliest outputs" });
    this.before = el("p", { class: "muted" });
    this.pieces = el("p", { class: "muted" });
    this.waits = el("p", { class: "muted", text: "Reading this head's numbers…" });
    this.board = el("div", { class: "story-board" }, [
      this.rows,
      el("div", { class: "story-field" }, [
        ...[this.curves, this.columns, this.match],
        el("div", { class: "story-written" }, [this.outputs, this.before]),
      ]),
      el("div", { class: "story-line mixes" }, [
        this.mixed,
        el("span", { class: "story-legend" }, this.legend.parts),
      ]),
    ]);
    const heading = el("h3", { text: "What the model makes of it" });
    this.heads = el("p", { class: "muted" });
    this.taught = el("p", { class: "muted" });
    this.side = el("div", { class: "story-side" }, [
      heading,
      this.answer,
      this.taught,
      this.heads,
      this.pieces,
    ]);
    this.root = el("div", { class: "view story-view", "data-beat": "1" }, [
      this.waits,
      this.board,
      this.side,
    ]);
  }

  /* Which beats this model has: of attention that was handed in only its weights are known. */
  offered() {
    const { stack, data } = this.stage;
    const asks = shorten(this.askerName(), 12);
    const isSelf = stack.querySide === stack.keySide;
    const { pictures, pooled, stepSide, steps } = data.header;
    const unit = this.unit();
    const reads = pictures ? "the picture" : ["word", "piece"].includes(unit) ? "the sentence" : "the text";
    const one = stepSide === "decoder" ? WRITTEN[unit] : "the answer";
    const answers = pooled ? "a class is named" : one;
    return [
      { value: 1, text: `1 ${reads}` },
      { value: 2, text: isSelf ? `2 “${asks}” asks` : `2 ${NEXT_ASKS[unit]}`, needs: stack.whole },
      { value: 3, text: this.adds ? "3 scores become shares" : "3 scores become weights" },
      { value: MIXES, text: "4 values mix", needs: stack.whole },
      { value: BEATS, text: `${BEATS} ${answers}`, needs: steps.length > 0 },
    ].filter(({ needs = true }) => needs);
  }

  /* Whether each row's weights add up to 1. */
  get adds() {
    return ["softmax", "scalable-softmax"].includes(this.stage.stack.normalizer);
  }

  /** What a token of this model is. @returns {keyof typeof WRITTEN} */
  unit() {
    const { inPieces, header } = this.stage.data;
    const texts = Object.values(header.tokens)
      .flat()
      .flatMap(({ text, mark }) => (mark === "special" ? [] : [text]));
    if (inPieces) return "piece";
    if (!texts.some((text) => /\p{L}/u.test(text))) return "number";
    return texts.every((text) => [...text].length === 1) ? "letter" : "word";
  }

  askerName() {
    const { data, stack, view } = this.stage;
    return data.names(stack, "query")[view.query]?.text ?? "";
  }

  /** @param {number} beat */
  show(beat) {
    this.stage.set({ view: "story", beat });
  }

  /** To the next beat, or the one before; false where there is none. @param {1 | -1} by */
  advance(by) {
    const { view } = this.stage;
    const beats = this.offered().map(({ value }) => value);
    const next = view.view === "story" ? beats[beats.indexOf(view.beat) + by] : view.beat;
    if (next) this.show(next);
    return Boolean(next);
  }

  /* Plays the beats that are left, or all of them again. */
  toggle() {
    if (this.timer) return this.stop();
    if (this.isAway) return this.show(this.stage.view.beat);
    if (this.stage.view.view !== "story" || this.stage.view.beat === this.offered().at(-1)?.value)
      this.show(1);
    else this.advance(1);
    this.timer = window.setInterval(() => this.advance(1) || this.stop(), 1_000 * BEAT_SECONDS);
    this.drawBar();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    if (this.stage.passes) this.drawBar();
  }

  /** Arrow keys walk the story outside of fields; Escape leads back. @param {KeyboardEvent} event */
  hear(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !isForView(event)) return;
    if (event.key === "Escape" && this.isAway) this.show(this.stage.view.beat);
    this.walk(event);
  }

  /** @param {KeyboardEvent} event */
  walk({ key }) {
    const by = Number(key === "ArrowRight") - Number(key === "ArrowLeft");
    if (!by) return;
    this.stop();
    this.advance(/** @type {1 | -1} */ (by));
  }

  /* Whether numbers are seen to which the story led. */
  get isAway() {
    return !["story", "picture"].includes(this.stage.view.view);
  }

  /* Keeps the answer, to stand beside that of the text with a word swapped. */
  remember() {
    const { header } = this.stage.data;
    const step = this.answerStep();
    const [word, swap] = header.swap.label.split(" → ");
    const top = step === null ? undefined : header.steps[step].top[0];
    const name = this.output(step, top?.[0]);
    this.former = top && swap ? { word, name, share: top[1] } : null;
    this.swaps = Boolean(swap);
  }

  /** @param {number | null} step @param {string} [name] */
  output(step, name) {
    const { data } = this.stage;
    return data.output(data.header.stepSide, step ?? 0, name);
  }

  /* Another text is told from its beginning; one with a word swapped goes on where the story is. */
  turn() {
    const { swaps } = this;
    this.swaps = false;
    if (swaps) return {};
    this.former = null;
    this.stop();
    return { beat: 1 };
  }

  /* The row that looks most at another word: there an unread text is opened, but for one that goes on. */
  clearest() {
    const { stage } = this;
    const { stack, data } = stage;
    const exact = stage.exactHead();
    if (!exact || stack.id === "decoder.self") return {};
    const { softmax, nq, nk, q0, k0 } = exact;
    const isSelf = stack.querySide === stack.keySide;
    const isWord = (/** @type {"query" | "key"} */ role, /** @type {number} */ at) =>
      data.names(stack, role)[at].mark !== "special";
    const most = upTo(nq).map((row) => {
      if (isSelf && !isWord("query", q0 + row)) return 0;
      const counts = (/** @type {number} */ at) =>
        isWord("key", k0 + at) && !(isSelf && k0 + at === q0 + row);
      return Math.max(...upTo(nk).map((at) => (counts(at) ? softmax[row * nk + at] : 0)));
    });
    const query = q0 + most.indexOf(Math.max(...most));
    return isSelf ? { query } : { step: query, query: null };
  }

  /** What is told of the head and the query; null while numbers are on their way. @returns {Told | null} */
  told() {
    const { stage } = this;
    const exact = stage.exactHead();
    if (!exact) return null;
    const { stack, view, data } = stage;
    const i = within((data.startsOfQueries(stack)[view.query] ?? view.query) - exact.q0, exact.nq);
    const [top] = topKeys(exact, i, 0, exact.nk);
    const names = data.names(stack, "key").slice(exact.k0, exact.k0 + exact.nk);
    const letters = Math.max(...names.map(({ text }) => text.length));
    const room = this.columns.clientWidth || 900;
    const widest = room < PHONE ? COLUMN[0] : COLUMN[1];
    const columns = Math.floor(room / Math.max(COLUMN[0], Math.min(widest, 12 + 9 * letters)));
    const most = Math.max(4, columns - Number(stack.whole)); // one is that of their sum
    const isShown = (/** @type {number} */ at) => isSeen(names[at]);
    const all = upTo(exact.nk).filter(isShown);
    if (all.length <= most) return { exact, i, keys: all, top };
    const own = stack.querySide === stack.keySide ? view.query - exact.k0 : top;
    const keys = topKeys(exact, i, own >= 0 && own < exact.nk ? own : top, most - 1);
    return { exact, i, keys: keys.filter(isShown).sort((a, b) => a - b), top };
  }

  /* The step that writes the pronoun for the query, where the query is the pronoun that is asked of. */
  pronounStep() {
    const { data, view } = this.stage;
    const { steps, translation, focus } = data.header;
    const pronoun = translation?.find((part) => part.strong)?.text;
    const at = steps.findIndex(({ chosen }) => chosen && chosen === pronoun);
    return at >= 0 && view.query === focus.query ? at : null;
  }

  /** The step whose output ends the story: that of the query; for an encoder's token that of its pronoun, or
     the one that looks at it most, on average over all heads of the decoder. Null where there is none. */
  answerStep() {
    const { data, stack, view } = this.stage;
    const { steps, stepSide, pooled } = data.header;
    if (!steps.length) return null;
    if (pooled) return 0;
    if (stack.querySide === stepSide) return within(view.query, steps.length);
    const cross = data.stacks.find(({ id }) => id === "decoder.cross");
    if (!cross) return steps.length - 1;
    const sums = steps.map(() => 0);
    for (const layer of cross.layers)
      for (const head of upTo(cross.heads)) {
        const cells = data.cells(cross, layer, head);
        if (!cells) return this.pronounStep() ?? steps.length - 1;
        for (const row of upTo(Math.min(cells.nq, steps.length)))
          sums[row] += cells.values[row * cells.nk + view.query - cells.k0] * cells.unit;
      }
    return this.pronounStep() ?? sums.indexOf(Math.max(...sums));
  }

  /** The sentence above the picture. @returns {(string | Node)[]} */
  say() {
    const { stage } = this;
    const { data, stack, view } = stage;
    const told = this.told();
    if (!told || view.beat === 1) return ofQuery(stage, view.query);
    const { exact, i, top } = told;
    const { nk, k0 } = exact;
    const asker = strong(data.names(stack, "query")[exact.q0 + i], "query");
    const best = strong(data.names(stack, "key")[k0 + top], "key");
    const share = exact.softmax[i * nk + top];
    if (view.beat === 5) return this.sayAnswer(asker);
    const part = number(share, 3);
    if (view.beat >= 3 && share < NOTHING) return ofNothing(data.names(stack, "query")[exact.q0 + i]);
    if (view.beat === MIXES)
      return [
        ...tWith`For “${asker}”, layer ${view.layer} head ${view.head} blends all values into one, z; `,
        ...(this.adds ? tWith`“${best}” has a share of ${part}.` : tWith`“${best}” counts ${part} times.`),
      ];
    if (view.beat === 2) {
      const scores = Array.from(exact.scores.subarray(i * nk, (i + 1) * nk));
      const highest = scores.indexOf(Math.max(...scores));
      const key = strong(data.names(stack, "key")[k0 + highest], "key");
      return [
        ...tWith`“${asker}” asks: `,
        t("its query meets every key, and the better they fit, the higher the score. "),
        ...tWith`Highest: “${key}”, ${number(scores[highest])}.`,
      ];
    }
    if (!this.adds)
      return tWith`Scores become weights, which need not add up to 1; the largest: “${best}”, ${part}.`;
    return [
      t("Softmax turns the scores into shares: "),
      ...tWith`“${best}” gets ${part}, all others together ${number(1 - share, 3)}.`,
    ];
  }

  /** @param {HTMLElement} asker */
  sayAnswer(asker) {
    const { stage } = this;
    const { data, stack } = stage;
    const { steps, stepSide } = data.header;
    const step = this.answerStep() ?? 0;
    if (stack.querySide === stepSide || stepSide === "encoder") return ofOutput(stage, step);
    const [top, share] = steps[step].top[0];
    const name = this.output(step, top);
    const written = this.output(step, steps[step].chosen ?? top);
    const other = written === name ? [] : tWith` (it wrote “${typed(shorten(written, 18))}”)`;
    const rest = steps[step].top[1];
    const next = rest
      ? tWith`; then “${typed(shorten(this.output(step, rest[0]), 18))}” ${shortNumber(rest[1], 3)}`
      : [];
    const word = typed(shorten(name, 18));
    const model = t("The rest of the model does the same; ");
    const writes =
      this.pronounStep() === step
        ? tWith`for “${asker}”, it writes “${word}”, ${number(share, 3)}`
        : tWith`where it looks most at “${asker}”, it writes “${word}”, ${number(share, 3)}`;
    return [model, ...writes, ...other, ...next, "."];
  }

  drawBar() {
    const { view } = this.stage;
    const beats = this.offered().map(({ value }) => value);
    view.beat = nearest(view.beat, beats);
    const isLast = view.beat === beats.at(-1);
    const tells = this.timer ? "❚❚ pause" : isLast ? "↺ again" : "▶ play";
    this.play.textContent = t(this.isAway ? "← back to the story" : tells);
    this.play.title = t("The story by itself; arrow keys step through it");
    this.beats.update(this.offered(), view.view === "story" ? [view.beat] : []);
  }

  draw() {
    const { view } = this.stage;
    const told = this.told();
    reveal(this.waits, !told);
    reveal(this.board, told);
    this.root.dataset.beat = String(view.beat);
    if (told) {
      this.drawAsker(told);
      this.drawColumns(told);
      this.drawMatch(told);
      this.drawCurves(told);
    }
    this.drawAnswer();
  }

  /** Numbers in a row, or upright, a channel a cell. @param {ArrayLike<number>} values */
  cells(values, isUpright = false) {
    const { level } = colourLevels(values, values.length, "full", true, this.reach || 1);
    const clipped = (/** @type {number} */ at) => Math.max(0, Math.min(255, level(at) ?? 127));
    const [width, height] = isUpright ? [1, values.length] : [values.length, 1];
    return imageOf(width, height, clipped, this.stage.theme.diverging);
  }

  /** The token that asks, its query; of cross-attention the rows to ask from. @param {Told} told */
  drawAsker({ exact, i, keys }) {
    const { data, stack, view } = this.stage;
    const { q, k, d } = exact;
    this.asker.textContent = t(`query of “${shorten(this.askerName(), 24)}”`);
    const mixes = view.beat === MIXES;
    this.mixed.className = mixes ? "" : "key";
    const keysTold = [t("↑ the key of each token, a cell a channel")];
    this.mixed.replaceChildren(...(mixes ? this.sayMixture(i) : keysTold));
    this.parts = mixes ? partsOf(exact, i, keys) : null;
    if (stack.whole) {
      const shown = this.parts ? [...this.parts.weighted, this.parts.others, this.parts.z] : [q, k];
      this.reach = Math.max(...shown.map(largest));
      this.query.replaceChildren(this.cells(q.subarray(i * d, (i + 1) * d)));
      this.legend.draw(this.stage.theme.diverging, legendEnds("full", true, this.reach));
    }
    const isSelf = stack.querySide === stack.keySide;
    const rows = isSelf ? [] : data.names(stack, "query").slice(exact.q0, exact.q0 + exact.nq);
    reveal(this.rows, rows.length);
    if (isNew(this.rows, rows))
      this.rows.replaceChildren(
        ...rows.map(({ text }, at) =>
          button({
            text: shorten(text, 24),
            "data-at": exact.q0 + at,
            onclick: () => this.ask(exact.q0 + at),
          }),
        ),
      );
    for (const row of this.rows.children)
      row.setAttribute(
        "aria-pressed",
        String(Number(/** @type {HTMLElement} */ (row).dataset.at) === view.query),
      );
  }

  /* The words that are nearest to values and to their sums, where the server has sent them. */
  get nearest() {
    const { data, view } = this.stage;
    return fitting(data.header.further, requestOf(view))?.nearest;
  }

  /** @param {import("./types").Near} near */
  word([name]) {
    const { data, stack } = this.stage;
    return typed(shorten(data.output(stack.keySide, Infinity, name), 18));
  }

  /** @param {number} row of those that were sent */
  sayMixture(row) {
    const near = this.nearest?.sums[row] ?? [];
    const [first, second, third] = near.map((each) => this.word(each));
    if (!third) return [t("↑ each value times its share; their sum is z")];
    const [one, two, three] = near.map(([, cosine]) => number(cosine));
    return [
      t("On top of each: the word whose own value is most like it, without a position. "),
      ...tWith`z is most like “${first}” (cosine ${one}), “${second}” (${two}) and “${third}” (${three}).`,
    ];
  }

  /** @param {number} query */
  ask(query) {
    this.stop();
    const { stack } = this.stage;
    this.stage.set(stack.querySide === "decoder" && this.stage.stepMatters() ? { step: query } : { query });
  }

  /** A column for each key: how high it scores, its name, its key or its value. @param {Told} told */
  drawColumns(told) {
    const { data, stack, view } = this.stage;
    const { exact, i, keys } = told;
    const { nk, k0, d, scores, softmax, k } = exact;
    const all = data.names(stack, "key").slice(k0, k0 + nk);
    const names = keys.map((at) => all[at]);
    const isSelf = stack.querySide === stack.keySide;
    const rest = all.filter(isSeen).length - keys.length;
    if (isNew(this.columns, [names, keys, nk, stack.id])) {
      /** @param {string} kind @param {string} text */
      const other = (kind, text) =>
        el("div", { class: `story-column ${kind}` }, [
          el("div", { class: "heights" }, bar()),
          el("span", { class: "muted", text }),
          el("span", { class: "strip" }),
        ]);
      this.columns.replaceChildren(
        ...keys.map((at, place) => this.column(names[place], k0 + at, isSelf)),
        ...(rest ? [other("others", `${rest} others`)] : []),
        ...(stack.whole ? [other("sum", "z")] : []),
      );
    }
    const ofScores = view.beat === 2;
    const row = Array.from((ofScores ? scores : softmax).subarray(i * nk, (i + 1) * nk));
    const finite = row.filter(Number.isFinite);
    const [low, high] = ofScores ? [Math.min(0, ...finite), Math.max(0, ...finite)] : [0, 1];
    const { parts, nearest } = this;
    /** @param {number} place @param {string} text @param {ArrayLike<number>} [part] of the mixture
       @param {import("./types").Near[]} [near] */
    const fill = (place, text, part, [first] = []) => {
      const [rise, numbers] = this.columns.children[place].querySelectorAll(".rise, .bar-number");
      numbers.replaceChildren(...(first ? [el("b", {}, [this.word(first)])] : []), text);
      rise.replaceChildren(...(part ? [this.cells(part, true)] : []));
    };
    keys.forEach((at, place) => {
      const column = /** @type {HTMLElement} */ (this.columns.children[place]);
      const [value, span] = [Number.isFinite(row[at]) ? row[at] : 0, high - low || 1];
      column.style.setProperty("--from", `${(100 * (Math.min(value, 0) - low)) / span}%`);
      column.style.setProperty("--high", `${(100 * Math.abs(value)) / span}%`);
      column.style.setProperty("--later", `${(place * MOST) / 2 / keys.length}ms`);
      column.classList.toggle("asks", isSelf && at === i + exact.q0 - k0);
      column.classList.toggle("skips", all.slice(at + 1, keys[place + 1] ?? nk).some(isSeen));
      const text = ofScores ? number(row[at]) : shortNumber(row[at], 3);
      fill(place, text, parts?.weighted[place], nearest?.values[at]);
      const what = row[at] === -Infinity ? "masked" : ofScores ? "score" : "share";
      column
        .querySelector(".heights")
        ?.setAttribute("title", t(`${t(what)} ${number(row[at], 4)}: open how it is computed`));
      if (stack.whole)
        column.querySelector(".strip")?.replaceChildren(this.cells(k.subarray(at * d, (at + 1) * d)));
    });
    const shown = keys.reduce((sum, at) => sum + softmax[i * nk + at], 0);
    const left = ofScores || stack.normalizer !== "softmax" ? "" : shortNumber(Math.max(0, 1 - shown));
    if (rest) fill(keys.length, left, parts?.others);
    if (stack.whole) fill(this.columns.children.length - 1, t("sum"), parts?.z, nearest?.sums[i]);
  }

  /** @param {{text: string, mark?: string, typed?: string}} token @param {number} key
     @param {boolean} isSelf */
  column(token, key, isSelf) {
    const { stage } = this;
    const name = shorten(token.text, 22);
    const open = () => stage.set({ view: stage.stack.whole ? "numbers" : "head", key });
    const title = token.typed ? `typed: ${token.typed}` : isSelf ? "Ask from here" : token.text;
    const match = () => {
      const told = this.told();
      if (told) this.drawMatch(told, key - told.exact.k0);
    };
    const listens = { onpointerenter: match, onfocusin: match };
    return el("div", { class: `story-column ${token.mark ?? ""}`, "data-at": key, ...listens }, [
      button({ class: "heights", onclick: open }, [
        el("span", { class: "heard", text: `The numbers of “${name}”: ` }),
        ...bar(),
      ]),
      isSelf
        ? button({ class: "name", text: name, title, onclick: () => this.ask(key) })
        : el("span", { class: "name", text: name, title }),
      el("span", { class: "strip" }),
    ]);
  }

  /** Why a key fits the query: the products of their channels, which add up to the score.
     @param {Told} told
     @param {number} [at] the key, of those that were sent; by default that of the highest score */
  drawMatch({ exact, i }, at) {
    const { data, stack, view, theme } = this.stage;
    if (!stack.whole) return;
    const { nk, k0, d, k, scores, bias } = exact;
    const row = scores.subarray(i * nk, (i + 1) * nk);
    const j = at ?? row.indexOf(Math.max(...row));
    const scale = stack.scales[stack.layers.indexOf(view.layer)];
    const products = productsOf(exact, i, j, scale);
    this.times.textContent = t(
      `their product${scale === 1 ? "" : ` × ${number(scale)}`}, channel by channel`,
    );
    this.asked.textContent = t(`key of “${shorten(data.names(stack, "key")[k0 + j].text, 24)}”`);
    this.key.replaceChildren(this.cells(k.subarray(j * d, (j + 1) * d)));
    const [up, down] = [1, -1].map((sign) =>
      products.reduce((sum, each) => sum + (each * sign > 0 ? each : 0), 0),
    );
    const sum = `${number(up)} − ${number(-down)} = ${number(up + down)}`;
    const differs =
      row[j] === -Infinity ? "masked" : bias ? "with its position" : stack.cap ? "after the cap" : "";
    const other = `${sum}; ${t(differs)}, the score ${number(row[j])}`;
    this.score.textContent = t(differs ? other : `${sum}, the score`);
    if (!isNew(this.products, [view.beat === 2, Array.from(products)])) return;
    const most = largest(products) || 1;
    this.products.replaceChildren(
      ...Array.from(products, (product, channel) => {
        const [high, side] = [(50 * Math.abs(product)) / most, product < 0 ? "top" : "bottom"];
        const colour = cssColour(theme.diverging, product < 0 ? 40 : 215);
        return el("span", { title: `channel ${channel}: ${number(product, 4)}` }, [
          el("span", { style: `${side}:50%;height:${high}%;background:${colour}` }),
        ]);
      }),
    );
    if (view.beat === 2 && !isStill()) sweep(this.products, d, MOST);
  }

  /** Curves from the token that asks to all that it looks at, as thick as their share. @param {Told} told */
  drawCurves({ exact, i, keys, top }) {
    const { view, stack } = this.stage;
    const { nk, k0, softmax } = exact;
    const field = this.curves.getBoundingClientRect();
    const zoom = field.width / (this.curves.clientWidth || 1) || 1; // of a presented page
    const middles = keys.map((_, place) => {
      const box = this.columns.children[place].getBoundingClientRect();
      return (box.left + box.width / 2 - field.left) / zoom;
    });
    const isSelf = stack.querySide === stack.keySide;
    const [height, own] = [this.curves.clientHeight, keys.indexOf(view.query - k0)];
    const chip = this.rows.querySelector('[aria-pressed="true"]')?.getBoundingClientRect();
    const above = chip ? (chip.left + chip.width / 2 - field.left) / zoom : this.curves.clientWidth / 2;
    const from = isSelf && own >= 0 ? middles[own] : above;
    const path = (/** @type {number} */ to) => {
      if (!isSelf) return `M${from},0 C${from},${height / 2} ${to},${height / 2} ${to},${height}`;
      const [reach, aside] = [Math.min(height - 6, 40 + Math.abs(to - from) / 2), to === from ? 26 : 0];
      const [left, right, top] = [from - aside, to + aside, height - 1.3 * reach];
      return `M${left},${height} C${left},${top} ${right},${top} ${right},${height}`;
    };
    const faint = keys.map((at, place) => {
      const share = softmax[i * nk + at];
      return at !== top && share >= 0.01 && svg("path", { d: path(middles[place]), style: width(share) });
    });
    const to = middles[keys.indexOf(top)];
    const most = softmax[i * nk + top];
    const main = svg("path", { class: "main", style: width(most), d: path(to) });
    if (most < NOTHING) main.style.display = "none";
    this.curves.replaceChildren(.../** @type {Node[]} */ (faint.filter(Boolean)), main);
    const [before, now] = [this.end, `path("${path(to)}")`];
    this.end = now;
    if (before && before !== now && !isStill() && view.beat === 1)
      main.animate({ d: [before, now] }, { duration: MOST, easing: "cubic-bezier(.33, 1, .68, 1)" });
  }

  /* What the model answers; the likeliest outputs where the story ends, each leads to all of them. */
  drawAnswer() {
    const { data, theme, stack } = this.stage;
    const count = stack.layers.length * stack.heads;
    this.heads.textContent = count > 1 ? t(`${count} heads look, each its own way.`) : "";
    const { steps } = data.header;
    const step = this.answerStep();
    reveal(this.side, step !== null);
    if (step === null) return;
    this.answer.replaceChildren(...translationOf(data.header, this.stage.isOwn));
    this.taught.replaceChildren(...this.stage.glossary.nodes(data.header.taught.text));
    this.outputs.replaceChildren(
      ...steps[step].top
        .slice(0, OUTPUTS)
        .map(([name, share]) =>
          button({ title: "All outputs", onclick: () => this.stage.set({ view: "output", step }) }, [
            el("span", { class: "name", text: shorten(this.output(step, name), 14) }),
            el("span", { class: "share" }, [
              el("span", { style: `width:${100 * share}%;background:${theme.accent}` }),
            ]),
            el("span", { class: "number", text: shortNumber(share, 3) }),
          ]),
        ),
    );
    const { former } = this;
    this.before.textContent = former
      ? `With “${former.word}” it was “${shorten(former.name)}”, ${number(former.share, 3)}.`
      : "\u00a0"; // its room, so that the outputs keep their place
    this.pieces.textContent = t(data.whole ? JOINED : CUTS);
    reveal(this.pieces, data.whole ? data.joins(stack) : data.inPieces);
  }
}

/* What is as high as a number says, and what is written on it. */
const bar = () => [el("span", { class: "rise" }), el("span", { class: "bar-number" })];

/** The largest size of all numbers. @param {Float32Array | Float64Array} values */
const largest = (values) => {
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most;
};

/** @param {number} share */
const width = (share) =>
  `stroke-width:${(1 + 11 * share).toFixed(1)}px;opacity:${Math.min(1, 0.25 + share).toFixed(2)}`;
