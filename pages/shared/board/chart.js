/* What drawn panels have in common: words around them, what their colours mean, and a picture as wide
   as its place, drawn anew when size or theme change. */

import { el, svg } from "../browser/dom.js";
import { cssColour } from "../browser/images.js";

/** @import { Theme } from "../browser/theme.js" */
/** @typedef {{table: "diverging" | "sequential", ends: string[]}} Scale */

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

const STOPS = 9;

/**
 * The scales whose colours numbers of these rows have, with what their two ends are called.
 * @param {import("./specs").Spec[][]} rows
 * @returns {Scale[]}
 */
export function scalesOf(rows) {
  const panels = /** @type {Partial<import("./specs").MatrixSpec>[]} */ (rows.flat());
  const hasSigned = panels.some(({ scale }) => scale === "signed");
  const shares = panels.filter(({ scale }) => scale === "weights").map(({ quantity }) => quantity);
  return [
    ...(hasSigned ? [/** @type {Scale} */ ({ table: "diverging", ends: ["below 0", "above 0"] })] : []),
    ...[...new Set(shares)].map(
      (quantity) => /** @type {Scale} */ ({ table: "sequential", ends: [`${quantity} 0`, "1"] }),
    ),
  ];
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
  return scalesOf(rows).flatMap(({ table, ends }) => {
    const [first, last] = ends.map((text) => el("span", { class: "term", text }));
    const bar = el("i", { style: `background: ${gradientOf(theme[table])}` });
    return [first, bar, last];
  });
}

/** @template {import("./specs").Spec} Spec */
export class Chart {
  /** @type {string | null} the size and the theme that it was prepared for */ ready = null;

  /** @param {import("./specs").Board} board @param {Spec} spec @param {string} kind */
  constructor(board, spec, kind) {
    this.board = board;
    this.spec = spec;
    this.picture = svg("svg", { role: "img", "aria-label": spec.title || kind });
    this.root = el("figure", { class: `panel chart ${kind}` }, [caption(spec), this.picture]);
  }

  /** @param {Spec} spec */
  update(spec) {
    this.spec = spec;
    this.ready = null;
  }

  /* How high it is; subclasses say it otherwise. */
  get height() {
    return Math.floor(this.board.heightOf() * 0.62);
  }

  /* Takes its place on the page; what is in it follows when it is drawn. */
  size() {
    const size = { width: Math.floor(this.root.clientWidth), height: this.height };
    for (const [name, pixels] of Object.entries(size)) this.picture.setAttribute(name, String(pixels));
    return size;
  }

  /** @param {number} frame */
  draw(frame) {
    const { width, height } = this.size();
    const key = `${width}/${height}/${this.board.theme.background}`;
    if (width > 0 && this.ready !== key) {
      this.ready = key;
      this.picture.replaceChildren();
      this.prepare(width, height);
    }
    if (this.ready) this.move(frame);
  }

  /** Draws what all frames share; subclasses extend this. @param {number} _width @param {number} _height */
  prepare(_width, _height) {}

  /** Draws what belongs to one frame. @param {number} _frame */
  move(_frame) {}
}
