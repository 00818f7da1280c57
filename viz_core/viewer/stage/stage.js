/* The stage: one component that holds the trace, the state of the view and the views of it. A change of
   view never asks the server, unless it needs numbers of a head that were too many to send. */

import { Choice } from "../browser/choice.js";
import { button, el, keepingFocus, reveal, say } from "../browser/dom.js";
import { Drawers } from "../browser/drawers.js";
import { Glossary } from "../browser/glossary.js";
import { noteSaid } from "../browser/marks.js";
import { readMessage } from "../browser/message.js";
import { find, page } from "../browser/page.js";
import { fetchPlotlyAhead } from "../browser/plotly.js";
import { nextOf, Present } from "../browser/present.js";
import { rendering } from "../browser/rendering.js";
import { announce, moreMenu, putUp, storyLine } from "../browser/shell.js";
import { keep } from "../browser/storage.js";
import { themeOf } from "../browser/theme.js";
import { t } from "../browser/words.js";
import { caption, translationOf } from "./caption.js";
import { Bars } from "./controls.js";
import { headAt, hidingOf, mostTelling, passesOf, placeIn } from "./data.js";
import { withoutLook } from "./edits.js";
import { EffectView } from "./effect.js";
import { GridView } from "./grid.js";
import { HeadView } from "./head.js";
import { LinesView } from "./lines.js";
import { NumbersView } from "./numbers.js";
import { OutputView } from "./output.js";
import { Overview } from "./overview.js";
import { Pictures, PictureView } from "./pictures.js";
import { MapView } from "./planes.js";
import { fitting, requestOf } from "./quantities.js";
import { rowsOf } from "./rows.js";
import { Notes, Sentence } from "./sentence.js";
import { Settings } from "./settings.js";
import { BEATS, StoryView } from "./story.js";
import { SumsView } from "./sums.js";
import { SweepView } from "./sweep.js";
import { heaviestKey, LEVEL, levelOf, linkOf, rowOf, settle, stepOf, usualView } from "./view.js";

/** @import { View } from "./types" */
/** @import { Send } from "../browser/rendering.js" */

/** Keeps the style property --top of an element at its distance from the top of the page, while things come
   and go above it. Returns what ends that.
   @param {HTMLElement} root */
export function keepTop(root) {
  const [scrolled, above] = [find(page.scrolled), find(page.above)];
  if (!scrolled || !above) return () => {};
  let known = -1;
  const place = () => {
    const top = Math.round(root.getBoundingClientRect().top + scrolled.scrollTop);
    if (top === known || !root.clientWidth || root.closest(".presented")) return;
    known = top;
    root.style.setProperty("--top", `${top}px`);
  };
  const observer = new ResizeObserver(place);
  observer.observe(above);
  for (const part of above.querySelectorAll(page.beside)) observer.observe(part);
  return () => observer.disconnect();
}

export class WhatIf {
  /** @type {string | null} */ line = null;
  waits = false; // for the effect of what was asked
  /** @type {View["view"]} what was seen before the effect */ before = "output";

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = button({ class: "link", onclick: () => this.ask() });
  }

  ask() {
    if (!this.line) return;
    this.waits = true;
    this.stage.act({ type: "edits", text: this.line });
  }

  /* Opens the effect as soon as it is here; once nothing is edited, what was seen before it. */
  open() {
    const { view, data } = this.stage;
    const { change } = data.header;
    if (this.waits && change && view.view !== "effect") {
      this.before = view.view;
      Object.assign(view, { view: "effect", step: change.at });
    } else if (view.view === "effect" && !change) view.view = this.before;
    this.waits = false;
  }

  draw() {
    const { data, view } = this.stage;
    const { editable, writes, edits, focus } = data.header;
    this.line = editable && writes && !edits.length ? withoutLook(view, data, focus) : null;
    reveal(this.root, this.line);
    const count = this.line?.split(",").length ?? 1;
    this.root.textContent = t(count === 1 ? "and without this head?" : `and without these ${count} heads?`);
    this.root.title = t("Switches off this layer's heads that give it at least half their weight");
  }
}

