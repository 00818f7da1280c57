/* Numbers side by side, words in rows, and the signs of an equation. */

import { el, number } from "../browser/dom.js";
import { caption } from "./matrix.js";

export class FactsPanel {
  constructor(board, spec) {
    this.board = board;
    this.spec = spec;
    this.tiles = spec.facts.map(() => el("dd", {}));
    const pairs = spec.facts.map((fact, at) => el("div", { class: "fact" }, [el("dt", { text: fact.label }), this.tiles[at]]));
    this.root = el("figure", { class: "panel facts" }, [caption(spec), el("dl", {}, pairs)]);
  }

  update(spec) {
    this.spec = spec;
  }

  draw(frame) {
    this.spec.facts.forEach((fact, at) => {
      const shown = typeof fact.values === "string" ? fact.values : written(fact.values.frame(frame, 0)[0], fact.digits);
      this.tiles[at].replaceChildren(shown, fact.unit ? el("small", { text: ` ${fact.unit}` }) : "");
      this.tiles[at].style.color = fact.colour === null ? "" : this.board.colour(fact.colour);
    });
  }
}

/* Whole numbers in groups of three. */
export function written(value, digits) {
  return digits === 0 && Number.isFinite(value) ? value.toLocaleString("en", { maximumFractionDigits: 0 }).replace("-", "−") : number(value, digits);
}

export class TablePanel {
  constructor(board, spec) {
    this.spec = spec;
    const head = el("tr", {}, spec.columns.map((name) => el("th", { scope: "col", text: name })));
    this.lines = spec.rows.map((row) => el("tr", {}, row.map((text, at) => el(at ? "td" : "th", at ? { text } : { scope: "row", text }))));
    const table = el("table", { "aria-label": spec.title || "table" }, [el("thead", {}, [head]), el("tbody", {}, this.lines)]);
    this.root = el("figure", { class: "panel words" }, [caption(spec), table]);
  }

  update(spec) {
    this.spec = spec;
  }

  draw(frame) {
    const marked = this.spec.marked?.frame(frame, 1);
    this.lines.forEach((line, at) => line.classList.toggle("marked", Boolean(marked?.[at])));
  }
}

export class SignPanel {
  constructor(board, spec) {
    this.root = el("div", { class: "sign", text: spec.text });
  }

  update() {}

  draw() {}
}
