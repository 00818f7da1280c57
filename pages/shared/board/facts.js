/* Numbers side by side, and the signs of an equation. */

class FactsPanel {
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
function written(value, digits) {
  return digits === 0 && Number.isFinite(value) ? value.toLocaleString("en", { maximumFractionDigits: 0 }).replace("-", "−") : number(value, digits);
}

class SignPanel {
  constructor(board, spec) {
    this.root = el("div", { class: "sign", text: spec.text });
  }

  update() {}

  draw() {}
}
