// @ts-nocheck
/* The signs of an equation. */

import { el } from "../../browser/dom.js";

export class Panel {
  constructor(_board, spec) {
    this.needs = { fixed: 11 * spec.text.length, columns: 0 };
    this.root = el("div", { class: "sign", text: spec.text });
  }

  update() {}

  draw() {}
}
