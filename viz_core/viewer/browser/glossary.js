/* Explains terms where they stand; a message says what they mean (pages/shared/glossary.py). */

import { el } from "./dom.js";
import { page } from "./page.js";

export class Glossary {
  /** @param {Record<string, string>} sentences by terms in lower case */
  constructor(sentences) {
    this.sentences = sentences;
    const longestFirst = Object.keys(sentences).sort((a, b) => b.length - a.length);
    const terms = longestFirst.map((term) => term.replace(/[^\w\s<>-]/g, "\\$&"));
    this.any = new RegExp(`(?<!\\w)(${terms.join("|") || "(?!)"})(?!\\w)`, "i");
  }

  /** A text cut before and after each term: every second piece is one. @param {string} text */
  cut(text) {
    return text.split(this.any);
  }

  /** A text as nodes, its terms explained; **stars** make words bold. @param {string} text */
  nodes(text) {
    const explained = (/** @type {string} */ words) =>
      this.cut(words).map((piece, at) =>
        at % 2
          ? el("abbr", { text: piece, title: this.sentences[piece.toLowerCase()] })
          : document.createTextNode(piece),
      );
    return text
      .split("**")
      .flatMap((part, at) => (at % 2 ? [el("strong", {}, explained(part))] : explained(part)));
  }

  /** Captions, names of axes and of numbers, and tokens such as <eos>. @param {HTMLElement} root */
  explainIn(root) {
    /** @type {NodeListOf<HTMLElement>} */
    const all = root.querySelectorAll("figcaption, .axis, dt, th, h3, .term, .choice-label, .special");
    const isSpecial = (/** @type {string} */ text) => text.startsWith("<") && text in this.sentences;
    for (const words of all) {
      const isTerm = words.tagName !== "TH" || isSpecial(words.textContent ?? "");
      // A token may have been explained by a message before this one.
      if (isTerm || words.classList.contains("explained")) this.explain(words);
    }
  }

  /* The texts of the questions that are open, which a page may draw when it likes. */
  explainAsked() {
    if (document.documentElement.dataset.drawer !== "questions" || !page.questions) return;
    /** @type {NodeListOf<HTMLElement>} */
    const texts = document.querySelectorAll(`${page.questions} p`);
    for (const text of texts) this.explain(text);
  }

  /** Explains all terms in an element's text to whoever points at it. @param {HTMLElement} element */
  explain(element) {
    const terms = this.cut(element.textContent ?? "").filter((_, at) => at % 2);
    const sentences = new Set(terms.map((term) => this.sentences[term.toLowerCase()]));
    element.title = [...sentences].join("\n");
    element.classList.toggle("explained", sentences.size > 0);
  }
}
