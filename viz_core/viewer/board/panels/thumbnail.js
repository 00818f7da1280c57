/* A small matrix without names: a press shows it in the board's large one, or moves the scrub there. */

import { button, el, fitCanvas } from "../../browser/dom.js";
import { imageOf, levelsBetween } from "../../browser/images.js";
import { between, play } from "../../browser/motion.js";
import { gridOf } from "../rows.js";
import { caption } from "../words.js";

/** @typedef {import("../specs").PictureSpec} Spec */

export class Panel {
  /** @type {ArrayLike<number> | null} the numbers that are seen */ shown = null;
  at = ""; // of which message and frame they are
  stop = () => {}; // ends the motion to others

  /** @param {import("../specs").Board} board @param {Spec} spec */
  constructor(board, spec) {
    this.board = board;
    this.spec = spec;
    this.view = el("canvas", { role: "img", "aria-label": spec.title || "matrix" });
    const press = { onclick: () => this.press(), "aria-label": `Show ${spec.title} large` };
    this.button = button({ class: "thumbnail", ...press }, [this.view]);
    this.root = el("figure", { class: "panel matrix small" }, [caption(spec), this.button]);
  }

  press() {
    const { board, spec } = this;
    if (spec.frame === null) return board.press(this);
    board.scrubber.stop();
    board.show(spec.frame);
  }

  /** Whether it is the one that is seen large. */
  get isShown() {
    const { board, spec } = this;
    return spec.frame === null ? board.pressed === this : board.frame === spec.frame;
  }

  /** @param {Spec} spec */
  update(spec) {
    this.spec = spec;
  }

  /* Takes its place on the page before it is drawn. */
  size() {
    const [rows, columns] = this.spec.values.shape.slice(-2);
    const most = this.board.most * (this.spec.frame === null ? 1 : 0.5); // what it moves is larger
    const cell = Math.min((this.root.clientWidth - 4) / columns, most / rows, 20);
    const size = { width: cell * columns, height: cell * rows };
    Object.assign(this.view.style, { width: `${size.width}px`, height: `${size.height}px` });
    return size;
  }

  /** @param {number} frame */
  read(frame) {
    return [gridOf(this.spec, frame, this.board)];
  }

  /** @param {number} frame */
  draw(frame) {
    const { board, spec } = this;
    this.button.setAttribute("aria-pressed", String(this.isShown));
    const [rows, columns] = spec.values.shape.slice(-2);
    const [{ zmin, zmax, colorscale }] = spec.chart.traces;
    const { width, height } = this.size();
    const table = board.theme[/** @type {"sequential" | "diverging"} */ (colorscale.name)];
    const [from, to] = [this.shown, spec.values.frame(frame, 2)];
    const at = `${board.header.generation}/${frame}`;
    const lasts = from && at !== this.at ? board.lasts : 0;
    this.at = at;
    this.stop();
    this.stop = play(lasts, (share) => {
      this.shown = between(from, to, share);
      const context = fitCanvas(this.view, width, height);
      context.imageSmoothingEnabled = false;
      const level = levelsBetween(/** @type {ArrayLike<number>} */ (this.shown), zmin, zmax);
      context.drawImage(imageOf(columns, rows, level, table), 0, 0, width, height);
    });
  }
}
