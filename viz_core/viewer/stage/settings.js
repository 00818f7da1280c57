/* The model and its settings, drawn from their declaration (panel.py). Each asks while it is turned. */

import { Choice } from "../browser/choice.js";
import { button, el, fill, isNew, reveal, say } from "../browser/dom.js";
import { t } from "../browser/words.js";

/** @import { Declared, Stage } from "./types" */
/** @typedef {{root: HTMLElement, update: (value: any, stops?: number[]) => void}} Control */

const KEEPS = /** @type {const} */ (["d_head", "d_model", "n_heads"]);

/** A control under its name.
   @param {string} kind @param {string} label @param {Node[]} parts @param {string} [help] */
export const field = (kind, label, parts, help = "") =>
  el("label", { class: `field ${kind}` }, [
    el("span", { class: "field-name", text: t(label), title: t(help) }),
    ...parts,
  ]);

/** A range that asks while it is dragged.
   @param {Declared} declared @param {(value: any) => void} turn @returns {Control} */
function sliderOf({ label, help, low = 0, high = 1, options = [] }, turn) {
  /** @type {any[]} */ let stops = options.map(({ value }) => value);
  const range = el("input", {
    type: "range",
    "aria-label": t(label),
    step: 1,
    oninput: () => {
      show();
      turn(stops.length ? stops[+range.value] : +range.value);
    },
  });
  const out = el("output");
  const root = field("of-range", label, [out, range], help);
  const show = () => {
    const value = stops.length ? stops[+range.value] : range.value;
    const shown = options.find((option) => option.value === value)?.text ?? String(value);
    out.textContent = t(shown);
    range.setAttribute("aria-valuetext", out.textContent ?? "");
  };
  return {
    root,
    update(value, reachable) {
      if (reachable) stops = reachable;
      range.min = String(stops.length ? 0 : low);
      range.max = String(stops.length ? stops.length - 1 : high);
      range.value = String(stops.length ? Math.max(0, stops.indexOf(value)) : value);
      show();
    },
  };
}

/** @param {Declared} declared @param {(value: any) => void} turn @returns {Control} */
function choiceOf({ label, help, options = [] }, turn) {
  const choice = new Choice(label, turn, "of-field");
  choice.root.title = t(help ?? "");
  const shown = options.map(({ value, text }) => ({ value, text: t(text.replaceAll("`", "")) }));
  return { root: choice.root, update: (value) => choice.update(shown, [value]) };
}

/** @param {Declared} declared @param {(value: any) => void} turn @returns {Control} */
function listOf({ label, help, options = [] }, turn) {
  const entries = options.map(({ value, text }) => el("option", { value, text: t(text) }));
  const onchange = () => turn(options[list.selectedIndex].value);
  const list = el("select", { "aria-label": t(label), onchange }, entries);
  const root = field("of-list", label, [list], help);
  return { root, update: (value) => (list.value = String(value)) };
}

/** @param {Declared} declared @param {(value: any) => void} turn @returns {Control} */
function lineOf({ label, help, placeholder }, turn) {
  const line = el("input", { type: "text", placeholder, "aria-label": t(label), spellcheck: "false" });
  line.addEventListener("change", () => turn(line.value));
  const root = field("of-line", label, [line], help);
  return { root, update: (value) => fill(line, String(value)) };
}

const KINDS = {
  slider: sliderOf,
  steps: sliderOf,
  segments: choiceOf,
  list: listOf,
  line: lineOf,
  area: lineOf,
};

const IN_SIGHT = 5; // models; the others are one press away

export class Settings {
  /** @type {Map<string, Control>} */ controls = new Map();
  /** @type {(typeof KEEPS)[number]} */ keeps = "d_head";

