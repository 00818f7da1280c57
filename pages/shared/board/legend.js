/* What the colours of a board's numbers mean: a bar for each of their scales. */

import { el } from "../browser/dom.js";
import { cssColour } from "../browser/images.js";

/** @typedef {import("../browser/theme.js").Theme} Theme */

const STOPS = 9;
/** @type {Record<string, {table: "diverging" | "sequential", ends: [string, string]}>} */
const SCALES = {
  signed: { table: "diverging", ends: ["below 0", "above 0"] },
  weights: { table: "sequential", ends: ["weight 0", "1"] },
};

/** The scales whose colours numbers of these rows have. @param {import("./specs").Spec[][]} rows */
export function scalesOf(rows) {
  const used = new Set(rows.flat().map((panel) => ("scale" in panel ? panel.scale : "")));
  return Object.keys(SCALES).filter((scale) => used.has(scale));
}

/** A table's colours as CSS paints them from left to right. @param {Theme["diverging"]} table */
export function gradientOf(table) {
  const last = table.length / 3 - 1;
  const at = (/** @type {number} */ stop) => cssColour(table, Math.round((stop * last) / (STOPS - 1)));
  return `linear-gradient(to right, ${Array.from({ length: STOPS }, (_, stop) => at(stop)).join(", ")})`;
}

/**
 * @param {import("./specs").Spec[][]} rows
 * @param {Theme} theme
 */
export function legendNodes(rows, theme) {
  return scalesOf(rows).flatMap((scale) => {
    const { table, ends } = SCALES[scale];
    const [first, last] = ends.map((text) => el("span", { class: "term", text }));
    const bar = el("i", { style: `background: ${gradientOf(theme[table])}` });
    return [first, bar, last];
  });
}
