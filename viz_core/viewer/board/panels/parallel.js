/* Ranges on upright axes: what a pointer or a key makes of one. Heights are shares of an axis, 0 at its
   lower end. Nothing here touches the page. */

import { el } from "../../browser/dom.js";
import { PlotPanel } from "./plot.js";

/** @typedef {[low: number, high: number]} Range */
/** @typedef {"low" | "high" | "all" | "new"} Grip what is dragged: an end, all of the range, or a new one */
/** @typedef {import("../specs").ParallelSpec} Spec */
/** @typedef {{at: number, grip: Grip, from: number, range: Range | null, moved: boolean}} Drag */

const NEAR = 6; // pixels around an end by which it is gripped
const BESIDE = 16; // pixels beside an axis where it is dragged
const OVER = 10; // pixels beyond its ends
const SAME = 1e-9;

const within = (/** @type {number} */ height) => Math.min(1, Math.max(0, height));

/** Whether a range is all of its axis. @param {Range | null} range */
export const isWhole = (range) => !range || (range[0] <= SAME && range[1] >= 1 - SAME);

/** Where the axes stand in their panel, in pixels: at 0, 1, 2, ... of a figure, each from 0 to 1.
   @param {{x: number[], y: number[]}} shown from and to, as Plotly has them
   @param {{left: number, top: number, width: number, height: number}} body @param {number} count */
export function placesOf({ x, y }, { left, top, width, height }, count) {
  const down = (/** @type {number} */ at) => top + ((y[1] - at) / (y[1] - y[0])) * height;
  return Array.from({ length: count }, (_, at) => ({
    left: left + ((at - x[0]) / (x[1] - x[0])) * width,
    top: down(1),
    height: down(0) - down(1),
  }));
}

/** The axis at a point of the panel, and its height there; null beside all axes.
   @param {ReturnType<typeof placesOf>} places @param {number} x @param {number} y */
export function axisAt(places, x, y) {
  const at = places.findIndex(
    ({ left, top, height }) => Math.abs(x - left) <= BESIDE && y >= top - OVER && y <= top + height + OVER,
  );
  if (at < 0) return null;
  return { at, height: within(1 - (y - places[at].top) / places[at].height) };
}

/** What is gripped at a height of an axis.
   @param {Range | null} range @param {number} height @param {number} pixels of the axis @returns {Grip} */
export function gripAt(range, height, pixels) {
  if (!range || isWhole(range)) return "new";
  const [low, high] = range.map((end) => Math.abs(end - height) * pixels);
  if (Math.min(low, high) <= NEAR) return high <= low ? "high" : "low";
  return height > range[0] && height < range[1] ? "all" : "new";
}

/** The range after a drag from one height to another.
   @param {Grip} grip @param {Range | null} range @param {number} from @param {number} to @returns {Range} */
export function dragged(grip, range, from, to) {
  const [low, high] = range ?? [0, 1];
  if (grip === "all") {
    const by = Math.min(1 - high, Math.max(-low, to - from));
    return [low + by, high + by];
  }
  const [fixed, moved] = grip === "low" ? [high, to] : grip === "high" ? [low, to] : [from, to];
  return [within(Math.min(fixed, moved)), within(Math.max(fixed, moved))];
}

/** The range after a key on one of its ends, which goes from stop to stop and not past the other end; null
   for a key that does nothing there.
   @param {Range | null} range @param {0 | 1} end the lower or the upper one @param {string} key
   @param {number[]} stops @returns {Range | null} */
export function stepped(range, end, key, stops) {
  const now = range ?? [0, 1];
  const [least, most] = end ? [now[0], 1] : [0, now[1]];
  const free = [...new Set([0, ...stops, 1])].filter((at) => at >= least - SAME && at <= most + SAME);
  free.sort((a, b) => a - b);
  const up = free.find((at) => at > now[end] + SAME) ?? most;
  const down = free.findLast((at) => at < now[end] - SAME) ?? least;
  /** @type {Record<string, number>} */
  const keys = { ArrowUp: up, ArrowRight: up, ArrowDown: down, ArrowLeft: down, Home: least, End: most };
  if (!(key in keys)) return null;
  return end ? [now[0], keys[key]] : [keys[key], now[1]];
}

