/* The board: panels in rows, and the control that chooses the frame of all of them. Moving it never asks
   the server. */

import { el, writeAddress } from "../browser/dom.js";
import { noteOpened, notePredictions } from "../browser/marks.js";
import { readMessage } from "../browser/message.js";
import { tickText } from "../browser/numbers.js";
import { announce, mounting, putUp, storyLine } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";
import { Drawers } from "./drawers.js";
import { Fitting } from "./fitting.js";
import { cellSize, linkOf, nearest, pictureHeight, rowHeight, signatureOf } from "./layout.js";
import { Present } from "./present.js";

/** @typedef {import("./specs").Header} Header */
/** @typedef {import("./specs").Spec} Spec */
/** @typedef {import("./specs").Panel} Panel */
/** @typedef {import("../browser/shell.js").Send} Send */

export class Board {
  // these come with the first message
  /** @type {Header} */ header;
  /** @type {import("./specs").Theme} */ theme;
  /** @type {Send} */ act;
  /** @type {string} */ signature;
  /** @type {Panel[][]} */ panels = [];
  /** @type {Panel | null} the thumbnail that is shown large */ pressed = null;
  frame = 0;
  width = 0;
  most = 0; // how high a picture may be
  fits = false; // whether it has a height of its own
  pace = 1; // how much faster it plays than its scrub says
  returned = false; // whether a part was left by the browser's Back
  entered = false; // whether a part was chosen that the address does not tell of yet
  /** @type {ReturnType<typeof setInterval> | undefined} */ playing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ writing;
  listening = new AbortController();

  /** @param {HTMLElement} host */
  constructor(host) {
    const takeAway = () => this.act({ type: "takeaway", frame: this.frame });
    this.story = storyLine("Figure", takeAway, () => this.writeLink());
    this.slider = el("input", {
      type: "range",
      min: 0,
      step: 1,
      oninput: () => this.show(+this.slider.value),
    });
    this.label = el("span", { class: "choice-label" });
    this.words = el("output", {});
    this.play = el("button", {
      type: "button",
      class: "play",
      text: "▶",
      "aria-label": "Play",
      onclick: () => this.toggle(),
    });
    /** @param {number} by @param {string} name @param {string} sign */
    const step = (by, name, sign) =>
      el("button", {
        type: "button",
        class: "play",
        text: sign,
        "aria-label": name,
        onclick: () => this.step(by),
      });
    this.bar = el("div", { class: "scrub" }, [
      el("div", { class: "steps" }, [step(-1, "Step back", "❘◀"), this.play, step(1, "Step forward", "▶❘")]),
      this.label,
      this.slider,
      this.words,
    ]);
    this.rows = el("div", { class: "rows" }, [el("div", { class: "stack" }), el("div", { class: "stack" })]);
    this.status = el("p", { class: "status muted", text: HINT });
    this.drawers = new Drawers();
    this.present = new Present(this);
    this.story.root.prepend(this.present.cover);
    this.aids = el("div", { class: "actions" }, [...this.drawers.buttons, this.present.button]);
    const foot = el("div", { class: "foot" }, [this.aids, this.story.actions, this.status]);
    this.root = el("div", { class: "shell board" }, [this.story.root, this.bar, this.rows, foot]);
    this.outer = el("div", { class: "board-place" }, [this.root, ...this.present.layers]);
    this.fitting = new Fitting(this.outer, this.root, this.rows);
    const redraw = () => this.header && this.layOut();
    // Its height changes with every drawing of other words; only another width asks for a new one.
    const resized = () => (this.fits || this.rows.clientWidth !== this.width) && redraw();
    this.takeDown = putUp(host, this.outer, redraw, { watched: this.outer, resized });
    this.redraw = redraw;
    this.listen();
  }

  listen() {
    const { signal } = this.listening;
    window.addEventListener("resize", this.redraw, { signal });
    window.addEventListener("keydown", (event) => this.key(event), { signal, capture: true });
    window.addEventListener("popstate", () => this.goBack(), { signal });
    signal.addEventListener("abort", notePredictions());
  }

