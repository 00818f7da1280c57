/* A small switch on each head of the grid: off, the head gives nothing. */

import { el } from "../../shared/browser/dom.js";
import { isOff, switched } from "./edits.js";

/** @typedef {import("./grid.js").Plan} Plan */

const SIZE = { width: 24, height: 18 };

export class Switches {
  root = el("div", { class: "grid-switches" });
  shown = "";

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /** @param {Plan} plan */
  draw(plan) {
    const { data, view, stack } = this.stage;
    const { edits, editable } = data.header;
    const order = plan.places.map((place) => place.at);
    const signature = JSON.stringify([editable, edits, stack.id, order, plan.columns, plan.cell]);
    if (signature === this.shown) return;
    this.shown = signature;
    const places = editable ? plan.places : [];
    this.root.replaceChildren(
      ...places.map(({ layer, head }, at) => {
        const which = { stack: view.stack, layer, head };
        const off = isOff(edits, which);
        const lines = switched(edits, which, stack.heads);
        const left = ((at % plan.columns) + 1) * plan.cell - 6 - SIZE.width;
        const top = Math.floor(at / plan.columns) * (plan.cell + plan.label) + plan.cell - 2;
        return el("button", {
          type: "button",
          class: "switch",
          text: off ? "off" : "on",
          title: off ? "This head is off: press to have it again" : "Press to switch this head off",
          "aria-label": `Layer ${layer}, head ${head}, is ${off ? "off" : "on"}`,
          "aria-pressed": String(off),
          style: `left:${left}px;top:${top}px;width:${SIZE.width}px;height:${SIZE.height}px`,
          onclick: () => this.stage.act({ type: "edits", text: lines.join("\n") }),
        });
      }),
    );
  }
}
