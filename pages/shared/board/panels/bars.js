// @ts-nocheck
/* Upright bars. */

import { shorten, svg } from "../../browser/dom.js";
import { extent } from "../../browser/message.js";
import { number, shortNumber } from "../../browser/numbers.js";
import { Axis } from "../axis.js";
import { Chart } from "../chart.js";

export class Panel extends Chart {
  constructor(board, spec) {
    super(board, spec, "bars");
  }

  prepare(width, height) {
    const { spec, board } = this;
    const box = (this.area = this.box(width, height));
    const [low, high] = extent(spec.values.values);
    this.y = new Axis(
      [spec.low ?? Math.min(0, low), spec.reach ?? (Math.max(0, high) || 1)],
      box.bottom,
      box.top,
    );
    const step = (box.right - box.left) / spec.labels.length;
    const room = Math.max(...spec.labels.map((label) => label.length)) * 8;
    // every other name a line lower, where nothing else stands
    const lines = room > step && room <= 2 * step && !spec.x_label ? 2 : 1;
    const every = Math.max(1, Math.ceil(room / step / lines));
    const ticks = spec.labels
      .map((label, at) => [box.left + (at + 0.5) * step, shorten(label, 12), at % lines, at])
      .filter(([, , , at]) => at % every === 0);
    this.drawAxes(null, this.y, box, ticks);
    const wide = Math.max(1, step * (spec.labels.length > 40 ? 0.96 : 0.78));
    const colour = board.colour(spec.colour);
    this.written = step >= 34;
    this.bars = spec.labels.map((label, at) => {
      const x = box.left + (at + 0.5) * step;
      const bar = svg("rect", {
        class: "bar",
        x: x - wide / 2,
        width: wide,
        fill: colour,
        rx: wide > 12 ? 2 : 0,
        "data-at": at,
      });
      const text = this.written ? svg("text", { class: "bar-number", x, "text-anchor": "middle" }) : null;
      bar.addEventListener("pointerenter", () =>
        board.light(
          { [spec.axis]: at },
          `${spec.title ? `${spec.title}: ` : ""}${label} = ${number(this.now[at], 4)}`,
        ),
      );
      this.picture.append(bar, ...(text ? [text] : []));
      return { bar, text };
    });
    this.legend.replaceChildren();
  }

  move(frame) {
    this.now = this.spec.values.frame(frame, 1);
    const zero = this.y.place(0);
    this.bars.forEach(({ bar, text }, at) => {
      const value = this.now[at];
      const top = Number.isFinite(value) ? Math.max(this.area.top, this.y.place(value)) : zero;
      bar.setAttribute("y", Math.min(zero, top));
      bar.setAttribute("height", Math.abs(zero - top));
      if (!text) return;
      text.setAttribute("y", Math.max(this.area.top + 10, Math.min(zero, top) - 5));
      text.textContent =
        this.spec.nan_is_empty && Number.isNaN(value) ? "" : shortNumber(value, this.spec.digits);
    });
  }

  light(lit) {
    const at = this.spec.axis === "" ? undefined : lit[this.spec.axis];
    this.bars?.forEach(({ bar }, i) => bar.classList.toggle("lit", i === at));
  }
}
