/* The Markdown of our own texts, which is little. */

import { asTyped } from "../browser/dom.js";

/** @type {[string, RegExp][]} */ const MARKS = [
  ["strong", /\*\*(.+?)\*\*/g],
  ["em", /\*(.+?)\*/g],
  ["code", /`(.+?)`/g],
];

/** A text of ours as HTML: paragraphs, bold, emphasis, code and formulas are all that they use.
   @param {string} markdown */
export function html(markdown) {
  const pieces = asTyped(markdown)
    .split(/\$(.+?)\$/)
    .map((piece, at) => {
      if (at % 2) return `<span class=latex>${piece}</span>`;
      const plain = piece.replace(/\\([*_$])/g, "$1");
      return MARKS.reduce((said, [tag, marked]) => said.replace(marked, `<${tag}>$1</${tag}>`), plain);
    });
  return pieces.join("").replaceAll("\n\n", "<br><br>");
}
