/* The controls above the views: which view, which head, on which scale. */

import { Choice } from "../../shared/browser/choice.js";
import { el, shorten } from "../../shared/browser/dom.js";
import { partnersOf } from "./data.js";
import { EditBar } from "./edit_bar.js";
import { FURTHER, isSigned } from "./further.js";
import { canHide, SPECIALS } from "./hiding.js";
import { listOf } from "./list.js";
import { MeasureBar } from "./measure_bar.js";
import { placeIn } from "./sorting.js";
import { OVERS } from "./sums.js";
import { headsAfter, stepOf } from "./view.js";

const VIEWS = [
  { value: "grid", text: "Grid" },
  { value: "map", text: "Map" },
  { value: "head", text: "Head" },
  { value: "lines", text: "Lines" },
  { value: "numbers", text: "Numbers" },
  { value: "sums", text: "Sums" },
  { value: "picture", text: "Picture" },
  { value: "output", text: "Output" },
  {
    value: "sweep",
    text: "Sweep",
    title: "What if: each head off alone, and which way an answer comes about",
  },
  { value: "effect", text: "Effect", title: "What if: what the edits did" },
];
const SHOWS = [
  { value: "pattern", text: "weights", title: "After the softmax" },
  { value: "scores", text: "scores", title: "Scaled and masked, before the softmax" },
  { value: "dots", text: "dot products", title: "q · k before anything" },
];
const FURTHER_SHOWS = Object.entries(FURTHER).map(([value, told]) => ({ value, ...told }));
const RANGES = [
  { value: "full", text: "0..1" },
  { value: "row", text: "per row" },
  { value: "log", text: "log" },
];
const SIGHTS = [
  { value: "head", text: "this head" },
  { value: "mean", text: "all heads", title: "The mean of the layer's heads" },
  {
    value: "rolled",
    text: "all layers",
    title: "Rolled out: the mean heads of all layers, one after the other",
  },
];
const SIGNED_RANGES = [{ value: "full", text: "whole" }, RANGES[1]];

const STEPPED = ["output", "effect", "sweep"]; // what is read at one step

/** @typedef {import("./types").View} View */

/** @param {number} count */
const upTo = (count) => Array.from({ length: count }, (_, at) => choiceOf(at));

/** @param {number} value */
const choiceOf = (value) => ({ value, text: String(value) });

/**
 * What a head does, as far as a measure says it, and with which others it shares its keys and values.
 * @param {import("./types").Stack} stack
 * @param {number} layer
 * @param {number} head
 */
function titleOf(stack, layer, head) {
  const partners = partnersOf(stack, head);
  const shares = partners && `shares its keys and values: ${partners}`;
  return [stack.labels[placeIn(stack, layer, head)], shares].filter(Boolean).join("; ") || undefined;
}

/** Several heads may be chosen. @param {import("./types").View} view */
const choosesHeads = ({ view, over }) => view === "lines" || (view === "sums" && over === "heads");

