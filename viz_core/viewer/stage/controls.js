/* The controls above the views: which view, which head, on which scale, sorted by which measure, edited
   how. */

import { Choice } from "../browser/choice.js";
import { button, el, isNew, reveal, shorten } from "../browser/dom.js";
import { page } from "../browser/page.js";
import { t } from "../browser/words.js";
import { awaited, canHide, firstLimit, isOffered, measureOf, timesOf } from "./data.js";
import { readyEdits } from "./edits.js";
import { isFurther, isSigned } from "./quantities.js";
import { stepOf, upTo } from "./view.js";

/** @typedef {{value: string, text: string, title?: string, isRare?: boolean}} Option */
/** @import { View } from "./types" */

/** Its entries are kept while they stay the same; the words on the chosen one are shown on hovering.
   @param {string} label @param {(value: string) => void} onChoose */
export function listOf(label, onChoose) {
  const text = t(label);
  const list = el("select", { "aria-label": text, onchange: () => onChoose(list.value) });
  const name = el("span", { class: "choice-label", text, "aria-hidden": "true" });
  const root = el("div", { class: "choice", role: "group", "aria-label": text }, [name, list]);
  /** @param {Option[]} options @param {string} chosen */
  const update = (options, chosen) => {
    if (isNew(list, options)) {
      const [rare, usual] = [true, false].map((isRare) =>
        options
          .filter((option) => Boolean(option.isRare) === isRare)
          .map(({ value, text, title }) => el("option", { value, title, text: t(text) })),
      );
      list.replaceChildren(...usual, ...(rare.length ? [el("optgroup", { label: t("More") }, rare)] : []));
    }
    list.value = chosen;
    list.title = t(options.find(({ value }) => value === chosen)?.title ?? "");
  };
  return { root, name, list, update };
}

/** A list of what a field of the view may be.
   @param {import("./types").Stage} stage @param {Offered} name @param {(value: any) => void} [onChoose] */
export const listFor = (stage, name, onChoose = (value) => stage.set({ [name]: value })) =>
  listOf(CHOICES[name].label, onChoose);

/** What the view offers under this name, in the visitor's language. @param {keyof typeof CHOICES} name */
const optionsOf = (name) => CHOICES[name].options.map((option) => ({ ...option, text: t(option.text) }));

/** Buttons for what a field of the view may be.
   @param {import("./types").Stage} stage @param {Offered} name */
const choiceFor = (stage, name) => new Choice(CHOICES[name].label, (value) => stage.set({ [name]: value }));

export class MeasureBar {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.sort = listOf("sort by", (sort) => stage.set({ sort }));
    this.order = choiceFor(stage, "order");
    this.keep = listFor(stage, "keep", (keep) => this.chooseKeep(keep));
    const onchange = () => this.chooseLimit();
    this.limit = el("input", { type: "number", min: 0, "aria-label": "Limit of the filter", onchange });
    this.keep.root.append(this.limit);
    this.parts = [this.sort.root, this.order.root, this.keep.root];
  }

  /** @param {any} keep */
  chooseKeep(keep) {
    const { stack, view, data } = this.stage;
    const measure = measureOf(data.header.measures, stack, view);
    const counts = [view.keep, keep].filter((each) => each === "top").length === 1;
    const fresh = keep === "all" || view.keep === "all" || counts;
    const first = keep === "all" || !measure ? 0.5 : firstLimit(stack.stats[measure.name], keep);
    this.stage.set({ keep, ...(fresh ? { limit: first } : {}) });
  }

  chooseLimit() {
    const number = this.limit.valueAsNumber;
    const limit = this.stage.view.keep === "top" ? Math.round(number) : number;
    if (limit >= 0 && limit <= 1e6) this.stage.set({ limit });
    else this.draw(); // what was there before
  }

  /* The numbers of a measure on random tokens, once for a model. */
  ask() {
    const { stack, view, data } = this.stage;
    const { measures, link, repeated } = data.header;
    const matters = ["grid", "map", "sums"].includes(view.view);
    if (matters && !repeated?.problem && awaited(measures, stack, view))
      this.stage.askOnce({ type: "repeated" }, { ...link, text: "" });
  }

  draw() {
    this.ask();
    const { view, data, stack } = this.stage;
    const { measures } = data.header;
    const measure = measureOf(measures, stack, view);
    const known = measures.filter(
      (each) => isOffered(each, stack) && (page.computes || each.name in stack.stats),
    );
    this.sort.update(
      [
        { value: "layer", text: "layer", title: "As the model has them" },
        ...known.map((m) => ({ value: m.name, text: m.title, title: `${m.definition} ${m.formula}` })),
      ],
      (measure ?? awaited(measures, stack, view))?.name ?? "layer",
    );
    this.order.update(optionsOf("order"), [view.order]);
    this.keep.update(optionsOf("keep"), view.keep);
    this.limit.value = String(view.limit);
    this.limit.step = view.keep === "top" ? "1" : "0.01";
    const grid = view.view === "grid" || (view.view === "sums" && view.over === "passing");
    const map = view.view === "map";
    this.sort.name.textContent = t(map ? "colour by" : view.view === "sums" ? "measure" : "sort by");
    reveal(this.sort.root, grid || map);
    reveal(this.order.root, view.view === "grid" && measure);
    reveal(this.keep.root, (grid || map) && measure);
    reveal(this.limit, view.keep !== "all");
  }
}