/** @param {View} view @param {{stack: string, layer: number, head: number}} place */
const isAt = (view, { stack, layer, head }) =>
  view.stack === stack && view.layer === layer && view.head === head;

export class Stage {
  // all of these come with the first message
  /** @type {import("./data.js").Passes} */ passes;
  /** @type {View} */ view;
  /** @type {import("./types").Theme} */ theme;
  /** @type {Send} */ act;
  /** @type {import("../browser/rendering.js").Tell} */ tell;
  /** @type {string} */ viewToken;
  /** @type {Map<string, string>} what was asked for last, by kind */ requests = new Map();
  /** @type {string} */ focusToken;
  /** @type {import("./types").Declaration | undefined} what its controls are drawn from */ declared;
  glossary = new Glossary({});

  /** @param {HTMLElement} host */
  constructor(host) {
    this.views = {
      story: new StoryView(this),
      grid: new GridView(this),
      map: new MapView(this),
      head: new HeadView(this),
      lines: new LinesView(this),
      numbers: new NumbersView(this),
      picture: new PictureView(this),
      sums: new SumsView(this),
      output: new OutputView(this),
      sweep: new SweepView(this),
      effect: new EffectView(this),
    };
    const takeAway = () => {
      const { sums, sweep } = this.views;
      const request =
        this.view.view === "sweep" ? sweep.request : this.view.view === "sums" ? sums.request : {};
      this.act({ type: "takeaway", ...this.view, ...request, among: sums.among(), address: location.href });
    };
    this.swap = button({ class: "swap", onclick: () => this.swapText() });
    const read = () => rowsOf(this);
    this.panel = el("div", { class: "panel" });
    this.translation = el("p", { class: "translation" });
    const [title, pictured] = ["Figures, numbers and code to keep", [this.translation, this.panel]];
    this.story = storyLine(title, takeAway, () => {}, read, pictured, [this.swap]);
    const compare = () => {
      const { taught, defaults: usual } = this.data.header;
      this.act({ type: "contrast", ...this.view, usual, model: taught.model });
    };
    this.edited = el("p", { class: "heard", role: "status" });
    this.taughtText = el("span");
    this.contrast = button({ class: "link", onclick: compare });
    this.whatIf = new WhatIf(this);
    this.taught = el("p", { class: "taught" }, [this.taughtText, this.whatIf.root, this.contrast]);
    this.pictures = new Pictures(this);
    this.level = new Choice("level", (level) => this.setLevel(level));
    this.drawers = new Drawers(["glossary", "side", "text"]);
    this.beside = button({
      text: "side by side",
      title: "This head beside another's, or under one changed knob",
      onclick: () => this.standBeside(),
    });
    this.sentence = new Sentence(this);
    this.drawers.own = this.sentence.field;
    this.settings = new Settings(this);
    this.notes = new Notes(this);
    this.bars = new Bars(this);
    this.overview = new Overview(this);
    this.side = el("div", { class: "side-panel", role: "group", "aria-label": t("Settings") }, [
      this.overview.root,
      this.bars.below,
      this.sentence.writing.root,
      this.settings.root,
      this.sentence.words,
      this.taught,
    ]);
    this.opener = button({
      text: t("settings"),
      title: "The panel of settings, beside the picture",
      onclick: () => this.toggleSide(),
    });
    this.present = new Present(this);
    this.story.root.prepend(this.present.cover);
    const [swap, ...rare] = this.story.actions.children;
    const { signal } = this.listening;
    const reset = button({
      text: "reset everything",
      title: "Back to the first sentence and its head",
      onclick: () => this.act({ type: "ask", reset: true }),
    });
    this.more = moreMenu([this.bars.rare.root, ...rare, this.beside, ...this.drawers.buttons, reset], signal);
    this.story.actions.replaceChildren(swap);
    this.top = el("div", { class: "top" }, [
      this.sentence.root,
      this.bars.view.root,
      el("div", { class: "top-end" }, [this.more, this.present.button, this.opener, this.level.root]),
    ]);
    this.main = el("div", { class: "main" }, [this.panel, this.side, this.notes.root]);
    this.root = el("div", { class: "shell stage" }, [
      this.top,
      this.story.root,
      this.edited,
      this.translation,
      this.sentence.masks,
      this.settings.dials,
      this.views.story.bar,
      this.pictures.root,
      this.main,
    ]);
    this.outer = el("div", {}, [this.root, this.present.where, ...this.present.layers]);
    const takeDown = putUp(host, this.outer, () => this.redraw(), { watched: this.panel });
    const leaveTop = keepTop(this.root);
    this.takeDown = () => {
      leaveTop();
      takeDown();
    };
    const keys = page.keys(this.outer);
    keys.addEventListener("keydown", (/** @type {any} */ event) => this.present.hear(event), {
      signal,
      capture: true,
    });
    keys.addEventListener("keydown", (/** @type {any} */ event) => this.hear(event), { signal });
    this.story.reader.listen(keys, signal);
    window.addEventListener("resize", () => this.present.on && this.redraw(), { signal });
    if (page.computes) fetchPlotlyAhead(); // pages of files fetch what is asked for
  }

