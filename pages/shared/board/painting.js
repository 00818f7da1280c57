/* Tables whose cells are buttons. Painting on a mask: a press turns a cell, a drag paints others alike; its
   end sends them to the server. Choosing: a press sends the place of a cell. */

import { nextCell } from "./cells.js";

/**
 * @typedef {object} Painted a matrix whose cells hold buttons
 * @property {HTMLElement[]} cells
 * @property {number} nColumns
 * @property {Float32Array} now the numbers
 * @property {(values: Float32Array) => void} drawTable
 * @property {() => void} send
 */

/** The cell that an event is in. @param {Event} event @returns {HTMLElement | null} */
export function cellOf({ target }) {
  return /** @type {Element} */ (target).closest("[data-cell]");
}

/** @param {HTMLElement} cell */
const placeOf = (cell) => Number(cell.dataset.cell);

/** @param {HTMLElement} cell */
const buttonOf = (cell) => /** @type {HTMLElement} */ (cell.firstElementChild);

/** @param {HTMLTableElement} table @param {Painted} matrix */
export function makePaintable(table, matrix) {
  /** @type {number | null} */
  let brush = null;
  /** @param {HTMLElement} cell @param {number} value */
  const paint = (cell, value) => {
    if (matrix.now[placeOf(cell)] === value) return;
    matrix.now[placeOf(cell)] = value;
    matrix.drawTable(matrix.now);
  };
  /** @param {HTMLElement} cell */
  const turned = (cell) => (matrix.now[placeOf(cell)] ? 0 : 1);
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

/**
 * A press on a cell, or Enter, sends its place.
 * @param {HTMLTableElement} table
 * @param {{cells: HTMLElement[], nColumns: number}} matrix whose cells hold buttons
 * @param {(row: number, column: number) => void} choose
 */
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

/**
 * The Tab key stops at one cell of a table of buttons; arrow keys go on from there.
 * @param {HTMLElement} table
 * @param {HTMLElement[]} cells
 */
function walkable(table, cells) {
  /** @param {HTMLElement | null} cell */
  const onlyStop = (cell) => {
    if (cell) for (const each of cells) buttonOf(each).tabIndex = each === cell ? 0 : -1;
  };
  onlyStop(cells[0]);
  table.addEventListener("focusin", (event) => onlyStop(cellOf(event)));
}
