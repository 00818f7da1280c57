/* Points: all heads of a stack, where those whose patterns are alike lie together (the server computes
   where when the view is first open; a press opens a head), and the queries and keys of a head in one
   plane. */

import { button, el, shorten, textWidth } from "../browser/dom.js";
import { cssColour } from "../browser/images.js";
import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";
import { listOf } from "./controls.js";
import { awaited, measureOf, noteOnMeasure, placesOf } from "./data.js";
import { Legend } from "./side.js";

/** @import { Stack, Measure, Further, Area } from "./types" */
/** @typedef {"query" | "key"} Role */

const DARKEST = 40; // of 0..255: the first colours are nearly the page's own

/** Points of a plane in pixels: as large as fits, one unit for both axes, in the middle.
   @param {[number, number][]} points @param {number} width @param {number} height @param {number} margin
   @returns {[number, number][]} */
export function placed(points, width, height, margin) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const room = [Math.max(1, width - 2 * margin), Math.max(1, height - 2 * margin)];
  const unit = Math.min(room[0] / (right - left || 1e-9), room[1] / (high - low || 1e-9));
  const scale = Math.min(unit, 1e6);
  return points.map(([x, y]) => [
    width / 2 + scale * (x - (left + right) / 2),
    height / 2 - scale * (y - (low + high) / 2),
  ]);
}

const NAME = { font: 12, above: 6, below: 20 }; // pixels: of its letters, and where it lies under its point
const RADIUS = 7;

/** Which points' names lie on no other point and on no other name, those of the first points first.
   @param {[number, number][]} places @param {number[]} widths of the names */
export function namesWithRoom(places, widths) {
  /** @typedef {[left: number, top: number, right: number, bottom: number]} Box */
  const meet = (/** @type {Box} */ a, /** @type {Box} */ b) =>
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
  const dots = places.map(([x, y]) => /** @type {Box} */ ([x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS]));
  /** @type {Box[]} */ const names = [];
  return places.map(([x, y], at) => {
    /** @type {Box} */
    const name = [x - widths[at] / 2, y + NAME.above, x + widths[at] / 2, y + NAME.below];
    const others = dots.filter((_, other) => other !== at);
    const fits = ![...others, ...names].some((other) => meet(name, other));
    if (fits) names.push(name);
    return fits;
  });
}

/** @param {string[]} names @param {import("./types").Theme} theme */
const widthsOf = (names, theme) => names.map((name) => textWidth(name, `${NAME.font}px ${theme.font}`));

/** A point's name; one without room is seen while the point is pointed at.
   @param {string} text @param {boolean} fits */
const nameOf = (text, fits) => el("span", { class: fits ? "name" : "name crowded", text });

/** What gives the heads their colours, from the first colour to the last: a measure, or the layer.
   @param {Stack} stack @param {Measure | undefined} measure */
export function colouring({ layers, heads, stats }, measure) {
  const byLayer = layers.flatMap((layer) => Array(heads).fill(layer));
  const values = measure ? stats[measure.name] : byLayer;
  const low = Math.min(measure ? 0 : layers[0], ...values);
  const high = Math.max(...values);
  const level = (/** @type {number} */ value) =>
    Math.round(DARKEST + ((255 - DARKEST) * (value - low)) / (high - low || 1));
  return { values, low, high, levels: values.map(level), first: DARKEST };
}

const MARGIN = 30; // pixels around the outermost heads, where their names are
const MOST_HEADS = 64; // more would lie on each other; the pointer still shows all

export class MapView {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.points = el("div", { class: "map-points", role: "group", "aria-label": "Map of all heads" });
    this.note = el("p", { "aria-live": "polite" });
    this.legend = new Legend();
    this.meaning = el("p", { class: "measure" });
    const side = el("div", { class: "side" }, [this.meaning, ...this.legend.parts, this.note]);
    this.root = el("div", { class: "view map-view" }, [this.points, side]);
  }

  get map() {
    const { map } = this.stage.data.header;
    return map?.asked?.[0] === this.stage.stack.id ? map : null;
  }

  draw() {
    const { data, stack, view } = this.stage;
    this.measure = measureOf(data.header.measures, stack, view);
    const { map } = this;
    this.colour = colouring(stack, this.measure);
    this.explain();
    if (map?.points && map.points.length === stack.layers.length * stack.heads) this.put(map.points);
    else this.points.replaceChildren();
    this.note.textContent = t(describe(map, stack.nQuery));
    if (!this.map) this.stage.askOnce({ type: "map", stack: stack.id });
  }

  explain() {
    const { first, low, high } = /** @type {ReturnType<typeof colouring>} */ (this.colour);
    const { data, stack, view, theme } = this.stage;
    const { measures, repeated } = data.header;
    const { measure } = this;
    const chosen = measure ?? awaited(measures, stack, view);
    const ends = measure ? [number(low), number(high)] : [`layer ${low}`, `layer ${high}`];
    this.legend.draw(theme.sequential, ends, first);
    this.meaning.replaceChildren(
      el("strong", { text: chosen ? chosen.title : t("layer") }),
      chosen
        ? `: ${t(`${chosen.definition} ${noteOnMeasure(chosen, stack, repeated)}`)}`
        : `: ${t("each head has the colour of its layer.")}`,
    );
  }

  /** @param {[number, number][]} points */
  put(points) {
    const { stage, points: board, measure } = this;
    const { stack, theme, view } = stage;
    const { values, levels } = /** @type {ReturnType<typeof colouring>} */ (this.colour);
    const places = placed(points, board.clientWidth, board.clientHeight, MARGIN);
    const heads = placesOf(stack, { ...view, order: "layer" }, measure);
    const names = heads.map(({ layer, head }) => `L${layer} H${head}`);
    const fits = namesWithRoom(places, widthsOf(names, theme));
    const hasNames = heads.length <= MOST_HEADS;
    board.replaceChildren(
      ...heads.map(({ layer, head, at, passes }) => {
        const does = [stack.labels[at], measure && `${measure.title} ${number(values[at])}`].filter(Boolean);
        const title = [`Layer ${layer} head ${head}`, ...does, ...(passes ? [] : ["dimmed"])].join(", ");
        const dot = el("span", {
          class: "dot",
          style: `background: ${cssColour(theme.sequential, levels[at])}`,
        });
        const name = hasNames && nameOf(names[at], fits[at]);
        const attributes = {
          title,
          "aria-label": `Open ${title[0].toLowerCase()}${title.slice(1)}`,
          "aria-pressed": String(layer === view.layer && head === view.head),
          "data-layer": layer,
          "data-head": head,
          class: passes ? null : "dimmed",
          style: `left: ${places[at][0]}px; top: ${places[at][1]}px`,
          onclick: () => stage.openHead({ layer, head }),
        };
        return button(attributes, [dot, name]);
      }),
    );
  }
}