/** The words at an end: the value that is nearest to it; of choices, the outermost that is taken in.
   @param {import("../specs").Upright} upright @param {0 | 1} end @param {number} height */
export function wordsAt({ stops, said }, end, height) {
  const far = stops.map((stop) => Math.abs(stop - height));
  const at = far.indexOf(Math.min(...far));
  return said[Math.max(0, said.length < stops.length ? at - end : at)] ?? "–";
}

const LEAST_MOVE = 3; // pixels: a press that moves less is no drag
const PATIENCE = 350; // milliseconds after a key in which the next may come
const ENDS = /** @type {const} */ ([0, 1]);
const HOW = "Drag along an axis, or use the arrow keys on its ends; a double press or Escape clears it.";

export class Panel extends PlotPanel {
  /** @type {(Range | null)[]} what is chosen on each axis, as far as the browser knows */ ranges = [];
  /** @type {{rect: HTMLElement, ends: HTMLElement[]}[]} */ marks = [];
  /** @type {ReturnType<typeof placesOf>} */ places = [];
  /** @type {Drag | null} */ drag = null;
  share = 1.5; // a short axis cannot be brushed finely
  /** @type {{at: number, timer: ReturnType<typeof setTimeout>} | null} where keys go on */ waiting = null;

  /** @param {import("../specs").Board} board @param {Spec} spec */
  constructor(board, spec) {
    super(board, spec);
    this.layer = el("div", { class: "brushes", role: "group", "aria-label": HOW });
    this.root.append(this.layer);
    this.take(spec);
    this.root.addEventListener("pointerdown", (event) => this.press(event), { capture: true });
    this.root.addEventListener("pointermove", (event) => this.drawOn(event), { capture: true });
    this.root.addEventListener("pointerup", () => this.release(), { capture: true });
    this.root.addEventListener("pointercancel", () => this.release(), { capture: true });
    this.root.addEventListener("dblclick", (event) => this.clearAt(event), { capture: true });
    // Plotly would zoom beside the pointer's own events.
    this.root.addEventListener("touchstart", (event) => this.drag && event.stopPropagation(), {
      capture: true,
    });
  }

  /** @param {Spec} spec */
  take(spec) {
    const { uprights } = spec;
    if (uprights.length !== this.marks.length) {
      this.marks = uprights.map((_, at) => this.mark(at));
      this.layer.replaceChildren(...this.marks.flatMap(({ rect, ends }) => [rect, ...ends]));
    }
    // What a person is changing now is newer than what the server knows.
    if (!this.drag && !this.waiting) this.ranges = uprights.map(({ range }) => range);
  }

  /** The marks of an axis: its range, and the two ends that keys move. @param {number} at */
  mark(at) {
    const ends = ENDS.map((end) =>
      el("div", {
        class: "end",
        role: "slider",
        tabindex: "0",
        "aria-orientation": "vertical",
        "aria-valuemin": "0",
        "aria-valuemax": "100",
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.type(event, at, end),
      }),
    );
    return { rect: el("div", { class: "range" }), ends };
  }

  /** @param {Spec} spec */
  update(spec) {
    super.update(spec);
    this.take(spec);
  }

  /** @param {number} frame */
  draw(frame) {
    super.draw(frame);
    this.place();
  }

  listen() {
    super.listen();
    this.body.on("plotly_relayout", () => this.place());
  }

  /* Puts the marks where the figure has its axes, also when it is zoomed. */
  place() {
    const { offsetLeft, offsetTop } = this.body;
    const { width, height, margin } = this.size();
    const { l, r, t, b } = margin;
    const { x, y } = this.spec.chart;
    const { layout } = this.body;
    const shown = { x: layout?.xaxis?.range ?? x.range, y: layout?.yaxis?.range ?? y.range };
    const body = { left: offsetLeft + l, top: offsetTop + t, width: width - l - r, height: height - t - b };
    this.places = placesOf(shown, body, this.marks.length);
    const isSeen = (/** @type {number} */ left) =>
      left >= body.left - 1 && left <= body.left + body.width + 1;
    this.marks.forEach(({ rect, ends }, at) => {
      const { left, top, height: tall } = this.places[at];
      const [low, high] = this.ranges[at] ?? [0, 1];
      const above = top + (1 - high) * tall;
      const chosen = !isWhole(this.ranges[at]);
      rect.classList.toggle("absent", !chosen || !isSeen(left));
      Object.assign(rect.style, {
        left: `${left}px`,
        top: `${above}px`,
        height: `${Math.max(3, (high - low) * tall)}px`,
      });
      for (const end of ENDS) this.end(ends[end], at, end, chosen);
    });
  }

