/* A table of texts: rows that can be chosen, one that can be opened, cells that stand out. Written by
   pages/shared/table.py. */

import { button, el, isNew } from "../browser/dom.js";
import { rendering } from "../browser/rendering.js";
import { putUp } from "../browser/shell.js";
import { rowOf } from "../browser/tables.js";
import { themeOf } from "../browser/theme.js";
import { read, t } from "../browser/words.js";

/** @typedef {{name: string, numeric: boolean}} Column */
/** @typedef {object} Row
   @property {string} id
   @property {string[]} cells
   @property {boolean} chosen
   @property {boolean} [opened]
   @property {number[]} marks
   @property {string[]} [members] of a group's row: the ids of the rows that it unfolds
   @property {string} [group] of a member's row: the id of its group's row
   @property {boolean} [heading] whether its one cell says what the rows below have in common */
/** @typedef {object} Content
   @property {string} caption
   @property {Column[]} columns
   @property {Row[]} rows
   @property {boolean} choose whether rows have boxes
   @property {string | null} sort the column by which they are sorted, after "-" from its end; null: for
   good */

class Table {
  /** @type {string} the message */ shown;
  /** @type {Set<string>} the ids of the groups whose members are shown */ unfolded = new Set();
  /** @type {Set<string>} the ids of the groups that were there before */ met = new Set();
  /** @type {import("../browser/rendering.js").Send} */ send;

  /** @param {HTMLElement} host */
  constructor(host) {
    this.caption = el("caption", {});
    this.head = el("tr", {});
    this.body = el("tbody", {});
    this.table = el("table", { class: "texts" }, [this.caption, el("thead", {}, [this.head]), this.body]);
    this.root = el("div", { class: "table-box", tabindex: "0", role: "region" }, [this.table]);
    this.leave = putUp(host, this.root, () => themeOf(this.root));
  }

  /** @param {Uint8Array} bytes @param {import("../browser/rendering.js").Send} send */
  receive(bytes, send) {
    this.send = send;
    const text = new TextDecoder().decode(bytes);
    if (text === this.shown) return;
    this.shown = text;
    themeOf(this.root);
    /** @type {Content} */ const { caption, columns, rows, choose, sort } = JSON.parse(
      text,
      (key, value) => (key === "name" ? value : read(key, value)), // a press on a heading sends it back
    );
    this.caption.textContent = caption;
    this.root.setAttribute("aria-label", caption);
    this.headings(columns, choose, sort);
    this.unfold(rows);
    // Rows that stay keep their elements, and with them the keyboard's focus.
    const old = new Map([...this.body.rows].map((row) => [row.dataset.id, row]));
    const now = rows.map((row) => this.row(row, columns, choose, old.get(row.id)));
    if (now.length !== this.body.children.length || now.some((row, at) => row !== this.body.children[at]))
      this.body.replaceChildren(...now);
    this.root.dataset.rows = String(rows.filter((row) => !row.heading).length);
    this.fold();
  }

  /** The columns' names. They stay as long as the columns do, and with them the keyboard's focus.
     @param {Column[]} columns @param {boolean} choose @param {string | null} sort */
  headings(columns, choose, sort) {
    if (isNew(this.head, [columns, choose, sort === null])) {
      const names = columns.map((column) => this.heading(column, sort !== null));
      this.head.replaceChildren(...(choose ? [el("td", {})] : []), ...names);
    }
    for (const heading of this.head.querySelectorAll("th")) {
      const { name } = heading.dataset;
      const way = sort === name ? "ascending" : sort === `-${name}` ? "descending" : null;
      if (way) heading.setAttribute("aria-sort", way);
      else heading.removeAttribute("aria-sort");
    }
  }

  /** @param {Column} column @param {boolean} sorts whether a press asks for another order */
  heading({ name, numeric }, sorts) {
    const className = numeric ? "numeric" : null;
    if (!sorts) return el("th", { scope: "col", class: className, text: t(name) });
    const onclick = () => this.send({ type: "sort", column: name });
    const children = [button({ class: "sort", text: t(name), onclick })];
    return el("th", { scope: "col", class: className, "data-name": name }, children);
  }

