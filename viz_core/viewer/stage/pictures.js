/* The picture that was read, what the model made of it, and over it the weights of one position: press
   a part, or walk with the arrow keys, to ask from it. */

import { button, el, fitCanvas } from "../browser/dom.js";
import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";
import { readoutOf } from "./side.js";
import { heaviestKey, MOVES, seenFrom, upTo, within } from "./view.js";

/** @import { Framed } from "../browser/message.js" */
/** @import { Row } from "./types" */
/** @typedef {HTMLCanvasElement} Canvas */
/** @typedef {{image: Canvas, canvas: Canvas, caption: HTMLElement, root: HTMLElement}} Figure */

const STRONGEST = 0.85; // how thick the colour of the greatest weight lies

/** The parts that have each a position, with the weight of that position, and the greatest of these weights.
   @param {number[][]} places @param {Row | null} row */
export function weighed(places, row) {
  const weights = places.map((line) => line.map((at) => row?.weights[at - row.k0] ?? 0));
  return { weights, most: Math.max(...weights.flat()) };
}

/** The tokens that read no part of the picture. @param {number[][]} places @param {number} count */
export function elsewhere(places, count) {
  const read = new Set(places.flat());
  return upTo(count).filter((at) => !read.has(at));
}

/** The position that reads the point at these shares of the picture's height and width.
   @param {number[][]} places @param {number} down @param {number} along */
export function placeAt(places, down, along) {
  const line = places[within(Math.floor(down * places.length), places.length)];
  return line[within(Math.floor(along * line.length), line.length)];
}

/** The part that a position reads, as shares of the picture: from its first part to its last.
   @param {number[][]} places @param {number} at */
export function boxOf(places, at) {
  const [rows, columns] = [places.length, places[0].length];
  const parts = places.flatMap((line, i) => line.flatMap((each, j) => (each === at ? [[i, j]] : [])));
  if (!parts.length) return null;
  const [[top, left], [bottom, right]] = [parts[0], parts[parts.length - 1]];
  return {
    top: top / rows,
    left: left / columns,
    height: (bottom - top + 1) / rows,
    width: (right - left + 1) / columns,
  };
}

/** The position whose part lies so many parts further down and along; the same at an edge.
   @param {number[][]} places @param {number} at @param {[number, number]} by */
export function stepped(places, at, [down, along]) {
  const box = boxOf(places, at);
  if (!box) return places[0][0];
  return placeAt(places, box.top + box.height * (down + 0.5), box.left + box.width * (along + 0.5));
}

