/* Words around panels, and what the colours of their numbers mean. */

import { el } from "../browser/dom.js";
import { cssColour } from "../browser/images.js";
import { t } from "../browser/words.js";

/** @import { Theme } from "../browser/theme.js" */
/** @typedef {{table: "diverging" | "sequential", ends: string[]}} Scale */

/** @param {{title: string, role?: string | null}} spec */
export function caption(spec) {
  return spec.title ? el("figcaption", { class: spec.role || "", text: spec.title }) : null;
}

/** What rows and columns are, written beside a matrix.
   @param {{row_axis: string, column_axis: string}} spec @param {HTMLElement} body */
export function withAxes(spec, body) {
  /** @param {string} axis @param {string} side */
  const named = (axis, side) =>
    axis ? el("span", { class: `axis ${side} ${axis}`, text: `${t(axis)} →` }) : null;
  return el("div", { class: "with-axes" }, [
    named(spec.column_axis, "across"),
    named(spec.row_axis, "down"),
    body,
  ]);
}

const STOPS = 9;

/** The scales whose colours numbers of these rows have, with what their two ends are called.
   @param {import("./specs").Spec[][]} rows @returns {Scale[]} */
export function scalesOf(rows) {
  const panels = /** @type {Partial<import("./specs").MatrixSpec>[]} */ (rows.flat());
  const hasSigned = panels.some(({ scale }) => scale === "signed");
  const shares = panels.filter(({ scale }) => scale === "weights").map(({ quantity }) => quantity);
  return [
    ...(hasSigned ? [/** @type {Scale} */ ({ table: "diverging", ends: ["below 0", "above 0"] })] : []),
    ...[...new Set(shares)].map(
      (quantity) => /** @type {Scale} */ ({ table: "sequential", ends: [`${t(quantity ?? "")} 0`, "1"] }),
    ),
  ];
}

/** A table's colours as CSS paints them from left to right. @param {Theme["diverging"]} table */
export function gradientOf(table) {
  const last = table.length / 3 - 1;
  const at = (/** @type {number} */ stop) => cssColour(table, Math.round((stop * last) / (STOPS - 1)));
  return `linear-gradient(to right, ${Array.from({ length: STOPS }, (_, stop) => at(stop)).join(", ")})`;
}

/** @param {import("./specs").Spec[][]} rows @param {Theme} theme */
export function legendNodes(rows, theme) {
  return scalesOf(rows).flatMap(({ table, ends }) => {
    const [first, last] = ends.map((text) => el("span", { class: "term", text }));
    const bar = el("i", { style: `background: ${gradientOf(theme[table])}` });
    return [first, bar, last];
  });
}
