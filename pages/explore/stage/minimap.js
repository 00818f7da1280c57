/* The whole matrix of a head, small, where only a window of it is shown: a click moves the window. */

import { el, fitCanvas } from "../../shared/browser/dom.js";
import { imageOfBytes } from "../../shared/browser/images.js";

const SIDE = 190;

/**
 * Where a window of `size` begins whose middle is at `at`, within `count`.
 * @param {number} at
 * @param {number} count
 * @param {number} size
 */
export function windowAround(at, count, size) {
  return Math.max(0, Math.min(count - size, at - Math.floor(size / 2)));
}

export class MiniMap {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", {
      class: "minimap",
      role: "img",
      "aria-label": "The whole matrix; click to move the window",
      onclick: (/** @type {MouseEvent} */ event) => this.jump(event),
    });
    this.note = el("p", { class: "muted" });
    this.parts = [this.canvas, this.note];
  }

  /** @param {import("./types").Exact | null} exact the numbers that were sent */
  draw(exact) {
    const { stack, theme, passes, view } = this.stage;
    const windowed = exact && (exact.nq < stack.nQuery || exact.nk < stack.nKey);
    this.canvas.hidden = this.note.hidden = !windowed;
    if (!windowed) return;
    const { q0, k0, nq, nk } = exact;
    this.size = { nq, nk };
    const context = fitCanvas(this.canvas, SIDE, SIDE);
    const thumb = passes.after.thumb(stack, view.layer, view.head);
    const image = imageOfBytes(stack.thumbKey, stack.thumbQuery, thumb, theme.sequential);
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, SIDE, SIDE);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    const [across, down] = [SIDE / stack.nKey, SIDE / stack.nQuery];
    context.strokeRect(across * k0, down * q0, across * nk, down * nq);
    const shown = `Queries ${q0}–${q0 + nq - 1} and keys ${k0}–${k0 + nk - 1} of ${stack.nQuery}`;
    this.note.textContent = `${shown}. Click in the whole matrix to move there.`;
  }

  /** @param {MouseEvent} event */
  jump(event) {
    if (!this.size) return;
    const { stack } = this.stage;
    const box = this.canvas.getBoundingClientRect();
    const query = Math.floor(((event.clientY - box.top) / box.height) * stack.nQuery);
    const key = Math.floor(((event.clientX - box.left) / box.width) * stack.nKey);
    const q0 = windowAround(query, stack.nQuery, this.size.nq);
    const k0 = windowAround(key, stack.nKey, this.size.nk);
    this.stage.set({ q0, k0, query, key });
  }
}
