/* The line under the story: what the model answers, and the ways to what stands beside the figure. */

import { el } from "../../shared/browser/dom.js";
import { translationOf } from "./caption.js";

const LONG_SENTENCE = 90; // characters; a longer sentence on what to see may take two lines

export class Said {
  translation = el("p", { class: "translation" });

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.beside = el("button", {
      type: "button",
      text: "side by side",
      title: "This head beside that of another text or model, or under one changed knob",
      onclick: () => stage.act({ type: "beside", ...this.place }),
    });
    this.root = el("div", { class: "said" }, [this.translation, this.beside, ...stage.drawers.buttons]);
  }

  /* The head that is open. */
  get place() {
    const { stack, view } = this.stage;
    return { stack: stack.id, layer: view.layer, head: view.head };
  }

  draw() {
    const { header } = this.stage.data;
    this.translation.replaceChildren(...translationOf(header));
    this.translation.classList.toggle("wraps", (header.see || "").length > LONG_SENTENCE);
    this.beside.classList.toggle("absent", !header.beside);
  }
}
