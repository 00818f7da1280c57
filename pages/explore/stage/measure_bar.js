/* The controls of the grid and the map that choose a measure, the order by it, and which heads pass. */

import { Choice } from "../../shared/browser/choice.js";
import { el } from "../../shared/browser/dom.js";
import { listOf } from "./list.js";
import { awaited, isOffered } from "./random_tokens.js";
import { firstLimit, measureOf } from "./sorting.js";

const KEEPS = [
  { value: "all", text: "all heads" },
  { value: "least", text: "at least" },
  { value: "most", text: "at most" },
  { value: "top", text: "the first" },
];
const ORDERS = [
  { value: "value", text: "value" },
  { value: "layer", text: "layer" },
];

export class MeasureBar {
  asked = ""; // of which model numbers were asked for

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.sort = listOf("sort by", (sort) => stage.set({ sort }));
    this.order = new Choice("order", (order) => stage.set({ order }));
    this.keep = listOf("filter", (keep) => this.chooseKeep(keep));
    this.limit = el("input", {
      type: "number",
      min: 0,
      "aria-label": "Limit of the filter",
      onchange: () => this.chooseLimit(),
    });
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
    const said = this.limit.valueAsNumber;
    const limit = this.stage.view.keep === "top" ? Math.round(said) : said;
    if (limit >= 0 && limit <= 1e6) this.stage.set({ limit });
    else this.draw(); // what was there before
  }

  /* The numbers of a measure on random tokens, once for a model. */
  ask() {
    const { stack, view, data, act } = this.stage;
    const { measures, link, repeated } = data.header;
    const need = JSON.stringify({ ...link, text: "" });
    const shown = ["grid", "map", "sums"].includes(view.view);
    if (!shown || repeated?.problem || this.asked === need || !awaited(measures, stack, view)) return;
    this.asked = need;
    act({ type: "repeated" });
  }

  draw() {
    this.ask();
    const { view, data, stack } = this.stage;
    const { measures } = data.header;
    const measure = measureOf(measures, stack, view);
    const known = measures.filter((each) => isOffered(each, stack));
    this.sort.update(
      [
        { value: "layer", text: "layer", title: "As the model has them" },
        ...known.map((m) => ({ value: m.name, text: m.title, title: `${m.definition} ${m.formula}` })),
      ],
      (measure ?? awaited(measures, stack, view))?.name ?? "layer",
    );
    this.order.update(ORDERS, [view.order]);
    this.keep.update(KEEPS, view.keep);
    this.limit.value = String(view.limit);
    this.limit.step = view.keep === "top" ? "1" : "0.01";
    const grid = view.view === "grid" || (view.view === "sums" && view.over === "passing");
    const map = view.view === "map";
    this.sort.name.textContent = map ? "colour by" : view.view === "sums" ? "measure" : "sort by";
    this.sort.root.classList.toggle("absent", !grid && !map);
    this.order.root.classList.toggle("absent", view.view !== "grid" || !measure);
    this.keep.root.classList.toggle("absent", !(grid || map) || !measure);
    this.limit.classList.toggle("absent", view.keep === "all");
  }
}