  /** @param {HTMLElement} mark @param {number} at @param {0 | 1} end @param {boolean} chosen */
  end(mark, at, end, chosen) {
    const upright = /** @type {Spec} */ (this.spec).uprights[at];
    const { left, top, height } = this.places[at];
    const share = (this.ranges[at] ?? [0, 1])[end];
    mark.classList.toggle("chosen", chosen);
    Object.assign(mark.style, { left: `${left}px`, top: `${top + (1 - share) * height}px` });
    mark.setAttribute("aria-label", `${upright.name}, ${end ? "to" : "from"}`);
    mark.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    mark.setAttribute("aria-valuetext", wordsAt(upright, end, share));
  }

  /** What is at a pointer: the axis, and its height there. @param {MouseEvent} event */
  at(event) {
    const { left, top } = this.root.getBoundingClientRect();
    const zoom = this.root.offsetWidth ? this.root.getBoundingClientRect().width / this.root.offsetWidth : 1;
    return axisAt(this.places, (event.clientX - left) / zoom, (event.clientY - top) / zoom);
  }

  /** @param {PointerEvent} event */
  press(event) {
    const isOnButton = event.target instanceof Element && event.target.closest(".modebar");
    const found = event.button || isOnButton ? null : this.at(event);
    if (!found) return;
    const { at, height } = found;
    const range = this.ranges[at];
    const grip = gripAt(range, height, this.places[at].height);
    this.drag = { at, grip, from: height, range, moved: false };
    this.root.setPointerCapture(event.pointerId);
    event.preventDefault(); // or Plotly zooms
    event.stopPropagation();
    this.marks[at].ends[grip === "low" ? 0 : 1].focus({ preventScroll: true }); // keys go on from here
  }

  /** @param {PointerEvent} event */
  drawOn(event) {
    const { drag } = this;
    if (!drag) {
      const found = this.at(event);
      const grip = found && gripAt(this.ranges[found.at], found.height, this.places[found.at].height);
      this.root.dataset.grip = grip ?? "";
      return;
    }
    const { top, height } = this.places[drag.at];
    const box = this.root.getBoundingClientRect();
    const zoom = this.root.offsetHeight ? box.height / this.root.offsetHeight : 1;
    const to = 1 - ((event.clientY - box.top) / zoom - top) / height;
    if (!drag.moved && Math.abs(to - drag.from) * height < LEAST_MOVE) return;
    drag.moved = true;
    this.ranges[drag.at] = dragged(drag.grip, drag.range, drag.from, to);
    this.place();
  }

  release() {
    const { drag } = this;
    this.drag = null;
    if (drag?.moved) this.send(drag.at);
  }

  /** @param {MouseEvent} event */
  clearAt(event) {
    const found = this.at(event);
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    this.clear(found.at);
  }

  /** Takes the range of an axis away; one that is being dragged was never there. @param {number} at */
  clear(at) {
    const dragging = this.drag;
    this.drag = null;
    if (isWhole(this.ranges[at])) return;
    this.ranges[at] = dragging ? dragging.range : null;
    this.place();
    if (!dragging) this.send(at);
  }

  /** @param {KeyboardEvent} event @param {number} at @param {0 | 1} end */
  type(event, at, end) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { stops } = /** @type {Spec} */ (this.spec).uprights[at];
    const range = stepped(this.ranges[at], end, event.key, stops);
    if (!range && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (!range) return this.clear(at);
    this.ranges[at] = range;
    this.place();
    if (this.waiting && this.waiting.at !== at) this.send(this.waiting.at);
    clearTimeout(this.waiting?.timer);
    this.waiting = { at, timer: setTimeout(() => this.send(at), PATIENCE) };
  }

  /** Asks the server for the range of an axis as it is now. @param {number} at */
  send(at) {
    clearTimeout(this.waiting?.timer);
    this.waiting = null;
    const [low, high] = this.ranges[at] ?? [0, 1];
    this.board.act({ type: "brush", axis: at, low, high });
  }
}
