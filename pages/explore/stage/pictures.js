/* The picture that was read, what the model made of it, and where the chosen query looks in it. */

import { el, fitCanvas } from "../../shared/browser/dom.js";
import { drain, imageFrom, lay, weighed } from "./seeing.js";
import { seenFrom } from "./view.js";

const PICTURE_SIDE = 84;

/** @typedef {import("../../shared/browser/message.js").Framed} Framed */
/** @typedef {HTMLCanvasElement} Canvas */
/** @typedef {{image: Canvas, canvas: Canvas, caption: HTMLElement, root: HTMLElement}} Figure */

export class Pictures {
  /** @type {Figure | null} */ looked = null;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = el("div", { class: "pictures" });
    /** @type {object | undefined} */
    this.shown = undefined;
  }

  /* The header's pictures are levels 0..255; its places say who reads each part. */
  draw() {
    const { pictures = [], places } = this.stage.data.header;
    if (pictures !== this.shown) {
      this.shown = pictures;
      this.root.replaceChildren(...pictures.map(({ title, levels }) => this.figure(levels, title).root));
      this.looked = places && pictures.length ? this.figure(pictures[0].levels, "") : null;
      if (this.looked) this.root.append(this.looked.root);
    }
    this.looked?.root.classList.toggle("absent", this.stage.view.view === "picture");
    if (this.looked && places) this.look(this.looked, places);
  }

  /** @param {Framed} levels @param {string} title @returns {Figure} */
  figure(levels, title) {
    const canvas = el("canvas", { role: "img", "aria-label": title });
    const caption = el("figcaption", { class: "muted", text: title });
    const image = imageFrom(levels);
    const root = el("figure", {}, [canvas, caption]);
    this.paint({ image, canvas, caption, root });
    return { image, canvas, caption, root };
  }

  /** @param {Figure} figure */
  paint({ image, canvas }) {
    const width = (PICTURE_SIDE * image.width) / image.height;
    const context = fitCanvas(canvas, width, PICTURE_SIDE);
    context.imageSmoothingEnabled = image.height > PICTURE_SIDE;
    context.drawImage(image, 0, 0, width, PICTURE_SIDE);
    return { context, width };
  }

  /** @param {Figure} looked @param {number[][]} places */
  look(looked, places) {
    const { stage } = this;
    const { context, width } = this.paint(looked);
    drain(context, width, PICTURE_SIDE);
    const seen = weighed(places, seenFrom(stage.view, stage.data, stage.view.query));
    lay(context, seen, stage.theme.accent, width, PICTURE_SIDE);
    const query = stage.data.tokens(stage.stack.querySide)[stage.view.query].text;
    looked.caption.textContent = `where ${query} looks`;
    looked.canvas.setAttribute("aria-label", `where ${query} looks`);
  }
}
