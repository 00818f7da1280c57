/* The frame around the cell of a picture that is pointed at, there or in another picture of the same axes. */

import { el } from "../browser/dom.js";

const LEAST = 7; // pixels of its sides: a smaller one is overlooked

/**
 * Where a cell is in a body: the pixels of its left upper corner and its sides, each side at least LEAST;
 * null where it is zoomed out of sight.
 * @param {{x: number[], y: number[]}} ranges from and to, as Plotly has them
 * @param {{left: number, top: number, width: number, height: number}} body
 * @param {number} row
 * @param {number} column
 */
export function boxOf({ x, y }, { left, top, width, height }, row, column) {
  const [wide, tall] = [width / Math.abs(x[1] - x[0]), height / Math.abs(y[1] - y[0])];
  // rows are drawn from the top, where an upright axis ends
  const middle = [(column - x[0]) / (x[1] - x[0]), (row - y[1]) / (y[0] - y[1])];
  if (middle.some((share) => share < 0 || share > 1)) return null;
  const [w, h] = [Math.max(LEAST, wide), Math.max(LEAST, tall)];
  return { left: left + middle[0] * width - w / 2, top: top + middle[1] * height - h / 2, w, h };
}

export class Cursor {
  /** @param {any} body Plotly's element */
  constructor(body) {
    this.body = body;
    this.root = el("i", { class: "cursor absent", "aria-hidden": "true" });
  }

  /** @param {number | undefined} row @param {number | undefined} column */
  show(row, column) {
    const { body, root } = this;
    const { layout } = body;
    const is = layout && row !== undefined && column !== undefined;
    const box = is ? boxOf(rangesOf(layout), this.place(layout), row, column) : null;
    root.classList.toggle("absent", !box);
    if (!box) return;
    const { left, top, w, h } = box;
    Object.assign(root.style, { left: `${left}px`, top: `${top}px`, width: `${w}px`, height: `${h}px` });
  }

  /** The body of the figure within the panel, in pixels. @param {any} layout */
  place({ width, height, margin: { l, r, t, b } }) {
    const { offsetLeft, offsetTop } = this.body;
    return { left: offsetLeft + l, top: offsetTop + t, width: width - l - r, height: height - t - b };
  }
}

/** @param {any} layout */
const rangesOf = ({ xaxis, yaxis }) => ({ x: xaxis.range, y: yaxis.range });
