/* The question that the first page asks: without the heads that look there, does the model still say so? */

import { el } from "../../shared/browser/dom.js";
import { mostMoved, withoutLook } from "./edits.js";

export class WhatIf {
  /** @type {string | null} */ line = null;
  waits = false; // for the effect of what was asked

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = el("button", { type: "button", class: "link", onclick: () => this.ask() });
  }

  ask() {
    if (!this.line) return;
    this.waits = true;
    this.stage.act({ type: "edits", text: this.line });
  }

  /* Opens the effect as soon as it is here. */
  open() {
    const { change } = this.stage.data.header;
    if (this.waits && change) Object.assign(this.stage.view, { view: "effect", step: mostMoved(change.kl) });
    this.waits = false;
  }

  draw() {
    const { data, view } = this.stage;
    const { editable, writes, edits, focus } = data.header;
    this.line = editable && writes && !edits.length ? withoutLook(view, data, focus) : null;
    this.root.classList.toggle("absent", !this.line);
    const count = this.line?.split(",").length ?? 0;
    this.root.textContent = count === 1 ? "and without this head?" : `and without these ${count} heads?`;
    this.root.title = "Switches off the heads of this layer that give it half of their weight and more";
  }
}
