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

  /** @param {number} frame */
  draw(frame) {
    this.spec.facts.forEach((fact, at) => {
      const shown =
        typeof fact.values === "string" ? fact.values : written(fact.values.frame(frame, 0)[0], fact.digits);
      this.tiles[at].replaceChildren(shown, fact.unit ? el("small", { text: ` ${fact.unit}` }) : "");
      this.tiles[at].style.color = fact.colour === null ? "" : this.board.colour(fact.colour);
    });
  }
}
