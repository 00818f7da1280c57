/* Words in rows. */

import { el } from "../../browser/dom.js";
import { tableOf } from "../../browser/tables.js";
import { t } from "../../browser/words.js";
import { caption } from "../words.js";

export class Panel {
  /** @param {import("../specs").Board} board @param {import("../specs").TableSpec} spec */
  constructor(board, spec) {
    this.spec = spec;
    const show = (/** @type {number} */ at) => {
      board.scrubber.stop();
      board.show(at);
    };
    const rows = spec.rows.map(([text, ...cells], at) => {
      if (!spec.leads) return { name: text, cells };
      const lead = el("button", { type: "button", class: "lead", text });
      return { name: { children: [lead] }, cells, onclick: () => show(at) };
    });
    const table = tableOf({ "aria-label": spec.title || t("table") }, rows, spec.columns.map(t));
    this.lines = [...table.tBodies[0].rows];
    this.root = el("figure", { class: "panel words" }, [caption(spec), table]);
  }

  /** @param {import("../specs").TableSpec} spec */
  update(spec) {
    this.spec = spec;
  }

  /** @param {number} frame @returns {import("../../browser/reading.js").Reading[]} */
  read(frame) {
    const { title, columns, rows, marked } = this.spec;
    const marks = marked?.frame(frame, 1);
    return [
      {
        ...{ title, form: "rows", rowAxis: columns[0], rows: rows.map(([name]) => name) },
        ...{ columns: columns.slice(1), at: (i, j) => rows[i][j + 1], marked: (i, j) => !j && marks?.[i] },
      },
    ];
  }

  /** @param {number} frame */
  draw(frame) {
    const marked = this.spec.marked?.frame(frame, 1);
    this.lines.forEach((line, at) => line.classList.toggle("marked", Boolean(marked?.[at])));
  }
}
