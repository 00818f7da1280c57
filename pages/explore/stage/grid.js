/* View 1: every head of the chosen stack as a thumbnail, in one canvas; a transparent button lies on each. */

import { el, fitCanvas } from "../../shared/browser/dom.js";
import { colourLevels, imageOf, imageOfBytes } from "../../shared/browser/images.js";
import { number } from "../../shared/browser/numbers.js";

export const SORTS = [
  { value: "layer", text: "layer" },
  { value: "entropy", text: "entropy", title: "Most focused first" },
  { value: "distance", text: "distance", title: "Longest mean distance between query and key first" },
  { value: "previous", text: "previous", title: "Largest share on the previous token first" },
  { value: "first", text: "first", title: "Largest share on the first token first" },
  { value: "same", text: "same", title: "Largest share on the token itself first" },
];

/** @typedef {import("./types").Stack} Stack */
/** @typedef {{layer: number, head: number, at: number}} Place */
/** @typedef {ReturnType<GridView["layout"]>} Plan */

export class GridView {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.buttons = el("div", { class: "grid-buttons" });
    this.board = el("div", { class: "grid-board" }, [this.canvas, this.buttons]);
    this.root = el(
      "div",
      { class: "view grid-view", tabindex: "0", role: "region", "aria-label": "All heads" },
      [this.board],
    );
    this.shown = "";
  }

  /** @param {Stack} stack @param {string} sort */
  order(stack, sort) {
    /** @type {Place[]} */
    const places = [];
    for (let layer = 0; layer < stack.layers; layer++)
      for (let head = 0; head < stack.heads; head++)
        places.push({ layer, head, at: layer * stack.heads + head });
    const values = stack.stats[sort];
    if (!values) return places;
    const sign = sort === "entropy" ? 1 : -1;
    return places.sort((a, b) => sign * (values[a.at] - values[b.at]) || a.at - b.at);
  }

  /** @param {Stack} stack @param {string} sort @param {number} width @param {number} height */
  layout(stack, sort, width, height) {
    const places = this.order(stack, sort);
    const sorted = sort !== "layer" && stack.stats[sort];
    const count = places.length;
    let columns = stack.heads;
    if (sorted || width / columns < 56) {
      /** @param {number} n */
      const best = (n) => Math.min(width / n, height / Math.ceil(count / n) - 34);
      columns = 1;
      for (let n = 1; n <= Math.min(count, 24); n++) if (best(n) > best(columns)) columns = n;
    }
    const rows = Math.ceil(count / columns);
    const label = 34;
    const cell = Math.max(52, Math.min(width / columns, Math.max(height / rows - label, 72), 320));
    return { places, columns, rows, cell, label, width: columns * cell, height: rows * (cell + label) };
  }

  draw() {
    const { stage } = this;
    const { view, stack } = stage;
    const plan = this.layout(stack, view.sort, this.root.clientWidth - 8, this.root.clientHeight - 8);
    const context = fitCanvas(this.canvas, plan.width, plan.height);
    context.imageSmoothingEnabled = false;
    plan.places.forEach((place, at) => this.thumbnail(context, place, at, plan));
    this.place(stack, plan);
  }

  /** @param {CanvasRenderingContext2D} context @param {Place} place @param {number} at @param {Plan} plan */
  thumbnail(context, { layer, head, at: which }, at, plan) {
    const { stack, data, theme } = this.stage;
    const x = (at % plan.columns) * plan.cell;
    const y = Math.floor(at / plan.columns) * (plan.cell + plan.label);
    const side = plan.cell - 12;
    const thumb = data.thumb(stack, layer, head);
    const image = this.image(stack, thumb, theme.sequential);
    context.drawImage(image, x + 6, y + 6, side, side);
    const open = layer === this.stage.view.layer && head === this.stage.view.head;
    context.strokeStyle = open ? theme.accent : theme.grid;
    context.lineWidth = open ? 3 : 1;
    context.strokeRect(x + 5.5, y + 5.5, side + 1, side + 1);
    context.fillStyle = theme.ink;
    context.font = `600 12px ${theme.font}`;
    context.fillText(`L${layer} H${head}`, x + 6, y + plan.cell + 8);
    context.fillStyle = theme.muted;
    context.font = `11px ${theme.font}`;
    context.fillText(this.caption(stack, which, side), x + 6, y + plan.cell + 22, side + 6);
  }

  /** @param {Stack} stack @param {Uint8Array} thumb @param {import("./types").Theme["sequential"]} table */
  image({ thumbKey, thumbQuery }, thumb, table) {
    const { range } = this.stage.view;
    if (range === "full") return imageOfBytes(thumbKey, thumbQuery, thumb, table);
    const { level } = colourLevels(
      Float32Array.from(thumb, (v) => v / 255),
      thumbKey,
      range,
      false,
    );
    return imageOf(thumbKey, thumbQuery, level, table);
  }

  /** @param {Stack} stack @param {number} at @param {number} side */
  caption(stack, at, side) {
    const sort = this.stage.view.sort;
    if (sort !== "layer" && stack.stats[sort]) return `${sort} ${number(stack.stats[sort][at])}`;
    const label = stack.labels[at] || `entropy ${number(stack.stats.entropy[at])}`;
    return side < 76 ? label.replace("-token", "").replace("entropy", "H") : label;
  }

  /** @param {Stack} stack @param {Plan} plan */
  place(stack, plan) {
    const order = plan.places.map((place) => place.at);
    const signature = `${stack.id}/${order}/${plan.columns}/${plan.cell}/${stack.labels}`;
    if (signature !== this.shown) {
      this.shown = signature;
      this.buttons.replaceChildren(
        ...plan.places.map(({ layer, head, at: which }, at) => {
          const label = stack.labels[which] ? `, ${stack.labels[which]}` : "";
          const [left, top] = [at % plan.columns, Math.floor(at / plan.columns)];
          return el("button", {
            type: "button",
            "aria-label": `Open layer ${layer}, head ${head}${label}`,
            title: `Layer ${layer}, head ${head}: from each query (row) to each key (column)`,
            "data-layer": layer,
            "data-head": head,
            style:
              `left:${left * plan.cell}px;top:${top * (plan.cell + plan.label)}px;` +
              `width:${plan.cell}px;height:${plan.cell + plan.label - 4}px`,
            onclick: () => this.stage.set({ layer, head, heads: [head], view: "head" }),
          });
        }),
      );
    }
    const { layer, head } = this.stage.view;
    plan.places.forEach((place, at) => {
      const open = place.layer === layer && place.head === head;
      this.buttons.children[at].setAttribute("aria-pressed", String(open));
    });
  }
}
