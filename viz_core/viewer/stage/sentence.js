/* The row above the picture: the text that is read, its examples, and what is to be said of it. */

import { button, el, fill, isNew, reveal } from "../browser/dom.js";
import { page } from "../browser/page.js";
import { t } from "../browser/words.js";
import { field } from "./settings.js";

/** @import { Stage } from "./types" */

const MASK = "[MASK]";
const MOST_WORDS = 60;
const MOST_OFFERED = 6;
const TYPED = "attention-lab:typed";

export class Sentence {
  /** @type {Map<number, string>} the words behind the masks, by place */ hidden = new Map();
  hiddenOf = ""; // the text that they are of
  wordsOf = ""; // the model whose words are listed
  sent = ""; // the text that was asked last
  over = ""; // the text that was shown when one typed: a new server's first message may have an older one
  isNew = true; // nothing was drawn yet

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    window.addEventListener("pagehide", () => this.keep(), { signal: stage.listening.signal });
    stage.listening.signal.addEventListener("abort", () => this.keep()); // it may leave, and its page stay
    const onkeydown = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      if (this.field.rows > 1 && !event.ctrlKey && !event.metaKey) return; // another line of the text
      event.preventDefault();
      this.read(this.field.value);
    };
    this.field = el("textarea", {
      class: "text",
      rows: 1,
      spellcheck: "false",
      onkeydown,
      oninput: () => (this.over = stage.passes.after.header.asked?.text ?? ""),
      onchange: () => this.read(this.field.value),
    });
    this.label = el("label", { class: "sentence" }, [el("span", { class: "heard" }), this.field]);
    const onchange = () => {
      const text = this.examples.value;
      if (text) stage.act({ type: "text", text });
    };
    this.examples = el("select", { class: "examples", "aria-label": "Examples of a text", onchange });
    this.picture = button({ text: "a picture of your own…", onclick: () => stage.act({ type: "picture" }) });
    this.root = el("div", { class: "sentence-row" }, [this.label, this.examples, this.picture]);
    this.masks = el("div", { class: "masks", role: "group", "aria-label": "Press a word to mask it" });
    const ask = () =>
      this.words.open && stage.askOnce({ type: "words" }, { model: stage.declared?.model ?? "" });
    this.words = el("details", { class: "words", ontoggle: ask }, [
      el("summary", { text: t("Words"), title: "All that the model knows whole" }),
    ]);
    this.writing = new Writing(stage);
  }

  /** @param {string} text */
  read(text) {
    this.sent = text;
    if (text !== this.stage.passes.after.header.asked?.text) this.stage.act({ type: "ask", text });
  }

  /* What was typed and has no answer outlives a page that loads itself again, as when its server dies. */
  keep() {
    if (this.isNew) return;
    const { value: typed } = this.field;
    const { text } = this.stage.passes?.after.header.asked ?? {};
    try {
      if (typed === text) delete sessionStorage[TYPED];
      else sessionStorage[TYPED] = JSON.stringify({ over: this.over, typed, isSent: this.sent === typed });
    } catch {} // a browser that keeps nothing
  }

  /** @param {string} text that is shown */
  takeUp(text) {
    try {
      const { over, typed, isSent } = JSON.parse(sessionStorage[TYPED] ?? "{}");
      delete sessionStorage[TYPED];
      if (over !== text) return;
      this.over = over;
      this.field.focus();
      this.field.value = typed;
      if (isSent) this.read(typed);
    } catch {}
  }

  draw() {
    const { declared, passes } = this.stage;
    const { asked, abilities = [] } = passes.after.header;
    reveal(this.root, declared && asked && declared.reads !== "nothing");
    if (!declared || !asked) return;
    const name = t(declared.label);
    /** @type {HTMLElement} */ (this.label.firstChild).textContent = name;
    Object.assign(this.field, { title: name, rows: declared.reads === "prose" ? 2 : 1 });
    fill(this.field, asked.text);
    if (this.isNew) this.takeUp(asked.text);
    this.isNew = false;
    const texts = declared.examples;
    if (isNew(this.examples, texts))
      this.examples.replaceChildren(
        el("option", { value: "", text: t("Examples") }),
        ...texts.map(({ text, label }) => el("option", { value: text, text: t(label), title: text })),
      );
    this.examples.value = texts.some(({ text }) => text === asked.text) ? asked.text : "";
    reveal(this.examples, texts.length);
    reveal(this.picture, declared.reads === "any picture");
    this.drawMasks(asked.text, abilities.includes("fill"));
    reveal(this.words, declared.knowsWords);
    if (this.wordsOf !== declared.model) this.forgetWords(declared.model);
    this.drawWords(passes.after.header.words?.byLanguage);
    this.writing.draw(abilities.includes("continue"));
  }

  /** Of another model others are known. @param {string} model */
  forgetWords(model) {
    this.wordsOf = model;
    this.words.open = false;
    this.words.replaceChildren(this.words.children[0]);
  }

  /** All that a model of words knows; one is put at the end of the text.
     @param {Record<string, string[]> | undefined} words by language, once they were asked for */
  drawWords(words) {
    if (!words || !isNew(this.words, words)) return;
    const put = "Put a word at the end of the text";
    const onchange = () => {
      this.read(`${this.stage.passes.after.header.asked?.text} ${list.value}`.trim());
      list.value = "";
    };
    const all = [...new Set(Object.values(words).flat())].sort();
    const list = el("select", { "aria-label": put, onchange }, [
      el("option", { value: "", text: put }),
      ...all.map((word) => el("option", { value: word, text: word, translate: "no" })),
    ]);
    const [summary] = this.words.children;
    this.words.replaceChildren(
      summary,
      list,
      ...Object.entries(words).flatMap(([language, known]) => [
        el("p", { class: "muted", text: t(`${t(language)}: ${known.length} words`) }),
        el("p", { text: known.join(", "), translate: "no" }),
      ]),
    );
  }

  /** The words of the text: a press masks one, another shows it again.
     @param {string} text @param {boolean} fills */
  drawMasks(text, fills) {
    reveal(this.masks, fills);
    if (!fills || !isNew(this.masks, text)) return;
    const words = text.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);
    const hidden = text === this.hiddenOf ? this.hidden : new Map();
    const toggle = (/** @type {number} */ at) => {
      const isMasked = words[at] === MASK;
      if (!isMasked) hidden.set(at, words[at]);
      else if (!hidden.has(at)) return;
      const next = words.with(at, isMasked ? (hidden.get(at) ?? MASK) : MASK).join(" ");
      Object.assign(this, { hidden, hiddenOf: next });
      this.stage.act({ type: "ask", text: next });
    };
    const word = (/** @type {string} */ each, /** @type {number} */ at) =>
      button({
        text: hidden.get(at) ?? each,
        translate: "no",
        "aria-pressed": String(each === MASK),
        onclick: () => toggle(at),
      });
    this.masks.replaceChildren(
      el("span", { class: "muted", text: "Press a word to mask it:" }),
      ...words.map(word),
    );
  }
}

