// @ts-nocheck
/* The stage: one component that holds the trace, the state of the view and the five views of it. A change
   of view never
   asks the server, unless it needs numbers of a head that were too many to send. */

import { Choice } from "../../shared/browser/choice.js";
import { el, shorten } from "../../shared/browser/dom.js";
import { fetchPlotlyAhead } from "../../shared/browser/plotly.js";
import { announce, copyButton, mounting } from "../../shared/browser/shell.js";
import { onThemeChange, themeOf } from "../../shared/browser/theme.js";
import { caption, translationOf } from "./caption.js";
import { TraceData } from "./data.js";
import { GridView, SORTS } from "./grid.js";
import { HeadView } from "./head.js";
import { LinesView } from "./lines.js";
import { writeLink } from "./link.js";
import { NumbersView } from "./numbers.js";
import { OutputView } from "./output.js";
import { Pictures } from "./pictures.js";

const VIEWS = [
  { value: "grid", text: "Grid" },
  { value: "head", text: "Head" },
  { value: "lines", text: "Lines" },
  { value: "numbers", text: "Numbers" },
  { value: "output", text: "Output" },
];
const SHOWS = [
  { value: "pattern", text: "weights", title: "After the softmax" },
  { value: "scores", text: "scores", title: "Scaled and masked, before the softmax" },
  { value: "dots", text: "dot products", title: "q · k before anything" },
];
const RANGES = [
  { value: "full", text: "0..1" },
  { value: "row", text: "per row" },
  { value: "log", text: "log" },
];

const LONG_SENTENCE = 90; // of what a task is there to show: it may take two lines

class Stage {
  constructor(host) {
    this.host = host;
    this.data = null;
    this.view = null;
    this.viewToken = this.focusToken = null;
    this.views = {
      grid: new GridView(this),
      head: new HeadView(this),
      lines: new LinesView(this),
      numbers: new NumbersView(this),
      output: new OutputView(this),
    };
    this.build();
    this.resizer = new ResizeObserver(() => this.data && this.draw());
    this.resizer.observe(this.panel);
    this.stopListening = onThemeChange(() => this.data && this.draw());
    fetchPlotlyAhead();
  }

