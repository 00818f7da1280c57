/* Explains terms where they stand; a message says what they mean (pages/shared/glossary.py). */

import { el } from "./dom.js";
import { findAll, page } from "./page.js";
import { tIfWords } from "./words.js";

/* One box for all terms of a page: who points at one, reaches it by key or taps it reads its sentence below
   it, until another place is pointed at, the focus goes on, the page scrolls or Escape is pressed. */
function box() {
  const meaning = el("div", { popover: "manual", "aria-hidden": "true", class: "lab-meaning" });
  meaning.style.cssText = `position: fixed; inset: auto; margin: 0; max-width: min(22rem, 90vw); border: 0;
    border-radius: 8px; padding: 8px 12px; background: #17212b; color: #fff; font: 14px/1.4 sans-serif;
    white-space: pre-line; pointer-events: none; box-shadow: 0 4px 16px rgb(0 0 0 / 0.3)`;
  return meaning;
}

/** @param {Event} event */
function explainAt(event) {
  const found = event.composedPath().find((node) => node instanceof HTMLElement && node.dataset.means);
  const term = /** @type {HTMLElement | undefined} */ (found);
  if (event instanceof KeyboardEvent && event.key !== "Escape") return;
  document.querySelector(".lab-meaning")?.remove();
  if (!term || ["focusout", "keydown", "scroll"].includes(event.type)) return;
  const meaning = box();
  meaning.textContent = term.dataset.means ?? "";
  document.body.append(meaning);
  meaning.showPopover();
  const { left, top, bottom } = term.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = meaning;
  meaning.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  meaning.style.top = `${bottom + 6 + height > innerHeight ? top - height - 6 : bottom + 6}px`;
}

for (const type of ["pointerover", "focusin", "focusout", "click", "keydown", "scroll"])
  globalThis.document?.addEventListener(type, explainAt, true);

/** What a term means, for whoever asks for it there; "" for nothing.
   @param {HTMLElement} term @param {string} sentences */
function mean(term, sentences) {
  if (sentences && !term.closest("a, button, label, summary")) term.setAttribute("tabindex", "0");
  else term.removeAttribute("tabindex");
  for (const name of ["data-means", "aria-description"])
    if (sentences) term.setAttribute(name, sentences);
    else term.removeAttribute(name);
  return term;
}

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
          ? mean(el("abbr", { text: piece }), tIfWords(this.sentences[piece.toLowerCase()]))
          : document.createTextNode(piece),
      );
    return text
      .split("**")
      .flatMap((part, at) => (at % 2 ? [el("strong", {}, explained(part))] : explained(part)));
  }

  /** Captions, names of axes and of numbers, and tokens such as <eos>. @param {HTMLElement} root */
  explainIn(root) {
    const all = findAll("figcaption, .axis, dt, th, h3, .term, .choice-label, .special", root);
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
    for (const text of findAll(`${page.questions} p`)) this.explain(text);
  }

  /** Explains all terms in an element's text to whoever points at it. @param {HTMLElement} element */
  explain(element) {
    const terms = this.cut(element.textContent ?? "").filter((_, at) => at % 2);
    const sentences = new Set(terms.map((term) => tIfWords(this.sentences[term.toLowerCase()])));
    mean(element, [...sentences].join("\n"));
    element.classList.toggle("explained", sentences.size > 0);
  }
}
