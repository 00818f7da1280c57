/* What a lecturer points at and draws over a view: kept by panels, so in its place in every window. */

import { el, svg } from "../browser/dom.js";

/** @import { Place } from "./types" */
/** @typedef {"off" | "laser" | "pen"} Mode */

export class Ink {
  /** @type {Place | null} */ pointer = null;
  /** @type {Place[][]} */ lines = [];
  /** @type {Place[] | null} the line that is drawn just now */ drawn = null;
  /** @type {(place: Place | null) => void} */ onPoint = () => {};
  /** @type {(line: Place[]) => void} */ onLine = () => {};
  /** @type {Mode} */ mode = "off";

  /** @param {HTMLElement} host what a view was rendered into */
  constructor(host) {
    this.host = host;
    this.svg = svg("svg", { class: "ink" });
    this.dot = el("i", { class: "laser absent", "aria-hidden": "true" });
    this.layer = el("div", { class: "ink-layer" }, [this.svg, this.dot]);
    host.append(this.layer);
    const { signal } = this.listening;
    window.addEventListener("resize", () => this.draw(), { signal });
    document.addEventListener("scroll", () => this.draw(), { signal, capture: true });
    host.addEventListener("attention-lab:painted", () => this.draw(), { signal });
    this.layer.addEventListener("pointerdown", (event) => this.begin(event), { signal });
    this.layer.addEventListener("pointermove", (event) => this.move(event), { signal });
    for (const end of ["pointerup", "pointerleave"])
      this.layer.addEventListener(end, () => this.end(), { signal });
  }

  listening = new AbortController();

  /** @param {Mode} mode */
  use(mode) {
    this.end();
    this.mode = mode;
    this.layer.dataset.mode = mode;
    if (mode === "off") this.onPoint(null);
  }

  /** @param {Place | null} pointer @param {Place[][]} lines */
  show(pointer, lines) {
    Object.assign(this, { pointer, lines });
    this.draw();
  }

  /* The panels of a board by their rows and columns; a view without panels is one. */
  panels() {
    /** @type {any} */ const view = /** @type {any} */ (this.host).attentionLab;
    /** @type {[string, HTMLElement][]} */
    const panels = (view?.panels ?? []).flatMap(
      (/** @type {{root: HTMLElement}[]} */ row, /** @type {number} */ i) =>
        row.map(({ root }, j) => [`${i}/${j}`, root]),
    );
    return [...panels, /** @type {[string, HTMLElement]} */ (["", view?.root ?? this.host])];
  }

  /** @param {PointerEvent} event @returns {Place} */
  placeOf({ clientX, clientY }) {
    for (const [panel, root] of this.panels()) {
      const { left, top, width, height } = root.getBoundingClientRect();
      const [x, y] = [(clientX - left) / (width || 1), (clientY - top) / (height || 1)];
      if (!panel || (x >= 0 && x <= 1 && y >= 0 && y <= 1))
        return { panel, x: +x.toFixed(4), y: +y.toFixed(4) };
    }
    return { panel: "", x: 0, y: 0 };
  }

  /** Where a place is in this window. @param {Place} place */
  pointAt({ panel, x, y }) {
    const panels = new Map(this.panels());
    const root = panels.get(panel) ?? /** @type {HTMLElement} */ (panels.get(""));
    const { left, top, width, height } = root.getBoundingClientRect();
    return [left + x * width, top + y * height];
  }

  /** @param {PointerEvent} event */
  begin(event) {
    if (this.mode !== "pen") return;
    this.layer.setPointerCapture(event.pointerId);
    this.drawn = [this.placeOf(event)];
  }

  /** @param {PointerEvent} event */
  move(event) {
    const place = this.placeOf(event);
    if (this.mode === "laser") this.onPoint(place);
    if (!this.drawn) return;
    this.drawn.push(place);
    this.draw();
  }

  end() {
    if (this.mode === "laser") this.onPoint(null);
    const line = this.drawn;
    this.drawn = null;
    if (line && line.length > 1) this.onLine(line);
  }

  draw() {
    const lines = this.drawn ? [...this.lines, this.drawn] : this.lines;
    this.svg.replaceChildren(
      ...lines.map((line) =>
        svg("polyline", { points: line.map((place) => this.pointAt(place).join(",")).join(" ") }),
      ),
    );
    this.dot.classList.toggle("absent", !this.pointer);
    if (!this.pointer) return;
    const [x, y] = this.pointAt(this.pointer);
    Object.assign(this.dot.style, { left: `${x}px`, top: `${y}px` });
  }

  leave() {
    this.listening.abort();
    this.layer.remove();
  }
}
