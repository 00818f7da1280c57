/* Curves, bars and arrows. What no frame changes is drawn once for a size; a frame moves the rest. */

import { el, number, shortNumber, shorten } from "../browser/dom.js";
import { extent } from "./data.js";
import { caption, plainNumber } from "./matrix.js";

const MARGIN = { left: 56, right: 14, top: 10, bottom: 44 };

export function svg(tag, attributes = {}, children = []) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

/* From numbers to pixels, linear or logarithmic, with round ticks. */
class Axis {
  constructor([low, high], from, to, log = false) {
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 1, high + 1];
    Object.assign(this, { low, high, from, to, log });
  }

  place(value) {
    const at = (v) => (this.log ? Math.log10(Math.max(v, 1e-30)) : v);
    const share = (at(value) - at(this.low)) / (at(this.high) - at(this.low));
    return this.from + (this.to - this.from) * share;
  }

  ticks(count) {
    if (this.log) {
      const first = Math.ceil(Math.log10(this.low) - 1e-9);
      const last = Math.floor(Math.log10(this.high) + 1e-9);
      const step = Math.max(1, Math.ceil((last - first + 1) / count));
      const found = [];
      for (let power = first; power <= last; power += step) found.push(10 ** power);
      return found;
    }
    const rough = (this.high - this.low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
    const found = [];
    for (let at = Math.ceil(this.low / step - 1e-9); at * step <= this.high + 1e-9 * step; at++) found.push(at * step);
    return found;
  }
}

