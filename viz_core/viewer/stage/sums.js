/* How much the chosen queries give to the chosen keys: a bar for each head, and one number for all of
   them. The server sums, from the full patterns, whenever other tokens are chosen. */

import { Choice } from "../browser/choice.js";
import { button, el, reveal, shorten } from "../browser/dom.js";
import { number } from "../browser/numbers.js";
import { barsOf, rowOf, weightCell } from "../browser/tables.js";
import { t } from "../browser/words.js";
import { measureOf, placesOf } from "./data.js";
import { upTo } from "./view.js";

/** @import { View, Stack } from "./types" */
/** @import { Place } from "./data.js" */
/** @typedef {"query" | "key"} Role */

/** The positions below `count`, in order. @param {string} written @param {number} count */
export function positionsOf(written, count) {
  /** @type {Set<number>} */ const positions = new Set();
  for (const part of written.split(".").filter(Boolean)) {
    const [first, last = first] = part.split("-").map(Number);
    for (let at = first; at <= Math.min(last, count - 1); at++) positions.add(at);
  }
  return [...positions].sort((a, b) => a - b);
}

/** Positions in order, as a link writes them. @param {number[]} positions */
export function writtenAs(positions) {
  /** @type {[number, number][]} */ const ranges = [];
  for (const at of positions) {
    const range = ranges[ranges.length - 1];
    if (range && range[1] === at - 1) range[1] = at;
    else ranges.push([at, at]);
  }
  return ranges.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(".");
}

/** What is chosen: as the state of the view says, and where it leaves one side open all queries, or the
   marked key. Where it leaves both open, what is worth asking of the text, else how the marked query looks at
   the marked key.
   @param {Pick<View, "queries" | "keys" | "query" | "key">} view
   @param {Pick<Stack, "nQuery" | "nKey">} stack @param {{queries: number[], keys: number[]}} [asks] */
export function chosenOf({ queries, keys, query, key }, { nQuery, nKey }, asks) {
  const some = positionsOf(queries, nQuery);
  const of = positionsOf(keys, nKey);
  if (!some.length && !of.length) return asks ?? { queries: [query], keys: [key] };
  return { queries: some.length ? some : upTo(nQuery), keys: of.length ? of : [key] };
}

/** What is chosen after a press on a token: it joins or leaves; with `through`, all from the one that was
   pressed before join. One always stays.
   @param {number[]} chosen @param {number} at @param {number | null} through */
export function afterPress(chosen, at, through) {
  const now = new Set(chosen);
  if (through !== null) {
    const [first, last] = [Math.min(at, through), Math.max(at, through)];
    for (let each = first; each <= last; each++) now.add(each);
  } else if (!now.delete(at)) now.add(at);
  return now.size ? [...now].sort((a, b) => a - b) : chosen;
}

/** The heads that a mean is over.
   @param {Stack} stack @param {View} view @param {import("./types").Measure | undefined} measure
   @returns {Place[]} */
export function headsOver(stack, view, measure) {
  return placesOf(stack, { ...view, order: "layer" }, measure).filter(({ layer, head, passes }) => {
    if (view.over === "passing") return passes;
    if (view.over === "heads") return layer === view.layer && view.heads.includes(head);
    return view.over !== "layer" || layer === view.layer;
  });
}

/** The mean of the numbers of these heads. @param {number[]} values @param {Place[]} heads */
export const meanOf = (values, heads) => heads.reduce((sum, { at }) => sum + values[at], 0) / heads.length;

/** The heads with the largest numbers first. @param {number[]} values @param {Place[]} heads */
export const byValue = (values, heads) =>
  [...heads].sort((a, b) => values[b.at] - values[a.at] || a.at - b.at);

/** What the one number is. @param {{queries: number[], keys: number[]}} chosen @param {number} heads */
export function definitionOf({ queries, keys }, heads) {
  const on = keys.length === 1 ? "the chosen key" : `the ${keys.length} chosen keys together`;
  const over = queries.length === 1 ? "1 query" : `${queries.length} queries`;
  return `is the weight on ${on}, on average over ${over} and ${heads === 1 ? "1 head" : `${heads} heads`}.`;
}

const NOTE = "Press tokens to choose them, with Shift a range.";

