/* What the cells of a matrix work out: their colours, what they send, which one is next. */

import { extent } from "../browser/message.js";

/** @typedef {import("./specs").MatrixSpec} Spec */

/**
 * The number with the strongest colour, the same in all frames.
 * @param {Pick<Spec, "scale" | "reach" | "values">} spec
 */
export function reachOf({ scale, reach, values }) {
  if (scale === "weights" || scale === "mask") return 1;
  return reach ?? (Math.max(...extent(values.values).map(Math.abs)) || 1);
}

/**
 * The colour of a number, 0..255, or null where it has none.
 * @param {Spec["scale"]} scale
 * @param {number} reach
 * @param {number} value
 */
export function colourLevel(scale, reach, value) {
  if (!Number.isFinite(value) || scale === "plain") return null;
  const share = Math.max(-1, Math.min(1, value / reach));
  return scale === "signed" ? Math.round(127.5 + 127.5 * share) : Math.round(255 * Math.max(0, share));
}

/**
 * The act of a press on a cell, where one is chosen.
 * @param {Pick<Spec, "choose">} spec
 * @param {number} row
 * @param {number} column
 */
export const choiceOf = ({ choose }, row, column) => ({
  type: "edit",
  field: choose,
  value: `${row}.${column}`,
});

/**
 * The cells as the server reads them: rows between semicolons, numbers between commas, a mask's without.
 * @param {string[]} written
 * @param {number} columns
 * @param {boolean} isMask
 */
export function sentCells(written, columns, isMask) {
  const rows = Array.from({ length: written.length / columns }, (_, i) =>
    written.slice(i * columns, (i + 1) * columns).join(isMask ? "" : ","),
  );
  return rows.join(";");
}

/**
 * The cell that an arrow key goes to: null where it is no arrow, the same at the end of a row or column.
 * @param {string} key
 * @param {number} at
 * @param {number} columns
 * @param {number} count
 */
export function nextCell(key, at, columns, count) {
  /** @type {Record<string, number>} */
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const step = steps[key];
  if (step === undefined) return null;
  const next = at + step;
  const leavesRow = Math.abs(step) === 1 && Math.floor(next / columns) !== Math.floor(at / columns);
  return leavesRow || next < 0 || next >= count ? at : next;
}
