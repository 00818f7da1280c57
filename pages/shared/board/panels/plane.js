// @ts-nocheck
/* Arrows in a plane. */

import { svg } from "../../browser/dom.js";
import { extent } from "../../browser/message.js";
import { Chart } from "../chart.js";

export class Panel extends Chart {
  constructor(board, spec) {
    super(board, spec, "plane");
  }

  prepare(width, _height) {
    const { spec, board } = this;
    const side = (this.side = Math.min(width, this.board.heightOf() * 0.8));
    this.picture.setAttribute("width", side);
    this.picture.setAttribute("height", side);
    this.reach = spec.reach ?? (Math.max(...extent(spec.vectors.values).map(Math.abs)) || 1);
    const middle = side / 2;
    const line = (x1, y1, x2, y2) => svg("line", { class: "gridline", x1, y1, x2, y2 });
    this.picture.append(line(0, middle, side, middle), line(middle, 0, middle, side));
    if (spec.circle)
      this.picture.append(
        svg("circle", { class: "ring", cx: middle, cy: middle, r: this.place(1, 0)[0] - middle }),
      );
    this.arrows = spec.names.map((name, at) => {
      const colour = board.colour(spec.colours[at]);
      const shaft = svg("line", { stroke: colour, "stroke-width": 3, x1: middle, y1: middle });
      const tip = svg("path", { fill: colour });
      const text = svg("text", {
        class: "arrow-name",
        fill: colour,
        "text-anchor": "middle",
        "dominant-baseline": "middle",
        text: name,
      });
      this.picture.append(shaft, tip, text);
      return { shaft, tip, text };
    });
    this.legend.replaceChildren();
  }

  place(x, y) {
    const scale = (this.side / 2 - 22) / this.reach;
    return [this.side / 2 + scale * x, this.side / 2 - scale * y];
  }

  move(frame) {
    const vectors = this.spec.vectors.frame(frame, 2);
    this.arrows.forEach(({ shaft, tip, text }, at) => {
      const [x, y] = this.place(vectors[2 * at], vectors[2 * at + 1]);
      const angle = Math.atan2(y - this.side / 2, x - this.side / 2);
      const corner = (turn, size) =>
        `${x - size * Math.cos(angle + turn)} ${y - size * Math.sin(angle + turn)}`;
      shaft.setAttribute("x2", x - 8 * Math.cos(angle));
      shaft.setAttribute("y2", y - 8 * Math.sin(angle));
      tip.setAttribute("d", `M${x} ${y}L${corner(0.4, 12)}L${corner(-0.4, 12)}Z`);
      text.setAttribute("x", x + 13 * Math.cos(angle));
      text.setAttribute("y", y + 13 * Math.sin(angle));
    });
  }
}
