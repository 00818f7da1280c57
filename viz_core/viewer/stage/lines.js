/* View 3: two columns of tokens, queries left and keys right, joined by lines weighted by attention; one
   colour a head. Hover or focus a token on either side and only its own lines stay; click it to keep them. */

import { button, el, fitCanvas, isNew, shorten } from "../browser/dom.js";
import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";
import { isSeen, JOINED } from "./data.js";

const FAINTEST = 0.02;
// more are neither legible nor quick to draw: the weakest give way, and the note says so
const MOST_LINES = 1500;
const THIN = 0.15; // below this a line is one screen pixel wide, which a processor draws ten times as fast
const WEAK = 0.3; // where no weight reaches this, all lines are drawn stronger
const SHADES = 20;

/** @typedef {"query" | "key"} Role */
/** @typedef {{query?: number, key?: number}} Target the tokens in focus */

/** @typedef {{text: string, mark?: string, typed?: string}} Token */

/** The row of each token. @param {Token[]} tokens */
function placesIn(tokens) {
  let seen = -1;
  return tokens.map((token) => (isSeen(token) ? ++seen : seen));
}

export class LinesView {
  /** @type {import("./types").Area} */ area;
  /** @type {Target | null} what the pointer or the focus is on */ over = null;
  row = 18; // the height of a token in pixels
  rows = 1; // of the longer column
  /** @type {Record<Role, number[]>} the row of each token of the window */ places = { query: [], key: [] };

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.canvas = el("canvas", { role: "img", "aria-label": "Lines from queries to keys" });
    this.left = el("div", { class: "tokens queries", role: "group", "aria-label": t("Queries") });
    this.right = el("div", { class: "tokens keys", role: "group", "aria-label": t("Keys") });
    this.board = el("div", { class: "lines-board" }, [this.left, this.canvas, this.right]);
    this.readout = el("div", { class: "readout" });
    this.note = el("p", { class: "muted" });
    const heads = ["query", "key"].map((role) => el("span", { class: role, text: t(role) }));
    const scroller = el("div", { class: "lines-scroll" }, [
      el("div", { class: "lines-heads" }, heads),
      this.board,
    ]);
    const side = el("div", { class: "side" }, [this.readout, this.note]);
    this.root = el("div", { class: "view lines-view" }, [scroller, side]);
  }

  draw() {
    const { stage } = this;
    const { stack, data } = stage;
    const cells = data.cells(stack, stage.view.layer, stage.view.head);
    this.area = cells
      ? { q0: cells.q0, k0: cells.k0, nq: cells.nq, nk: cells.nk }
      : { q0: 0, k0: 0, nq: 0, nk: 0 };
    const { q0, k0, nq, nk } = this.area;
    const [queries, keys] = [this.tokensOf("query", q0, nq), this.tokensOf("key", k0, nk)];
    this.places = { query: placesIn(queries), key: placesIn(keys) };
    this.rows = Math.max(1, ...[queries, keys].map((each) => each.filter(isSeen).length));
    this.row = Math.max(18, Math.min(44, (this.root.clientHeight - 30) / this.rows));
    this.column(this.left, q0, queries, "query");
    this.column(this.right, k0, keys, "key");
    this.over = null;
    this.refresh();
  }

  /** @param {Role} role @param {number} from @param {number} count */
  tokensOf(role, from, count) {
    const { data, stack } = this.stage;
    return data.names(stack, role).slice(from, from + count);
  }

  /** @param {HTMLElement} root @param {number} from @param {Token[]} tokens @param {Role} role */
  column(root, from, tokens, role) {
    if (!isNew(root, [from, this.row, tokens])) return;
    root.replaceChildren(
      ...tokens.flatMap((token, at) => {
        if (!isSeen(token)) return [];
        return button({
          text: shorten(token.text, 22),
          title: token.typed ? `typed: ${token.typed}` : token.text,
          class: token.mark || null,
          style: `height:${this.row}px`,
          "data-at": from + at,
          onpointerenter: () => this.focus({ [role]: from + at }),
          onpointerleave: () => this.focus(null),
          onfocus: () => this.focus({ [role]: from + at }),
          onblur: () => this.focus(null),
          onclick: () => this.keep(role, from + at),
        });
      }),
    );
  }

  /** @param {Target | null} over */
  focus(over) {
    this.over = over;
    this.refresh();
    this.stage.drawNotice();
    this.stage.painted("hover");
  }

  /** @param {Role} role @param {number} at */
  keep(role, at) {
    const { view } = this.stage;
    const again = view.pinned === role && view[role] === at;
    this.stage.set({ [role]: at, pinned: again ? "none" : role });
  }

  /** What is in focus: the token under the pointer, else the one kept by a click. @returns {Target} */
  target() {
    const { view } = this.stage;
    if (this.over) return this.over;
    const role = /** @type {Role | "none"} */ (view.pinned);
    if (role === "none") return {};
    const { data, stack } = this.stage;
    const starts = role === "query" ? data.startsOfQueries(stack) : data.starts(stack.keySide);
    return { [role]: starts[view[role]] };
  }

  /** Visits the cells of one head that are in focus and drawn.
     @param {number} head @param {Target} target
     @param {(i: number, j: number, weight: number, exact: boolean) => void} visit */
  each(head, target, visit) {
    const { stack, data, view } = this.stage;
    const cells = data.cells(stack, view.layer, head);
    if (!cells) return;
    const { values, unit, exact, q0, k0, nq, nk } = cells;
    const least = this.faintest();
    const last = this.stage.lastRow();
    for (let i = 0; i < nq; i++) {
      if ((target.query !== undefined && target.query !== i + q0) || i + q0 > last) continue;
      for (let j = 0; j < nk; j++) {
        if (target.key !== undefined && target.key !== j + k0) continue;
        const weight = values[i * nk + j] * unit;
        if (weight >= least) visit(i, j, weight, exact);
      }
    }
  }

  /* Below this no line is drawn; lower for long texts, where an even share of the attention is small. */
  faintest() {
    return Math.min(FAINTEST, 2 / this.stage.stack.nKey);
  }

  refresh() {
    const target = this.target();
    const reach = Math.max(120, this.board.clientWidth - this.left.offsetWidth - this.right.offsetWidth);
    const context = fitCanvas(this.canvas, reach, this.rows * this.row);
    const { least, most } = this.drawnWeights(target);
    const strength = most > 0 && most < WEAK ? WEAK / most : 1;
    for (const head of this.stage.view.heads) this.stroke(context, head, target, least, strength, reach);
    const { data, stack } = this.stage;
    const words = data.joins(stack) ? ` ${t(JOINED)}` : "";
    this.note.textContent = t(this.describe(least, most, strength)) + words;
    this.shade(target);
    this.read(target);
  }

  /** @param {number} least @param {number} most @param {number} strength */
  describe(least, most, strength) {
    const hint = this.stage.view.heads.length > 2 ? " Ctrl-click a head to see it alone." : "";
    const weak =
      strength > 1
        ? ` The largest weight is ${number(most, 3)}; lines are ${number(strength, 1)} stronger.`
        : "";
    const undrawn = `Weights under ${number(least, 3)} are not drawn.`;
    return `Hover a token on either side; click to keep it. ${undrawn}${weak}${hint}`;
  }

  /** The smallest weight that is drawn, raised until at most MOST_LINES are; and the largest there is.
     @param {Target} target */
  drawnWeights(target) {
    /** @type {number[]} */ const weights = [];
    for (const head of this.stage.view.heads)
      this.each(head, target, (_i, _j, weight) => weights.push(weight));
    const sorted = Float64Array.from(weights).sort();
    const least = sorted.length > MOST_LINES ? sorted[sorted.length - MOST_LINES] : this.faintest();
    return { least, most: sorted.length ? sorted[sorted.length - 1] : 0 };
  }

  /** The lines of one head: thin ones gathered by shade, so that each shade is one stroke; strong ones alone.
     @param {CanvasRenderingContext2D} context @param {number} head @param {Target} target
     @param {number} least @param {number} strength @param {number} reach */
  stroke(context, head, target, least, strength, reach) {
    const { theme } = this.stage;
    /** @type {Map<number, Path2D>} */ const thin = new Map();
    const { heads } = this.stage.view;
    // Heads that look at the same token run beside each other, not over each other.
    const apart =
      Math.min(4, (0.6 * this.row) / heads.length) * (heads.indexOf(head) - (heads.length - 1) / 2);
    /** @param {Path2D} path @param {number} i @param {number} j */
    const line = (path, i, j) => {
      const from = (this.places.query[i] + 0.5) * this.row + apart;
      const to = (this.places.key[j] + 0.5) * this.row + apart;
      path.moveTo(2, from);
      path.bezierCurveTo(reach * 0.4, from, reach * 0.6, to, reach - 2, to);
    };
    /** @param {Path2D} path @param {number} weight @param {number} width */
    const draw = (path, weight, width) => {
      context.globalAlpha = Math.min(1, weight);
      context.lineWidth = width;
      context.stroke(path);
    };
    context.strokeStyle = theme.heads[head % theme.heads.length];
    this.each(head, target, (i, j, traced) => {
      if (traced < least) return;
      const weight = traced * strength;
      const shade = Math.ceil(weight * SHADES * 5);
      const path = weight < THIN ? thin.get(shade) || new Path2D() : new Path2D();
      line(path, i, j);
      if (weight < THIN) thin.set(shade, path);
      else draw(path, weight, 1 + 4 * weight);
    });
    for (const [shade, path] of thin) draw(path, shade / SHADES / 5, 1 / (window.devicePixelRatio || 1));
  }

  /** Tokens carry as much of the accent as they give or receive over the chosen heads (mean weight).
     @param {Target} target */
  shade(target) {
    const { heads } = this.stage.view;
    /** @type {Record<Role, Map<number, number>>} */ const sums = { query: new Map(), key: new Map() };
    const role = target.query !== undefined ? "key" : "query";
    if (target.query !== undefined || target.key !== undefined) {
      for (const head of heads)
        this.each(head, target, (i, j, weight) => {
          const at = role === "key" ? j + this.area.k0 : i + this.area.q0;
          sums[role].set(at, (sums[role].get(at) || 0) + weight / heads.length);
        });
    }
    this.shadeColumn(this.left, sums.query, target.query, this.stage.lastRow());
    this.shadeColumn(this.right, sums.key, target.key, Infinity);
  }

  /** @param {HTMLElement} root @param {Map<number, number>} shares @param {number | undefined} chosen
     @param {number} last the last token that has happened */
  shadeColumn(root, shares, chosen, last) {
    for (const child of root.children) {
      const button = /** @type {HTMLElement} */ (child);
      const at = Number(button.dataset.at);
      button.style.setProperty("--share", `${Math.round(100 * Math.min(1, shares.get(at) || 0))}%`);
      button.setAttribute("aria-pressed", String(chosen === at));
      button.classList.toggle("later", at > last);
    }
  }

  /** @param {Target} target */
  read(target) {
    const { stage } = this;
    const { stack, data, view, theme } = stage;
    const role = target.query !== undefined ? "query" : "key";
    const chosen = target[role];
    if (chosen === undefined) {
      this.readout.replaceChildren(
        el("p", { text: `${view.heads.length} of ${stack.heads} heads of layer ${view.layer}.` }),
      );
      return;
    }
    const heading = role === "query" ? "looks at" : "is looked at by";
    const others = data.names(stack, role === "query" ? "key" : "query");
    const { q0, k0, nq, nk } = this.area;
    const { query = q0, key = k0 } = target;
    const isInside = query >= q0 && query < q0 + nq && key >= k0 && key < k0 + nk;
    const token = el("strong", { class: role, text: data.names(stack, role)[chosen]?.text ?? "" });
    const parts = [el("p", {}, [token, ` ${heading}`])];
    for (const head of view.heads.slice(0, 8)) {
      /** @type {{at: number, weight: number, about: string}[]} */ const partners = [];
      this.each(head, target, (i, j, weight, exact) =>
        partners.push({ at: role === "query" ? j + k0 : i + q0, weight, about: exact ? "" : "≈ " }),
      );
      partners.sort((a, b) => b.weight - a.weight);
      const heaviest = partners
        .slice(0, 3)
        .map(({ at, weight, about }) => `${others[at].text} ${about}${number(weight, 3)}`);
      const some = heaviest.join(", ") || `nothing from ${number(this.faintest(), 3)} up`;
      parts.push(
        el("div", { class: "read-head", "data-head": head }, [
          el("span", { class: "swatch", style: `background:${theme.heads[head % theme.heads.length]}` }),
          el("span", { class: "term", text: `L${view.layer} H${head}` }),
          el("span", { class: "value", text: isInside ? some : "outside this window" }),
        ]),
      );
    }
    this.readout.replaceChildren(...parts);
  }
}