export class SumsView {
  /** @type {{role: Role, at: number} | null} the token that was pressed last */ pressed = null;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.queries = new Tokens("query", this);
    this.keys = new Tokens("key", this);
    this.total = el("p", { class: "sum-total", "aria-live": "polite" });
    this.bars = el("tbody");
    const table = el("table", { class: "rows sum-rows", "aria-label": "Heads by their number" }, [this.bars]);
    const note = el("p", { class: "muted", text: NOTE });
    const left = el("div", { class: "sum-tokens" }, [this.queries.root, this.keys.root, note]);
    const scroll = el("div", { class: "sum-scroll", tabindex: "0" }, [table]);
    const right = el("div", { class: "sum-heads" }, [this.total, scroll]);
    this.root = el("div", { class: "view sums-view" }, [left, right]);
  }

  get chosen() {
    const { view, stack, data } = this.stage;
    return chosenOf(view, stack, data.header.asks?.[view.stack]);
  }

  get heads() {
    const { stack, view, data } = this.stage;
    return headsOver(stack, view, measureOf(data.header.measures, stack, view));
  }

  /** Of the take-away: the heads by their number in the stack. */
  among() {
    return this.heads.map(({ at }) => at);
  }

  get request() {
    const { queries, keys } = this.chosen;
    return { stack: this.stage.stack.id, queries: writtenAs(queries), keys: writtenAs(keys) };
  }

  /* What the server sent of what is chosen; null where it is of something else. */
  get answer() {
    const { sums } = this.stage.data.header;
    return String(sums?.asked) === String(Object.values(this.request)) ? sums : null;
  }

  /** @param {Role} role @param {number} at @param {boolean} through whether all up to it are chosen */
  press(role, at, through) {
    const name = role === "query" ? "queries" : "keys";
    const from = through && this.pressed?.role === role ? this.pressed.at : null;
    this.pressed = { role, at };
    this.choose({ [name]: afterPress(this.chosen[name], at, from) });
  }

  /** @param {Role} role @param {"all" | "special"} which */
  all(role, which) {
    const { stack, data } = this.stage;
    const [side, count] = role === "query" ? [stack.querySide, stack.nQuery] : [stack.keySide, stack.nKey];
    const places = which === "all" ? upTo(count) : (data.header.special?.[side] ?? []);
    this.choose({ [role === "query" ? "queries" : "keys"]: places });
  }

  /* The other side stays as it is chosen, and is no longer left open. */
  /** @param {{queries?: number[], keys?: number[]}} change */
  choose(change) {
    const { queries, keys } = { ...this.chosen, ...change };
    this.stage.set({ queries: writtenAs(queries), keys: writtenAs(keys) });
  }

  draw() {
    const { stack, data } = this.stage;
    const { queries, keys } = this.chosen;
    const special = data.header.special ?? {};
    this.queries.draw(data.names(stack, "query"), queries, Boolean(special[stack.querySide]?.length));
    this.keys.draw(data.names(stack, "key"), keys, Boolean(special[stack.keySide]?.length));
    this.drawHeads();
    if (!this.answer) this.stage.askOnce({ type: "sums", ...this.request });
  }

  drawHeads() {
    const { heads, answer } = this;
    if (!heads.length) return this.say("No head passes the filter; change the limit.");
    if (!answer?.values) return this.say(answer?.problem ?? "Summing…");
    const { values } = answer;
    this.total.replaceChildren(
      el("strong", { text: number(meanOf(values, heads), 4) }),
      ` ${t(definitionOf(this.chosen, heads.length))}`,
    );
    this.bars.replaceChildren(...byValue(values, heads).map((place) => this.row(place, values[place.at])));
  }

  /** @param {string} text */
  say(text) {
    this.total.replaceChildren(t(text));
    this.bars.replaceChildren();
  }

  /** @param {import("./data.js").Place} place @param {number} value */
  row({ layer, head, at }, value) {
    const { stage } = this;
    const { view, theme, stack } = stage;
    const open = layer === view.layer && head === view.head;
    const title = [`Open layer ${layer} head ${head}`, stack.labels[at]].filter(Boolean).join(": ");
    const onclick = () => stage.openHead({ layer, head });
    const name = button({ text: `L${layer} H${head}`, title, onclick });
    return rowOf({
      ...{ class: open ? "chosen" : null, "data-layer": layer, "data-head": head },
      name: { children: [name] },
      cells: [barsOf({ share: Math.min(1, value), colour: theme.accent }), weightCell(number(value, 4))],
    });
  }
}

/* The tokens of one side, of which some are chosen. */
class Tokens {
  /** @param {Role} role @param {SumsView} view */
  constructor(role, view) {
    const plural = role === "query" ? "queries" : "keys";
    this.tokens = new Choice(plural, (at, event) => view.press(role, at, event.shiftKey), `picked ${role}`);
    const chooser = (/** @type {"all" | "special"} */ text) =>
      button({ class: "link", text: t(text), onclick: () => view.all(role, text) });
    this.special = chooser("special");
    this.count = el("span", { class: "muted" });
    const parts = [el("strong", { text: t(plural) }), this.count, chooser("all"), this.special];
    const head = el("div", { class: `sum-head ${role}` }, parts);
    this.root = el("div", { class: "sum-side" }, [head, this.tokens.root]);
  }

  /** @param {{text: string}[]} tokens @param {number[]} chosen @param {boolean} special */
  draw(tokens, chosen, special) {
    const options = tokens.map(({ text }, value) => {
      return { value, text: shorten(text, 18), title: `${text} (${value})` };
    });
    this.tokens.update(options, chosen);
    this.count.textContent = t(`${chosen.length} of ${tokens.length}`);
    reveal(this.special, special);
  }
}
