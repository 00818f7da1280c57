// @ts-nocheck
/* Curves. What no frame changes is drawn once for a size; a frame moves the rest. */

import { el, svg } from "../../browser/dom.js";
import { extent } from "../../browser/message.js";
import { number, plainNumber, tickText } from "../../browser/numbers.js";
import { Axis } from "../axis.js";
import { Chart } from "../chart.js";

export class Panel extends Chart {
  constructor(board, spec) {
    super(board, spec, "curves");
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => board.light({}));
  }

  prepare(width, height) {
    const { spec, board } = this;
    const box = (this.area = this.box(width, height));
    const [x, y] = (this.axes = [
      new Axis(this.span(spec.x.values, spec.log_x), box.left, box.right, spec.log_x),
      new Axis(spec.y_range ?? this.span(this.heights(), spec.log_y), box.bottom, box.top, spec.log_y),
    ]);
    this.drawAxes(
      x,
      y,
      box,
      x.ticks(Math.max(3, width / 90)).map((value) => [x.place(value), tickText(value)]),
    );
    const clip = `clip${(Panel.count = (Panel.count ?? 0) + 1)}`;
    const frame = {
      x: box.left,
      y: box.top - 3,
      width: box.right - box.left,
      height: box.bottom - box.top + 6,
    };
    this.picture.append(svg("clipPath", { id: clip }, [svg("rect", frame)]));
    this.drawn = spec.lines.map((line) => {
      const colour = board.colour(line.colour);
      const band = line.low ? svg("path", { fill: colour, opacity: 0.18 }) : null;
      const path = svg("path", {
        fill: "none",
        stroke: colour,
        "stroke-width": 2.5,
        "stroke-dasharray": line.dashed ? "7 5" : null,
        "stroke-linejoin": "round",
      });
      this.picture.append(svg("g", { "clip-path": `url(#${clip})` }, [band, path]));
      return { line, band, path, still: line.y.shape.length === 1 };
    });
    this.upright = svg("line", { class: "upright", y1: box.top, y2: box.bottom });
    this.dots = spec.lines.map((line) => svg("circle", { r: 4.5, fill: board.colour(line.colour) }));
    if (spec.at) this.picture.append(this.upright, ...this.dots);
    for (const each of this.drawn) if (each.still) this.trace(each, 0);
    const swatch = (line) =>
      el("span", {
        class: line.dashed ? "dashed" : "",
        style: `--line:${board.colour(line.colour)}`,
        text: line.name,
      });
    this.legend.replaceChildren(...(spec.lines.length > 1 || !spec.title ? spec.lines.map(swatch) : []));
  }

  heights() {
    const all = [];
    for (const { y, low, high } of this.spec.lines)
      for (const part of [y, low, high]) if (part) all.push(...extent(part.values));
    return all;
  }

  span(values, log) {
    const [low, high] = extent(log ? values.filter((value) => value > 0) : values);
    return [low, high];
  }

  trace({ line, band, path }, frame) {
    const forth = Array.from(this.spec.x.values.keys());
    path.setAttribute("d", this.outline(line.y.frame(frame, 1), forth));
    if (!band) return;
    const upper = this.outline(line.high.frame(frame, 1), forth);
    const lower = this.outline(line.low.frame(frame, 1), forth.reverse());
    band.setAttribute("d", `${upper}${lower.replace("M", "L")}Z`);
  }

  /* A path through the points in this order, with a gap where there is no number. */
  outline(values, order) {
    const [x, y] = this.axes;
    let drawn = "";
    let pen = "M";
    for (const i of order) {
      const isNumber = Number.isFinite(values[i]);
      if (isNumber) {
        const height = this.clamp(y.place(values[i]));
        drawn += `${pen}${x.place(this.spec.x.values[i]).toFixed(1)} ${height.toFixed(1)}`;
      }
      pen = isNumber ? "L" : "M";
    }
    return drawn;
  }

  clamp(at) {
    return Math.max(-2000, Math.min(4000, at));
  }

  move(frame) {
    for (const each of this.drawn) if (!each.still) this.trace(each, frame);
    if (!this.spec.at) return;
    const [x, y] = this.axes;
    const nearest = this.nearest(this.spec.at.values[frame]);
    // where there is a number, so that the dots lie on their lines
    const place = x.place(this.spec.x.values[nearest]);
    this.upright.setAttribute("x1", place);
    this.upright.setAttribute("x2", place);
    this.spec.lines.forEach((line, i) => {
      const value = line.y.frame(frame, 1)[nearest];
      this.dots[i].setAttribute("cx", place);
      const at = y.place(value); // a line may leave the chart, a dot must not follow it
      const isInside = at >= this.area.top - 1 && at <= this.area.bottom + 1;
      this.dots[i].setAttribute("visibility", isInside ? "visible" : "hidden");
      if (isInside) this.dots[i].setAttribute("cy", at);
    });
  }

  nearest(value) {
    const xs = this.spec.x.values;
    let best = 0;
    for (let i = 1; i < xs.length; i++) if (Math.abs(xs[i] - value) < Math.abs(xs[best] - value)) best = i;
    return best;
  }

  /* Tells the number of every line at the x that is pointed at. */
  point(event) {
    if (!this.axes) return;
    const [x] = this.axes;
    const xs = this.spec.x.values;
    let best = 0;
    for (let i = 1; i < xs.length; i++)
      if (Math.abs(x.place(xs[i]) - event.offsetX) < Math.abs(x.place(xs[best]) - event.offsetX)) best = i;
    const parts = this.spec.lines.map(
      (line) => `${line.name} ${number(line.y.frame(this.board.frame, 1)[best], 4)}`,
    );
    this.board.light({}, `${this.spec.x_label} ${plainNumber(xs[best])}: ${parts.join(" · ")}`);
  }
}
