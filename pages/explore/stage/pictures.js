/* The picture that was read, what the model made of it, and where the chosen query looks in it. Pixels are
   grey, 0 is black. */

import { el, fitCanvas } from "../../shared/browser/dom.js";
import { imageOf } from "../../shared/browser/images.js";

const PICTURE_SIDE = 84;
const GREYS = Uint8ClampedArray.from({ length: 3 * 256 }, (_, at) => Math.floor(at / 3));

export class Pictures {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = el("div", { class: "pictures" });
    this.shown = "";
  }

  /* The header's pictures are rows of levels 0..255; its places say who reads each pixel. */
  draw() {
    const { pictures = [], places } = this.stage.data.header;
    const signature = JSON.stringify(pictures);
    if (signature !== this.shown) {
      this.shown = signature;
      this.root.replaceChildren(...pictures.map(({ title, levels }) => this.figure(levels, title).root));
      this.looked = places && this.figure(pictures[0].levels, "");
      if (this.looked) this.root.append(this.looked.root);
    }
    if (this.looked && places) this.look(this.looked, pictures[0].levels, places);
  }

  /** @param {number[][]} levels @param {string} title */
  figure(levels, title) {
    const canvas = el("canvas", { role: "img", "aria-label": title });
    const caption = el("figcaption", { class: "muted", text: title });
    this.paint(canvas, levels);
    return { canvas, caption, root: el("figure", {}, [canvas, caption]) };
  }

  /** @param {HTMLCanvasElement} canvas @param {number[][]} levels */
  paint(canvas, levels) {
    const [height, width] = [levels.length, levels[0].length];
    const flat = levels.flat();
    const context = fitCanvas(canvas, (PICTURE_SIDE * width) / height, PICTURE_SIDE);
    context.imageSmoothingEnabled = false;
    context.drawImage(
      imageOf(width, height, (at) => flat[at], GREYS),
      0,
      0,
      (PICTURE_SIDE * width) / height,
      PICTURE_SIDE,
    );
    return context;
  }

  /**
   * The accent lies on a pixel as thick as the weight of the position that reads it, the greatest on 0.85.
   * @param {{canvas: HTMLCanvasElement, caption: HTMLElement}} looked
   * @param {number[][]} levels
   * @param {number[][]} places
   */
  look(looked, levels, places) {
    const { stage } = this;
    const context = this.paint(looked.canvas, levels);
    const row = stage.row(stage.view.query);
    const weights = places.map((line) => line.map((at) => row?.weights[at - row.k0] ?? 0));
    const most = Math.max(...weights.flat()) || 1;
    const side = PICTURE_SIDE / levels.length;
    context.fillStyle = stage.theme.accent;
    weights.forEach((line, i) =>
      line.forEach((weight, j) => {
        context.globalAlpha = (0.85 * weight) / most;
        context.fillRect(j * side, i * side, side, side);
      }),
    );
    context.globalAlpha = 1;
    const query = stage.data.tokens(stage.stack.querySide)[stage.view.query].text;
    looked.caption.textContent = `where ${query} looks`;
    looked.canvas.setAttribute("aria-label", `where ${query} looks`);
  }
}
