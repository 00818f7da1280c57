/* The control that chooses a board's frame: a slider, steps, and playing. */

import { el } from "../browser/dom.js";

/** @typedef {import("./board.js").Board} Board */
/** @typedef {import("./specs").Scrub} Scrub */

const STRIDES = 10; // a clicker needs at most so many presses from end to end

export class Scrubber {
  /** @type {ReturnType<typeof setInterval> | undefined} */ playing;
  pace = 1; // how much faster it plays than its scrub says
  speed = 1; // frames a second, as the scrub says

  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    const oninput = () => board.show(+this.slider.value);
    this.slider = el("input", { type: "range", min: 0, step: 1, oninput });
    this.label = el("span", { class: "choice-label" });
    this.words = el("output", {});
    /** @param {string} name @param {string} text @param {() => void} onclick */
    const button = (name, text, onclick) =>
      el("button", { type: "button", class: "play", text, "aria-label": name, onclick });
    this.play = button("Play", "▶", () => this.toggle());
    const back = button("Step back", "❘◀", () => this.step(-1));
    const on = button("Step forward", "▶❘", () => this.step(1));
    const steps = el("div", { class: "steps" }, [back, this.play, on]);
    this.root = el("div", { class: "scrub" }, [steps, this.label, this.slider, this.words]);
  }

  get last() {
    return this.board.header.board.scrub ? +this.slider.max : 0;
  }

  /** Takes the place of another control, or of none. @param {Scrub | null} scrub */
  show(scrub) {
    this.root.classList.toggle("absent", !scrub);
    this.words.textContent = "";
    if (!scrub) return;
    this.speed = scrub.speed ?? 1;
    this.slider.max = String(scrub.values.values.length - 1);
    this.slider.setAttribute("aria-label", scrub.label);
    this.label.textContent = scrub.label;
  }

  /** @param {number} frame @param {string} words */
  moveTo(frame, words) {
    this.slider.value = String(frame);
    this.slider.setAttribute("aria-valuetext", words);
    this.words.textContent = words;
  }

  toggle() {
    if (this.playing) return this.stop();
    const { board } = this;
    board.show(board.frame === this.last ? 0 : board.frame);
    this.run();
  }

  run() {
    this.stop();
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", "Pause");
    const { board } = this;
    const next = () => (board.frame < this.last ? board.show(board.frame + 1) : this.stop());
    this.playing = setInterval(next, 1000 / (this.speed * this.pace));
  }

  stop() {
    clearInterval(this.playing);
    this.playing = undefined;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", "Play");
  }

  /** @param {number} by */
  step(by) {
    this.stop();
    this.board.show(Math.max(0, Math.min(this.last, this.board.frame + by)));
  }

  /** On by a stride, or back. False where there is no further frame. @param {1 | -1} by */
  advance(by) {
    if (this.board.frame === (by > 0 ? this.last : 0)) return false;
    this.step(by * Math.max(1, Math.round(this.last / STRIDES)));
    return true;
  }

  /** Plays faster by this factor, or slower. @param {number} factor */
  faster(factor) {
    this.pace = Math.max(0.1, Math.min(10, this.pace * factor));
    if (this.playing) this.run();
  }
}
