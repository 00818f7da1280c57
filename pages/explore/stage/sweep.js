/* View: every head switched off alone, or every position of every layer patched from another text, and what
   each does to what a person points at. The server computes it when the view is open. */

import { el, shorten } from "../../shared/browser/dom.js";
import { cssColour, inkOn } from "../../shared/browser/images.js";
import { number, shortNumber } from "../../shared/browser/numbers.js";
import { listOf } from "./list.js";

/** @typedef {import("./types").Swept} Swept */
/** @typedef {{of: string, kind: string, change: string, text: string}} Wish */

const OF = [
  { value: "heads", text: "switch off each head alone" },
  { value: "positions", text: "patch each position from another text" },
];
const KINDS = [
  { value: "logits", text: "logit difference of the likeliest two" },
  { value: "probability", text: "probability of the likeliest" },
  { value: "kl", text: "KL divergence of all outputs" },
  { value: "loss", text: "loss of all that is written" },
];
const CHANGES = [
  { value: "zero", text: "zero", title: "z of the head is 0" },
  { value: "mean", text: "mean", title: "z of the head is its mean over the text" },
];
const TITLES = /** @type {Record<string, string>} */ ({ encoder: "encoder", decoder: "decoder" });

export class SweepView {
  /** @type {Wish} */ wish = { of: "heads", kind: "logits", change: "zero", text: "" };
  asked = "";

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @param {keyof Wish} name */
    const chooses = (name) => (/** @type {string} */ value) => this.choose({ [name]: value });
    this.of = listOf("sweep", chooses("of"));
    this.kind = listOf("effect on", chooses("kind"));
    this.change = listOf("put", chooses("change"));
    this.text = el("input", {
      type: "text",
      "aria-label": "The other text",
      onchange: () => this.choose({ text: this.text.value }),
    });
    this.bar = el("div", { class: "bar" }, [this.of.root, this.kind.root, this.change.root, this.text]);
    this.told = el("p", { class: "measure", "aria-live": "polite" });
    this.tables = el("div", { class: "sweep-tables" });
    this.root = el(
      "div",
      { class: "view sweep-view", tabindex: "0", role: "region", "aria-label": "Sweep of edits" },
      [this.bar, this.told, this.tables],
    );
  }

  /** @param {Partial<Wish>} change */
  choose(change) {
    Object.assign(this.wish, change);
    this.draw();
  }

  /** What was swept, as it was asked for; null while it is on its way. @returns {Swept | null} */
  get found() {
    const { swept } = this.stage.data.header;
    return swept?.asked && String(swept.asked) === String(this.wanted) ? swept : null;
  }

  get wanted() {
    const { of, kind, change, text } = this.wish;
    return [of, kind, this.stage.view.step, change, of === "positions" ? text : ""];
  }

  draw() {
    const { header } = this.stage.data;
    if (!this.wish.text) this.wish.text = header.swap.text;
    const written = header.tokens.decoder !== undefined;
    this.of.update(OF, this.wish.of);
    this.kind.update(written ? KINDS : KINDS.slice(0, 3), this.wish.kind);
    this.change.update(CHANGES, this.wish.change);
    const patches = this.wish.of === "positions";
    this.change.root.classList.toggle("absent", patches);
    this.text.classList.toggle("absent", !patches);
    this.text.value = this.wish.text;
    this.put(this.found);
    this.ask();
  }

  ask() {
    const { header } = this.stage.data;
    const need = JSON.stringify([header.link, this.wanted]);
    if (this.found || this.asked === need) return;
    this.asked = need;
    const [of, kind, step, change, text] = this.wanted;
    this.stage.act({ type: "sweep", of, kind, step, change, text });
  }

  /** @param {Swept | null} found */
  put(found) {
    const { header } = this.stage.data;
    const edited = header.edits.length ? " It is of the text without your edits." : "";
    this.told.textContent = saidOf(found, this.wish.of) + edited;
    const parts = [];
    for (const [name, rows] of Object.entries(found?.effects ?? {})) {
      parts.push(this.table(name, rows, ""));
      const direct = found?.direct?.[name];
      if (direct) parts.push(this.table(name, direct, ", on the direct way to the output alone"));
    }
    this.tables.replaceChildren(...parts);
  }

  /**
   * @param {string} name of a stack's attention, or of a stack
   * @param {number[][]} rows [layer, head or position]
   * @param {string} how
   */
  table(name, rows, how) {
    const { stage } = this;
    const { theme, data } = stage;
    const ofHeads = name.includes(".");
    const most = Math.max(...rows.flat().map(Math.abs), 1e-12);
    /** @param {number} value */
    const colours = (value) => {
      const level = Math.round(127.5 + (127.5 * value) / most);
      return `background:${cssColour(theme.diverging, level)};color:${inkOn(theme.diverging, level)}`;
    };
    const side = /** @type {"encoder"} */ (name);
    const heads = ofHeads
      ? rows[0].map((_, head) => `H${head}`)
      : data.tokens(side).map(({ text }) => shorten(text, 8));
    const title = ofHeads
      ? data.stacks.find(({ id }) => id === name)?.title
      : `Stream of the ${TITLES[side]}`;
    /** @param {number} layer @param {number} at @param {number} value */
    const cell = (layer, at, value) =>
      el("td", { class: "channel", style: colours(value) }, [
        ofHeads
          ? el("button", {
              type: "button",
              text: shortNumber(value),
              title: `${number(value, 4)}: open layer ${layer}, head ${at}`,
              onclick: () => stage.set({ view: "head", stack: name, layer, head: at, heads: [at] }),
            })
          : el("span", { text: shortNumber(value), title: number(value, 4) }),
      ]);
    return el("section", {}, [
      el("h3", { text: `${title ?? name}${how} (colours to ±${number(most, 2)})` }),
      el("table", { class: "stream" }, [
        el("thead", {}, [
          el(
            "tr",
            {},
            ["", ...heads].map((text) => el("th", { scope: "col", text })),
          ),
        ]),
        el(
          "tbody",
          {},
          rows.map((row, layer) =>
            el("tr", {}, [
              el("th", { scope: "row", text: ofHeads ? `L${layer}` : `into layer ${layer}` }),
              ...row.map((value, at) => cell(layer, at, value)),
            ]),
          ),
        ),
      ]),
    ]);
  }
}

/**
 * What a sweep shows, or why there is none.
 * @param {Swept | null} found
 * @param {string} of
 */
export function saidOf(found, of) {
  if (!found) return "Computing…";
  if (found.problem) return found.problem;
  const what =
    of === "heads" ? "each head is switched off alone" : "each position alone is as in the other text";
  const direct = found.notDirect ? ` Direct effects are not shown: ${found.notDirect}.` : "";
  return (
    `How the ${found.title}, now ${number(found.before ?? Number.NaN, 3)}, changes when ${what} ` +
    `(warm colours: it grows; cold ones: it falls).${direct}`
  );
}
