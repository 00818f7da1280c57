/* Beside the map: the brightest pairs, and where one query and one key look. */

import { button, el, region } from "../browser/dom.js";
import { anyNumber } from "../browser/numbers.js";
import { t } from "../browser/words.js";

/** @typedef {{query: number, key: number, weight: number, words: string[][]}} Pair */
/** @typedef {{queries: string[], keys: string[]}} Tokens */
/** @typedef {[number, number][]} Weights positions with their weights */
/** @typedef {{query: number, key: number, weight: number, row: Weights, column: Weights}} Looked */

const IN_SIGHT = 5;

export class Lists {
  /** @param {(query: number, key: number) => void} visit */
  constructor(visit) {
    this.visit = visit;
    /** @type {string | undefined} */ this.looking = undefined;
    this.root = region("lists", "Pairs");
    this.unfolded = false;
  }

  /** @param {Looked | undefined} looked @param {any[]} pairs @param {Tokens} tokens @param {string} note */
  draw(looked, pairs, tokens, note) {
    if (looked && `${looked.query} ${looked.key}` !== this.looking) this.root.scrollTop = 0;
    this.looking = looked && `${looked.query} ${looked.key}`;
    this.root.replaceChildren(
      ...(looked ? this.looked(looked, tokens) : []),
      el("h2", { text: "Brightest pairs" }),
      ...(note ? [el("p", { class: "muted", text: note })] : []),
      ...this.folded(pairs.map((/** @type {Pair} */ pair) => this.pair(pair))),
    );
  }

  /** A list whose first entries are in sight. @param {HTMLElement[]} entries */
  folded(entries) {
    const rest = entries.splice(IN_SIGHT);
    const ontoggle = () => (this.unfolded = more.open);
    const summary = el("summary", { class: "muted", text: `${rest.length} more` });
    const more = el("details", { open: this.unfolded, ontoggle }, [summary, el("ol", {}, rest)]);
    return [el("ol", {}, entries), ...(rest.length ? [more] : [])];
  }

  /** @param {Pair} pair */
  pair({ query, key, weight, words: [asks, is] }) {
    const text = (/** @type {string[]} */ [before, at, after], /** @type {string} */ role) =>
      el("span", {}, [`${before} `, el("strong", { class: role, text: at }), ` ${after}`]);
    return el("li", {}, [
      button({ class: "pair", onclick: () => this.visit(query, key) }, [
        el("span", { class: "weight", text: anyNumber(weight) }),
        ...[" ", text(asks, "query"), " ", el("span", { class: "muted", text: "looks at" })],
        ...[" ", text(is, "key")],
      ]),
    ]);
  }

  /** @param {Looked} looked @param {Tokens} tokens */
  looked({ query, key, row, column }, { queries, keys }) {
    const labelOf = (/** @type {string[]} */ tokens) => (/** @type {number} */ at) =>
      `${at.toLocaleString("en")} “${tokens[at]}”`;
    const [queryLabel, keyLabel] = [labelOf(queries), labelOf(keys)];
    const list = (
      /** @type {[number, number][]} */ weights,
      /** @type {(at: number) => string} */ name,
      /** @type {(at: number) => void} */ open,
    ) =>
      this.folded(
        weights.map(([at, weight]) =>
          el("li", {}, [
            button({ class: "pair", onclick: () => open(at) }, [
              el("span", { class: "weight", text: anyNumber(weight) }),
              ...[" ", el("span", { text: name(at) })],
            ]),
          ]),
        ),
      );
    return [
      el("h2", {}, [`${t("Query")} `, el("strong", { class: "query", text: queryLabel(query) })]),
      el("p", { class: "muted", text: "looks most at" }),
      ...list(row, keyLabel, (at) => this.visit(query, at)),
      el("h2", {}, [`${t("Key")} `, el("strong", { class: "key", text: keyLabel(key) })]),
      el("p", { class: "muted", text: "is looked at most by" }),
      ...list(column, queryLabel, (at) => this.visit(at, key)),
    ];
  }
}
