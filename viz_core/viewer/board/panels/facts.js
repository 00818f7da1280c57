/* Numbers side by side. */

import { el } from "../../browser/dom.js";
import { written } from "../../browser/numbers.js";
import { caption } from "../words.js";

export class Panel {
  /** @param {import("../specs").Board} board @param {import("../specs").FactsSpec} spec */
  constructor(board, spec) {
    this.board = board;
    this.spec = spec;
    this.tiles = spec.facts.map(() => el("dd", {}));
    const pairs = spec.facts.map((fact, at) =>
      el("div", { class: "fact" }, [el("dt", { text: fact.label }), this.tiles[at]]),
    );
    this.root = el("figure", { class: "panel facts" }, [caption(spec), el("dl", {}, pairs)]);
  }

  /** @param {import("../specs").FactsSpec} spec */
  update(spec) {
    this.spec = spec;
  }

  /* Its numbers take room before they are drawn for the first time. */
  fit() {
    if (this.tiles.some((tile) => !tile.hasChildNodes())) this.draw(this.board.frame);
  }

  /** @param {import("../specs").FactsSpec["facts"][number]} fact @param {number} frame */
  said({ values, digits }, frame) {
    return typeof values === "string" ? values : written(values.frame(frame, 0)[0], digits);
  }

  /** @param {number} frame @returns {import("../../browser/reading.js").Reading[]} */
  read(frame) {
    const { title, facts } = this.spec;
    const at = (/** @type {number} */ i) => `${this.said(facts[i], frame)} ${facts[i].unit}`.trim();
    return [{ title, form: "rows", rows: facts.map(({ label }) => label), columns: ["value"], at }];
  }

  /** @param {number} frame */
  draw(frame) {
    this.spec.facts.forEach((fact, at) => {
      const shown = this.said(fact, frame);
      this.tiles[at].replaceChildren(shown, fact.unit ? el("small", { text: ` ${fact.unit}` }) : "");
      this.tiles[at].style.color = fact.colour === null ? "" : this.board.colour(fact.colour);
    });
  }
}
