/* What is written without the edits and with them, and the heads that the answer needs. */

import { button, el, region, reveal, shorten } from "../browser/dom.js";
import { number, shortNumber } from "../browser/numbers.js";
import { page } from "../browser/page.js";
import { barsOf, coloured, tableOf, weightCell } from "../browser/tables.js";
import { t } from "../browser/words.js";
import { outputsTable } from "./output.js";
import { MOVED, upTo } from "./view.js";

/** @import { Smallest, Header, Change } from "./types" */
/** @import { Framed } from "../browser/message.js" */

export class Answers {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.before = el("td", {});
    this.after = el("td", {});
    const search = () => stage.act({ type: "smallest", stack: stage.view.stack });
    this.search = button({ onclick: search });
    this.outcome = el("span", { "aria-live": "polite" });
    const take = () => stage.act({ type: "edits", text: this.lines.join("\n") });
    this.take = button({ text: "switch these off", onclick: take });
    const rowOf = (/** @type {string} */ text, /** @type {HTMLElement} */ cell) =>
      el("tr", {}, [el("th", { scope: "row", text: t(text) }), cell]);
    this.root = el("section", { class: "answers" }, [
      el("h3", { text: "What it writes, word by word to the end" }),
      el("table", {}, [el("tbody", {}, [rowOf("before", this.before), rowOf("after", this.after)])]),
      el("div", { class: "choice search" }, [this.search, this.outcome, this.take]),
    ]);
  }

  /** @type {string[]} */ lines = [];

  draw() {
    const { data, stack, view } = this.stage;
    const { writes, written, smallest } = data.header;
    reveal(this.root, writes);
    if (!writes) return;
    if (!written?.asked) this.stage.askOnce({ type: "written" });
    const waits = t(written?.problem ?? "…");
    this.before.textContent = written?.before ?? waits;
    this.after.textContent = written?.after ?? waits;
    this.after.classList.toggle("other", written?.before !== written?.after);
    const search = smallest?.asked?.[0] === view.stack ? smallest : undefined;
    this.search.textContent = t(`which heads of ${stack.title} does the answer need?`);
    this.search.classList.toggle("absent", Boolean(search) || !page.computes);
    this.lines = search?.lines ?? [];
    this.outcome.textContent = t(searchSentence(search));
    reveal(this.take, this.lines.length);
  }
}

/** What a search has found. @param {Smallest | undefined} search */
export function searchSentence(search) {
  if (!search) return "";
  if (search.problem) return search.problem;
  const { lines = [], answer, tried, whole = 0, heads } = search;
  if (!lines.length) {
    const all = whole === heads ? "No set of them" : `No set of up to ${whole} of its ${heads} heads`;
    return `${all} alone changes the answer when off; ${tried} sets were tried. `;
  }
  const without = lines.map(nameOf).join(" and ");
  const fewer = whole ? `No ${whole === 1 ? "single head" : `set of up to ${whole}`} is enough. ` : "";
  return `${fewer}Without ${without} it writes “${answer}”; ${tried} sets were tried. `;
}

/** The heads that a line switches off, in words. @param {string} line */
function nameOf(line) {
  const [, layer, kind, heads] = /\.(\d+)\.(self|cross) heads ([\d,]+):/.exec(line) ?? [];
  const which = heads.includes(",") ? `heads ${heads.replaceAll(",", ", ")}` : `head ${heads}`;
  return kind === "self"
    ? `self-attention layer ${layer} ${which}`
    : `cross-attention layer ${layer} ${which}`;
}

const MOST_POSITIONS = 128;

