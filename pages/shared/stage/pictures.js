/* The picture that was read and, beside it, what the model made of it: grey as they are, black is 0 and white 1. */

const PICTURE_SIDE = 84;
const GREYS = Uint8ClampedArray.from({ length: 3 * 256 }, (_, at) => Math.floor(at / 3));

class Pictures {
  constructor() {
    this.root = el("div", { class: "pictures" });
    this.shown = "";
  }

  /* pictures: [{title, levels: [row][column] of 0..255}] */
  draw(pictures) {
    const signature = JSON.stringify(pictures);
    if (signature === this.shown) return;
    this.shown = signature;
    this.root.replaceChildren(...pictures.map((picture) => this.figure(picture)));
  }

  figure({ title, levels }) {
    const [height, width] = [levels.length, levels[0].length];
    const flat = levels.flat();
    const canvas = el("canvas", { role: "img", "aria-label": title });
    const shown = (PICTURE_SIDE * width) / height;
    const context = fitCanvas(canvas, shown, PICTURE_SIDE);
    context.imageSmoothingEnabled = false;
    context.drawImage(imageOf(width, height, (at) => flat[at], GREYS), 0, 0, shown, PICTURE_SIDE);
    return el("figure", {}, [canvas, el("figcaption", { class: "muted", text: title })]);
  }
}
