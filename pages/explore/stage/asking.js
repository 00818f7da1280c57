/* What the stage asks the server for: numbers of a head that were too many to send, and what is computed only
   when it is wished. */

import { fitting, wish } from "./further.js";

export class Asking {
  /** @type {string | undefined} what was asked for last */ asked;
  /** @type {string | undefined} what was to be computed last */ wished;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /* Large traces come with the numbers of the open head alone: ask for others, and for another window; and
     for thumbnails without special tokens, or with them. */
  ask() {
    const { stack, view, data } = this.stage;
    const { layer, head, q0, k0 } = view;
    if (view.view === "picture" && this.stage.row(view.query)) return; // whole rows are here
    const exact = this.stage.exactHead();
    const partly = exact && (exact.nq < stack.nQuery || exact.nk < stack.nKey);
    const outside = partly && (exact.q0 !== q0 || exact.k0 !== k0);
    const special = data.how;
    const need = `${JSON.stringify(data.header.link)} ${[stack.id, layer, head, q0, k0, special].join("/")}`;
    if (exact && !outside && data.fits) return this.wish();
    if (this.asked === need) return;
    this.asked = need;
    this.stage.act({ type: "open", stack: stack.id, layer, head, q0, k0, special });
  }

  /* What is to be computed of the open head when its other numbers are here. */
  wish() {
    const { header } = this.stage.data;
    const wished = wish(this.stage.view);
    const need = `${JSON.stringify(header.link)} ${JSON.stringify(wished)}`;
    if (!wished || this.wished === need || fitting(header.further, wished)) return;
    this.wished = need;
    this.stage.act(wished);
  }
}
