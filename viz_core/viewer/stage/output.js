/* View 5: the most probable next tokens at the chosen step, and the antecedent that the encoder names for
   each pronoun. */

import { button, el, region, shorten } from "../browser/dom.js";
import { number } from "../browser/numbers.js";
import { barsOf, tableOf, weightCell } from "../browser/tables.js";
import { t } from "../browser/words.js";

/** @import { Header } from "./types" */

/** Outputs with their probabilities, as bars and as numbers.
   @param {[name: string, ...probabilities: number[]][]} outputs
   @param {string[]} colours of the probabilities @param {string[]} columns their names, if any
   @param {string | null} chosen the output that stands out */
export function outputsTable(outputs, colours, columns, chosen = null) {
  const rows = outputs.map(([name, ...probabilities]) => ({
    class: name === chosen ? "chosen" : null,
    name: { text: shorten(name, 20), title: name },
    cells: [
      barsOf(...probabilities.map((share, at) => ({ share, colour: colours[at] }))),
      ...probabilities.map((share) => weightCell(number(share, 3))),
    ],
  }));
  return tableOf({ class: "rows" }, rows, columns.length ? ["", "", ...columns.map(t)] : undefined);
}

export class OutputView {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = region("view output-view", "Output");
  }

  draw() {
    const { header } = this.stage.data;
    this.root.replaceChildren(
      this.sentence(header),
      el("div", { class: "output-columns" }, [this.bars(header), this.antecedents(header)]),
    );
  }

  /** The tokens as buttons: choose one to see the step that reads it. @param {Header} header */
  sentence({ pooled, steps, stepSide, tokens }) {
    const { view } = this.stage;
    // a decoder's step is known by what comes next, as far as that is written
    const names = steps.slice(0, 128).map(({ chosen }, at) => {
      return chosen ?? (stepSide === "decoder" ? "?" : tokens[stepSide][at].text);
    });
    const buttons = names.map((name, at) =>
      button({
        "aria-pressed": String(at === view.step),
        "data-step": at,
        text: shorten(name, 18),
        onclick: () => this.choose(at),
      }),
    );
    const attributes = { class: pooled ? "steps absent" : "steps", role: "group", "aria-label": t("Steps") };
    return el("div", attributes, buttons);
  }

  /** @param {number} at */
  choose(at) {
    this.stage.set({ step: at });
    /** @type {HTMLElement | null} */
    const button = this.root.querySelector(`.steps button[data-step="${at}"]`);
    button?.focus();
  }

  /** @param {Header} header */
  bars(header) {
    const { view, theme } = this.stage;
    const step = header.steps[view.step];
    if (!step) return el("section");
    const { text } = header.tokens[header.stepSide][view.step];
    const after = header.stepSide === "decoder" ? `Step ${view.step + 1}: after “${text}” comes` : "";
    const title = header.pooled ?? (after || `Read at “${text}”`);
    return el("section", { class: "next" }, [
      el("h3", { text: title }),
      outputsTable(step.top, [theme.accent], [], step.chosen),
      el("p", { class: "muted", text: header.stepNote }),
    ]);
  }

  /** @param {Header} header */
  antecedents(header) {
    if (!header.antecedents) return null;
    const items = header.antecedents.map((a) => ({
      name: header.tokens.encoder[a.position].text,
      cells: [{ class: "named", text: `→ ${a.word}` }, weightCell(number(a.probability, 3))],
    }));
    const none = el("p", { class: "muted", text: "No pronoun of the third person in this sentence." });
    return el("section", { class: "antecedents" }, [
      el("h3", { text: "The noun that the encoder names for each pronoun" }),
      items.length ? tableOf({ class: "rows" }, items) : none,
    ]);
  }
}
