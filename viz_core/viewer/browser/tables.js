/* Tables: rows that begin with their name; bars in them, and cells in the colours of their numbers. */

import { el } from "./dom.js";
import { cssColour, inkOn } from "./images.js";

/** @import { Attributes, Children } from "./dom.js" */
/** @typedef {string | (Attributes & {children?: Children})} Cell what stands in it, or how it is */
/** @typedef {{name: Cell, cells: (Cell | null | false | undefined)[]} & Attributes} Row its name first */

/** @param {"td" | "th"} tag @param {Cell} cell @param {Attributes} more */
function cellOf(tag, cell, more = {}) {
  const { children, ...attributes } = typeof cell === "string" ? { text: cell } : cell;
  return el(tag, { ...more, ...attributes }, children);
}

/** A row of a table. @param {Row} row */
export const rowOf = ({ name, cells, ...attributes }) =>
  el("tr", attributes, [
    cellOf("th", name, { scope: "row" }),
    ...cells.map((cell) => (cell || cell === "") && cellOf("td", cell)),
  ]);

/** @param {Attributes} attributes @param {Row[]} rows @param {Cell[]} [columns] their names, if any */
export function tableOf(attributes, rows, columns) {
  const names = columns?.map((name) => cellOf("th", name, { scope: "col" }));
  const head = names && el("thead", {}, [el("tr", {}, names)]);
  return el("table", attributes, [head, el("tbody", {}, rows.map(rowOf))]);
}

/** A number. @param {string} text @param {string} [title] with more digits @returns {Cell} */
export const weightCell = (text, title) => ({ class: "weight", text, title });

/** Bars below each other, each so long, in shares of the column.
   @param {{share: number, colour: string, from?: number}[]} bars @returns {Cell} */
export const barsOf = (...bars) => ({
  class: bars.length > 1 ? "bar two" : "bar",
  children: bars.map(({ share, colour, from = 0 }) =>
    el("span", { style: `margin-left:${100 * from}%;width:${100 * share}%;background:${colour}` }),
  ),
});

/** A cell in the colour of its number.
   @param {import("./images.js").Table} table @param {number} level of its colours, 0..255
   @param {Attributes & {children?: Children}} rest @returns {Cell} */
export function coloured(table, level, rest) {
  const at = Math.max(0, Math.min(255, Math.round(level)));
  return { class: "channel", style: `background:${cssColour(table, at)};color:${inkOn(table, at)}`, ...rest };
}
