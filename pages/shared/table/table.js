/* A table of texts: rows that can be chosen, one that can be opened, cells that stand out. Written by
   pages/shared/table. */

import { el } from "../browser/dom.js";
import { mounting, putUp } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";

/** @typedef {{name: string, numeric: boolean}} Column */
/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string[]} cells
 * @property {boolean} chosen
 * @property {boolean} [opened]
 * @property {number[]} marks
 */
/** @typedef {{caption: string, columns: Column[], rows: Row[], choose: boolean}} Content */

class Table {
  /** @type {string} the message */ shown;
  /** @type {import("../browser/shell.js").Send} */ send;

  /** @param {HTMLElement} host */
  constructor(host) {
    this.caption = el("caption", {});
    this.head = el("tr", {});
    this.body = el("tbody", {});
    this.table = el("table", { class: "texts" }, [this.caption, el("thead", {}, [this.head]), this.body]);
    this.root = el("div", { class: "table-box", tabindex: "0", role: "region" }, [this.table]);
    this.leave = putUp(host, this.root, () => themeOf(this.root));
  }

  /** @param {Uint8Array} bytes @param {import("../browser/shell.js").Send} send */
  receive(bytes, send) {
    this.send = send;
    const text = new TextDecoder().decode(bytes);
    if (text === this.shown) return;
    this.shown = text;
    themeOf(this.root);
    /** @type {Content} */
    const { caption, columns, rows, choose } = JSON.parse(text);
    this.caption.textContent = caption;
    this.root.setAttribute("aria-label", caption);
    const names = columns.map(({ name, numeric }) =>
      el("th", { scope: "col", class: numeric ? "numeric" : null, text: name }),
    );
    this.head.replaceChildren(...(choose ? [el("td", {})] : []), ...names);
    // Rows that stay keep their elements, and with them the keyboard's focus.
    const old = new Map([...this.body.rows].map((row) => [row.dataset.id, row]));
    const now = rows.map((row) => this.row(row, columns, choose, old.get(row.id)));
    if (now.length !== this.body.children.length || now.some((row, at) => row !== this.body.children[at]))
      this.body.replaceChildren(...now);
    this.root.dataset.rows = String(rows.length);
  }

  /**
   * @param {Row} given
   * @param {Column[]} columns
   * @param {boolean} choose whether it has a box
   * @param {HTMLTableRowElement | undefined} old
   */
  row({ id, cells, chosen, opened, marks }, columns, choose, old) {
    const signature = JSON.stringify([cells, marks, choose, opened !== undefined]);
    const row = old ?? el("tr", { "data-id": id });
    if (row.dataset.signature !== signature) {
      row.dataset.signature = signature;
      const box = el("input", {
        type: "checkbox",
        "aria-label": `Compare ${cells[0]}`,
        onchange: () => this.choose(),
      });
      const named =
        opened === undefined
          ? document.createTextNode(cells[0])
          : el("button", {
              type: "button",
              class: "open",
              text: cells[0],
              onclick: () => this.send({ type: "open", id }),
            });
      const rest = cells.slice(1).map((text, at) =>
        el("td", {
          text,
          class: `${columns[at + 1].numeric ? "numeric" : ""} ${marks?.includes(at + 1) ? "marked" : ""}`,
        }),
      );
      row.replaceChildren(
        ...(choose ? [el("td", {}, [box])] : []),
        el("th", { scope: "row" }, [named]),
        ...rest,
      );
    }
    const box = row.querySelector("input");
    if (box) box.checked = Boolean(chosen);
    row.querySelector(".open")?.setAttribute("aria-pressed", String(Boolean(opened)));
    row.classList.toggle("opened", Boolean(opened));
    return row;
  }

  choose() {
    const ids = [...this.body.querySelectorAll("tr")]
      .filter((row) => row.querySelector("input")?.checked)
      .map((row) => row.dataset.id);
    this.send({ type: "choose", ids });
  }
}

export const mount = mounting(Table);
