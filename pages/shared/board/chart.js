/* What drawn panels have in common: a picture as wide as its place, drawn anew when size or theme change. */

import { el, svg } from "../browser/dom.js";
import { caption } from "./words.js";

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
