// @ts-nocheck
/* A matrix: a table whose cells show their numbers, or, when it is large, a canvas of colours. */

import { el, fitCanvas, shorten } from "../../browser/dom.js";
import { cssColour, imageOf, inkOn } from "../../browser/images.js";
import { extent } from "../../browser/message.js";
import { number, plainNumber, shortNumber } from "../../browser/numbers.js";
import { caption, withAxes } from "../words.js";

const MOST_COLUMNS = 26;

const MOST_ROWS = 24;

const HEAD_EDGE = 8;

export class Panel {
  constructor(board, spec) {
    this.board = board;
    this.update(spec);
    this.nRows = spec.values.size(2);
    this.nColumns = spec.values.size(1);
    this.isTable =
      !spec.picture && !spec.small && !spec.large && this.nColumns <= MOST_COLUMNS && this.nRows <= MOST_ROWS;
    this.body = this.isTable ? this.table() : this.canvas();
    this.root = el(
      "figure",
      { class: `panel matrix ${spec.scale} ${spec.role || ""} ${spec.small ? "small" : ""}` },
      [caption(spec), this.body],
    );
    // Pictures share a row by their columns, so that their cells come out alike.
    if (spec.large) this.root.style.flex = "1 1 300px";
    else if (!this.isTable && !spec.small)
      this.root.style.flex = `${this.nColumns} 1 ${Math.min(260, this.labelRoom + 8 * this.nColumns)}px`;
    this.root.addEventListener("pointerleave", () => board.light({}));
  }

  update(spec) {
    this.own = this.spec = spec;
    this.reach = reachOf(spec);
  }

  /* The large matrix of a board shows the thumbnail that was pressed last. */
  follow(pressed) {
    this.spec = { ...(pressed ?? this.own), large: true };
    this.reach = reachOf(this.spec);
    this.nRows = this.spec.values.size(2);
    this.nColumns = this.spec.values.size(1);
    this.root.querySelector("figcaption")?.replaceChildren(this.spec.title);
  }

  /* Room that the row labels take, and how many columns share the rest of the row. */
  get needs() {
    if (!this.isTable) return { fixed: 0, columns: 0 };
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
    if (this.own.large) this.follow(this.board.pressed?.spec);
    if (this.own.small) this.button.setAttribute("aria-pressed", String(this.board.pressed === this));
    const values = this.spec.values.frame(frame, 2);
    const marked = this.spec.marked?.frame(frame, 2);
    if (this.isTable) this.drawTable(values, marked);
    else this.drawCanvas(values, marked);
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
    if (!this.isTable) return;
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
    this.board.light({ [spec.row_axis]: i, [spec.column_axis]: j }, this.tell(i, j, value));
  }

  tell(i, j, value) {
    const { spec } = this;
    const place = (axis, names, at) => `${axis} ${names[at] ?? this.board.nameOf(axis, at)}`.trim();
    const where = [place(spec.row_axis, spec.rows, i), place(spec.column_axis, spec.columns, j)].join(", ");
    const text = this.textOf(i * this.nColumns + j);
    const title = spec.title ? `${spec.title}: ` : "";
    const said = this.isMissing(value) ? "not computed yet" : number(value, 4);
    return `${title}${where}${text === undefined ? "" : `: ${text}`} = ${said}`;
  }

