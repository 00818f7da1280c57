// @ts-nocheck
/* A matrix as a table whose cells show their numbers; some can be written into or painted. */

import { el, shorten } from "../../browser/dom.js";
import { cssColour, inkOn } from "../../browser/images.js";
import { extent } from "../../browser/message.js";
import { plainNumber, shortNumber } from "../../browser/numbers.js";
import { cellWords } from "../told.js";
import { caption, withAxes } from "../words.js";

export class Panel {
  constructor(board, spec) {
    this.board = board;
    this.update(spec);
    this.nRows = spec.values.size(2);
    this.nColumns = spec.values.size(1);
    this.root = el("figure", { class: `panel matrix ${spec.scale} ${spec.role || ""}` }, [
      caption(spec),
      this.table(),
    ]);
    this.root.addEventListener("pointerleave", () => board.light({}));
  }

  update(spec) {
    this.spec = spec;
    this.reach = reachOf(spec);
  }

  /* Room that the row labels take, and how many columns share the rest of the row. */
  get needs() {
    const longest = Math.max(0, ...this.spec.rows.map((name) => [...name].length));
    return { fixed: Math.min(180, 7 * longest + 12) + (this.spec.row_axis ? 20 : 0), columns: this.nColumns };
  }

  level(value) {
    if (!Number.isFinite(value) || this.spec.scale === "plain") return null;
    const share = Math.max(-1, Math.min(1, value / this.reach));
    return this.spec.scale === "signed"
      ? Math.round(127.5 + 127.5 * share)
      : Math.round(255 * Math.max(0, share));
  }

  get colours() {
    return this.board.theme[this.spec.scale === "signed" ? "diverging" : "sequential"];
  }

  draw(frame) {
    this.drawTable(this.spec.values.frame(frame, 2), this.spec.marked?.frame(frame, 2));
  }

  table() {
    const { spec } = this;
    this.cells = [];
    const head = (text, scope, axis, at, heads) =>
      el("th", {
        scope,
        text: shorten(text, scope === "row" ? 24 : 16),
        title: text,
        "data-axis": axis,
        "data-at": at,
        "data-head": heads[at] >= 0 ? heads[at] : null,
      });
    const names = spec.columns.length ? spec.columns : [];
    const rows = Array.from({ length: this.nRows }, (_, i) => {
      const cells = Array.from({ length: this.nColumns }, (_, j) => this.cell(i, j));
      return el("tr", {}, [
        spec.rows.length ? head(spec.rows[i], "row", spec.row_axis, i, spec.row_heads) : null,
        ...cells,
      ]);
    });
    const corner = spec.rows.length ? el("td", { class: "corner" }) : null;
    const top = names.length
      ? el("thead", {}, [
          el("tr", {}, [
            corner,
            ...names.map((name, j) => head(name, "col", spec.column_axis, j, spec.column_heads)),
          ]),
        ])
      : null;
    const table = el("table", { "aria-label": spec.title || "matrix" }, [top, el("tbody", {}, rows)]);
    table.addEventListener("pointerover", (event) => this.hover(event.target.closest("[data-cell]")));
    table.addEventListener("focusin", (event) => this.hover(event.target.closest("[data-cell]")));
    if (spec.edit && spec.scale === "mask") this.paintable(table);
    return withAxes(spec, table);
  }

  cell(i, j) {
    const { spec } = this;
    const row = spec.rows[i] ?? this.board.nameOf(spec.row_axis, i);
    const name = `${row}, ${spec.columns[j] ?? this.board.nameOf(spec.column_axis, j)}`;
    let inner = null;
    if (spec.edit && spec.scale === "mask") inner = el("button", { type: "button", "aria-label": name });
    else if (spec.edit)
      inner = el("input", {
        type: "text",
        inputmode: "decimal",
        "aria-label": name,
        autocomplete: "off",
        onchange: () => this.send(),
      });
    const cell = el("td", { "data-cell": i * this.nColumns + j }, [inner]);
    this.cells.push(cell);
    return cell;
  }

  drawTable(values, marked) {
    const { spec, colours } = this;
    const focused = this.root.getRootNode().activeElement;
    this.now = Float32Array.from(values);
    for (let at = 0; at < this.cells.length; at++) {
      const cell = this.cells[at];
      const value = values[at];
      const level = this.level(value);
      const inner = cell.firstElementChild;
      cell.style.background = level === null ? "" : cssColour(colours, level);
      cell.style.color = level === null ? "" : inkOn(colours, level);
      cell.classList.toggle("masked", value === -Infinity);
      cell.classList.toggle("marked", Boolean(marked?.[at]));
      if (spec.scale === "mask") {
        cell.classList.toggle("off", value === 0);
        const [off, on] = spec.words.length ? spec.words : inner ? ["", ""] : ["0", "1"];
        if (inner) inner.setAttribute("aria-pressed", String(value !== 0));
        (inner ?? cell).textContent = value ? on : off;
      } else if (inner) {
        if (inner !== focused) inner.value = plainNumber(value);
      } else if (spec.texts.length) cell.textContent = shorten(this.textOf(at), this.letters);
      else if (this.written && !this.isMissing(value)) cell.textContent = shortNumber(value, spec.digits);
      else cell.textContent = "";
    }
  }

