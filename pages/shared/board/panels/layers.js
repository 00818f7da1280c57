/* Who may look at whom, through the layers. */

import { shorten, svg } from "../../browser/dom.js";
import { Chart } from "../chart.js";

/** @extends {Chart<import("../specs").LayersSpec>} */
export class Panel extends Chart {
  floors = 0;
  /** @type {Element[]} from the input up, token by token */ nodes = [];
  /** @type {(token: number) => number} */ x = Number;
  /** @type {(floor: number) => number} */ y = Number;
  links = svg("path", { class: "link" });
  litLinks = svg("path", { class: "link lit" });

  /** @param {import("../specs").Board} board @param {import("../specs").LayersSpec} spec */
  constructor(board, spec) {
    super(board, spec, "layers");
  }

  get height() {
    return Math.max(super.height, 14 * this.spec.lit.size(2) + 44);
  }

  /** @param {number} width @param {number} height */
  prepare(width, height) {
    const { spec } = this;
    const n = spec.tokens.length;
    const floors = (this.floors = spec.lit.size(2));
    const box = { left: 64, right: width - 24, top: 14, bottom: height - 32 };
    this.x = (token) => box.left + ((token + 0.5) * (box.right - box.left)) / n;
    this.y = (floor) => box.bottom - (floor * (box.bottom - box.top)) / Math.max(1, floors - 1);
    this.picture.append(this.links, this.litLinks);
    this.nodes = [];
    for (let floor = 0; floor < floors; floor++) {
      const name = floor === 0 ? "input" : `layer ${floor}`;
      this.picture.append(
        svg("text", { class: "tick", x: 4, y: this.y(floor), "dominant-baseline": "middle", text: name }),
      );
      for (let token = 0; token < n; token++) {
        const node = svg("circle", { class: "node", cx: this.x(token), cy: this.y(floor), r: 5 });
        this.nodes.push(node);
        this.picture.append(node);
      }
    }
    const most = Math.max(3, Math.floor((box.right - box.left) / n / 8));
    spec.tokens.forEach((token, at) =>
      this.picture.append(
        svg("text", {
          class: "tick",
          x: this.x(at),
          y: height - 8,
          "text-anchor": "middle",
          text: shorten(token, most),
        }),
      ),
    );
    const all = [];
    for (let floor = 1; floor < floors; floor++)
      for (const [query, key] of this.pairs()) all.push(this.line(floor, query, key));
    this.litLinks.setAttribute("d", "");
    this.links.setAttribute("d", all.join(""));
  }

  pairs() {
    const n = this.spec.tokens.length;
    /** @type {[query: number, key: number][]} */
    const found = [];
    this.spec.links.values.forEach((may, at) => may && found.push([Math.floor(at / n), at % n]));
    return found;
  }

  /** @param {number} floor @param {number} query @param {number} key */
  line(floor, query, key) {
    return `M${this.x(key)} ${this.y(floor - 1)}L${this.x(query)} ${this.y(floor)}`;
  }

  /** @param {number} frame */
  move(frame) {
    const lit = this.spec.lit.frame(frame, 2);
    const n = this.spec.tokens.length;
    this.nodes.forEach((node, at) => node.classList.toggle("lit", Boolean(lit[at])));
    const found = [];
    for (let floor = 1; floor < this.floors; floor++)
      for (const [query, key] of this.pairs())
        if (lit[floor * n + query] && lit[(floor - 1) * n + key]) found.push(this.line(floor, query, key));
    this.litLinks.setAttribute("d", found.join(""));
  }
}