  light(lit) {
    if (!this.isTable) return;
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

  canvas() {
    this.view = el("canvas", { role: "img", "aria-label": this.spec.title || "matrix" });
    this.view.addEventListener("pointermove", (event) => {
      const j = Math.floor(((event.offsetX - this.left) / this.width) * this.nColumns);
      const i = Math.floor(((event.offsetY - this.top) / this.height) * this.nRows);
      if (i >= 0 && j >= 0 && i < this.nRows && j < this.nColumns)
        this.point(i, j, this.now[i * this.nColumns + j]);
    });
    if (!this.spec.small) return withAxes(this.spec, el("div", { class: "canvas" }, [this.view]));
    this.button = el(
      "button",
      {
        type: "button",
        class: "thumbnail",
        "aria-label": `Show ${this.spec.title} large`,
        onclick: () => this.board.press(this),
      },
      [this.view],
    );
    return el("div", { class: "canvas" }, [this.button]);
  }

  get labelRoom() {
    const { rows, small } = this.spec;
    return rows.length && !small ? Math.min(90, 8 * Math.max(...rows.map((name) => name.length)) + 8) : 0;
  }

  get nameRoom() {
    return 8 * Math.max(1, ...this.spec.columns.map((name) => name.length));
  }

  drawCanvas(values, marked) {
    this.now = values;
    const { board, nRows, nColumns, spec } = this;
    const edge = (heads) => (heads.length ? HEAD_EDGE : 0);
    this.left = this.labelRoom + edge(spec.row_heads);
    this.top = edge(spec.column_heads);
    const room = this.root.clientWidth - this.left - (spec.small ? 4 : 26);
    // pictures come several to a page
    const most = board.heightOf() * (spec.large ? 0.7 : spec.picture ? 0.56 : 1);
    const cell = Math.min(room / nColumns, most / nRows, 20);
    const square = cell >= 3 || spec.small;
    this.width = square ? cell * nColumns : Math.min(room, 640);
    this.height = square ? cell * nRows : Math.min(most, Math.max(120, 4 * nRows));
    // Few rows are as high as a line of text, so that names have room and pictures of the same rows match.
    if (nRows <= MOST_ROWS && !spec.small)
      this.height = Math.max(this.height, Math.min(spec.named ? Infinity : most, 15 * nRows));
    const image = imageOf(nColumns, nRows, (at) => this.level(values[at]), this.colours);
    const wide = this.width / nColumns;
    const widest = this.nameRoom;
    const line = spec.named ? 11 : 13;
    const upright = widest > wide && wide >= line; // names stand where they do not fit side by side
    const foot = spec.columns.length && !spec.small ? (upright ? Math.min(8, widest / 8) * 7 + 8 : 20) : 0;
    const context = fitCanvas(this.view, this.left + this.width, this.top + this.height + foot);
    context.imageSmoothingEnabled = false;
    context.drawImage(image, this.left, this.top, this.width, this.height);
    this.drawEdges(context);
    if (marked) this.outline(context, marked);
    if (spec.small) return;
    context.fillStyle = board.theme.ink;
    context.font = `12px ${board.theme.font}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const high = this.height / nRows;
    everyNth(spec.rows, high, 14, (name, at) =>
      context.fillText(shorten(name, 11), this.labelRoom - 6, this.top + (at + 0.5) * high),
    );
    if (!upright) context.textAlign = "center";
    everyNth(spec.columns, wide, upright ? line : Math.min(60, widest), (name, at) => {
      context.save();
      context.translate(this.left + (at + 0.5) * wide, this.top + this.height + (upright ? 5 : 11));
      if (upright) context.rotate(-Math.PI / 2);
      context.fillText(shorten(name, 8), 0, 0);
      context.restore();
    });
  }

  /* The colours of the heads that rows and columns belong to. */
  drawEdges(context) {
    const { spec, board, nRows, nColumns } = this;
    const [high, wide] = [this.height / nRows, this.width / nColumns];
    spec.row_heads.forEach((head, at) => {
      if (head < 0) return;
      context.fillStyle = board.colour(head);
      context.fillRect(this.left - HEAD_EDGE, this.top + at * high, HEAD_EDGE - 2, high + 0.5);
    });
    spec.column_heads.forEach((head, at) => {
      if (head < 0) return;
      context.fillStyle = board.colour(head);
      context.fillRect(this.left + at * wide, 0, wide + 0.5, HEAD_EDGE - 2);
    });
  }

  /* A line around the cells that are marked. */
  outline(context, marked) {
    const { nRows, nColumns } = this;
    const [high, wide] = [this.height / nRows, this.width / nColumns];
    const is = (i, j) => i >= 0 && j >= 0 && i < nRows && j < nColumns && marked[i * nColumns + j];
    context.beginPath();
    const line = (x1, y1, x2, y2) => {
      context.moveTo(this.left + x1 * wide, this.top + y1 * high);
      context.lineTo(this.left + x2 * wide, this.top + y2 * high);
    };
    for (let i = 0; i < nRows; i++)
      for (let j = 0; j < nColumns; j++) {
        if (!is(i, j)) continue;
        if (!is(i - 1, j)) line(j, i, j + 1, i);
        if (!is(i + 1, j)) line(j, i + 1, j + 1, i + 1);
        if (!is(i, j - 1)) line(j, i, j, i + 1);
        if (!is(i, j + 1)) line(j + 1, i, j + 1, i + 1);
      }
    context.strokeStyle = this.board.theme.ink;
    context.lineWidth = 2;
    context.stroke();
  }
}

/* The number with the strongest colour, the same in all frames. */
function reachOf({ scale, reach, values }) {
  if (scale === "weights" || scale === "mask") return 1;
  return reach ?? (Math.max(...extent(values.values).map(Math.abs)) || 1);
}

function everyNth(names, spacing, room, write) {
  const step = Math.max(1, Math.ceil(room / spacing));
  names.forEach((name, at) => at % step === 0 && write(name, at));
}