  /** @param {Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.unfolded = false;
    this.model = el("select", { "aria-label": t("Model"), onchange: () => this.open(this.model.value) });
    this.others = button({
      class: "link",
      text: "another model…",
      onclick: () => stage.act({ type: "models" }),
    });
    this.summary = el("p", { class: "muted" });
    this.fields = el("div", { class: "fields" });
    // of a family of trained models, always in sight
    this.dials = el("div", { class: "dials", role: "group", "aria-label": t("Trained models") });
    this.kept = new Choice("fixed", (keeps) => this.keep(keeps), "of-field");
    this.kept.root.title = "d_model = heads × d_head";
    this.followed = el("p", { class: "muted followed", role: "status" });
    this.standing = el("p", { class: "muted standing" });
    this.root = el("section", { class: "settings", "aria-label": t("Settings") }, [
      field("of-list", "Model", [this.model]),
      this.others,
      this.fields,
      this.kept.root,
      this.followed,
      this.summary,
    ]);
  }

  /** @param {string} model */
  open(model) {
    if (model) return this.stage.act({ type: "ask", model });
    this.unfolded = true;
    this.draw();
    if (navigator.userActivation.isActive) this.model.showPicker();
  }

  /** @param {(typeof KEEPS)[number]} keeps */
  keep(keeps) {
    this.keeps = keeps;
    this.stage.act({ type: "ask", keeps });
  }

  /** @param {string} name @param {any} value */
  turn(name, value) {
    const keeps = this.declared?.linked.includes(name) ? { keeps: this.keeps } : {};
    const { stage } = this;
    const isDial = this.declared?.settings.find((each) => each.name === name)?.dial;
    stage.isOnTop = Boolean(isDial) && stage.view.layer === stage.stack.layers.at(-1);
    stage.act({ type: "ask", turned: { [name]: value }, ...keeps });
  }

  get declared() {
    return this.stage.declared;
  }

  draw() {
    const { declared } = this;
    const { asked, sizes = {}, followed, standing = "" } = this.stage.passes.after.header;
    reveal(this.root, declared);
    if (!declared || !asked) return;
    const all = declared.models.map(({ value, text }) => ({ value, text: t(text) }));
    const models = all.filter(({ value }, at) => this.unfolded || at < IN_SIGHT || value === asked.model);
    if (models.length < all.length)
      models.push({ value: "", text: t(`${all.length - models.length} more…`) });
    if (isNew(this.model, models))
      this.model.replaceChildren(
        ...models.map(({ value, text }) => el("option", { value, text, translate: "no" })),
      );
    const isBuilt = isNew(this.fields, declared);
    if (isBuilt) this.build();
    else if (this.stage.awaits) return; // each shows what it was turned to, and is turned on from there
    this.model.value = asked.model;
    reveal(this.others, declared.opensOthers);
    for (const { name, of, arguments: known } of declared.settings) {
      const control = /** @type {Control} */ (this.controls.get(name));
      control.update(sizes[name]?.now ?? asked.settings[name], sizes[name]?.stops);
      if (of) reveal(control.root, known?.[asked.settings[of]]);
      const [example, meaning] = known?.[asked.settings[of ?? ""]] ?? [];
      if (example) {
        const field = /** @type {HTMLInputElement} */ (control.root.querySelector("input"));
        Object.assign(field, { placeholder: example, title: `${example} = ${t(meaning ?? "")}` });
      }
    }
    reveal(this.kept.root, declared.linked.length);
    const labels = { d_head: "d_head", d_model: "d_model", n_heads: t("Heads") };
    this.kept.update(
      KEEPS.map((value) => ({ value, text: labels[value] })),
      [this.keeps],
    );
    this.standing.textContent = t(standing);
    say(this.followed, [followed ? `→ ${followed}` : ""]);
    reveal(this.followed, followed || declared.linked.length);
    this.summary.textContent = [declared.summary, declared.sizes].filter(Boolean).map(t).join(" · ");
  }

  build() {
    const { settings = [] } = this.declared ?? {};
    this.controls = new Map(
      settings.map((each) => {
        const make = KINDS[/** @type {keyof typeof KINDS} */ (each.control)] ?? lineOf;
        return [each.name, make(each, (value) => this.turn(each.name, value))];
      }),
    );
    const roots = (/** @type {boolean} */ dial) =>
      settings
        .filter((each) => Boolean(each.dial) === dial)
        .map(({ name }) => this.controls.get(name)?.root ?? "");
    this.dials.replaceChildren(...roots(true));
    this.fields.replaceChildren(...roots(false));
    reveal(this.dials, this.dials.children.length);
    if (this.dials.children.length) this.dials.append(this.followed, this.standing);
    else this.summary.before(this.followed);
  }
}