  listening = new AbortController();
  isWide = false; // the panel of settings is closed
  awaits = false; // an answer to what was asked last
  isOnTop = false; // the last layer was open when a dial was turned
  generation = 0; // of the messages
  spoiler = null; // no question is asked here

  /** @type {ReturnType<typeof mostTelling>} where a text of one's own was opened */ telling = null;

  leave() {
    this.listening.abort();
    this.views.story.stop();
    delete document.documentElement.dataset.level;
    this.drawers.leave();
    this.present.leave();
    this.takeDown();
  }

  /** What is said of the answer that is awaited.
     @param {{problem?: string, progress?: string, isStopped?: boolean}} words */
  inform(words) {
    this.notes.say(words);
    this.root.classList.toggle("refused", Boolean(words.problem));
    if (words.problem) this.whatIf.waits = false;
  }

  /** @param {boolean} awaits */
  wait(awaits) {
    this.awaits = awaits;
  }

  /** Opens the head beside another one. @param {string} model2 the model to compare with, where it is one */
  standBeside(model2 = "") {
    const { stack, view } = this;
    this.act({ type: "beside", stack: stack.id, layer: view.layer, head: view.head, model2 });
  }

  toggleSide() {
    this.isWide = !this.isWide;
    this.draw();
  }

  redraw() {
    if (this.passes) this.draw();
  }

  /* Whether the story is what is gone through. */
  get tells() {
    return this.view.level === "read" || this.view.view === "story";
  }

  /* What is gone through but for the story: steps of the decoder or heads, and which of how many it is. */
  get sequence() {
    const { view, stack, data } = this;
    if (this.stepMatters() || view.view === "output")
      return { of: "step", at: view.step, count: data.header.steps.length };
    const at = placeIn(stack, view.layer, view.head);
    return { of: "head", at, count: stack.layers.length * stack.heads };
  }

  get where() {
    if (this.tells) return t("Explore");
    const { of, at, count } = this.sequence;
    const place = of === "step" ? `step ${at + 1} of ${count}` : `head ${at + 1} of ${count}`;
    return `${t("Explore")} · ${this.stack.title} · ${t(place)}`;
  }

  /** To the next beat of the story, in the lab's views to the next step of the decoder, or to the next head;
     from the last one to the next page; or back.
     @param {1 | -1} by */
  advance(by) {
    const { of, at, count } = this.sequence;
    if (this.tells ? this.views.story.advance(by) : at + by >= 0 && at + by < count) {
      if (!this.tells) this.walkTo(of, at + by);
    } else this.act({ type: "go", by });
  }

  /** @param {string} of a step or a head, as `sequence` says @param {number} at */
  walkTo(of, at) {
    const next = headAt(this.stack, at);
    this.set(of === "step" ? { step: at } : { ...next, heads: [next.head] });
  }

  /** On to the next place at which a talk halts, a beat of the story, a step or a head, or back; false where
     there is none. @param {1 | -1} by */
  advanceAmong(by, now = this.tells ? this.view.beat : this.sequence.at) {
    const next = nextOf(page.halts ?? [], now, by);
    if (next === undefined) return false;
    if (this.tells) this.views.story.show(next);
    else this.walkTo(this.sequence.of, next);
    return true;
  }

