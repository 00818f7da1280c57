/* How a board that fills what its window leaves gets its size: as large as everything on it can be read and
   nothing has to be scrolled. */

import { arrangements, firstThatFits, HEIGHTS, zoomOf } from "./layout.js";

/** @typedef {import("./layout.js").Arrangement} Arrangement */
/** @typedef {import("./specs").Panel} Panel */

const LEAST = { width: 1100, height: 400 }; // a smaller window is scrolled
const BELOW = 8; // pixels that stay free under a board
const COMFORTABLE = 330; // a picture so high needs no better arrangement
const ONE_STACK = 1.2; // what is read from top to bottom may be so much smaller

export class Fitting {
  /** @type {string | null} what the arrangement was chosen for */ key = null;
  height = 0; // of the rows, when it was chosen
  /** @type {number | null} */ taken = null; // the height of the board, where it fits its window
  lines = 1; // that a row takes which can be broken

  /** @param {HTMLElement} outer holds the root @param {HTMLElement} root @param {HTMLElement} rows */
  constructor(outer, root, rows) {
    this.outer = outer;
    this.root = root;
    this.rows = rows;
  }

  /* The height that the window leaves. */
  get room() {
    const { outer } = this;
    const main = outer.closest('[data-testid="stMain"]') ?? document.documentElement;
    return window.innerHeight - outer.getBoundingClientRect().top - main.scrollTop - BELOW;
  }

  /**
   * Calls back where what stands above the board has become lower or higher: its place tells nobody.
   * @param {() => void} callback
   * @param {AbortSignal} signal ends it
   */
  watch(callback, signal) {
    const observer = new ResizeObserver(() => {
      if (this.taken !== null && Math.abs(this.room - this.taken) > 1) callback();
    });
    const page = document.querySelector('[data-testid="stMainBlockContainer"]');
    if (page) observer.observe(page);
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

  /**
   * Chooses the arrangement of rows and the height of pictures; returns the height. The same content keeps
   * what was chosen, as long as it still fits.
   * @param {string} key of the content
   * @param {Panel[][]} panels
   * @param {(most: number) => void} sizeAll gives every panel its size
   * @param {number} now the height chosen last
   */
  choose(key, panels, sizeAll, now) {
    const { rows } = this;
    /** Pixels that have to be scrolled for. @param {number} most */
    const over = (most) => {
      sizeAll(most);
      const beyond = [rows, ...rows.children].map((part) => part.scrollWidth - part.clientWidth);
      return Math.max(rows.scrollHeight - rows.clientHeight, ...beyond);
    };
    /** @param {number} most */
    const fits = (most) => over(most) <= 1;
    const height = rows.clientHeight;
    const whole = `${key}/${rows.clientWidth}`;
    if (whole === this.key && Math.abs(height - this.height) < 0.25 * this.height) {
      const most = firstThatFits(HEIGHTS, fits);
      if (fits(most)) return most;
    }
    Object.assign(this, { key: whole, height });
    const { activeElement } = /** @type {ShadowRoot} */ (rows.getRootNode());
    /** @type {{score: number, most: number, way: Arrangement} | null} */
    let best = null;
    const ways = arrangements(panels.length, panels.some(canBreak));
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
    sizeAll(best.most);
    return best.most;
  }

  /**
   * Puts the rows into one stack or two beside each other.
   * @param {Panel[][]} panels
   * @param {Arrangement} way
   */
  arrange(panels, way) {
    const lines = panels.map((row) => /** @type {HTMLElement} */ (row[0].root.parentElement));
    const [left, right] = /** @type {HTMLCollectionOf<HTMLElement>} */ (this.rows.children);
    // What is put where it stands would lose the focus all the same.
    if (lines.some((line, at) => line.parentElement !== (at < way.first ? left : right))) {
      left.append(...lines.slice(0, way.first));
      right.append(...lines.slice(way.first));
    }
    this.lines = way.lines ?? 1;
    right.classList.toggle("absent", way.share === 1);
    left.style.flexBasis = `${100 * way.share}%`;
    right.style.flexBasis = `${100 * (1 - way.share)}%`;
  }

  /**
   * How many lines a row takes; its element is told.
   * @param {Panel[]} row
   * @param {HTMLElement} line
   * @param {boolean} fits
   */
  breakIn(row, line, fits) {
    const lines = fits && canBreak(row) ? this.lines : 1;
    line.classList.toggle("broken", lines > 1);
    line.style.setProperty("--across", String(Math.ceil(row.length / lines)));
    return lines;
  }

  /**
   * Square pixels of what is drawn; a quarter for every matrix without room for its numbers, and for every
   * row of matrices that wraps: names at its left serve all of it.
   * @param {Panel[][]} panels
   */
  drawnArea(panels) {
    let area = 0;
    let unread = 1;
    for (const panel of panels.flat()) {
      const box = panel.root.querySelector(".plot, table, canvas, svg")?.getBoundingClientRect();
      if (box) area += box.width * box.height;
      if (panel.written === false || (panel.spec?.together && isNarrow(box))) unread /= 4;
    }
    if (this.lines === 1) for (const row of panels) if (wraps(row)) unread /= 4;
    return area * unread;
  }
}

/**
 * Whether a row can be broken in two: several matrices, without the signs of an equation between them.
 * @param {Panel[]} row
 */
function canBreak(row) {
  return row.length > 2 && row.every((panel) => (panel.needs?.columns ?? 0) > 0);
}

/** Whether a picture is much higher than wide. @param {DOMRect | undefined} box */
function isNarrow(box) {
  return !!box && box.width < 0.6 * box.height;
}

/** Whether a row of matrices takes more than one line. @param {Panel[]} row */
function wraps(row) {
  const [first, last] = /** @type {HTMLElement[]} */ ([row[0].root, row[row.length - 1].root]);
  return row.every((panel) => panel.needs?.columns) && last.offsetTop >= first.offsetTop + first.offsetHeight;
}