export class Bars {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.stack = new Choice("stack", (stack) => stage.set({ stack }));
    this.view = new Choice("view", (view) => stage.set({ view, ...this.stepFor(view) }), "views");
    this.layer = new Choice("layer", (layer) => stage.set({ layer }));
    this.head = new Choice("head", (head, event) => this.chooseHead(head, event), "chips");
    this.show = listOf("show", (/** @type {any} */ show) =>
      stage.set({ show, range: stage.view.range === "log" ? "full" : stage.view.range }),
    );
    this.range = new Choice("scale", (range) => stage.set({ range }));
    this.measure = new MeasureBar(stage);
    this.special = listOf("special tokens", (/** @type {any} */ special) => stage.set({ special }));
    this.special.name.textContent = "special";
    this.over = new Choice("heads", (over) => stage.set({ over }));
    this.sight = new Choice("look through", (sight) => stage.set({ sight }));
    this.edits = new EditBar(stage);
    this.slider = el("input", {
      type: "range",
      min: 0,
      step: 1,
      "aria-label": "Decoding step",
      oninput: () => stage.set({ step: +this.slider.value }),
    });
    this.stepText = el("output", {});
    this.step = el("div", { class: "step" }, [
      el("span", { class: "choice-label", text: "step", "aria-hidden": "true" }),
      this.slider,
      this.stepText,
    ]);
    const choices = [this.over, this.layer, this.head, this.show, this.range, this.sight, this.special];
    const below = choices.map((choice) => choice.root);
    this.second = el("div", { class: "bar" }, [...below, ...this.measure.parts]);
    this.edits.beside = this.second;
    this.root = el("div", { class: "bars" }, [
      el("div", { class: "bar" }, [this.view.root, this.stack.root, this.step]),
      this.second,
      this.edits.root,
    ]);
  }

  /** Effects open where they are large, but beside the output at the same step. @param {View["view"]} view */
  stepFor(view) {
    const { data, view: now } = this.stage;
    const step = stepOf({ view }, data);
    return STEPPED.includes(now.view) || step === Infinity ? {} : { step };
  }

  /** @param {number} head @param {MouseEvent} event */
  chooseHead(head, event) {
    const { view } = this.stage;
    if (!choosesHeads(view)) return this.stage.set({ head, heads: [head] });
    this.stage.set(headsAfter(view.heads, head, event.altKey || event.metaKey || event.ctrlKey));
  }

  draw() {
    const { view, data, stack, theme } = this.stage;
    const nSteps = data.header.steps.length;
    const absent = [...(nSteps ? [] : ["output"]), ...(stack.whole ? [] : ["numbers"])];
    if (!data.header.sight) absent.push("picture");
    if (!data.header.change) absent.push("effect");
    if (!data.header.editable || !nSteps) absent.push("sweep");
    this.view.update(
      VIEWS.filter((v) => !absent.includes(v.value)),
      [view.view],
    );
    this.stack.update(
      data.stacks.map((s) => ({ value: s.id, text: s.title })),
      [stack.id],
    );
    this.layer.update(stack.layers.map(choiceOf), [view.layer]);
    const chips = upTo(stack.heads).map((chip) => ({
      ...chip,
      colour: theme.heads[chip.value % theme.heads.length],
      title: titleOf(stack, view.layer, chip.value),
    }));
    this.head.update(chips, choosesHeads(view) ? view.heads : [view.head]);
    const further = view.when === "after" ? FURTHER_SHOWS : []; // computed of the edited pass
    const shows = [...(stack.whole ? SHOWS : SHOWS.slice(0, 1)), ...further];
    this.show.update(shows, view.show);
    const shares = !data.signed && !isSigned(view.show) && view.show !== "length";
    this.range.update(shares || (view.view === "grid" && !data.signed) ? RANGES : SIGNED_RANGES, [
      view.range,
    ]);
    this.measure.draw();
    this.edits.draw();
    const sights = data.header.sight?.rolled ? SIGHTS : SIGHTS.slice(0, 2);
    this.sight.update(sights, [view.sight]);
    this.over.update(OVERS, [view.over]);
    this.special.update(SPECIALS, view.special);
    this.showWhatMatters();
    this.drawStep();
  }

  showWhatMatters() {
    const { view, data } = this.stage;
    const ofOneLayer = !["grid", "map", "sums", ...STEPPED].includes(view.view);
    /** @param {HTMLElement} part @param {boolean} on */
    const visible = (part, on) => part.classList.toggle("absent", !on);
    visible(this.stack.root, data.stacks.length > 1 && !STEPPED.includes(view.view));
    visible(this.show.root, view.view === "head");
    visible(this.range.root, (view.view === "head" && view.show !== "plane") || view.view === "grid");
    const seen = view.view === "picture" ? view.sight : "head";
    visible(this.special.root, canHide(view) && Boolean(this.stage.stack.hidden?.length));
    visible(this.sight.root, view.view === "picture");
    const sums = view.view === "sums";
    visible(this.over.root, sums);
    visible(this.layer.root, sums ? ["layer", "heads"].includes(view.over) : ofOneLayer && seen !== "rolled");
    visible(this.head.root, sums ? view.over === "heads" : ofOneLayer && seen === "head");
    const reads = STEPPED.includes(view.view) && data.header.steps.length > 1;
    visible(this.second, !STEPPED.includes(view.view));
    visible(this.step, reads || (ofOneLayer && this.stage.stepMatters()));
  }

  drawStep() {
    const { view, data } = this.stage;
    const { steps } = data.header;
    this.slider.max = String(steps.length - 1);
    this.slider.value = String(view.step);
    const step = steps[view.step];
    this.stepText.textContent = step
      ? `${view.step + 1} of ${steps.length}${step.chosen ? ` → ${shorten(step.chosen)}` : ""}`
      : "";
  }
}