/* Lets the model go on with its text. */
class Writing {
  seed = -1;

  /** @param {Stage} stage */
  constructor(stage) {
    this.temperature = el("input", {
      type: "range",
      min: 0,
      max: 2,
      step: 0.1,
      value: 0.8,
      "aria-label": "Temperature",
    });
    this.n = el("input", { type: "number", min: 1, value: 40, "aria-label": "Tokens to write" });
    const onclick = () => {
      const write = { temperature: +this.temperature.value, n_new: +this.n.value, seed: ++this.seed };
      stage.act({ type: "ask", write });
    };
    const title = "Divides the logits; 0: always the most probable next token";
    this.stage = stage;
    this.root = el("section", { class: "writing" }, [
      field("of-range", "Temperature", [this.temperature], title),
      field("of-list", "Tokens to write", [this.n]),
      button({ text: t("Continue"), title: "The model goes on with the text", onclick }),
    ]);
  }

  /** @param {boolean} writes */
  draw(writes) {
    reveal(this.root, writes);
    this.n.max = String(this.stage.declared?.mostNew ?? 1);
  }
}

/* What is to be said of the text, each remedy one press away; and what was refused, or is computed. It lies
   over the foot of the picture, so that nothing moves when it comes and goes. */
export class Notes {
  closed = ""; // what was put away

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.problem = el("p", { class: "refused", role: "alert" });
    this.progress = el("p", { class: "computing", role: "status" });
    this.said = el("div", { class: "said" });
    const close = button({
      class: "close",
      text: "×",
      "aria-label": t("Close"),
      onclick: () => this.close(),
    });
    this.root = el("div", { class: "notes" }, [this.problem, this.progress, this.said, close]);
  }

  close() {
    this.closed = this.said.textContent ?? "";
    this.stage.inform({});
  }

  /** @param {{problem?: string, progress?: string, isStopped?: boolean}} words */
  say({ problem = "", progress = "", isStopped = false }) {
    const { act } = this.stage;
    const again = button({
      class: "link",
      text: "compute it after all",
      onclick: () => act({ type: "again" }),
    });
    this.problem.replaceChildren(t(problem), ...(isStopped ? [" ", again] : []));
    const stop = button({ class: "link", text: t("Stop"), onclick: () => act({ type: "stop" }) });
    this.progress.replaceChildren(t(progress), ...(progress && page.computes ? [" ", stop] : []));
    this.show();
  }

  show() {
    const said = this.said.textContent !== "" && this.said.textContent !== this.closed;
    reveal(this.said, said);
    for (const part of [this.problem, this.progress]) reveal(part, part.textContent);
    reveal(this.root, said || this.problem.textContent || this.progress.textContent);
  }

  draw() {
    const { notes = {}, problems = [] } = this.stage.passes.after.header;
    if (isNew(this.said, [notes, problems])) {
      this.closed = "";
      this.said.replaceChildren(...problems.map((text) => el("p", { text: t(text) })), ...this.advise(notes));
    }
    this.show();
  }

  /** @param {import("./types").Noted} notes @returns {HTMLElement[]} */
  advise({ widened, advice, unknown = [] }) {
    const { act } = this.stage;
    const lines = [];
    if (widened) {
      const more = widened.lacking.length - MOST_OFFERED;
      const listed = widened.lacking
        .slice(0, MOST_OFFERED)
        .map((word) => `“${word}”`)
        .join(", ");
      const rest = more > 0 ? ` and ${more} more words` : "";
      const back = () =>
        act({
          type: "ask",
          model: widened.model,
          text: this.stage.passes.after.header.asked?.text,
          stays: true,
        });
      const onclick = () => this.stage.standBeside(widened.model);
      const both = button({ class: "link", text: "see both", onclick });
      lines.push(
        el("p", {}, [
          t(`“${widened.title}” has no word for ${listed}${rest}; this model reads the sentence.`),
          " ",
          button({ class: "link", text: t(`back to “${widened.title}”`), onclick: back }),
          ...(this.stage.passes.after.header.beside ? [" ", both] : []),
        ]),
      );
    }
    if (advice)
      lines.push(
        el("p", {}, [
          t(advice.text),
          " ",
          button({
            class: "link",
            text: t(advice.better),
            onclick: () => act({ type: "ask", turned: { [advice.setting]: advice.value }, fresh: true }),
          }),
        ]),
      );
    if (unknown.length) lines.push(this.unknownWords(unknown));
    return lines;
  }

  /** @param {import("./types").UnknownWord[]} unknown */
  unknownWords(unknown) {
    const { act } = this.stage;
    const replace = (
      /** @type {import("./types").UnknownWord} */ { where, start, end },
      /** @type {string} */ word,
    ) => {
      const { text = "", settings = {} } = this.stage.passes.after.header.asked ?? {};
      const before = where === "text" ? text : String(settings[where]);
      const after = before.slice(0, start) + word + before.slice(end);
      act(where === "text" ? { type: "ask", text: after } : { type: "ask", turned: { [where]: after } });
    };
    const offered = unknown.slice(0, MOST_OFFERED).flatMap((each) => [
      el("span", {
        text: `“${each.word}” ${each.suggestions.length ? "→" : t("(nothing near it is known)")}`,
        translate: "no",
      }),
      ...each.suggestions.map((word) =>
        button({ class: "link", text: word, translate: "no", onclick: () => replace(each, word) }),
      ),
    ]);
    const more = unknown.slice(MOST_OFFERED).map(({ word }) => `“${word}”`);
    const rest = more.length ? [t(`and ${more.length} more: ${more.join(", ").slice(0, 120)}`)] : [];
    return el("p", { class: "unknown" }, [
      t("Not in the model's vocabulary, read as <unk>:"),
      ...offered,
      ...rest,
    ]);
  }
}