  /* A stop of a talk begins where it halts first. */
  rewind() {
    this.advanceAmong(1, -Infinity);
  }

  /* Plays the story. */
  toggle() {
    if (this.tells) this.views.story.toggle();
  }

  /** Arrow keys walk the story. @param {KeyboardEvent} event */
  hear(event) {
    if (this.passes && this.tells && !this.present.on) this.views.story.hear(event);
  }

  /* Reads the text with a word swapped, of which the story keeps the answer so far. */
  swapText() {
    this.views.story.remember();
    this.act({ type: "text", text: this.data.header.swap.text });
  }

  /** @param {View["level"]} level */
  setLevel(level) {
    keep(LEVEL, level);
    const usual = usualView(this.data.header, this.view.stack, level);
    this.set({ level, ...(level === "read" || this.view.view === "story" ? { view: usual.view } : {}) });
  }

  /** Asks the server for something beside what is shown, once.
     @param {{type: string} & Record<string, any>} act
     @param {Record<string, string>} of the inputs that it is of */
  askOnce(act, of = this.data.header.link) {
    const need = JSON.stringify([of, act]);
    if (this.requests.get(act.type) === need) return;
    this.requests.set(act.type, need);
    this.act(act);
  }

  /* Large traces come with the numbers of the open head alone: ask for others, and for another window; and
     for thumbnails without special tokens, or with them. When all are here, what is to be computed of it. */
  askForHead() {
    const { stack, view, data } = this;
    const { layer, head, q0, k0 } = view;
    if (view.view === "picture" && this.row(view.query)) return; // whole rows are here
    const exact = this.exactHead();
    const partly = exact && (exact.nq < stack.nQuery || exact.nk < stack.nKey);
    const outside = partly && (exact.q0 !== q0 || exact.k0 !== k0);
    if (!exact || outside || !data.fits)
      return this.askOnce({ type: "open", stack: stack.id, layer, head, q0, k0, special: data.how });
    const request = requestOf(view);
    if (request && page.computes && !fitting(data.header.further, request)) this.askOnce(request);
  }

  /** Makes an edit, as edit_lines.py says.
     @param {string} line @param {"toggle" | "put" | "undo" | "join" | "join renormalised" | "switch"} how
     @param {number} count of all heads of the attention */
  edit(line, how = "toggle", count = this.stack.heads) {
    this.whatIf.waits = ["toggle", "switch"].includes(how); // who paints a row looks at it
    this.act({ type: "edit", line, how, count });
  }

  /* The pass that is seen: with the edits, without them, or how they differ. */
  get data() {
    return this.passes[this.view?.when] ?? this.passes.after;
  }

  get stack() {
    return this.data.stack(this.view.stack);
  }

  headName() {
    return `layer ${this.view.layer} head ${this.view.head}`;
  }

  exactHead() {
    return this.data.exact(this.stack.id, this.view.layer, this.view.head);
  }

  /* The step slider matters where queries are decoder positions, and in the output view. */
  stepMatters() {
    return this.stack.querySide === "decoder" && this.data.header.stepSide === "decoder";
  }

  /* The last row that has happened: all of them at the last step that was sent, of a long text too. */
  lastRow() {
    const { view, data } = this;
    return this.stepMatters() && view.step < data.header.steps.length - 1 ? view.step : Infinity;
  }

