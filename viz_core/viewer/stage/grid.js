/* View 1: every head of the chosen stack as a thumbnail, in one canvas; a transparent button lies on
   each. */

import { button, el, fitCanvas, isNew, region, shorten, textWidth } from "../browser/dom.js";
import { colourLevels, imageOf, imageOfBytes } from "../browser/images.js";
import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";
import { awaited, hiddenInHeads, measureOf, noteOnMeasure, partnersOf, placesOf } from "./data.js";

/** @import { Stack, Measure } from "./types" */
/** @import { Place } from "./data.js" */
/** @typedef {ReturnType<GridView["layout"]>} Plan */

/** Where the room of a head begins. @param {Plan} plan @param {number} at */
const cornerOf = ({ left, top, columns, cell, label }, at) => [
  left + (at % columns) * cell,
  top + Math.floor(at / columns) * (cell + label),
];

const FONTS = [13, 12]; // pixels of tokens beside heads, where they have room for one more
const EDGE = 6; // around a thumbnail
const [LEAST, MOST] = [52, 320]; // pixels of a thumbnail with its edge

/* The tokens, beside the first column of heads and above the first row, where each has room. */
export class TokenNames {
  root = el("div", { class: "grid-names", "aria-hidden": "true" });

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /* Of the queries and of the keys; none of a picture, whose positions are parts of it. */
  get names() {
    const { data, stack } = this.stage;
    const sides = data.header.pictures ? [] : [stack.querySide, stack.keySide];
    return sides.map((side) => data.tokens(side).map(({ text }) => shorten(text)));
  }

  /** Pixels that they take on the left and above. @param {number} size of their letters */
  room(size) {
    const font = `${size}px ${this.stage.theme.font}`;
    const [left, top] = this.names.map((names) => Math.max(...names.map((name) => textWidth(name, font))));
    return [left + 4, 0.87 * top + size]; // those above rise by 60 degrees
  }

  /** Whether a thumbnail has a line for each. @param {{cell: number}} plan @param {number} size */
  fit({ cell }, size) {
    const { data, stack } = this.stage;
    const { nQuery, nKey } = stack;
    return !data.header.pictures && cell - 2 * EDGE >= (size + 1) * Math.max(nQuery, nKey);
  }

  /** @param {Plan} plan */
  draw(plan) {
    const [queries = [], keys = []] = plan.left ? this.names : [];
    if (!isNew(this.root, [queries, keys, plan.left, plan.top, plan.columns, plan.rows, plan.cell])) return;
    const side = plan.cell - 2 * EDGE;
    const middle = (/** @type {number} */ at, /** @type {string[]} */ of) =>
      EDGE + ((at + 0.5) * side) / of.length;
    const rows = Array.from({ length: plan.rows }, (_, row) => cornerOf(plan, row * plan.columns)[1]);
    const columns = Array.from({ length: plan.columns }, (_, column) => cornerOf(plan, column)[0]);
    this.root.replaceChildren(
      ...rows.flatMap((y) =>
        queries.map((text, at) => {
          const style = `width:${plan.left}px;top:${y + middle(at, queries)}px`;
          return el("span", { class: "query", text, style });
        }),
      ),
      ...columns.flatMap((x) =>
        keys.map((text, at) => {
          const style = `left:${x + middle(at, keys)}px;top:${plan.top}px`;
          return el("span", { class: "key", text, style });
        }),
      ),
    );
  }
}

const DIMMED = 0.18; // what is left of a head that does not pass
const SHADES = 255; // of a weight of 1

/** What the colours of changes stand for. @param {number} extent the largest change, in shades */
export const changeSentence = (extent) =>
  extent < 1
    ? `No weight moved by ${number(1 / SHADES, 3)} here; see Effect.`
    : `The strongest colours mean ${number(extent / SHADES)}.`;

