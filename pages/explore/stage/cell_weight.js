/* The weight of the marked cell, to be set by hand: by a slider, by + and −, or by dragging the cell up and
   down with Shift held; and its row, to be painted. */

import { el } from "../../shared/browser/dom.js";
import { number } from "../../shared/browser/numbers.js";
import { bounded, withCell } from "./edits.js";
import { RowPaint } from "./row_paint.js";

/** @typedef {{query: number, key: number}} Place */

const STEP = 0.1;
const REACH = 160; // pixels of a drag from 0 to 1

export class CellWeight {
  /** @type {Place} */ place = { query: 0, key: 0 };

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.slider = el("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 0.01,
      "aria-label": "Set the weight of the marked cell",
      oninput: () => this.tell(),
      onchange: () => this.put(+this.slider.value),
    });
    this.value = el("output", {});
    this.shares = el("input", { type: "checkbox", checked: true });
    this.row = new RowPaint(stage, () => this.shares.checked);
    const title = "The other keys of the row share what is left, as they did before";
    this.root = el("div", { class: "cell-weight" }, [
      el("span", { class: "choice-label", text: "set its weight", "aria-hidden": "true" }),
      el("div", { class: "set" }, [this.slider, this.value]),
      el("label", { title }, [this.shares, " the rest of the row shares what is left"]),
      this.row.root,
    ]);
  }

  /** Whether a weight can be set here. */
  get isOpen() {
    const { data, view, exactHead } = this.stage;
    return data.header.editable && view.when === "after" && Boolean(exactHead.call(this.stage));
  }

  /** @param {Place} place @param {number | undefined} weight of it now */
  draw(place, weight) {
    this.root.classList.toggle("absent", !this.isOpen || this.stage.view.show !== "pattern");
    this.row.draw();
    this.place = place;
    this.slider.value = String(weight ?? 0);
    this.tell();
  }

  tell() {
    this.value.textContent = number(+this.slider.value, 2);
  }

  /** @param {number} weight */
  put(weight) {
    const { stage } = this;
    const lines = stage.data.header.edits;
    const at = { ...stage.view, ...this.place };
    const text = withCell(lines, at, bounded(weight), this.shares.checked).join("\n");
    stage.act({ type: "edits", text });
  }

  /** + and − change the marked cell. @param {KeyboardEvent} event */
  key(event) {
    const by = { "+": STEP, "-": -STEP }[event.key];
    if (!by || !this.isOpen) return;
    event.preventDefault();
    this.put(+this.slider.value + by);
  }

  /**
   * A drag up or down with Shift held, on the cell that the pointer is on.
   * @param {HTMLElement} board
   * @param {() => {place: Place, weight: number} | null} over
   */
  listen(board, over) {
    const begin = (/** @type {PointerEvent} */ event) => {
      const found = event.shiftKey && this.isOpen ? over() : null;
      if (!found) return;
      event.preventDefault();
      event.stopPropagation();
      board.setPointerCapture(event.pointerId);
      const weight = (/** @type {PointerEvent} */ moved) =>
        bounded(found.weight + (event.clientY - moved.clientY) / REACH);
      const move = (/** @type {PointerEvent} */ moved) => this.draw(found.place, weight(moved));
      const end = (/** @type {PointerEvent} */ moved) => {
        board.removeEventListener("pointermove", move);
        this.place = found.place;
        if (Math.abs(moved.clientY - event.clientY) > 2) this.put(weight(moved));
      };
      board.addEventListener("pointermove", move);
      board.addEventListener("pointerup", end, { once: true });
    };
    board.addEventListener("pointerdown", begin, { capture: true });
    // Plotly listens to the mouse
    const hold = (/** @type {MouseEvent} */ event) =>
      event.shiftKey && this.isOpen && event.stopPropagation();
    board.addEventListener("mousedown", hold, { capture: true });
  }
}
