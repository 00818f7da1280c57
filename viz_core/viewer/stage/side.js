/* What stands beside a view: the legend of its colours, and what is read in it. */

import { el, fitCanvas } from "../browser/dom.js";
import { imageOf } from "../browser/images.js";
import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";

/** @typedef {[term: string, value: string, colour?: string]} Reading */

/** @param {Reading[]} readings */
export const readoutOf = (readings) =>
  readings.map(([term, value, colour]) =>
    el("div", {}, [
      el("span", { class: "term", text: t(term) }),
      el("span", { class: "value", text: value, style: colour ? `color:${colour}` : null }),
    ]),
  );

const WIDTH = 190;
const HEIGHT = 12;
const NOTHING = 1e-12; // the strongest colour of values that are all 0

/** What stands below the colours, from left to right.
   @param {import("./types").View["range"]} range
   @param {boolean} signed scores, of which the strongest colour is `extent`; otherwise weights
   @param {number} extent the number of the strongest colour */
export function legendEnds(range, signed, extent) {
  if (signed && range === "row") return ["−row's largest", "0", "+row's largest"];
  if (signed && extent <= NOTHING) return ["", "0 everywhere", ""];
  if (signed) return [number(-extent), "0", number(extent)];
  if (range === "log") return ["≤ 0.0001", "0.01", "1"];
  if (range === "row") return ["0", "row's largest"];
  return extent === 1 ? ["0", "0.5", "1"] : ["0", number(extent / 2), number(extent)];
}

export class Legend {
  constructor() {
    this.colours = el("canvas", { class: "legend", "aria-hidden": "true" });
    this.ends = el("div", { class: "legend-ends" });
    this.parts = [this.colours, this.ends];
  }

  /** @param {import("../browser/images.js").Table} table @param {string[]} ends
     @param {number} first colour that is drawn */
  draw(table, ends, first = 0) {
    const image = imageOf(256 - first, 1, (at) => at + first, table);
    fitCanvas(this.colours, WIDTH, HEIGHT).drawImage(image, 0, 0, WIDTH, HEIGHT);
    this.ends.replaceChildren(...ends.map((text) => el("span", { text })));
  }
}
