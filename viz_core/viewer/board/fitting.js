/* How a board that fills what its window leaves gets its size: as large as everything on it can be read
   and nothing has to be scrolled. */

import { Framed } from "../browser/message.js";
import { plainNumber } from "../browser/numbers.js";
import { find, page } from "../browser/page.js";

/** @import { Needs, Header, Panel } from "./specs" */
/** @typedef {{first: number, share: number, lines?: number}} Arrangement lines of rows that can be broken */

const GAP = 18;
const LARGEST_CELL = 54;
const LARGEST_FITTING_CELL = 120;
const LARGEST_BROKEN_CELL = 96;

/** The size in pixels of all cells of a row of panels. A row too wide for readable numbers breaks in two;
   cells of words can be narrower than that. A board that fits its window gives cells what room there is, and
   no less than their numbers need.
   @param {number} width of the row @param {Needs[]} needs @param {boolean} hasTexts @param {boolean} fits
   @param {number} lines that the row may take */
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

/** The largest size of cells with which matrices have room in so many lines of equal numbers.
   @param {number} lines @param {number} width @param {Needs[]} needs */
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

/** How high a line of a matrix is whose cells are so wide, where it has so much room.
   @param {number} cell @param {number} room */
export function rowHeight(cell, room) {
  return Math.floor(Math.max(17, Math.min(Math.max(24, 0.62 * cell), room)));
}

/** How high a picture may be. @param {number} windowHeight */
export function pictureHeight(windowHeight) {
  return Math.max(220, Math.min(420, windowHeight * 0.42));
}

/** How much larger all of a board is drawn that fits its window: type of 12 pixels is 14 at 1920 x 1080.
   @param {number} windowWidth @param {number} windowHeight */
export function zoomOf(windowWidth, windowHeight) {
  return Math.max(1, Math.min(4, windowWidth / 1600, windowHeight / 900));
}

/** Heights of pictures that are tried, the largest first. */
export const HEIGHTS = Array.from({ length: 32 }, (_, at) => Math.round(760 * 0.905 ** at));

/** Ways to lay out so many rows: all in one stack, or the first of them in a stack at the left, which takes a
   share of the width, and the rest at the right.
   @param {number} nRows @param {boolean} breaks whether a row can be broken in two
   @param {number} across rows above both stacks, which count among the first @returns {Arrangement[]} */
export function arrangements(nRows, breaks = false, across = 0) {
  const splits = Array.from({ length: Math.max(0, nRows - 1 - across) }, (_, at) => across + at + 1);
  const beside = splits.flatMap((first) => [0.5, 0.62, 0.38, 0.7, 0.3].map((share) => ({ first, share })));
  const stack = { first: nRows, share: 1 };
  return [stack, ...(breaks ? [{ ...stack, lines: 2 }] : []), ...beside];
}

/** The first entry of a list that fits, where those after it fit too; the last one if none does.
   @template Entry
   @param {Entry[]} entries @param {(entry: Entry) => boolean} fits */
export function firstThatFits(entries, fits) {
  let [low, high] = [0, entries.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(entries[middle])) high = middle;
    else low = middle + 1;
  }
  return entries[low];
}

/** The frame whose value is nearest; the first of equal ones.
   @param {ArrayLike<number>} values @param {number} value */
export function nearest(values, value) {
  let best = 0;
  for (let at = 1; at < values.length; at++)
    if (Math.abs(values[at] - value) < Math.abs(values[best] - value)) best = at;
  return best;
}

/** The query parameters of a link to a frame: the server's part, and the scrub's value unless it is the
   usual.
   @param {Header} header @param {number} frame */
export function linkOf({ link, scrub, board }, frame) {
  const params = new URLSearchParams(link);
  if (!scrub || !board.scrub) return params;
  const { values } = board.scrub.values;
  if (frame !== nearest(values, scrub.usual)) params.set(board.scrub.field, plainNumber(values[frame]));
  return params;
}

const MOVING = ["chart", "colour", "changed", "note", "texts", "uprights"];

/** What panels keep their elements for: while it stays the same, only numbers have changed.
   @param {string} part @param {import("./specs").Spec[][]} rows */
