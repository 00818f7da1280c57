// @ts-nocheck
/* Words around a panel. */

import { el } from "../browser/dom.js";

export function caption(spec) {
  return spec.title ? el("figcaption", { class: spec.role || "", text: spec.title }) : null;
}

/* What rows and columns are, written beside a matrix. */
export function withAxes(spec, body) {
  const named = (axis, side) =>
    axis ? el("span", { class: `axis ${side} ${axis}`, text: `${axis} →` }) : null;
  return el("div", { class: "with-axes" }, [
    named(spec.column_axis, "across"),
    named(spec.row_axis, "down"),
    body,
  ]);
}
