/* The board: panels in rows, and the control that chooses the frame of all of them. Moving it never asks
   the server. */

import { el, writeAddress } from "../browser/dom.js";
import { readMessage } from "../browser/message.js";
import { tickText } from "../browser/numbers.js";
import { announce, mounting, putUp, storyLine } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";
import { cellSize, linkOf, nearest, pictureHeight, signatureOf } from "./layout.js";

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
  /** @type {ReturnType<typeof setInterval> | undefined} */ playing;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ writing;

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
    this.rows = el("div", { class: "rows" });
    this.status = el("p", { class: "status muted", text: HINT });
    this.root = el("div", { class: "shell board" }, [this.story.root, this.bar, this.rows, this.status]);
    const redraw = () => this.header && this.layOut();
    // Its height changes with every drawing of other words; only another width asks for a new one.
    const resized = () => this.rows.clientWidth !== this.width && redraw();
    this.takeDown = putUp(host, this.root, redraw, { watched: this.rows, resized });
  }

  /** @param {Uint8Array} bytes @param {Send} send */
  receive(bytes, send) {
    this.act = send;
    /** @type {Header | undefined} */
    const before = this.header;
    this.header = readMessage(bytes);
    const { board, scrub, moves, part, generation } = this.header;
    const same = before?.part === part && before.moves === moves ? before : null;
    this.frame = scrub ? this.nearest(same ? this.value(same) : scrub.at) : 0;
    this.story.take.classList.toggle("absent", this.header.keep === false);
    this.status.classList.toggle("absent", this.header.keep === false);
    this.theme = themeOf(this.root);
    const signature = signatureOf(part, board.rows);
    if (signature !== this.signature) this.build(board);
    else this.each((panel, spec) => panel.update(spec));
    this.signature = signature;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    // What a preset sets up stands where it says, at once; what a person types is played from its start.
    const plays = board.scrub?.plays && same && same.generation !== generation && !still;
    if (plays) this.frame = 0;
    this.status.textContent = this.hint;
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
    this.rows.replaceChildren(...roots.map((row) => el("div", { class: "row" }, row)));
  }

  /** @param {(panel: Panel, spec: Spec) => void} visit */
  each(visit) {
    this.panels.forEach((row, i) => row.forEach((panel, j) => visit(panel, this.header.board.rows[i][j])));
  }

  /* Sizes first, then the numbers: all matrices of a row get cells of one size. */
  layOut() {
    const width = (this.width = this.rows.clientWidth);
    if (!width) return;
    this.theme = themeOf(this.root);
    for (const row of this.panels) {
      const needs = row.map((panel) => panel.needs ?? { fixed: 260, columns: 0 });
      const hasTexts = row.some((panel) => panel.spec?.texts?.length);
      const cell = cellSize(width, needs, hasTexts);
      for (const panel of row) panel.fit?.(cell);
    }
    const { scrub } = this.header.board;
    this.bar.classList.toggle("absent", !scrub);
    this.words.textContent = "";
    if (scrub) {
      this.slider.max = String(scrub.values.values.length - 1);
      this.slider.setAttribute("aria-label", scrub.label);
      this.label.textContent = scrub.label;
    }
    this.show(this.frame);
  }

  /* How high a picture may be. */
  heightOf() {
    return pictureHeight(window.innerHeight);
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
    this.playing = setInterval(next, 1000 / (this.header.board.scrub?.speed ?? 1));
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
    writeAddress(linkOf(this.header, this.frame));
    this.root.dataset.linked = `${this.header.generation}/${this.frame}`; // for whoever waits for the address
  }

  leave() {
    this.stop();
    clearTimeout(this.writing);
    this.takeDown();
  }
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