/** What the distances mean, how far the plane shows them, and of which queries; or why there is no map.
   @param {import("./types").HeadMap | null} map @param {number} nQuery */
function describe(map, nQuery) {
  if (!map) return "Comparing all heads…";
  if (map.problem || !map.shares) return map.problem ?? "";
  const [x, y] = map.shares.map((share) => `${Math.round(100 * share)} %`);
  const some = (map.queries ?? nQuery) < nQuery;
  return (
    "Distances stand for mean Jensen-Shannon distances between patterns, over " +
    `${some ? `${map.queries} of ${nQuery} queries, evenly spread` : "all queries"} (Clark et al. 2019). ` +
    `The plane shows ${x} + ${y} of their variance, so near heads may still differ.`
  );
}

const ROOM = 36; // pixels around the outermost points, where their names are
const MOST_NAMES = 64;
const COLOURS = [
  { value: "role", text: "query or key" },
  { value: "position", text: "position" },
  { value: "token", text: "token" },
];

export class Plane {
  colour = "role";

  /** @param {import("./types").Stage} stage @param {() => void} redraw */
  constructor(stage, redraw) {
    this.stage = stage;
    const label = "Queries and keys in a plane";
    this.points = el("div", { class: "map-points", role: "img", "aria-label": label });
    this.choice = listOf("colour by", (colour) => {
      this.colour = colour;
      redraw();
    });
    this.shares = el("p", {});
  }

  /** @param {Further | null} answer @param {Area} area */
  draw(answer, { q0, k0 }) {
    this.choice.update(COLOURS, this.colour);
    const { queries = [], keys = [], shares } = answer ?? {};
    const [x, y] = (shares ?? []).map((share) => `${Math.round(100 * share)} %`);
    this.shares.textContent = t(shares ? `Its axes show ${x} and ${y} of their variance.` : "");
    const { clientWidth, clientHeight } = this.points;
    const places = placed([...queries, ...keys], clientWidth, clientHeight, ROOM);
    const { data, stack } = this.stage;
    const hasNames = places.length <= MOST_NAMES;
    const textAt = (/** @type {Role} */ role, /** @type {number} */ at) =>
      data.names(stack, role)[at]?.text ?? "";
    const texts = [
      ...queries.map((_, i) => textAt("query", q0 + i)),
      ...keys.map((_, j) => textAt("key", k0 + j)),
    ];
    const fits = namesWithRoom(
      places,
      widthsOf(
        texts.map((text) => shorten(text)),
        this.stage.theme,
      ),
    );
    /** @type {(role: Role, at: number, point: number) => HTMLElement} */
    const make = (role, at, point) => {
      const [text, place] = [texts[point], places[point]];
      const title = t(role === "query" ? `query “${text}”, position ${at}` : `key “${text}”, position ${at}`);
      const style = `left: ${place[0]}px; top: ${place[1]}px`;
      const dot = el("span", { class: "dot", style: `background: ${this.colourOf(role, at, text)}` });
      const name = hasNames && nameOf(shorten(text), fits[point]);
      return el("div", { class: `point ${role}`, title, style }, [dot, name]);
    };
    this.points.replaceChildren(
      ...queries.map((_, i) => make("query", q0 + i, i)),
      ...keys.map((_, j) => make("key", k0 + j, queries.length + j)),
    );
  }

  /** @param {Role} role @param {number} at @param {string} text */
  colourOf(role, at, text) {
    const { theme, stack, data } = this.stage;
    if (this.colour === "role") return theme[role];
    if (this.colour === "position") {
      const last = Math.max(stack.nQuery, stack.nKey) - 1;
      const level = Math.round(DARKEST + ((255 - DARKEST) * at) / Math.max(1, last));
      return cssColour(theme.sequential, level);
    }
    const known = [...data.names(stack, "query"), ...data.names(stack, "key")].map((each) => each.text);
    return theme.heads[[...new Set(known)].indexOf(text) % theme.heads.length];
  }
}
