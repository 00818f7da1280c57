/* What a board works out from its message: how large cells are, which frame a value is, its link. */

import { Framed } from "../browser/message.js";
import { plainNumber } from "../browser/numbers.js";

/** @typedef {import("./specs").Needs} Needs */
/** @typedef {import("./specs").Header} Header */
/** @typedef {{first: number, share: number, lines?: number}} Arrangement lines of rows that can be broken */

const GAP = 18;
const LARGEST_CELL = 54;
const LARGEST_FITTING_CELL = 72;
const LARGEST_BROKEN_CELL = 96;

/**
 * The size in pixels of all cells of a row of panels. A row too wide for readable numbers breaks in two;
 * cells of words can be narrower than that. A board that fits its window gives cells what room there is, and
 * no less than their numbers need.
 * @param {number} width of the row
 * @param {Needs[]} needs
 * @param {boolean} hasTexts
 * @param {boolean} fits
 * @param {number} lines that the row may take
 */
export function cellSize(width, needs, hasTexts, fits = false, lines = 1) {
  if (lines > 1) return cellSizeIn(lines, width, needs);
  const columns = needs.reduce((sum, need) => sum + need.columns, 0);
  const free = width - needs.reduce((sum, need) => sum + need.fixed + GAP, 0);
  const most = fits ? LARGEST_FITTING_CELL : LARGEST_CELL;
  const usual = hasTexts ? 14 : columns >= 24 ? 24 : 32;
  const withCells = needs.filter((need) => need.columns);
  const written = Math.max(14, ...withCells.map((need) => need.least ?? (fits ? 0 : usual)));
  const alone = withCells.map((need) => Math.floor((width - need.fixed) / need.columns) - 2);
  const least = fits ? written : Math.min(usual, Math.max(written, Math.min(...alone)));
  return Math.max(least, Math.min(most, Math.floor(free / Math.max(1, columns)) - (fits ? 1 : 2)));
}

/**
 * The largest size of cells with which matrices have room in so many lines of equal numbers.
 * @param {number} lines
 * @param {number} width
 * @param {Needs[]} needs
 */
function cellSizeIn(lines, width, needs) {
  const across = Math.ceil(needs.length / lines);
  const sizes = Array.from({ length: lines }, (_, line) => {
    const own = needs.slice(line * across, (line + 1) * across);
    const columns = own.reduce((sum, need) => sum + need.columns, 0);
    return (width - own.reduce((sum, need) => sum + need.fixed + GAP, 0)) / Math.max(1, columns) - 2;
  });
  const least = Math.max(14, ...needs.map((need) => need.least ?? 0));
  return Math.max(least, Math.min(LARGEST_BROKEN_CELL, Math.floor(Math.min(...sizes))));
}

/**
 * How high a line of a matrix is whose cells are so wide, where it has so much room.
 * @param {number} cell
 * @param {number} room
 */
export function rowHeight(cell, room) {
  return Math.floor(Math.max(17, Math.min(Math.max(24, 0.62 * cell), room)));
}

/** How high a picture may be. @param {number} windowHeight */
export function pictureHeight(windowHeight) {
  return Math.max(220, Math.min(420, windowHeight * 0.42));
}

/**
 * How much larger all of a board is drawn that fits its window: type of 12 pixels is 14 at 1920 x 1080.
 * @param {number} windowWidth
 * @param {number} windowHeight
 */
export function zoomOf(windowWidth, windowHeight) {
  return Math.max(1, Math.min(4, windowWidth / 1600, windowHeight / 900));
}

/** Heights of pictures that are tried, the largest first. */
export const HEIGHTS = Array.from({ length: 32 }, (_, at) => Math.round(760 * 0.905 ** at));

/**
 * Ways to lay out so many rows: all in one stack, or the first of them in a stack at the left, which takes a
 * share of the width, and the rest at the right.
 * @param {number} nRows
 * @param {boolean} breaks whether a row can be broken in two
 * @returns {Arrangement[]}
 */
export function arrangements(nRows, breaks = false) {
  const splits = Array.from({ length: Math.max(0, nRows - 1) }, (_, at) => at + 1);
  const beside = splits.flatMap((first) => [0.5, 0.62, 0.38, 0.7, 0.3].map((share) => ({ first, share })));
  const stack = { first: nRows, share: 1 };
  return [stack, ...(breaks ? [{ ...stack, lines: 2 }] : []), ...beside];
}

/**
 * The first entry of a list that fits, where those after it fit too; the last one if none does.
 * @template Entry
 * @param {Entry[]} entries
 * @param {(entry: Entry) => boolean} fits
 */
export function firstThatFits(entries, fits) {
  let [low, high] = [0, entries.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(entries[middle])) high = middle;
    else low = middle + 1;
  }
  return entries[low];
}

/**
 * The frame whose value is nearest; the first of equal ones.
 * @param {ArrayLike<number>} values
 * @param {number} value
 */
export function nearest(values, value) {
  let best = 0;
  for (let at = 1; at < values.length; at++)
    if (Math.abs(values[at] - value) < Math.abs(values[best] - value)) best = at;
  return best;
}

/**
 * The query parameters of a link to a frame: the server's part, and the scrub's value unless it is the usual.
 * @param {Header} header
 * @param {number} frame
 */
export function linkOf({ link, scrub, board }, frame) {
  const params = new URLSearchParams(link);
  if (!scrub || !board.scrub) return params;
  const { values } = board.scrub.values;
  if (frame !== nearest(values, scrub.usual)) params.set(board.scrub.field, plainNumber(values[frame]));
  return params;
}

const MOVING = ["chart", "colour", "changed", "note", "texts", "uprights"];

/**
 * What panels keep their elements for: while it stays the same, only numbers have changed.
 * @param {string} part
 * @param {import("./specs").Spec[][]} rows
 */
export function signatureOf(part, rows) {
  return JSON.stringify([part, rows], (name, value) => {
    if (value instanceof Framed) return value.shape.slice(-2);
    return MOVING.includes(name) || (name === "values" && typeof value === "string") ? undefined : value;
  });
}

/**
 * What an axis calls its entry, in whichever panel of these rows that is written; its number where in none.
 * @param {import("./specs").Spec[][]} rows
 * @param {string} axis
 * @param {number} at
 */
export function nameIn(rows, axis, at) {
  /** @param {any} panel @returns {[string | undefined, string[] | undefined][]} */
  const named = (panel) => [
    [panel.row_axis, panel.rows],
    [panel.column_axis, panel.columns],
    [panel.axis, panel.labels],
  ];
  const found = rows
    .flat()
    .flatMap(named)
    .find(([name, names]) => axis && name === axis && names?.length);
  return found?.[1]?.[at] ?? at;
}