  /** What keys do wherever the focus is, but in a field that is written into. @param {KeyboardEvent} event */
  key(event) {
    if (!this.header?.fits || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!isForBoard(event)) return;
    const drawer = this.drawers.forKey(event.key);
    if (drawer) this.drawers.toggle(drawer);
    else if (event.key === "Escape" && this.drawers.opened) this.drawers.open(null);
    else if (!this.present.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /* The browser's Back and Forward change the address alone; the part that it names is asked for. */
  goBack() {
    const part = new URLSearchParams(window.location.search).get("part") ?? this.header?.parts?.[0];
    if (!this.header?.fits || part === this.header.part) return;
    this.returned = true;
    this.act({ type: "part", name: part });
  }

  /** @param {Uint8Array} bytes @param {Send} send */
  receive(bytes, send) {
    this.act = send;
    /** @type {Header | undefined} */
    const before = this.header;
    this.header = readMessage(bytes);
    const { board, scrub, moves, page, part, generation } = this.header;
    if (page) noteOpened(page, part);
    if (before && before.part !== part) this.entered = !this.returned;
    this.returned = false;
    this.aids.classList.toggle("absent", !this.header.fits);
    const same = before?.part === part && before.moves === moves ? before : null;
    this.frame = scrub ? this.nearest(same ? this.value(same) : scrub.at) : 0;
    this.story.take.classList.toggle("absent", this.header.keep === false);
    this.status.classList.toggle("absent", this.header.keep === false);
    const signature = signatureOf(part, board.rows);
    if (signature !== this.signature) this.build(board);
    else this.each((panel, spec) => panel.update(spec));
    this.signature = signature;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    // What a preset sets up stands where it says, at once; what a person types is played from its start.
    const plays = board.scrub?.plays && same && same.generation !== generation && !still;
    if (plays) this.frame = 0;
    this.status.textContent = this.hint;
    if (before?.part !== part) {
      this.drawers.open(null);
      if (!before) this.present.begin();
      this.present.coverHeadline();
    }
    this.layOut();
    if (plays) this.run();
  }

  /** The scrub's value. @param {Header} header */
  value({ board }) {
    return board.scrub?.values.values[this.frame] ?? 0;
  }

  /** @param {number} value */
  nearest(value) {
    return nearest(this.header.board.scrub?.values.values ?? [], value);
  }

  /** @param {Header["board"]} board */
  build(board) {
    this.stop();
    this.pressed = null;
    this.panels = board.rows.map((row) =>
      row.map((spec) => new PANELS[spec.drawn_by ?? spec.kind.toLowerCase()].Panel(this, spec)),
    );
    const roots = this.panels.map((row) => row.map((panel) => panel.root));
    const [first, second] = this.rows.children;
    first.replaceChildren(...roots.map((row) => el("div", { class: "row" }, row)));
    second.replaceChildren();
  }

  /** @param {(panel: Panel, spec: Spec) => void} visit */
  each(visit) {
    this.panels.forEach((row, i) => row.forEach((panel, j) => visit(panel, this.header.board.rows[i][j])));
  }

  /* Sizes first, then the numbers. */
  layOut() {
    this.outer.classList.toggle("presented", this.present.on);
    this.fits = Boolean(this.header.fits) && this.fitting.takeRoom(this.present.on);
    const width = (this.width = this.rows.clientWidth);
    if (!width) return;
    const projected = this.present.on && this.present.projector;
    this.outer.classList.toggle("projected", projected);
    this.theme = themeOf(this.root, projected);
    const { scrub } = this.header.board;
    this.bar.classList.toggle("absent", !scrub);
    this.words.textContent = "";
    if (scrub) {
      this.slider.max = String(scrub.values.values.length - 1);
      this.slider.setAttribute("aria-label", scrub.label);
      this.label.textContent = scrub.label;
    }
    const { panels, fitting, signature } = this;
    /** @param {number} most */
    const sizeAll = (most) => this.sizeAll(most);
    if (this.fits) this.most = fitting.choose(signature, panels, sizeAll, this.most);
    else {
      fitting.arrange(panels, { first: panels.length, share: 1 });
      this.sizeAll(pictureHeight(window.innerHeight));
    }
    this.show(this.frame);
  }

  /** All matrices of a row get cells of one size. @param {number} most how high a picture may be */
  sizeAll(most) {
    this.most = most;
    for (const row of this.panels) {
      const needs = row.map((panel) => panel.needs ?? { fixed: 260, columns: 0 });
      const hasTexts = row.some((panel) => panel.spec?.texts?.length);
      const line = /** @type {HTMLElement} */ (row[0].root.parentElement);
      const cell = cellSize(line.clientWidth, needs, hasTexts, this.fits);
      for (const panel of row) panel.fit?.(cell);
    }
    this.each((panel) => panel.size?.());
  }

  /* How high a picture may be. */
  heightOf() {
    return this.most;
  }

  /** How high a line of a matrix is. @param {number} nRows @param {number} cell how wide its cells are */
  rowHeight(nRows, cell) {
    return rowHeight(cell, this.fits ? this.most / nRows : Infinity);
  }

  /** @param {number} frame */
  show(frame) {
    this.frame = frame;
    const { board, generation } = this.header;
    if (board.scrub) {
      const words = board.scrub.words[frame] ?? tickText(+this.value(this.header).toPrecision(3));
      this.slider.value = String(frame);
      this.slider.setAttribute("aria-valuetext", words);
      this.words.textContent = words;
    }
    this.each((panel) => panel.draw(frame));
    this.story.notice.replaceChildren(
      ...emphasised(typeof board.notice === "string" ? board.notice : board.notice[frame]),
    );
    clearTimeout(this.writing); // browsers refuse hundreds of addresses in a few seconds
    this.writing = setTimeout(() => this.writeLink(), 150);
    this.root.dataset.frame = String(frame);
    announce(this.root, { what: "board", generation });
  }

  toggle() {
    if (this.playing) return this.stop();
    this.start(this.frame === +this.slider.max ? 0 : this.frame);
  }

  /** @param {number} frame */
  start(frame) {
    this.show(frame);
    this.run();
  }

  run() {
    this.stop();
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", "Pause");
    const next = () => (this.frame < +this.slider.max ? this.show(this.frame + 1) : this.stop());
    this.playing = setInterval(next, 1000 / ((this.header.board.scrub?.speed ?? 1) * this.pace));
  }

  /** Plays faster by this factor, or slower. @param {number} factor */
  faster(factor) {
    this.pace = Math.max(0.1, Math.min(10, this.pace * factor));
    if (this.playing) this.run();
  }

  /** On by a tenth of the frames; past either end, to the next part or page. @param {1 | -1} by */
  advance(by) {
    const last = this.header.board.scrub ? +this.slider.max : 0;
    const past = by > 0 ? this.frame === last : this.frame === 0;
    if (past) this.act({ type: "go", by });
    else this.step(by * Math.max(1, Math.round(last / 10)));
  }

  /** @param {number} by */
  step(by) {
    this.stop();
    this.show(Math.max(0, Math.min(+this.slider.max, this.frame + by)));
  }

  stop() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", "Play");
  }

  /** Shows a thumbnail in the large matrix; pressed again, what was there before. @param {Panel} panel */
  press(panel) {
    this.pressed = this.pressed === panel ? null : panel;
    this.layOut();
  }

  /* What to do here, and what the two colours of signed numbers mean. */
  get hint() {
    const signed = this.header.board.rows
      .flat()
      .some((panel) => "scale" in panel && panel.scale === "signed");
    return signed ? `${HINT} ${SIGNED}` : HINT;
  }

  /**
   * Lights up the rows and columns of the axes named, in every panel; the status line says what is there.
   * @param {import("./specs").Lit} lit
   */
  light(lit, words = this.hint) {
    this.status.textContent = words;
    this.each((panel) => panel.light?.(lit));
  }

  /**
   * What an axis calls its entry, in whichever panel that is written: names beside one matrix serve all of
   * its row.
   * @param {string} axis
   * @param {number} at
   */
  nameOf(axis, at) {
    /** @param {any} panel @returns {[string | undefined, string[] | undefined][]} */
    const named = (panel) => [
      [panel.row_axis, panel.rows],
      [panel.column_axis, panel.columns],
      [panel.axis, panel.labels],
    ];
    const found = this.header.board.rows
      .flat()
      .flatMap(named)
      .find(([name, names]) => axis && name === axis && names?.length);
    return found?.[1]?.[at] ?? at;
  }

  /** @param {import("./specs").Colour} name @returns {string} */
  colour(name) {
    const { theme } = this;
    if (typeof name === "number") return theme.heads[name % theme.heads.length];
    return /** @type {any} */ (theme)[name];
  }

  writeLink() {
    const params = linkOf(this.header, this.frame);
    if (this.present.on) params.set("present", "1");
    writeAddress(params, this.entered);
    this.entered = false;
    this.root.dataset.linked = `${this.header.generation}/${this.frame}`; // for whoever waits for the address
  }

  leave() {
    this.stop();
    clearTimeout(this.writing);
    this.listening.abort();
    this.drawers.leave();
    this.present.leave();
    this.takeDown();
  }
}

/** Whether a key is not meant for a field or button that has the focus. @param {KeyboardEvent} event */
function isForBoard(event) {
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (!(target instanceof HTMLElement)) return true;
  const { type } = /** @type {HTMLInputElement} */ (target);
  if (
    target.matches(
      "textarea, select, [contenteditable], input:not([type=range], [type=radio], [type=checkbox])",
    )
  )
    return false;
  const isWorked =
    type === "radio" || target.matches("button, a, summary, [role=button], [role=slider], [role=combobox]");
  return !(isWorked && ["Enter", " ", "ArrowLeft", "ArrowRight"].includes(event.key));
}

const HINT = "Point at a number: where it stands, and its digits.";
const SIGNED = "Blue is below 0, red above: the stronger, the further from 0.";

/** **Stars** make words bold. @param {string} text */
function emphasised(text) {
  return text
    .split("**")
    .map((part, at) => (at % 2 ? el("strong", { text: part }) : document.createTextNode(part)));
}

export const mount = mounting(Board);