export function signatureOf(part, rows) {
  return JSON.stringify([part, rows], (name, value) => {
    if (value instanceof Framed) return value.shape.slice(-2);
    return MOVING.includes(name) || (name === "values" && typeof value === "string") ? undefined : value;
  });
}

/** What an axis calls its entry, in whichever panel of these rows that is written; its number where in none.
   Queries that are called nothing are the board's tokens.
   @param {import("./specs").Spec[][]} rows @param {string} axis @param {number} at
   @returns {string | number} */
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
  return found?.[1]?.[at] ?? (axis === "query" ? nameIn(rows, "token", at) : at);
}

const LEAST = { width: 1100, height: 400 }; // a smaller window is scrolled
const BELOW = 8; // pixels that stay free under a board
const COMFORTABLE = 330; // a picture so high needs no better arrangement
const FLAT = 5; // times as wide as high: what is wider shows its curve no better
const ONE_STACK = 1.2; // what is read from top to bottom may be so much smaller

export class Fitting {
  /** @type {string | null} what the arrangement was chosen for */ key = null;
  height = 0; // of the rows, when it was chosen
  /** @type {number | null} */ taken = null; // the height of the board, where it fits its window
  isWhole = true; // whether nothing has to be scrolled
  lines = 1; // that a row takes which can be broken
  across = 0; // rows that keep the whole width

  /** @param {HTMLElement} outer holds the root @param {HTMLElement} root @param {HTMLElement} rows */
  constructor(outer, root, rows) {
    this.outer = outer;
    this.root = root;
    this.rows = rows;
  }

  /* The height that the window leaves. */
  get room() {
    const { outer } = this;
    const main = (page.scrolled && outer.closest(page.scrolled)) || document.documentElement;
    return window.innerHeight - outer.getBoundingClientRect().top - main.scrollTop - BELOW;
  }