  /** Unfolds a group that is met for the first time and of which only some are chosen. @param {Row[]} rows */
  unfold(rows) {
    const chosen = new Set(rows.filter((row) => row.chosen && !row.members).map((row) => row.id));
    for (const { id, members } of rows) {
      if (!members || this.met.has(id)) continue;
      this.met.add(id);
      if (members.some((each) => chosen.has(each)) && !members.every((each) => chosen.has(each)))
        this.unfolded.add(id);
    }
  }

  /** Shows the members of the unfolded groups alone, and says at each group how many of them are ticked. */
  fold() {
    for (const row of this.body.rows) {
      const { id, group } = row.dataset;
      if (group) row.hidden = !this.unfolded.has(group);
      const fold = row.querySelector(".fold");
      if (!fold || !id) continue;
      fold.setAttribute("aria-expanded", String(this.unfolded.has(id)));
      const ticked = this.boxes(id).map((box) => box.checked);
      const box = row.querySelector("input");
      if (!box) continue;
      box.checked = ticked.every(Boolean);
      box.indeterminate = !box.checked && ticked.some(Boolean);
    }
  }

  /** The boxes of a group's members. @param {string} id */
  boxes(id) {
    return [...this.body.rows]
      .filter((row) => row.dataset.group === id)
      .flatMap((row) => row.querySelector("input") ?? []);
  }

  /** @param {Row} given @param {Column[]} columns @param {boolean} choose whether it has a box
     @param {HTMLTableRowElement | undefined} old */
  row({ id, cells, chosen, opened, marks, members, group, heading }, columns, choose, old) {
    if (heading) return this.part(id, cells[0], columns.length + Number(choose), old);
    const row = old ?? el("tr", { "data-id": id });
    if (isNew(row, [cells, marks, choose, opened !== undefined, members, group])) {
      if (group) row.dataset.group = group;
      else delete row.dataset.group;
      const box = el("input", {
        type: "checkbox",
        "aria-label": t(`Compare ${cells[0]}`),
        onchange: () => {
          if (members) for (const each of this.boxes(id)) each.checked = box.checked;
          this.choose();
        },
      });
      const turn = () => {
        if (!this.unfolded.delete(id)) this.unfolded.add(id);
        this.fold();
      };
      const fold = button({ class: "fold", "aria-label": t(`Show the runs of ${cells[0]}`), onclick: turn });
      const onclick = () => this.send({ type: "open", id });
      const name = opened === undefined ? cells[0] : button({ class: "open", text: cells[0], onclick });
      const classOf = (/** @type {number} */ at) =>
        `${columns[at].numeric ? "numeric" : ""} ${marks?.includes(at) ? "marked" : ""}`;
      const content = rowOf({
        name: { children: members ? [fold, name] : [name] },
        cells: cells.slice(1).map((text, at) => ({ text, class: classOf(at + 1) })),
      });
      row.replaceChildren(...(choose ? [el("td", {}, [box])] : []), ...content.children);
    }
    const box = row.querySelector("input");
    if (box) box.checked = Boolean(chosen);
    row.querySelector(".open")?.setAttribute("aria-pressed", String(Boolean(opened)));
    row.classList.toggle("opened", Boolean(opened));
    return row;
  }

  /** The row above those that are sorted together.
     @param {string} id @param {string} text @param {number} across how many columns there are
     @param {HTMLTableRowElement | undefined} old */
  part(id, text, across, old) {
    const row = old ?? el("tr", { "data-id": id, class: "part" });
    if (isNew(row, [across, text]))
      row.replaceChildren(el("th", { scope: "rowgroup", colspan: across, text }));
    return row;
  }

  choose() {
    const ids = [...this.body.querySelectorAll("tr")]
      .filter((row) => row.querySelector("input")?.checked && !row.querySelector(".fold"))
      .map((row) => row.dataset.id);
    this.send({ type: "choose", ids });
  }
}

export const render = rendering(Table);