  /** @param {Uint8Array} bytes @param {Send} send @param {import("../browser/rendering.js").Tell} tell */
  receive(bytes, send, tell) {
    const atEnd = this.passes && this.view.step === this.data.header.steps.length - 1;
    this.act = send;
    this.tell = tell;
    noteSaid();
    const isFirst = !this.passes;
    this.passes = passesOf(readMessage(bytes));
    this.theme = themeOf(this.root);
    const { header } = this.data;
    this.generation++;
    if (header.controls) this.declared = header.controls;
    this.glossary = new Glossary(header.terms);
    if (this.viewToken !== header.viewToken) {
      this.requests.delete("open");
      const level = header.linked.level ?? this.view?.level ?? levelOf(header);
      const usual = usualView(header, header.linked.stack, level);
      const end = isFirst && header.fromBehind && level === "read" ? { beat: BEATS } : {};
      this.view = /** @type {View} */ ({ ...usual, ...end, ...header.linked, level });
      this.settle();
      const isOpen = [header.linked, usual].some(({ step, query }) => (step ?? query ?? null) !== null);
      const opens = header.linked.key ?? usual.key;
      const tells = this.openTelling();
      if (!tells && level === "read" && !isOpen) this.openClearest();
      if (!tells && typeof opens !== "number") this.lookAtHeaviest();
    } else {
      // the last step of another text is its own
      if (atEnd && header.focus.step === undefined) Object.assign(this.view, { step: null });
      if (this.focusToken !== header.focusToken) this.focusAnew();
      // who looks at the last layer goes on to do so where another model has more or fewer
      if (this.isOnTop) this.view.layer = this.stack.layers.at(-1) ?? 0;
    }
    this.isOnTop = false;
    this.viewToken = header.viewToken;
    this.focusToken = header.focusToken;
    this.whatIf.open();
    this.settle();
    if (isFirst) this.present.begin();
    const exact = this.exactHead();
    if (exact) Object.assign(this.view, { q0: exact.q0, k0: exact.k0 });
    this.draw();
    this.askForHead(); // a longer text comes with the numbers of fewer heads, perhaps not of the open one
  }

  settle() {
    settle(this.view, this.data);
    this.data.hide(hidingOf(this.view));
    this.data.plain = this.tells;
    const { view, words, beat } = this.view;
    // the story's other beats show queries, keys and values, of a piece each
    this.data.join(words === "whole" && (view === "lines" || (view === "story" && beat === 1)));
  }

  /* Another text is looked at where it says, in the stack that it speaks of. */
  focusAnew() {
    const { focus, defaults } = this.data.header;
    const end = "query" in focus && { step: null }; // by which the row that it opens has happened
    const follows = this.stack.querySide === "decoder" ? { query: null, ...end } : {};
    Object.assign(this.view, this.views.story.turn());
    const { stack, layer, head, heads } = usualView(this.data.header, undefined, this.view.level);
    // nobody has gone elsewhere since a text of one's own was opened
    const stays = this.telling && isAt(this.view, this.telling);
    if (stays) Object.assign(this.view, { stack, layer, head, heads });
    if (this.view.stack === defaults.stack) Object.assign(this.view, follows, focus);
    this.settle();
    const reads = this.view.level === "read";
    if ((reads || stays) && this.openTelling()) return;
    if (reads && (focus.step ?? focus.query) === undefined) this.openClearest();
    if (this.view.stack !== defaults.stack || focus.key === undefined) this.lookAtHeaviest();
  }

  /* Whether the text is a person's own: none of the model's examples, nor one with a word swapped. */
  get isOwn() {
    const { asked } = this.data.header;
    const isExample = this.declared?.examples.some(({ text }) => text === asked?.text);
    return Boolean(asked && this.declared && !isExample && !this.views.story.former);
  }

  /* Opens a person's own text where the encoder's words look most at each other; false where it says itself
     what to look at, or a link does. */
  openTelling() {
    const { linked, focus } = this.data.header;
    const isTold = ["stack", "layer", "head", "query", "key", "step"].some((name) => name in linked);
    const place = !isTold && this.isOwn && !("step" in focus || "query" in focus) && mostTelling(this.data);
    this.telling = place || null;
    if (!place) return false;
    Object.assign(this.view, { ...place, heads: [place.head], pinned: "query" });
    this.settle();
    return true;
  }

  openClearest() {
    Object.assign(this.view, this.views.story.clearest());
    this.settle();
  }

  /** @param {Partial<View>} change */
  set(change) {
    const { view } = this;
    const moved = change.step !== undefined && this.stack.querySide === "decoder";
    const before = view.query;
    Object.assign(view, change);
    if (moved) Object.assign(view, { query: change.step, pinned: "query" });
    // a decoder's stack opens on the row of the current step
    if (change.stack !== undefined && this.stepMatters())
      Object.assign(view, { query: view.step, pinned: "none" });
    this.settle();
    if (change.key === undefined && view.query !== before) this.lookAtHeaviest();
    this.draw();
    this.askForHead();
  }

