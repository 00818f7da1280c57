/* The signs of an equation. */

import { el } from "../../browser/dom.js";

export class Panel {
  /** @param {import("../specs").Board} _board @param {import("../specs").SignSpec} spec */
  constructor(_board, spec) {
    this.spec = spec;
    this.needs = { fixed: 11 * spec.text.length, columns: 0 };
    this.root = el("div", { class: "sign", text: spec.text });
  }

  update() {}

  draw() {}

  read() {
    return [];
  }
}
