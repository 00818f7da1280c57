/* A matrix as a table whose cells show their numbers; some can be written into or painted. */

import { button, el, shorten, textWidth } from "../../browser/dom.js";
import { cssColour, inkOn } from "../../browser/images.js";
import { extent } from "../../browser/message.js";
import { plainNumber, shortNumber } from "../../browser/numbers.js";
import { find, findAll } from "../../browser/page.js";
import { cellOf, choiceOf, colourLevel, makeChoosable, makePaintable, reachOf, sentCells } from "../cells.js";
import { cellWords } from "../cursor.js";
import { gridOf } from "../rows.js";
import { caption, withAxes } from "../words.js";

/** @typedef {import("../specs").MatrixSpec} Spec */

const INSET = 4; // pixels of a cell beside its number
const SMALLEST = 12; // pixels of letters; a cell too small for them shows its colour alone

/** Pixels of letters for a line so high, which may have a button's edge. @param {number} line */
const letters = (line) =>
  Math.max(SMALLEST, Math.min(line < 38 ? 16 : line < 60 ? 19 : 26, (line - 2) / 1.15));

export class Panel {
  /** @type {HTMLTableCellElement[]} */ cells = [];
  /** @type {Float32Array} the numbers of the frame */ now;
  letters = 1; // that find room in a cell
  written = true; // whether numbers do
  most = 16; // letters of a name above its columns

  /** @param {import("../specs").Board} board @param {Spec} spec */
  constructor(board, spec) {
    this.board = board;
    this.spec = spec;
    this.reach = reachOf(spec);
    this.nRows = spec.values.size(2);
    this.nColumns = spec.values.size(1);
    this.root = el("figure", { class: `panel matrix ${spec.scale} ${spec.role || ""}` }, [
      caption(spec),
      this.table(),
    ]);
    this.root.addEventListener("pointerleave", () => board.light({}));
  }

  /** @param {Spec} spec */
  update(spec) {
    this.spec = spec;
    this.reach = reachOf(spec);
  }

  /* Room that the row labels take, and how many columns share the rest of the row. */
  get needs() {
    const { spec } = this;
    const least = spec.texts.length ? 14 : this.widest + this.outline;
    const beside = spec.row_heads.length ? 12 : 8; // a colour stands between such names and the cells
    const names = spec.rows.length ? Math.min(200, Math.ceil(this.nameWidth(spec.rows, 24)) + beside) : 0;
    const fixed = names + (spec.row_axis ? 20 : 0) + (this.board.fits ? 0 : 2);
    return { fixed, columns: this.nColumns, least };
  }

  /* Pixels of a cell that the outline of a field takes, which a number is typed into. */
  get outline() {
    return this.typed ? 14 : 0;
  }

  get typed() {
    return Boolean(this.spec.edit) && this.spec.scale !== "mask";
  }

  /* Pixels of a cell for its longest number in the smallest letters. */
  get widest() {
    const { spec, board } = this;
    const font = `${SMALLEST}px ${board.theme.font}`;
    const { values } = spec.values;
    const longest = this.typed
      ? Array.from(values, plainNumber)
      : extent(values).map((end) => shortNumber(end, spec.digits));
    if (values.includes(-Infinity)) longest.push("−∞");
    longest.push(...spec.words);
    return Math.ceil(Math.max(12, ...longest.map((number) => textWidth(number, font)))) + INSET;
  }

  /** Pixels of the longest name beside rows or over columns. @param {string[]} names @param {number} most */
  nameWidth(names, most) {
    const font = `${0.86 * (this.board.fits ? 14 : 16)}px ${this.board.theme.font}`; // as board.css has it
    return Math.max(0, ...names.map((name) => textWidth(shorten(name, most), font)));
  }

  get colours() {
    return this.board.theme[this.spec.scale === "signed" ? "diverging" : "sequential"];
  }

  /** @param {number} frame */
  read(frame) {
    return [gridOf(this.spec, frame, this.board)];
  }

  /** @param {number} frame */
  draw(frame) {
    this.drawTable(this.spec.values.frame(frame, 2), this.spec.marked?.frame(frame, 2));
  }