export class EffectView {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.answers = new Answers(stage);
    this.root = region("view effect-view", "Effect of the edits");
  }

  draw() {
    const { header } = this.stage.data;
    const { change } = header;
    if (!change) return;
    this.answers.draw();
    this.root.replaceChildren(
      this.answers.root,
      el("div", { class: "effect-columns" }, [this.outputs(header, change), this.positions(header, change)]),
      ...this.streams(header, change),
    );
  }

  /** Where an answer is read of all positions there is one row, else one a token.
     @param {Header} header @param {number} at */
  nameAt({ pooled, tokens, stepSide }, at) {
    return pooled ? "the text" : (tokens[stepSide][at]?.text ?? "");
  }

  /** The likeliest outputs at the step that is open, with and without the edits.
     @param {Header} header @param {Change} change */
  outputs(header, { outputs, kl }) {
    const at = Math.min(this.stage.view.step, outputs.length - 1);
    if (at < 0) return el("section");
    const { theme } = this.stage;
    const title = header.pooled ?? `At “${shorten(this.nameAt(header, at), 18)}”`;
    return el("section", { class: "next" }, [
      el("h3", { text: title }),
      outputsTable(outputs[at], [theme.muted, theme.accent], ["before", "after"]),
      el("p", { class: "muted", text: `KL(before ‖ after) is ${number(kl[at], 3)} nats here.` }),
    ]);
  }

  /** The divergence at each position, and what the likeliest output became.
     @param {Header} header @param {Change} change */
  positions(header, { kl, outputs }) {
    if (header.pooled || kl.length < 2) return el("section");
    const most = Math.max(...kl, 1e-9);
    const { theme, view } = this.stage;
    const rows = kl.slice(0, MOST_POSITIONS).map((value, at) => {
      const [before, after] = [1, 2].map((which) => best(outputs[at], which));
      const became = before === after ? before : `${before} → ${after}`;
      const text = shorten(this.nameAt(header, at), 16);
      const onclick = () => this.stage.set({ step: at });
      const name = button({ class: "link", text, "aria-pressed": String(at === view.step), onclick });
      return {
        class: before === after ? null : "chosen",
        name: { children: [name] },
        cells: [
          barsOf({ share: value / most, colour: theme.accent }),
          weightCell(number(value, 2)),
          { class: "became", text: shorten(became, 36), title: became },
        ],
      };
    });
    return el("section", { class: "positions" }, [
      el("h3", { text: "KL(before ‖ after) in nats, and the likeliest output" }),
      el("div", { class: "positions-scroll" }, [tableOf({ class: "rows" }, rows)]),
    ]);
  }

  /** How far the residual stream moved, a table for each stack.
     @param {Header} header @param {Change} change */
  streams(header, { stream }) {
    const all = /** @type {["encoder" | "decoder", Framed][]} */ (Object.entries(stream));
    const every = all.flatMap(([, { values }]) => Array.from(values, Number));
    const most = every.reduce((one, other) => Math.max(one, other), 1e-9);
    return all.map(([side, moved]) => {
      const [places, count] = [moved.size(2), Math.min(moved.size(1), MOST_POSITIONS)];
      const values = /** @type {ArrayLike<number>} */ (moved.values);
      const { layers } = this.stage.data.stack(`${side}.self`);
      const entering = layers[0] ? `entering layer ${layers[0]}` : "entering";
      const rows = upTo(places).map((place) => ({
        name: place ? `after layer ${layers[place - 1]}` : entering,
        cells: upTo(count).map((at) => {
          const value = values[place * moved.size(1) + at];
          return coloured(this.stage.theme.sequential, (255 * value) / most, { text: shortNumber(value) });
        }),
      }));
      const names = header.tokens[side].slice(0, count).map(({ text }) => shorten(text, 8));
      return el("section", {}, [
        el("h3", { text: `${MOVED[side]}: ‖after − before‖ / ‖before‖` }),
        tableOf({ class: "stream" }, rows, ["", ...names]),
      ]);
    });
  }
}

/** The likeliest output before (1) or after (2).
   @param {[string, number, number][]} outputs @param {number} which */
function best(outputs, which) {
  const of = (/** @type {any} */ row) => row[which];
  return outputs.reduce((top, row) => (of(row) > of(top) ? row : top))[0];
}
