/* All heads of a stack as points: those whose patterns are alike lie together. The server computes where they
   lie when this view is first open; a press opens a head. */

import { el, fitCanvas } from "../../shared/browser/dom.js";
import { imageOf } from "../../shared/browser/images.js";
import { number } from "../../shared/browser/numbers.js";
import { colouring, placed } from "./map_points.js";
import { awaited, saidOf } from "./random_tokens.js";
import { measureOf, placesOf } from "./sorting.js";

const MARGIN = 30; // pixels around the outermost heads, where their names are
const MOST_NAMES = 64; // more would lie on each other; the pointer still shows all
const LEGEND = { width: 190, height: 12 };

export class MapView {
  asked = ""; // of which text and stack the map was asked for

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.points = el("div", { class: "map-points", role: "group", "aria-label": "Map of all heads" });
    this.told = el("p", { "aria-live": "polite" });
    this.colours = el("canvas", { class: "legend", "aria-hidden": "true" });
    this.ends = el("div", { class: "legend-ends" });
    this.meaning = el("p", { class: "measure" });
    const side = el("div", { class: "side" }, [this.meaning, this.colours, this.ends, this.told]);
    this.root = el("div", { class: "view map-view" }, [this.points, side]);
  }

  get map() {
    const { map } = this.stage.data.header;
    return map?.asked?.[0] === this.stage.stack.id ? map : null;
  }

  /* Asks for the map of what is shown, once. */
  ask() {
    const { data, stack, act } = this.stage;
    const need = `${JSON.stringify(data.header.link)} ${stack.id}`;
    if (this.map || this.asked === need) return;
    this.asked = need;
    act({ type: "map", stack: stack.id });
  }

  draw() {
    const { data, stack, view } = this.stage;
    this.measure = measureOf(data.header.measures, stack, view);
    const { map } = this;
    this.colour = colouring(stack, this.measure);
    this.legend();
    if (map?.points && map.points.length === stack.layers.length * stack.heads) this.put(map.points);
    else this.points.replaceChildren();
    this.told.textContent = said(map, stack.nQuery);
    this.ask();
  }

  legend() {
    const { theme } = this.stage;
    const { first, low, high } = /** @type {ReturnType<typeof colouring>} */ (this.colour);
    const { width, height } = LEGEND;
    const table = imageOf(256 - first, 1, (at) => at + first, theme.sequential);
    fitCanvas(this.colours, width, height).drawImage(table, 0, 0, width, height);
    const { data, stack, view } = this.stage;
    const { measures, repeated } = data.header;
    const { measure } = this;
    const chosen = measure ?? awaited(measures, stack, view);
    const ends = measure ? [number(low), number(high)] : [`layer ${low}`, `layer ${high}`];
    this.ends.replaceChildren(...ends.map((text) => el("span", { text })));
    this.meaning.replaceChildren(
      el("strong", { text: chosen ? chosen.title : "layer" }),
      chosen
        ? `: ${chosen.definition} ${saidOf(chosen, stack, repeated)}`
        : ": each head has the colour of its layer.",
    );
  }

  /** @param {[number, number][]} points */
  put(points) {
    const { stage, points: board, measure } = this;
    const { stack, theme, view } = stage;
    const { values, levels } = /** @type {ReturnType<typeof colouring>} */ (this.colour);
    const places = placed(points, board.clientWidth, board.clientHeight, MARGIN);
    const heads = placesOf(stack, { ...view, order: "layer" }, measure);
    const named = heads.length <= MOST_NAMES;
    board.replaceChildren(
      ...heads.map(({ layer, head, at, passes }) => {
        const rgb = theme.sequential.subarray(3 * levels[at], 3 * levels[at] + 3).join(", ");
        const does = [stack.labels[at], measure && `${measure.title} ${number(values[at])}`].filter(Boolean);
        const title = [`Layer ${layer}, head ${head}`, ...does, ...(passes ? [] : ["dimmed"])].join(", ");
        const dot = el("span", { class: "dot", style: `background: rgb(${rgb})` });
        return el(
          "button",
          {
            type: "button",
            title,
            "aria-label": `Open ${title[0].toLowerCase()}${title.slice(1)}`,
            "aria-pressed": String(layer === view.layer && head === view.head),
            "data-layer": layer,
            "data-head": head,
            class: passes ? null : "dimmed",
            style: `left: ${places[at][0]}px; top: ${places[at][1]}px`,
            onclick: () => stage.set({ layer, head, heads: [head], view: "head" }),
          },
          [dot, named && el("span", { class: "name", text: `L${layer} H${head}` })],
        );
      }),
    );
  }
}

/**
 * What the distances mean, how far the plane shows them, and of which queries; or why there is no map.
 * @param {import("./types").HeadMap | null} map
 * @param {number} nQuery
 */
function said(map, nQuery) {
  if (!map) return "Comparing all heads…";
  if (map.problem || !map.shares) return map.problem ?? "";
  const [x, y] = map.shares.map((share) => `${Math.round(100 * share)} %`);
  const some = (map.queries ?? nQuery) < nQuery;
  return (
    "Distances on the map stand for Jensen-Shannon distances between patterns, the mean over " +
    `${some ? `${map.queries} of ${nQuery} queries, evenly spread` : "all queries"} ` +
    `(Clark et al. 2019). The plane shows ${x} + ${y} of their variance, so near heads may still differ.`
  );
}
