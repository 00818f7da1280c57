/* Words around a panel. */

import { el } from "../browser/dom.js";

/** @param {{title: string, role?: string}} spec */
export function caption(spec) {
  return spec.title ? el("figcaption", { class: spec.role || "", text: spec.title }) : null;
}

/**
 * What rows and columns are, written beside a matrix.
 * @param {{row_axis: string, column_axis: string}} spec
 * @param {HTMLElement} body
 */
export function withAxes(spec, body) {
  /** @param {string} axis @param {string} side */
  const named = (axis, side) =>
    axis ? el("span", { class: `axis ${side} ${axis}`, text: `${axis} →` }) : null;
  return el("div", { class: "with-axes" }, [
    named(spec.column_axis, "across"),
    named(spec.row_axis, "down"),
    body,
  ]);
}
