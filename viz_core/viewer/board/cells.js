/* The cells of a matrix: their colours, what they send, which one is next, and tables whose cells are
   buttons. Painting on a mask: a press turns a cell, a drag paints others alike. Choosing: a press
   sends a cell's place. */

import { extent } from "../browser/message.js";

/** @typedef {import("./specs").MatrixSpec} Spec */

/** The number with the strongest colour, the same in all frames.
   @param {Pick<Spec, "scale" | "reach" | "values">} spec */
export function reachOf({ scale, reach, values }) {
  if (scale === "weights" || scale === "mask") return 1;
  return reach ?? (Math.max(...extent(values.values).map(Math.abs)) || 1);
}

/** The colour of a number, 0..255, or null where it has none.
   @param {Spec["scale"]} scale @param {number} reach @param {number} value */
export function colourLevel(scale, reach, value) {
  if (!Number.isFinite(value) || scale === "plain") return null;
  const share = Math.max(-1, Math.min(1, value / reach));
  return scale === "signed" ? Math.round(127.5 + 127.5 * share) : Math.round(255 * Math.max(0, share));
}

/** The act of a press on a cell, where one is chosen.
   @param {Pick<Spec, "choose">} spec @param {number} row @param {number} column */
export const choiceOf = ({ choose }, row, column) => ({
  type: "edit",
  field: choose,
  value: `${row}.${column}`,
});

/** The cells as the server reads them: rows between semicolons, numbers between commas, a mask's without.
   @param {string[]} written @param {number} columns @param {boolean} isMask */
export function sentCells(written, columns, isMask) {
  const rows = Array.from({ length: written.length / columns }, (_, i) =>
    written.slice(i * columns, (i + 1) * columns).join(isMask ? "" : ","),
  );
  return rows.join(";");
}

/** The cell that an arrow key goes to: null where it is no arrow, the same at the end of a row or column.
   @param {string} key @param {number} at @param {number} columns @param {number} count */
export function nextCell(key, at, columns, count) {
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const step = steps[key];
  if (step === undefined) return null;
  const next = at + step;
  const leavesRow = Math.abs(step) === 1 && Math.floor(next / columns) !== Math.floor(at / columns);
  return leavesRow || next < 0 || next >= count ? at : next;
}

/** @typedef {object} Painted a matrix whose cells hold buttons
   @property {HTMLElement[]} cells
   @property {number} nColumns
   @property {Float32Array} now the numbers
   @property {(values: Float32Array) => void} drawTable
   @property {() => void} send */

/** The cell that an event is in. @param {Event} event @returns {HTMLElement | null} */
export function cellOf({ target }) {
  return /** @type {Element} */ (target).closest("[data-cell]");
}

const placeOf = (/** @type {HTMLElement} */ cell) => Number(cell.dataset.cell);

const buttonOf = (/** @type {HTMLElement} */ cell) => /** @type {HTMLElement} */ (cell.firstElementChild);

/** @param {HTMLTableElement} table @param {Painted} matrix */
export function makePaintable(table, matrix) {
  /** @type {number | null} */ let brush = null;
  /** @param {HTMLElement} cell @param {number} value */
  const paint = (cell, value) => {
    if (matrix.now[placeOf(cell)] === value) return;
    matrix.now[placeOf(cell)] = value;
    matrix.drawTable(matrix.now);
  };
  const turned = (/** @type {HTMLElement} */ cell) => (matrix.now[placeOf(cell)] ? 0 : 1);
  table.addEventListener("pointerdown", (event) => {
    const cell = cellOf(event);
    if (!cell || event.button !== 0) return;
    /** @type {Element} */ (event.target).releasePointerCapture?.(event.pointerId);
    brush = turned(cell);
    paint(cell, brush);
    const end = () => {
      brush = null;
      matrix.send();
    };
    window.addEventListener("pointerup", end, { once: true });
  });
  table.addEventListener("pointerover", (event) => {
    const cell = cellOf(event);
    if (brush !== null && cell) paint(cell, brush);
  });
  table.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    if (!cell) return;
    const next = nextCell(event.key, placeOf(cell), matrix.nColumns, matrix.cells.length);
    if (next === null && !["Enter", " "].includes(event.key)) return;
    event.preventDefault();
    if (next !== null) return buttonOf(matrix.cells[next]).focus();
    paint(cell, turned(cell));
    matrix.send();
  });
  walkable(table, matrix.cells);
}

/** A press on a cell, or Enter, sends its place.
   @param {HTMLTableElement} table
   @param {{cells: HTMLElement[], nColumns: number}} matrix whose cells hold buttons
   @param {(row: number, column: number) => void} choose */
export function makeChoosable(table, { cells, nColumns }, choose) {
  table.addEventListener("click", (event) => {
    const cell = cellOf(event);
    if (cell) choose(Math.floor(placeOf(cell) / nColumns), placeOf(cell) % nColumns);
  });
  table.addEventListener("keydown", (event) => {
    const cell = cellOf(event);
    const next = cell && nextCell(event.key, placeOf(cell), nColumns, cells.length);
    if (next === null) return;
    event.preventDefault();
    buttonOf(cells[next]).focus();
  });
  walkable(table, cells);
}

/** The Tab key stops at one cell of a table of buttons; arrow keys go on from there.
   @param {HTMLElement} table @param {HTMLElement[]} cells */
function walkable(table, cells) {
  const onlyStop = (/** @type {HTMLElement | null} */ cell) => {
    if (cell) for (const each of cells) buttonOf(each).tabIndex = each === cell ? 0 : -1;
  };
  onlyStop(cells[0]);
  table.addEventListener("focusin", (event) => onlyStop(cellOf(event)));
}