/** A picture in grey or in colour as an image of its own pixels. @param {Framed} levels */
export function imageFrom({ values, shape: [rows, columns, channels = 1] }) {
  const image = new ImageData(columns, rows);
  for (let at = 0; at < rows * columns; at++) {
    for (let c = 0; c < 3; c++) image.data[4 * at + c] = values[channels * at + (c % channels)];
    image.data[4 * at + 3] = 255;
  }
  const canvas = el("canvas", { width: columns, height: rows });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/** Takes the colours out of what is drawn, so that the weights over it have the only one.
   @param {CanvasRenderingContext2D} context @param {number} width @param {number} height */
export function drain(context, width, height) {
  context.globalCompositeOperation = "saturation";
  context.fillStyle = "#808080";
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = "source-over";
}

/** Lays a colour over a picture's parts, as thick as the weights of the positions that read them.
   @param {CanvasRenderingContext2D} context @param {ReturnType<typeof weighed>} weighed
   @param {string} colour @param {number} width @param {number} height */
export function lay(context, { weights, most }, colour, width, height) {
  const [down, along] = [height / weights.length, width / weights[0].length];
  context.fillStyle = colour;
  weights.forEach((line, i) =>
    line.forEach((weight, j) => {
      context.globalAlpha = (STRONGEST * weight) / (most || 1);
      context.fillRect(j * along, i * down, along, down);
    }),
  );
  context.globalAlpha = 1;
}

const PICTURE_SIDE = 84;

export class Pictures {
  /** @type {Figure | null} */ overlay = null;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = el("div", { class: "pictures" });
    /** @type {object | undefined} */ this.current = undefined;
  }

  /* The header's pictures are levels 0..255; its places say who reads each part. */
  draw() {
    const { pictures = [], places } = this.stage.data.header;
    if (pictures !== this.current) {
      this.current = pictures;
      this.root.replaceChildren(...pictures.map(({ title, levels }) => this.figure(levels, title).root));
      this.overlay = places && pictures.length ? this.figure(pictures[0].levels, "") : null;
      if (this.overlay) this.root.append(this.overlay.root);
    }
    this.overlay?.root.classList.toggle("absent", this.stage.view.view === "picture");
    if (!this.overlay || !places) return;
    const { canvas, caption } = this.overlay;
    const { data, stack, theme, view } = this.stage;
    const { context, width } = this.paint(this.overlay);
    drain(context, width, PICTURE_SIDE);
    const weights = weighed(places, seenFrom(view, data, view.query));
    lay(context, weights, theme.accent, width, PICTURE_SIDE);
    const looks = t(`where “${data.tokens(stack.querySide)[view.query].text}” looks`);
    caption.textContent = looks;
    canvas.setAttribute("aria-label", looks);
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
}

const MOST_SIDE = 720; // pixels; a larger picture shows no more

export class PictureView {
  /** @type {number | null} the position under the pointer */ over = null;
  size = { width: 0, height: 0 };
  /** @type {HTMLCanvasElement | undefined} */ image;
  /** @type {object | undefined} */ current;

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", { role: "img", "aria-label": "Attention over the picture" });
    this.board = el(
      "div",
      {
        class: "picture-board",
        tabindex: "0",
        role: "group",
        "aria-label": "Picture: press a part to ask from it",
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.walk(event),
        onpointermove: (/** @type {PointerEvent} */ event) => this.hover(this.under(event)),
        onpointerleave: () => this.hover(null),
        onclick: (/** @type {PointerEvent} */ event) => this.ask(this.under(event)),
      },
      [this.canvas],
    );
    this.tokens = el("div", {
      class: "choice choice-list",
      role: "group",
      "aria-label": "Tokens beside the patches",
    });
    this.readout = el("div", { class: "readout" });
    this.note = el("p", { class: "muted" });
    this.classes = el("div", {});
    this.side = el("div", { class: "side" }, [this.tokens, this.readout, this.note]);
    this.root = el("div", { class: "view picture-view" }, [this.board, this.side, this.classes]);
  }

  get places() {
    return this.stage.data.header.places ?? [[0]];
  }

  draw() {
    const { header } = this.stage.data;
    const [picture] = header.pictures ?? [];
    if (!picture) return;
    if (this.current !== picture) {
      this.current = picture;
      this.image = imageFrom(picture.levels);
    }
    this.over = null;
    this.fit();
    this.refresh();
    this.classes.replaceChildren(...(header.pooled ? [this.stage.views.output.bars(header)] : []));
  }

  /* As large as there is room for, each part on whole pixels. */
  fit() {
    const { width = 1, height = 1 } = this.image ?? {};
    const isBelow = this.side.offsetWidth >= this.root.clientWidth - 4; // on a narrow screen
    const across = this.root.clientWidth - (isBelow ? 8 : 2 * this.side.offsetWidth + 56);
    const down = isBelow ? MOST_SIDE : this.root.clientHeight - 8;
    const unit = Math.min(across / width, down / height, MOST_SIDE / Math.max(width, height));
    const step = Math.max(1, Math.floor((unit * width) / this.places[0].length));
    const scale = (step * this.places[0].length) / width;
    this.size = { width: scale * width, height: scale * height };
  }

  refresh() {
    const { stage, places, size, image } = this;
    if (!image) return;
    const row = stage.row(stage.view.query);
    const parts = weighed(places, row);
    const context = fitCanvas(this.canvas, size.width, size.height);
    context.imageSmoothingEnabled = image.height > size.height;
    context.drawImage(image, 0, 0, size.width, size.height);
    drain(context, size.width, size.height);
    lay(context, parts, stage.theme.accent, size.width, size.height);
    this.outline(context, this.over, stage.theme.key);
    this.outline(context, stage.view.query, stage.theme.query);
    this.drawTokens(row);
    this.read(row);
    this.note.textContent = t(
      row
        ? `The strongest colour is ${number(parts.most, 3)}. ${this.part(parts.weights)}`
        : "Reading this head's numbers…",
    );
  }

  /** How much of the row lies on the picture. @param {number[][]} weights */
  part(weights) {
    const { places, stage } = this;
    const weightOf = new Map(places.flatMap((line, i) => line.map((at, j) => [at, weights[i][j]])));
    const sum = [...weightOf.values()].reduce((a, b) => a + b, 0);
    return weightOf.size < stage.stack.nKey ? `All parts together have ${number(sum, 3)}.` : "";
  }

  /** @param {CanvasRenderingContext2D} context @param {number | null} at @param {string} colour */
  outline(context, at, colour) {
    const box = at === null ? null : boxOf(this.places, at);
    if (!box) return;
    const { width: wide, height: tall } = this.size;
    const { left, top, width, height } = box;
    context.strokeStyle = colour;
    context.lineWidth = 3;
    context.strokeRect(left * wide + 1.5, top * tall + 1.5, width * wide - 3, height * tall - 3);
  }

  /* The tokens that read no part, such as [CLS]: their weights, and buttons to ask from them. */
  /** @param {import("./types").Row | null} row */
  drawTokens(row) {
    const { stage, places } = this;
    const { tokens } = stage.data.header;
    const others = elsewhere(places, stage.stack.nQuery);
    const root = /** @type {Document | ShadowRoot} */ (this.tokens.getRootNode());
    const focused = this.tokens.contains(root.activeElement);
    this.tokens.replaceChildren(
      ...others.map((at) =>
        button({
          text: `${tokens.encoder[at].text}${row ? ` ${number(row.weights[at], 3)}` : ""}`,
          title: `Ask from ${tokens.encoder[at].text}, which gets this weight`,
          "aria-pressed": String(at === stage.view.query),
          onclick: () => this.ask(at),
        }),
      ),
    );
    if (focused) this.tokens.querySelector("button")?.focus();
  }

  /** @param {import("./types").Row | null} row */
  read(row) {
    const { stage } = this;
    const { view, theme } = stage;
    const name = (/** @type {number} */ at) => stage.data.tokens("encoder")[at]?.text ?? "";
    const key = this.over ?? (row ? heaviestKey(row) : view.key);
    const readings = readoutOf([
      ["query", `${name(view.query)} (${view.query})`, theme.query],
      ["key", `${name(key)} (${key})`, theme.key],
      ["weight", row ? number(row.weights[key], 3) : "…"],
    ]);
    this.readout.replaceChildren(...readings);
  }

  /** @param {PointerEvent} event */
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const inside = event.clientX < box.right && event.clientY < box.bottom;
    if (!inside || event.clientX < box.left || event.clientY < box.top) return null;
    const [down, along] = [event.clientY - box.top, event.clientX - box.left];
    return placeAt(this.places, down / box.height, along / box.width);
  }

  /** @param {number | null} at */
  hover(at) {
    if (at === this.over) return;
    this.over = at;
    this.refresh();
    this.stage.painted("hover");
  }

  /** @param {number | null} at */
  ask(at) {
    if (at === null) return;
    this.stage.set({ query: at, pinned: "query" });
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const by = MOVES[event.key];
    if (!by) return;
    event.preventDefault();
    this.ask(stepped(this.places, this.stage.view.query, by));
  }
}