const WRITE = "write";
const SWITCHES = ["zero", "layer"]; // what a host does that computes no other edits
const EXAMPLE = 'encoder.0.self heads 2: from "another text"';
const HELP = `place: change, such as ${EXAMPLE}`;

export class EditBar {
  writes = false; // a line is being written

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.ready = listOf("edit", (chosen) => this.choose(chosen));
    const { list } = this.ready;
    list.onkeydown = (event) => {
      if (!event.key.startsWith("Arrow") || event.altKey || !list.showPicker) return;
      event.preventDefault(); // an arrow key would make the first edit at once
      list.showPicker();
    };
    this.when = choiceFor(stage, "when");
    this.lines = el("div", { class: "edit-lines", role: "group", "aria-label": t("Edits") });
    this.none = button({ text: "undo all", onclick: () => this.put([]) });
    this.typed = el("input", {
      type: "text",
      placeholder: EXAMPLE,
      title: HELP,
      "aria-label": `An edit: ${HELP}`,
      spellcheck: "false",
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const line = this.typed.value.trim();
        if (event.key === "Enter" && line) stage.edit(line);
      },
    });
    const label = el("span", { class: "choice-label", text: t("edited"), "aria-hidden": "true" });
    this.label = el("div", { class: "choice" }, [label, this.lines, this.none]);
    this.root = el("div", { class: "edit-bar" }, [
      ...[this.ready.root, this.when.root, this.label, this.typed],
    ]);
  }

  get header() {
    return this.stage.data.header;
  }

  /** @param {string} chosen */
  choose(chosen) {
    if (chosen === WRITE) {
      this.writes = true;
      this.draw();
      this.typed.focus();
      return;
    }
    const edit = readyEdits(this.stage.view, this.header).find(({ value }) => value === chosen);
    if (edit) this.stage.edit(edit.line);
  }

  /** @param {string[]} lines */
  put(lines) {
    this.stage.act({ type: "edits", text: lines.join("\n") });
  }

  draw() {
    const { view } = this.stage;
    const { edits, editable } = this.header;
    const first = { value: "", text: "change this head…", title: "What would it be without it?" };
    const last = { value: WRITE, text: "write an edit…", title: HELP };
    const ready = readyEdits(view, this.header)
      .filter(({ value }) => page.computes || SWITCHES.includes(value))
      .map(({ line: _, ...option }) => option);
    this.ready.update([first, ...ready, ...(page.computes ? [last] : [])], "");
    const ofHead = ["grid", "head", "lines", "numbers"].includes(view.view);
    reveal(this.ready.root, editable && ofHead);
    reveal(this.root, editable);
    reveal(this.typed, this.writes);
    reveal(this.label, edits.length);
    /** @type {string[]} */ const times = timesOf(view.view, this.header);
    const options = optionsOf("when").filter(({ value }) => times.includes(value));
    this.when.update(options, [view.when]);
    reveal(this.when.root, times.length > 1);
    this.chips(edits);
  }

  /** @param {string[]} edits */
  chips(edits) {
    if (!isNew(this.lines, edits)) return;
    this.typed.value = "";
    const chip = (/** @type {string} */ line) => {
      const title = `${t("Take back:")} ${line}`;
      const onclick = () => this.put(edits.filter((each) => each !== line));
      const words = { title, "aria-label": title, translate: "no" };
      return button({ ...words, onclick }, [el("span", { text: line, translate: "no" }), " ×"]);
    };
    this.lines.replaceChildren(...edits.map(chip));
  }
}

const SIGNED_RANGES = [
  { value: "full", text: "whole" },
  { value: "row", text: "per row" },
];
/* Views that few need are behind "More". */
const RARE = ["map", "sums", "sweep"];
const STEPPED = ["output", "effect", "sweep"]; // what is read at one step