  /** Calls back where what stands above the board has become lower or higher: its place tells nobody.
     @param {() => void} callback @param {AbortSignal} signal ends it */
  watch(callback, signal) {
    const observer = new ResizeObserver(() => {
      if (this.taken !== null && Math.abs(this.room - this.taken) > 1) callback();
    });
    const above = find(page.above);
    if (above) observer.observe(above);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /* Gives the board the size that the window leaves. False where that is too small, and is scrolled. */
  takeRoom() {
    const { outer, root } = this;
    const { innerWidth, innerHeight } = window;
    const height = this.room;
    const fits = innerWidth >= LEAST.width && height >= LEAST.height;
    this.taken = fits ? height : null;
    const zoom = fits ? zoomOf(innerWidth, innerHeight) : 1;
    outer.style.height = fits ? `${height}px` : "";
    Object.assign(root.style, {
      transform: zoom === 1 ? "" : `scale(${zoom})`,
      width: zoom === 1 ? "" : `${outer.clientWidth / zoom}px`,
      height: fits ? `${height / zoom}px` : "",
    });
    return fits;
  }

  /** Chooses the arrangement of rows and the height of pictures; returns the height. The same content keeps
     what was chosen, as long as it still fits.
     @param {string} key of the content @param {Panel[][]} panels
     @param {(most: number) => void} sizeAll gives every panel its size
     @param {number} now the height chosen last */
  choose(key, panels, sizeAll, now) {
    const { rows } = this;
    /** Pixels that have to be scrolled for. @param {number} most */
    const over = (most) => {
      sizeAll(most);
      const beyond = [rows, ...rows.children].map((part) => part.scrollWidth - part.clientWidth);
      return Math.max(rows.scrollHeight - rows.clientHeight, ...beyond);
    };
    const fits = (/** @type {number} */ most) => over(most) <= 1;
    const height = rows.clientHeight;
    const whole = `${key}/${panels.map((row) => row.length)}/${rows.clientWidth}`;
    if (whole === this.key && Math.abs(height - this.height) < 0.25 * this.height) {
      const at = HEIGHTS.indexOf(now);
      // As a rule what was chosen still fits, and no more: each try has the browser lay all of it out.
      this.isWhole = true;
      if (at > 0 && !fits(HEIGHTS[at - 1]) && fits(now)) return now;
      const most = firstThatFits(HEIGHTS, fits);
      if (fits(most)) return most;
    }
    Object.assign(this, { key: whole, height });
    const { activeElement } = /** @type {ShadowRoot} */ (rows.getRootNode());
    /** @type {{score: number, most: number, way: Arrangement} | null} */ let best = null;
    const ways = arrangements(panels.length, panels.some(canBreak), this.across);
    const stacks = ways.filter((way) => way.share === 1);
    for (const way of ways) {
      this.arrange(panels, way);
      const most = firstThatFits(HEIGHTS, fits);
      const left = over(most);
      const fitting = left <= 1;
      // Where nothing fits, the least is scrolled.
      const score = fitting ? this.drawnArea(panels) * (way.share === 1 ? ONE_STACK : 1) : -left;
      if (!best || score > best.score) best = { score, most, way };
      if (fitting && way === stacks.at(-1) && most >= COMFORTABLE) break;
    }
    if (!best) return now;
    this.arrange(panels, best.way);
    // What was moved has lost the focus.
    if (rows.contains(activeElement))
      /** @type {HTMLElement} */ (activeElement).focus({ preventScroll: true });
    this.isWhole = fits(best.most);
    return best.most;
  }

  /** Puts the rows into one stack or two beside each other.
     @param {Panel[][]} panels @param {Arrangement} way */
  arrange(panels, way) {
    const lines = panels.map((row) => /** @type {HTMLElement} */ (row[0].root.parentElement));
    const [above, left, right] = /** @type {HTMLCollectionOf<HTMLElement>} */ (this.rows.children);
    const stackOf = (/** @type {number} */ at) => (at < this.across ? above : at < way.first ? left : right);
    // What is put where it stands would lose the focus all the same.
    if (lines.some((line, at) => line.parentElement !== stackOf(at)))
      for (const [at, line] of lines.entries()) stackOf(at).append(line);
    this.lines = way.lines ?? 1;
    above.classList.toggle("absent", !this.across);
    right.classList.toggle("absent", way.share === 1);
    const shares = way.share === 1 ? [1] : [way.share, 1 - way.share];
    this.rows.style.gridTemplateColumns = shares.map((share) => `minmax(0, ${share}fr)`).join(" ");
  }

  /** How many lines a row takes; its element is told.
     @param {Panel[]} row @param {HTMLElement} line @param {boolean} fits */
  breakIn(row, line, fits) {
    const lines = fits && canBreak(row) ? this.lines : 1;
    line.classList.toggle("broken", lines > 1);
    line.style.setProperty("--across", String(Math.ceil(row.length / lines)));
    return lines;
  }

  /** Square pixels of what is drawn, but for what makes it flat; a quarter for every matrix without room for
     its numbers, and for every row of matrices or equation that wraps: names at its left serve all of it.
     Less where the cells of matrices with as many columns differ in width: these are compared.
     @param {Panel[][]} panels */
  drawnArea(panels) {
    let area = 0;
    let unread = 1;
    /** @type {Record<number, number[]>} by the number of columns */ const widths = {};
    for (const panel of panels.flat()) {
      const box = panel.root.querySelector(".plot, table, canvas, svg")?.getBoundingClientRect();
      if (box) area += Math.min(box.width, FLAT * box.height) * box.height;
      const { columns = 0, fixed = 0 } = panel.needs ?? {};
      if (box && columns) (widths[columns] ??= []).push(Math.max(1, (box.width - fixed) / columns));
      const isNarrow = box && box.width < 0.6 * box.height;
      if (panel.written === false || (panel.spec?.together && isNarrow)) unread /= 4;
    }
    for (const cells of Object.values(widths)) unread *= Math.min(...cells) / Math.max(...cells);
    if (this.lines === 1) for (const row of panels) if (wraps(row)) unread /= 4;
    return area * unread;
  }
}

/** Whether a row can be broken in two: several matrices, without the signs of an equation between them.
   @param {Panel[]} row */
function canBreak(row) {
  return row.length > 2 && row.every((panel) => (panel.needs?.columns ?? 0) > 0);
}

/** Whether a row of matrices, or an equation, takes more than one line. @param {Panel[]} row */
function wraps(row) {
  const [first, last] = /** @type {HTMLElement[]} */ ([row[0].root, row[row.length - 1].root]);
  const isWhole =
    row.some((panel) => panel.spec?.kind === "Sign") || row.every((panel) => panel.needs?.columns);
  return isWhole && last.offsetTop >= first.offsetTop + first.offsetHeight;
}
