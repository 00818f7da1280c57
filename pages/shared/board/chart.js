// @ts-nocheck
/* What all charts have: a root, a size, axes. */

import { el, svg } from "../browser/dom.js";
import { tickText } from "../browser/numbers.js";
import { caption } from "./words.js";

const MARGIN = { left: 56, right: 14, top: 10, bottom: 44 };

/* A chart's root, size and axes; subclasses draw into it. */
export class Chart {
  constructor(board, spec, kind) {
    this.board = board;
    this.spec = spec;
    this.picture = svg("svg", { role: "img", "aria-label": spec.title || kind });
    this.legend = el("div", { class: "chart-legend" });
    this.root = el("figure", { class: `panel chart ${kind}` }, [caption(spec), this.legend, this.picture]);
  }

  update(spec) {
    this.spec = spec;
    this.ready = null;
  }

  draw(frame) {
    const width = Math.floor(this.root.clientWidth);
    const height = Math.floor(this.board.heightOf() * 0.62);
    const key = `${width}/${height}/${this.board.theme.background}`;
    if (width > 0 && this.ready !== key) {
      this.ready = key;
      this.picture.setAttribute("width", width);
      this.picture.setAttribute("height", height);
      this.picture.replaceChildren();
      this.prepare(width, height);
    }
    if (this.ready) this.move(frame);
  }

  box(width, height) {
    return {
      left: MARGIN.left,
      right: width - MARGIN.right,
      top: MARGIN.top,
      bottom: height - MARGIN.bottom,
    };
  }

  drawAxes(_x, y, box, xTicks) {
    const { spec } = this;
    const parts = [];
    for (const value of y.ticks(5)) {
      const at = y.place(value);
      parts.push(svg("line", { class: "gridline", x1: box.left, x2: box.right, y1: at, y2: at }));
      parts.push(
        svg("text", {
          class: "tick",
          x: box.left - 7,
          y: at,
          "text-anchor": "end",
          "dominant-baseline": "middle",
          text: tickText(value),
        }),
      );
    }
    for (const [place, words, line = 0] of xTicks)
      parts.push(
        svg("text", {
          class: "tick",
          x: place,
          y: box.bottom + 16 + 15 * line,
          "text-anchor": "middle",
          text: words,
        }),
      );
    parts.push(
      svg("line", { class: "axis-line", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    );
    parts.push(
      svg("text", {
        class: "axis-name",
        x: (box.left + box.right) / 2,
        y: box.bottom + 36,
        "text-anchor": "middle",
        text: spec.x_label,
      }),
    );
    const middle = (box.top + box.bottom) / 2;
    parts.push(
      svg("text", {
        class: "axis-name",
        x: 14,
        y: middle,
        transform: `rotate(-90 14 ${middle})`,
        "text-anchor": "middle",
        text: spec.y_label,
      }),
    );
    this.picture.append(...parts);
  }
}
