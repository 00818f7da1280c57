/* Words in rows. */

import { el } from "../../browser/dom.js";
import { caption } from "../words.js";

export class Panel {
  /** @param {import("../specs").Board} _board @param {import("../specs").TableSpec} spec */
  constructor(_board, spec) {
    this.spec = spec;
    const head = el(
      "tr",
      {},
      spec.columns.map((name) => el("th", { scope: "col", text: name })),
    );
    this.lines = spec.rows.map((row) =>
      el(
        "tr",
        {},
        row.map((text, at) => el(at ? "td" : "th", at ? { text } : { scope: "row", text })),
      ),
    );
    const table = el("table", { "aria-label": spec.title || "table" }, [
      el("thead", {}, [head]),
      el("tbody", {}, this.lines),
    ]);
    this.root = el("figure", { class: "panel words" }, [caption(spec), table]);
  }

  /** @param {import("../specs").TableSpec} spec */
  update(spec) {
    this.spec = spec;
  }

  /** @param {number} frame */
  draw(frame) {
    const marked = this.spec.marked?.frame(frame, 1);
    this.lines.forEach((line, at) => line.classList.toggle("marked", Boolean(marked?.[at])));
  }
}