  isMissing(value) {
    return this.spec.nan_is_empty && Number.isNaN(value);
  }

  textOf(at) {
    return this.spec.texts[Math.floor(at / this.nColumns)]?.[at % this.nColumns];
  }

  /* The size of a cell in pixels, chosen by the board for all matrices of a row. */
  fit(cell) {
    const { spec } = this;
    const [low, high] = extent(spec.values.values);
    const letters = Math.max(shortNumber(low, spec.digits).length, shortNumber(high, spec.digits).length, 2);
    const font = spec.texts.length ? 12 : Math.min(16, (cell - 6) / (0.58 * letters));
    this.letters = Math.max(1, Math.floor((cell - 4) / (0.58 * font)));
    this.written = spec.edit || spec.scale === "mask" || font >= 9;
    const longest = Math.max(0, ...spec.columns.map((name) => Math.min(16, [...name].length)));
    this.root.classList.toggle("upright-names", 7.4 * longest > cell + 6);
    this.root.style.setProperty("--cell", `${cell}px`);
    this.root.style.setProperty("--cell-font", `${Math.max(9, font).toFixed(1)}px`);
    for (const th of this.root.querySelectorAll("th[data-head]"))
      th.style.setProperty("--head", this.board.colour(+th.dataset.head));
  }

  hover(cell) {
    if (!cell) return;
    const at = +cell.dataset.cell;
    this.point(Math.floor(at / this.nColumns), at % this.nColumns, this.now[at]);
  }

  point(i, j, value) {
    const { spec } = this;
    this.board.light({ [spec.row_axis]: i, [spec.column_axis]: j }, cellWords(spec, i, j, value, this.board));
  }

  light(lit) {
    const { spec, nColumns } = this;
    const row = lit[spec.row_axis];
    const column = lit[spec.column_axis];
    for (let at = 0; at < this.cells.length; at++) {
      const on =
        (spec.row_axis && Math.floor(at / nColumns) === row) ||
        (spec.column_axis && at % nColumns === column);
      this.cells[at].classList.toggle("lit", Boolean(on));
    }
    for (const th of this.root.querySelectorAll("th[data-axis]"))
      th.classList.toggle("lit", th.dataset.axis !== "" && lit[th.dataset.axis] === +th.dataset.at);
  }

  /* A press turns a cell, a drag paints others alike; sent to the server once it ends. */
  paintable(table) {
    let brush = null;
    const paint = (cell) => {
      const at = +cell.dataset.cell;
      if (this.now[at] === brush) return;
      this.now[at] = brush;
      this.drawTable(this.now, null);
    };
    table.addEventListener("pointerdown", (event) => {
      const cell = event.target.closest("[data-cell]");
      if (!cell || event.button !== 0) return;
      event.target.releasePointerCapture?.(event.pointerId);
      brush = this.now[+cell.dataset.cell] ? 0 : 1;
      paint(cell);
      const end = () => {
        brush = null;
        this.send();
      };
      window.addEventListener("pointerup", end, { once: true });
    });
    table.addEventListener("pointerover", (event) => {
      const cell = event.target.closest("[data-cell]");
      if (brush !== null && cell) paint(cell);
    });
    this.onlyStop(this.cells[0]);
    table.addEventListener("focusin", (event) => this.onlyStop(event.target.closest("[data-cell]")));
    table.addEventListener("keydown", (event) => {
      const cell = event.target.closest("[data-cell]");
      if (!cell || this.step(cell, event)) return;
      if (!["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      brush = this.now[+cell.dataset.cell] ? 0 : 1;
      paint(cell);
      brush = null;
      this.send();
    });
  }

  /* The Tab key stops at one cell of a mask; arrow keys go on from there. */
  onlyStop(cell) {
    if (cell) for (const each of this.cells) each.firstElementChild.tabIndex = each === cell ? 0 : -1;
  }

  step(cell, event) {
    const { nColumns } = this;
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -nColumns, ArrowDown: nColumns }[event.key];
    if (!by) return false;
    event.preventDefault();
    const leavesRow =
      Math.abs(by) === 1 &&
      Math.floor((+cell.dataset.cell + by) / nColumns) !== Math.floor(+cell.dataset.cell / nColumns);
    if (!leavesRow) this.cells[+cell.dataset.cell + by]?.firstElementChild.focus();
    return true;
  }

  send() {
    const { spec, nColumns } = this;
    const written = this.cells.map((cell, at) =>
      spec.scale === "mask" ? String(this.now[at]) : cell.firstElementChild.value.trim(),
    );
    const rows = Array.from({ length: this.nRows }, (_, i) =>
      written.slice(i * nColumns, (i + 1) * nColumns).join(spec.scale === "mask" ? "" : ","),
    );
    this.board.act({ type: "edit", field: spec.edit, value: rows.join(";") });
  }
}

/* The number with the strongest colour, the same in all frames. */
function reachOf({ scale, reach, values }) {
  if (scale === "weights" || scale === "mask") return 1;
  return reach ?? (Math.max(...extent(values.values).map(Math.abs)) || 1);
}