  build() {
    this.notice = el("p", { class: "notice", "aria-live": "polite" });
    this.swap = el("button", {
      type: "button",
      class: "primary",
      onclick: () => this.act({ type: "text", text: this.data.header.swap.text }),
    });
    this.all = el("button", {
      type: "button",
      text: "show all heads",
      onclick: () => this.set({ view: "grid" }),
    });
    this.take = el("button", {
      type: "button",
      text: "take away",
      title: "Figures, numbers and code to keep",
      onclick: () => this.act({ type: "takeaway", ...this.view }),
    });
    this.copy = copyButton(() => {});
    this.stackChoice = new Choice("stack", (stack) => this.set({ stack }));
    this.viewChoice = new Choice("view", (view) => this.set({ view }), "views");
    this.layerChoice = new Choice("layer", (layer) => this.set({ layer }));
    this.headChoice = new Choice("head", (head, event) => this.chooseHead(head, event), "chips");
    this.showChoice = new Choice("show", (show) =>
      this.set({ show, range: this.view.range === "log" ? "full" : this.view.range }),
    );
    this.rangeChoice = new Choice("scale", (range) => this.set({ range }));
    this.sortChoice = new Choice("sort by", (sort) => this.set({ sort }));
    this.slider = el("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": "Decoding step",
      oninput: () => this.set({ step: +this.slider.value }),
    });
    this.stepText = el("output", {});
    this.stepBar = el("div", { class: "step" }, [
      el("span", { class: "choice-label", text: "step", "aria-hidden": "true" }),
      this.slider,
      this.stepText,
    ]);
    this.panel = el("div", { class: "panel" });
    this.translation = el("p", { class: "translation" });
    this.pictures = new Pictures(this);
    this.root = el("div", { class: "stage" }, [
      el("div", { class: "story" }, [
        this.notice,
        el("div", { class: "actions" }, [this.swap, this.all, this.take, this.copy]),
      ]),
      this.translation,
      el("div", { class: "controls" }, [
        el("div", { class: "bars" }, [
          el("div", { class: "bar" }, [this.viewChoice.root, this.stackChoice.root, this.stepBar]),
          el("div", { class: "bar" }, [
            this.layerChoice.root,
            this.headChoice.root,
            this.showChoice.root,
            this.rangeChoice.root,
            this.sortChoice.root,
          ]),
        ]),
        this.pictures.root,
      ]),
      this.panel,
    ]);
    this.host.append(el("style", { text: STYLE }), this.root);
  }

  get stack() {
    return this.data.stack(this.view.stack);
  }

  headName() {
    return `layer ${this.view.layer}, head ${this.view.head}`;
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

  receive(bytes, send) {
    const atEnd = this.data && this.view.step === this.data.header.steps.length - 1;
    this.act = send;
    this.data = new TraceData(bytes);
    const { header } = this.data;
    this.theme = themeOf(this.root);
    if (this.viewToken !== header.viewToken) {
      this.view = { ...this.defaults(header.linked.stack), ...header.linked };
      this.asked = null;
      this.settle(this.view);
      if ((header.linked.key ?? header.focus.key) === undefined)
        this.view.key = this.heaviest(this.view.query) ?? this.view.key;
    } else {
      if (this.focusToken !== header.focusToken && this.view.stack === "encoder.self")
        Object.assign(this.view, header.focus);
      // the last step of another text is its own
      if (atEnd && header.focus.step === undefined) this.view.step = null;
    }
    this.viewToken = header.viewToken;
    this.focusToken = header.focusToken;
    this.settle(this.view);
    const exact = this.exactHead();
    if (exact) Object.assign(this.view, { q0: exact.q0, k0: exact.k0 });
    this.draw();
    this.ask(); // a longer text comes with the numbers of fewer heads, perhaps not of the open one
  }

  /* What the view is where nobody has chosen: in the encoder it looks at the first pronoun, if there is
     one. */
  defaults(stack) {
    const { defaults, focus } = this.data.header;
    return { ...defaults, ...((stack || defaults.stack) === "encoder.self" ? focus : {}) };
  }

  /* Keeps a state of the view within what the trace has. */
  settle(view) {
    const { data } = this;
    const stack = data.stack(view.stack);
    const within = (at, count) => Math.max(0, Math.min(count - 1, at ?? 0));
    if (view.view === "output" && !data.header.steps.length) view.view = "grid";
    view.stack = stack.id;
    view.layer = within(view.layer, stack.layers);
    view.head = within(view.head, stack.heads);
    view.heads = view.heads.filter((head) => head < stack.heads);
    if (!view.heads.length) view.heads = [view.head];
    view.step = within(view.step ?? Infinity, data.header.steps.length);
    view.query = within(view.query ?? (stack.querySide === "decoder" ? view.step : 0), stack.nQuery);
    view.key = within(view.key, stack.nKey);
    return view;
  }

  set(change) {
    const moved = change.step !== undefined && this.data.stack(this.view.stack).querySide === "decoder";
    const before = this.view.query;
    Object.assign(this.view, change);
    if (moved) Object.assign(this.view, { query: change.step, pinned: "query" });
    if (change.stack !== undefined) this.enter();
    this.settle(this.view);
    if (change.key === undefined && this.view.query !== before)
      this.view.key = this.heaviest(this.view.query) ?? this.view.key;
    this.draw();
    this.ask();
  }

  /* The key that a query looks at most in the open head, if its numbers are here. */
  heaviest(query) {
    const row = this.row(query);
    return row && row.weights.reduce((top, weight, at) => (weight > row.weights[top] ? at : top), 0) + row.k0;
  }

  /* The weights of a query, the mean over the heads that are shown: {weights, k0, heads}, or null where not
     sent. */
  row(query) {
    const { stack, view, data } = this;
    const heads = view.view === "lines" ? view.heads : [view.head];
    const all = heads.map((head) => data.exact(stack.id, view.layer, head));
    const [first] = all;
    if (!all.every(Boolean) || query < first.q0 || query >= first.q0 + first.nq) return null;
    const weights = new Float64Array(first.nk);
    for (const exact of all)
      for (let j = 0; j < exact.nk; j++)
        weights[j] += exact.pattern[(query - exact.q0) * exact.nk + j] / all.length;
    return { weights, k0: first.k0, heads };
  }

  /* A decoder's stack opens on the row of the current step. */
  enter() {
    if (!this.stepMatters()) return;
    this.view.query = this.view.step;
    this.view.pinned = "none";
  }

  chooseHead(head, event) {
    const many = this.view.view === "lines";
    if (!many) return this.set({ head, heads: [head] });
    const only = event.altKey || event.metaKey || event.ctrlKey;
    const now = this.view.heads;
    const heads = only
      ? [head]
      : now.includes(head)
        ? now.filter((h) => h !== head)
        : [...now, head].sort((a, b) => a - b);
    this.set({
      head: heads.includes(head) || !heads.length ? head : heads[0],
      heads: heads.length ? heads : [head],
    });
  }

  /* Large traces come with the numbers of the open head alone: ask for others, and for another window. */
  ask() {
    const { stack, view } = this;
    const exact = this.exactHead();
    const outside =
      exact &&
      (exact.nq < stack.nQuery || exact.nk < stack.nKey) &&
      (exact.q0 !== view.q0 || exact.k0 !== view.k0);
    const wanted = [stack.id, view.layer, view.head, view.q0, view.k0];
    const need = `${JSON.stringify(this.data.header.link)} ${wanted.join("/")}`;
    if ((!exact || outside) && this.asked !== need) {
      this.asked = need;
      this.act({
        type: "open",
        stack: stack.id,
        layer: view.layer,
        head: view.head,
        q0: view.q0,
        k0: view.k0,
      });
    }
  }

  draw() {
    if (!this.panel.clientWidth) return;
    this.theme = themeOf(this.root);
    this.drawBars();
    const active = this.views[this.view.view];
    if (this.panel.firstChild !== active.root) this.panel.replaceChildren(active.root);
    active.draw();
    this.drawNotice();
    const usual = this.settle(this.defaults(this.view.stack));
    // the row that opens follows the step, so a link names it
    if (this.stack.querySide === "decoder") usual.query = null;
    writeLink(this.data.header.link, usual, this.view);
    this.painted("draw");
  }

  drawBars() {
    const { view, data, stack, theme } = this;
    const upTo = (count) => Array.from({ length: count }, (_, at) => ({ value: at, text: String(at) }));
    const nSteps = data.header.steps.length;
    this.viewChoice.update(nSteps ? VIEWS : VIEWS.filter((v) => v.value !== "output"), [view.view]);
    this.stackChoice.update(
      data.stacks.map((s) => ({ value: s.id, text: s.title })),
      [stack.id],
    );
    this.layerChoice.update(upTo(stack.layers), [view.layer]);
    const chips = upTo(stack.heads).map((chip) => ({
      ...chip,
      colour: theme.heads[chip.value % theme.heads.length],
      title: stack.labels[view.layer * stack.heads + chip.value] || undefined,
    }));
    this.headChoice.update(chips, view.view === "lines" ? view.heads : [view.head]);
    this.showChoice.update(SHOWS, [view.show]);
    this.rangeChoice.update(
      view.show === "pattern" || view.view === "grid"
        ? RANGES
        : RANGES.slice(0, 2).map((r) => (r.value === "full" ? { ...r, text: "whole" } : r)),
      [view.range],
    );
    this.sortChoice.update(
      SORTS.filter((s) => s.value === "layer" || stack.stats[s.value]),
      [view.sort],
    );
    const visible = (choice, on) => choice.classList.toggle("absent", !on);
    visible(this.stackChoice.root, view.view !== "output");
    visible(this.showChoice.root, view.view === "head");
    visible(this.rangeChoice.root, view.view === "head" || view.view === "grid");
    visible(this.sortChoice.root, view.view === "grid");
    visible(this.layerChoice.root, view.view !== "grid" && view.view !== "output");
    visible(this.headChoice.root, view.view !== "grid" && view.view !== "output");
    visible(
      this.stepBar,
      (this.stepMatters() && view.view !== "grid") || (view.view === "output" && nSteps > 1),
    );
    this.drawStep();
  }

  drawStep() {
    const { header } = this.data;
    this.slider.max = header.steps.length - 1;
    this.slider.value = this.view.step;
    const step = header.steps[this.view.step];
    const last = header.steps.length - 1;
    this.stepText.textContent = step
      ? `${this.view.step + 1} of ${last + 1}${step.chosen ? ` → ${shorten(step.chosen)}` : ""}`
      : "";
  }

  drawNotice() {
    const { swap } = this.data.header;
    this.swap.textContent = swap.label;
    this.swap.classList.toggle("absent", !swap.label);
    this.notice.replaceChildren(...caption(this));
    this.translation.replaceChildren(...translationOf(this.data.header));
    this.translation.classList.toggle("wraps", (this.data.header.see || "").length > LONG_SENTENCE);
    this.pictures.draw();
  }

  painted(what) {
    const { generation } = this.data.header;
    this.root.dataset.generation = generation;
    announce(this.root, { what, view: this.view.view, generation });
  }

  leave() {
    this.resizer.disconnect();
    this.stopListening();
    this.host.replaceChildren();
  }
}

export const mount = mounting(Stage);