export class Bars {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    const show = (/** @type {View["view"]} */ view) => {
      const opens = view === "lines" && stage.view.view !== "lines" && stage.view.heads.length < 2;
      const all = opens ? { heads: upTo(stage.stack.heads) } : {}; // as whoever knows no head wants to see
      stage.set({ view, ...all, ...this.stepFor(view) });
    };
    this.view = new Choice("view", show, "views");
    this.rare = new Choice("view", show, "views");
    this.show = listFor(stage, "show", (show) =>
      stage.set({ show, range: stage.view.range === "log" ? "full" : stage.view.range }),
    );
    this.range = choiceFor(stage, "range");
    this.measure = new MeasureBar(stage);
    this.special = listFor(stage, "special");
    this.special.name.textContent = t("special");
    this.words = choiceFor(stage, "words");
    this.over = choiceFor(stage, "over");
    this.sight = choiceFor(stage, "sight");
    this.edits = new EditBar(stage);
    const oninput = () => stage.set({ step: +this.slider.value });
    const range = { type: "range", min: 0, step: 1, "aria-label": "Decoding step", oninput };
    this.slider = el("input", range);
    this.stepText = el("output", { "aria-live": "off" }); // the slider says it itself
    const name = el("span", { class: "choice-label", text: t("step"), "aria-hidden": "true" });
    this.step = el("div", { class: "step" }, [name, this.slider, this.stepText]);
    const choices = [this.over, this.show, this.range, this.sight];
    this.below = el("section", { class: "bars", "aria-label": t("What is shown") }, [
      ...choices.map((choice) => choice.root),
      this.step,
      this.special.root,
      this.words.root,
      ...this.measure.parts,
      this.edits.root,
    ]);
  }

  /** Outputs and effects open where there is most to see, but at a step that was chosen where it is.
     @param {View["view"]} view */
  stepFor(view) {
    const { data, view: now } = this.stage;
    const step = stepOf({ view }, data);
    const isChosen = STEPPED.includes(now.view) || now.step < data.header.steps.length - 1;
    return isChosen || step === Infinity ? {} : { step };
  }

  draw() {
    const { view, data, stack } = this.stage;
    const nSteps = data.header.steps.length;
    const absent = [...(nSteps ? [] : ["output"]), ...(stack.whole ? [] : ["numbers"])];
    if (!data.header.sight) absent.push("picture");
    if (!data.header.change) absent.push("effect");
    const { editable, swept, map, further } = data.header;
    if (!editable || !nSteps || !(page.computes || swept)) absent.push("sweep");
    if (!(page.computes || map)) absent.push("map");
    const views = optionsOf("view").filter(({ value }) => value !== "story" && !absent.includes(value));
    const [few, many] = [true, false].map((isRare) =>
      views.filter(({ value }) => RARE.includes(value) === isRare),
    );
    this.view.update(many, [view.view]);
    this.rare.update(few, [view.view]);
    const shows = optionsOf("show")
      .map((option) => ({ ...option, isRare: isFurther(option.value) }))
      .filter(({ value, isRare }) => (isRare ? view.when === "after" : stack.whole || !isSigned(value)))
      .filter(({ value, isRare }) => !isRare || page.computes || further?.asked?.[0] === value);
    // The server computes the rare ones of the edited pass alone.
    this.show.update(shows, view.show);
    const shares = !data.signed && !isSigned(view.show) && view.show !== "length";
    const ranges = shares || (view.view === "grid" && !data.signed) ? optionsOf("range") : SIGNED_RANGES;
    this.range.update(ranges, [view.range]);
    this.measure.draw();
    this.edits.draw();
    const rolled = data.header.sight?.rolled;
    const sights = optionsOf("sight").filter(({ value }) => rolled || value !== "rolled");
    this.sight.update(sights, [view.sight]);
    this.over.update(optionsOf("over"), [view.over]);
    this.special.update(optionsOf("special"), view.special);
    this.words.update(optionsOf("words"), [view.words]);
    this.showWhatMatters();
    const { steps } = data.header;
    this.slider.max = String(steps.length - 1);
    this.slider.value = String(view.step);
    const step = steps[view.step];
    const chosen = step?.chosen ? ` → ${shorten(step.chosen)}` : "";
    this.stepText.textContent = step ? t(`${view.step + 1} of ${steps.length}`) + chosen : "";
    this.slider.setAttribute("aria-valuetext", this.stepText.textContent);
  }

  showWhatMatters() {
    const { view, data } = this.stage;
    const ofOneLayer = !["grid", "map", "sums", ...STEPPED].includes(view.view);
    reveal(this.show.root, view.view === "head");
    reveal(this.range.root, (view.view === "head" && view.show !== "plane") || view.view === "grid");
    reveal(this.special.root, canHide(view) && Boolean(this.stage.stack.hidden?.length));
    reveal(this.words.root, view.view === "lines" && data.inPieces);
    reveal(this.sight.root, view.view === "picture");
    const sums = view.view === "sums";
    reveal(this.over.root, sums);
    reveal(this.below, view.level === "lab");
    const reads = STEPPED.includes(view.view) && data.header.steps.length > 1;
    reveal(this.step, reads || (ofOneLayer && this.stage.stepMatters()));
  }
}
