/* What a board works out from its message: how large cells are, which frame a value is, its link. */

import { Framed } from "../browser/message.js";
import { plainNumber } from "../browser/numbers.js";

/** @typedef {import("./specs").Needs} Needs */
/** @typedef {import("./specs").Header} Header */

const GAP = 18;
const LARGEST_CELL = 54;

/**
 * The size in pixels of all cells of a row of panels. A row too wide for readable numbers breaks in two;
 * cells of words can be narrower than that.
 * @param {number} width of the row
 * @param {Needs[]} needs
 * @param {boolean} hasTexts
 */
export function cellSize(width, needs, hasTexts) {
  const columns = needs.reduce((sum, need) => sum + need.columns, 0);
  const free = width - needs.reduce((sum, need) => sum + need.fixed + GAP, 0);
  const least = hasTexts ? 14 : columns >= 24 ? 24 : 32;
  return Math.max(least, Math.min(LARGEST_CELL, Math.floor(free / Math.max(1, columns)) - 2));
}

/** How high a picture may be. @param {number} windowHeight */
export function pictureHeight(windowHeight) {
  return Math.max(220, Math.min(420, windowHeight * 0.42));
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

const MOVING = ["chart", "colour", "changed", "note", "texts"];

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