export class GridView {
  extent = 1; // of the strongest colour, where the colours are of changes

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.buttons = el("div", { class: "grid-buttons" });
    this.names = new TokenNames(stage);
    this.board = el("div", { class: "grid-board" }, [this.canvas, this.names.root, this.buttons]);
    this.note = el("p", { class: "measure", "aria-live": "polite" });
    this.scroll = region("grid-scroll", "All heads", [this.board]);
    this.root = el("div", { class: "view grid-view" }, [this.note, this.scroll]);
  }

  /** @param {Stack} stack @param {Place[]} places @param {boolean} sorted */
  layout(stack, places, sorted, left = 0, top = 0) {
    const [width, height] = [this.scroll.clientWidth - 8 - left, this.scroll.clientHeight - 8 - top];
    const count = places.length;
    const label = 34;
    const best = (/** @type {number} */ n) => Math.min(width / n, height / Math.ceil(count / n) - label);
    // A row is a layer; heads that are sorted fill the window instead.
    let columns = sorted ? 1 : stack.heads;
    const most = sorted ? Math.min(count, 24, width / LEAST) : 0;
    for (let n = 2; n <= most; n += 1) if (best(n) > best(columns)) columns = n;
    const rows = Math.ceil(count / columns);
    const cell = Math.max(LEAST, Math.min(width / columns, Math.max(height / rows - label, 72), MOST));
    const size = { width: left + columns * cell, height: top + rows * (cell + label) };
    return { places, columns, rows, cell, label, left, top, ...size };
  }

  draw() {
    const { view, stack, data } = this.stage;
    this.measure = measureOf(data.header.measures, stack, view);
    const places = placesOf(stack, view, this.measure);
    const sorted = this.measure !== undefined && view.order === "value";
    this.extent = data.signed ? this.largest(stack, places) : 1;
    this.tell(places);
    const named = (/** @type {number} */ size) =>
      this.layout(stack, places, sorted, ...this.names.room(size));
    // of a long text no thumbnail is that large, and to measure its names would take long
    const mayFit = FONTS.filter((each) => this.names.fit({ cell: MOST }, each));
    const size = mayFit.find((each) => this.names.fit(named(each), each));
    const plan = size ? named(size) : this.layout(stack, places, sorted);
    this.names.root.style.fontSize = `${size}px`;
    const context = fitCanvas(this.canvas, plan.width, plan.height);
    context.imageSmoothingEnabled = false;
    plan.places.forEach((place, at) => void this.thumbnail(context, place, at, plan));
    this.place(stack, plan);
  }

  /** The largest change of all heads, so that they can be compared.
     @param {Stack} stack @param {Place[]} places */
  largest(stack, places) {
    let most = 1e-12;
    for (const { layer, head } of places) {
      const thumb = this.stage.data.thumb(stack, layer, head);
      for (let at = 0; at < thumb.length; at++) most = Math.max(most, Math.abs(thumb[at]));
    }
    return most;
  }

  /** What the numbers below the heads are, and how many heads pass. @param {Place[]} places */
  tell(places) {
    const { view, stack, data } = this.stage;
    const { measures, repeated } = data.header;
    const measure = this.measure ?? awaited(measures, stack, view);
    const hidden = hiddenInHeads(data.how, stack, data.fits);
    if (!measure) {
      this.note.replaceChildren(
        t(data.signed ? changeSentence(this.extent) : "Choose a measure to sort the heads by it."),
        t(hidden),
      );
      return;
    }
    const { title, definition, formula, source } = measure;
    const count = places.filter((place) => place.passes).length;
    const passing = view.keep === "all" || !this.measure ? "" : `${count} of ${places.length} heads pass. `;
    this.note.replaceChildren(
      el("strong", { class: "passing", text: passing }),
      el("strong", { text: title }),
      `: ${t(definition)} `,
      el("span", { class: "signs", text: formula }),
      el("span", { class: "muted", text: ` · ${source}` }),
      ` ${t(noteOnMeasure(measure, stack, repeated))}`,
      t(hidden),
    );
  }

  /** @param {CanvasRenderingContext2D} context @param {Place} place @param {number} at @param {Plan} plan */
  thumbnail(context, { layer, head, at: which, passes }, at, plan) {
    const { stack, data, theme } = this.stage;
    const [x, y] = cornerOf(plan, at);
    const side = plan.cell - 2 * EDGE;
    const thumb = data.thumb(stack, layer, head);
    const image = this.image(stack, thumb, data.signed ? theme.diverging : theme.sequential);
    context.globalAlpha = passes ? 1 : DIMMED;
    context.drawImage(image, x + 6, y + 6, side, side);
    const open = layer === this.stage.view.layer && head === this.stage.view.head;
    context.strokeStyle = open ? theme.accent : theme.grid;
    context.lineWidth = open ? 3 : 1;
    context.strokeRect(x + 5.5, y + 5.5, side + 1, side + 1);
    context.globalAlpha = 1;
    context.fillStyle = passes ? theme.ink : theme.muted;
    context.font = `600 12px ${theme.font}`;
    context.fillText(`L${layer} H${head}`, x + 6, y + plan.cell + 8);
    context.fillStyle = theme.muted;
    context.font = `12px ${theme.font}`;
    context.fillText(this.caption(stack, which, side), x + 6, y + plan.cell + 27, side + 6);
  }

  /** @param {Stack} stack @param {ArrayLike<number>} thumb
     @param {import("./types").Theme["sequential"]} table */
  image({ thumbKey, thumbQuery }, thumb, table) {
    const { range } = this.stage.view;
    if (this.stage.data.signed) {
      const { level } = colourLevels(thumb, thumbKey, range, true, this.extent);
      return imageOf(thumbKey, thumbQuery, level, table);
    }
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
    if (this.measure) return this.valueOf(stack, this.measure, at, side);
    if (this.stage.data.signed) return `${t("moved")} ${number(stack.stats.moved[at])}`;
    const label = stack.labels[at];
    if (!label) return `${side < 76 ? "H" : t("entropy")} ${number(stack.stats.entropy[at])}`;
    return t(side < 76 ? label.replace("-token", "") : label);
  }

  /** @param {Stack} stack @param {Measure} measure @param {number} at @param {number} side */
  valueOf(stack, { name, title }, at, side) {
    const value = number(stack.stats[name][at]);
    const whole = `${title} ${value}`;
    return textWidth(whole, `12px ${this.stage.theme.font}`) > side + 6 ? value : whole;
  }

  /** @param {Stack} stack @param {Plan} plan */
  place(stack, plan) {
    const order = plan.places.map((place) => place.at);
    const passing = plan.places.map((place) => place.passes);
    if (isNew(this.buttons, [stack.id, order, passing, plan.columns, plan.cell, plan.left, stack.labels])) {
      this.buttons.replaceChildren(
        ...plan.places.map(({ layer, head, at: which, passes }, at) => {
          const label = (stack.labels[which] ? `, ${stack.labels[which]}` : "") + (passes ? "" : ", dimmed");
          const partners = partnersOf(stack, head);
          const shares = partners && `; ${partners} share their keys and values`;
          const [left, top] = cornerOf(plan, at);
          return button({
            "aria-label": `Open layer ${layer} head ${head}${label}${shares}`,
            title: `Layer ${layer} head ${head}: from query (row) to key (column)${shares}`,
            "data-layer": layer,
            "data-head": head,
            style:
              `left:${left}px;top:${top}px;` + `width:${plan.cell}px;height:${plan.cell + plan.label - 4}px`,
            onclick: () => this.stage.openHead({ layer, head }),
          });
        }),
      );
    }
    const { layer, head } = this.stage.view;
    plan.places.forEach((place, at) => {
      const open = place.layer === layer && place.head === head;
      this.buttons.children[at].setAttribute("aria-pressed", String(open));
    });
    this.names.draw(plan);
  }
}