export function tickText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(0).replace("e+", "e").replaceAll("-", "−");
  return String(+value.toPrecision(4)).replaceAll("-", "−");
}

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
    return { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
  }

  drawAxes(x, y, box, xTicks) {
    const { spec } = this;
    const parts = [];
    for (const value of y.ticks(5)) {
      const at = y.place(value);
      parts.push(svg("line", { class: "gridline", x1: box.left, x2: box.right, y1: at, y2: at }));
      parts.push(svg("text", { class: "tick", x: box.left - 7, y: at, "text-anchor": "end", "dominant-baseline": "middle", text: tickText(value) }));
    }
    for (const [place, words, line = 0] of xTicks) parts.push(svg("text", { class: "tick", x: place, y: box.bottom + 16 + 15 * line, "text-anchor": "middle", text: words }));
    parts.push(svg("line", { class: "axis-line", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
    parts.push(svg("text", { class: "axis-name", x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle", text: spec.x_label }));
    const middle = (box.top + box.bottom) / 2;
    parts.push(svg("text", { class: "axis-name", x: 14, y: middle, transform: `rotate(-90 14 ${middle})`, "text-anchor": "middle", text: spec.y_label }));
    this.picture.append(...parts);
  }
}

export class CurvesPanel extends Chart {
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
    this.drawAxes(x, y, box, x.ticks(Math.max(3, width / 90)).map((value) => [x.place(value), tickText(value)]));
    const clip = `clip${(CurvesPanel.count = (CurvesPanel.count ?? 0) + 1)}`;
    const frame = { x: box.left, y: box.top - 3, width: box.right - box.left, height: box.bottom - box.top + 6 };
    this.picture.append(svg("clipPath", { id: clip }, [svg("rect", frame)]));
    this.drawn = spec.lines.map((line) => {
      const colour = board.colour(line.colour);
      const band = line.low ? svg("path", { fill: colour, opacity: 0.18 }) : null;
      const path = svg("path", { fill: "none", stroke: colour, "stroke-width": 2.5, "stroke-dasharray": line.dashed ? "7 5" : null, "stroke-linejoin": "round" });
      this.picture.append(svg("g", { "clip-path": `url(#${clip})` }, [band, path]));
      return { line, band, path, still: line.y.shape.length === 1 };
    });
    this.upright = svg("line", { class: "upright", y1: box.top, y2: box.bottom });
    this.dots = spec.lines.map((line) => svg("circle", { r: 4.5, fill: board.colour(line.colour) }));
    if (spec.at) this.picture.append(this.upright, ...this.dots);
    for (const each of this.drawn) if (each.still) this.trace(each, 0);
    const swatch = (line) => el("span", { class: line.dashed ? "dashed" : "", style: `--line:${board.colour(line.colour)}`, text: line.name });
    this.legend.replaceChildren(...(spec.lines.length > 1 || !spec.title ? spec.lines.map(swatch) : []));
  }

  heights() {
    const all = [];
    for (const { y, low, high } of this.spec.lines) for (const part of [y, low, high]) if (part) all.push(...extent(part.values));
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
      if (isNumber) drawn += `${pen}${x.place(this.spec.x.values[i]).toFixed(1)} ${this.clamp(y.place(values[i])).toFixed(1)}`;
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
    const place = x.place(this.spec.x.values[nearest]); // where there is a number, so that the dots lie on their lines
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
    for (let i = 1; i < xs.length; i++) if (Math.abs(x.place(xs[i]) - event.offsetX) < Math.abs(x.place(xs[best]) - event.offsetX)) best = i;
    const parts = this.spec.lines.map((line) => `${line.name} ${number(line.y.frame(this.board.frame, 1)[best], 4)}`);
    this.board.light({}, `${this.spec.x_label} ${plainNumber(xs[best])}: ${parts.join(" · ")}`);
  }
}

export class BarsPanel extends Chart {
  constructor(board, spec) {
    super(board, spec, "bars");
  }

  prepare(width, height) {
    const { spec, board } = this;
    const box = (this.area = this.box(width, height));
    const [low, high] = extent(spec.values.values);
    this.y = new Axis([spec.low ?? Math.min(0, low), spec.reach ?? (Math.max(0, high) || 1)], box.bottom, box.top);
    const step = (box.right - box.left) / spec.labels.length;
    const room = Math.max(...spec.labels.map((label) => label.length)) * 8;
    const lines = room > step && room <= 2 * step && !spec.x_label ? 2 : 1; // every other name a line lower, where nothing else stands
    const every = Math.max(1, Math.ceil(room / step / lines));
    const ticks = spec.labels.map((label, at) => [box.left + (at + 0.5) * step, shorten(label, 12), at % lines, at]).filter(([, , , at]) => at % every === 0);
    this.drawAxes(null, this.y, box, ticks);
    const wide = Math.max(1, step * (spec.labels.length > 40 ? 0.96 : 0.78));
    const colour = board.colour(spec.colour);
    this.written = step >= 34;
    this.bars = spec.labels.map((label, at) => {
      const x = box.left + (at + 0.5) * step;
      const bar = svg("rect", { class: "bar", x: x - wide / 2, width: wide, fill: colour, rx: wide > 12 ? 2 : 0, "data-at": at });
      const text = this.written ? svg("text", { class: "bar-number", x, "text-anchor": "middle" }) : null;
      bar.addEventListener("pointerenter", () => board.light({ [spec.axis]: at }, `${spec.title ? `${spec.title}: ` : ""}${label} = ${number(this.now[at], 4)}`));
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
      text.textContent = this.spec.nan_is_empty && Number.isNaN(value) ? "" : shortNumber(value, this.spec.digits);
    });
  }

  light(lit) {
    const at = this.spec.axis === "" ? undefined : lit[this.spec.axis];
    this.bars?.forEach(({ bar }, i) => bar.classList.toggle("lit", i === at));
  }
}

export class PlanePanel extends Chart {
  constructor(board, spec) {
    super(board, spec, "plane");
  }

  prepare(width, height) {
    const { spec, board } = this;
    const side = (this.side = Math.min(width, this.board.heightOf() * 0.8));
    this.picture.setAttribute("width", side);
    this.picture.setAttribute("height", side);
    this.reach = spec.reach ?? (Math.max(...extent(spec.vectors.values).map(Math.abs)) || 1);
    const middle = side / 2;
    const line = (x1, y1, x2, y2) => svg("line", { class: "gridline", x1, y1, x2, y2 });
    this.picture.append(line(0, middle, side, middle), line(middle, 0, middle, side));
    if (spec.circle) this.picture.append(svg("circle", { class: "ring", cx: middle, cy: middle, r: this.place(1, 0)[0] - middle }));
    this.arrows = spec.names.map((name, at) => {
      const colour = board.colour(spec.colours[at]);
      const shaft = svg("line", { stroke: colour, "stroke-width": 3, x1: middle, y1: middle });
      const tip = svg("path", { fill: colour });
      const text = svg("text", { class: "arrow-name", fill: colour, "text-anchor": "middle", "dominant-baseline": "middle", text: name });
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
      const corner = (turn, size) => `${x - size * Math.cos(angle + turn)} ${y - size * Math.sin(angle + turn)}`;
      shaft.setAttribute("x2", x - 8 * Math.cos(angle));
      shaft.setAttribute("y2", y - 8 * Math.sin(angle));
      tip.setAttribute("d", `M${x} ${y}L${corner(0.4, 12)}L${corner(-0.4, 12)}Z`);
      text.setAttribute("x", x + 13 * Math.cos(angle));
      text.setAttribute("y", y + 13 * Math.sin(angle));
    });
  }
}