  /** What a host chooses; others are passed over. @param {import("../contract").State} state */
  select(state) {
    const known = Object.entries(state).filter(([name]) => name in this.view);
    this.set(Object.fromEntries(known));
  }

  /** @param {{layer: number, head: number, stack?: string}} place */
  openHead(place) {
    this.set({ view: "head", heads: [place.head], ...place });
  }

  lookAtHeaviest() {
    const row = this.row(this.view.query);
    if (row) this.view.key = heaviestKey(row);
  }

  /** The weights of a query in the heads that are shown, or null where not sent. @param {number} query */
  row(query) {
    return rowOf(this.view, this.data, this.data.startsOfQueries(this.stack)[query] ?? query);
  }

  draw() {
    keepingFocus(this.root, this.panel, () => this.drawAll());
  }

  drawAll() {
    this.present.takeRoom();
    this.drawers.allow({ side: this.present.on, all: true });
    if (!this.panel.clientWidth) return;
    this.theme = themeOf(this.root, this.present.projected);
    this.bars.draw();
    this.sentence.draw();
    this.settings.draw();
    this.notes.draw();
    this.overview.draw();
    const { level } = this.view;
    document.documentElement.dataset.level = level;
    this.root.classList.toggle("reading", level === "read");
    const isOpen = this.drawers.opened === "side" || (level === "lab" && !this.isWide && !this.present.on);
    this.root.classList.toggle("without-side", !isOpen);
    this.root.classList.toggle("writing-text", this.drawers.opened === "text");
    this.opener.setAttribute("aria-expanded", String(isOpen));
    reveal(this.opener, level === "lab");
    reveal(this.bars.view.root, level === "lab");
    const levels = CHOICES.level.options.map((option) => ({ ...option, text: t(option.text) }));
    this.level.update(levels, [level]);
    reveal(this.views.story.bar, this.tells);
    this.views.story.drawBar();
    const active = this.views[this.view.view];
    if (this.panel.firstChild !== active.root) this.panel.replaceChildren(active.root);
    active.draw();
    this.drawStory();
    this.glossary.explainIn(this.root);
    const { header } = this.data;
    const open = usualView(header, this.view.stack, level);
    const usual = settle({ ...open }, this.data);
    // the row that opens follows the step, so a link names it
    const follows = this.stack.querySide === "decoder" && open.query === null;
    const named = stepOf(this.view, this.data) < Infinity && { step: null }; // elsewhere it opens at the end
    const expected = { ...usual, ...(follows && { query: null }), ...named };
    const link = linkOf(header.link, expected, this.view);
    if (this.present.on) link.set("present", "1");
    if (page.params().has("walk")) link.set("level", level); // whatever this browser remembers
    page.write?.(link);
    this.tell({ ...this.view });
    this.painted("draw");
  }

  drawStory() {
    const { swap, taught } = this.data.header;
    this.swap.textContent = t(swap.label);
    reveal(this.swap, swap.label);
    this.drawNotice();
    reveal(this.taught, taught.text || taught.label);
    reveal(this.contrast, taught.label);
    this.taughtText.replaceChildren(...this.glossary.nodes(t(taught.text)));
    this.contrast.textContent = t(taught.label);
    const { heads } = this.views.story;
    (this.tells ? heads : this.taughtText).after(this.whatIf.root); // in sight in both
    this.whatIf.draw();
    this.translation.replaceChildren(...translationOf(this.data.header, this.isOwn));
    reveal(this.beside, this.data.header.beside);
    this.pictures.draw();
  }

  /* What to notice; it follows the pointer, so that it always speaks of the token that is marked. */
  drawNotice() {
    const random = el("span", { class: "random", text: "random weights, no habits" });
    say(this.story.notice, [...caption(this), ...(this.data.header.random ? [" ", random] : [])]);
    const isSaid = ["grid", "effect"].includes(this.view.view);
    say(this.edited, [t((!isSaid && this.data.header.change?.answer) || "")]);
  }

  /** @param {string} what */
  painted(what) {
    announce(this.root, { what, view: this.view.view, generation: this.generation });
  }
}

export const render = rendering(Stage);