  table() {
    const { spec, board } = this;
    /** @type {(text: string, scope: string, axis: string, at: number, heads: number[]) => HTMLElement} */
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
      const name = spec.rows.length && head(spec.rows[i], "row", spec.row_axis, i, spec.row_heads);
      return el("tr", {}, [name || null, ...cells]);
    });
    const corner = spec.rows.length ? el("td", { class: "corner" }) : null;
    const heads = names.map((name, j) => head(name, "col", spec.column_axis, j, spec.column_heads));
    const top = names.length ? el("thead", {}, [el("tr", {}, [corner, ...heads])]) : null;
    const table = el("table", { "aria-label": spec.title || "matrix" }, [top, el("tbody", {}, rows)]);
    table.addEventListener("pointerover", (event) => this.hover(cellOf(event)));
    table.addEventListener("focusin", (event) => this.hover(cellOf(event)));
    if (spec.edit && spec.scale === "mask") makePaintable(table, this);
    if (spec.choose) makeChoosable(table, this, (row, column) => board.act(choiceOf(spec, row, column)));
    return withAxes(spec, table);
  }

  /** @param {number} i @param {number} j */
  cell(i, j) {
    const { spec } = this;
    const row = spec.rows[i] ?? this.board.nameOf(spec.row_axis, i);
    const name = `${row}, ${spec.columns[j] ?? this.board.nameOf(spec.column_axis, j)}`;
    let inner = null;
    if (spec.choose || (spec.edit && spec.scale === "mask")) inner = button({ "data-name": name });
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

  /** @param {ArrayLike<number>} values @param {ArrayLike<number>} [marked] */
  drawTable(values, marked) {
    const { spec, colours } = this;
    const focused = /** @type {ShadowRoot} */ (this.root.getRootNode()).activeElement;
    this.now = Float32Array.from(values);
    for (let at = 0; at < this.cells.length; at++) {
      const cell = this.cells[at];
      const value = values[at];
      // what a mask says in words is no number of the scales, whose colours it would share
      const level = spec.words.length ? null : colourLevel(spec.scale, this.reach, value);
      const inner = /** @type {HTMLInputElement | null} */ (cell.firstElementChild);
      cell.style.background = level === null ? "" : cssColour(colours, level);
      cell.style.color = level === null ? "" : inkOn(colours, level);
      cell.classList.toggle("masked", value === -Infinity || (Boolean(spec.gap) && Number.isNaN(value)));
      cell.classList.toggle("marked", Boolean(marked?.[at]));
      if (spec.scale === "mask") {
        cell.classList.toggle("off", value === 0);
        const [off, on] = spec.words.length ? spec.words : inner ? ["", ""] : ["0", "1"];
        if (inner) inner.setAttribute("aria-pressed", String(value !== 0));
        (inner ?? cell).textContent = value ? on : off;
      } else if (spec.edit && inner) {
        if (inner !== focused) inner.value = plainNumber(value);
      } else (inner ?? cell).textContent = this.wordsOf(at, value);
      if (spec.choose) inner?.setAttribute("aria-pressed", String(Boolean(marked?.[at])));
      const name = inner?.dataset.name; // of a button; what is read on it is a part of what it is called
      if (name) inner.setAttribute("aria-label", [name, inner.textContent].filter(Boolean).join(": "));
    }
  }

  /** What is written into a cell. @param {number} at @param {number} value */
  wordsOf(at, value) {
    const { spec } = this;
    const row = spec.texts[Math.floor(at / this.nColumns)];
    if (spec.texts.length) return shorten(row[at % this.nColumns], this.letters);
    const isMissing = Number.isNaN(value) && (spec.nan_is_empty || spec.gap);
    return this.written && !isMissing ? shortNumber(value, spec.digits) : "";
  }

  /** Takes the size of a cell in pixels, which all matrices of a row share. @param {number} cell */
  fit(cell) {
    const { spec } = this;
    const line = this.board.rowHeight(this.nRows, cell);
    const font = spec.texts.length
      ? SMALLEST
      : Math.min(letters(line), (SMALLEST * (cell - this.outline - INSET)) / (this.widest - INSET));
    this.letters = Math.max(1, Math.floor((cell - 4) / (0.58 * font)));
    this.written = Boolean(spec.edit) || spec.scale === "mask" || font >= SMALLEST - 0.1;
    const most = this.board.present.on ? 9 : 16; // letters of a name
    if (most !== this.most)
      for (const th of findAll("th[scope=col]", this.root))
        th.textContent = shorten(spec.columns[Number(th.dataset.at)], most);
    this.most = most;
    this.root.classList.toggle("upright-names", this.nameWidth(spec.columns, most) > cell + 0.5);
    this.root.style.setProperty("--cell", `${cell}px`);
    this.root.style.setProperty("--row", `${line}px`);
    this.root.style.setProperty("--cell-font", `${Math.max(SMALLEST, font).toFixed(1)}px`);
    for (const th of findAll("th[data-head]", this.root))
      th.style.setProperty("--head", this.board.colour(Number(th.dataset.head)));
  }

  /* Pixels from the top of its axis to its first row. */
  get above() {
    const across = find(".axis.across", this.root)?.offsetHeight ?? 0;
    return across + (find("tbody", this.root)?.offsetTop ?? 0);
  }

  /** Its first row stands where those beside it do. @param {number} above */
  lower(above) {
    this.root.style.setProperty("--lower", `${above - this.above}px`);
  }

  /** @param {HTMLElement | null} cell */
  hover(cell) {
    if (!cell) return;
    const at = Number(cell.dataset.cell);
    this.point(Math.floor(at / this.nColumns), at % this.nColumns, this.now[at]);
  }

  /** @param {number} i @param {number} j @param {number} value */
  point(i, j, value) {
    const { spec } = this;
    this.board.light({ [spec.row_axis]: i, [spec.column_axis]: j }, cellWords(spec, i, j, value, this.board));
  }

  /** @param {import("../specs").Lit} lit */
  light(lit) {
    const { spec, nColumns } = this;
    const row = lit[spec.row_axis];
    const column = lit[spec.column_axis];
    const here = row === undefined || column === undefined ? -1 : row * nColumns + column;
    for (let at = 0; at < this.cells.length; at++) {
      const on =
        (spec.row_axis && Math.floor(at / nColumns) === row) ||
        (spec.column_axis && at % nColumns === column);
      this.cells[at].classList.toggle("lit", Boolean(on));
      this.cells[at].classList.toggle("here", Boolean(spec.together) && at === here);
    }
    for (const th of findAll("th[data-axis]", this.root)) {
      const { axis, at } = th.dataset;
      th.classList.toggle("lit", Boolean(axis) && lit[axis ?? ""] === Number(at));
    }
  }

  send() {
    const isMask = this.spec.scale === "mask";
    const written = this.cells.map((cell, at) =>
      isMask ? String(this.now[at]) : /** @type {HTMLInputElement} */ (cell.firstElementChild).value.trim(),
    );
    const value = sentCells(written, this.nColumns, isMask);
    this.board.act({ type: "edit", field: this.spec.edit, value });
  }
}
