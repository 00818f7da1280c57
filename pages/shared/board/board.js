// @ts-nocheck
/* The board: panels in rows, and the control that chooses the frame of all of them. Moving it never asks
   the server. */

import { el, writeAddress } from "../browser/dom.js";
import { Framed, readMessage } from "../browser/message.js";
import { plainNumber, tickText } from "../browser/numbers.js";
import { announce, mounting, putUp, storyLine } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";

const GAP = 18;

class Board {
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
    this.root = el("div", { class: "board" }, [this.story.root, this.bar, this.rows, this.status]);
    this.frame = 0;
    this.panels = [];
    const redraw = () => this.header && this.layOut();
    // Its height changes with every drawing of other words; only another width asks for a new one.
    const resized = () => this.rows.clientWidth !== this.width && redraw();
    this.takeDown = putUp(host, this.root, redraw, { watched: this.rows, resized });
  }

  receive(bytes, send) {
    this.act = send;
    const before = this.header;
    this.header = readMessage(bytes);
    const { board, scrub, moves, part, generation } = this.header;
    const isNew = !before || before.part !== part || before.moves !== moves;
    if (scrub) this.frame = this.nearest(isNew ? scrub.at : this.value(before));
    else this.frame = 0;
    this.story.take.classList.toggle("absent", this.header.keep === false);
    this.status.classList.toggle("absent", this.header.keep === false);
    this.theme = themeOf(this.root);
    const moving = (name, value) =>
      ["chart", "colour", "changed", "note", "texts"].includes(name) ||
      (name === "values" && typeof value === "string");
    const signature = JSON.stringify([part, board.rows], (name, value) =>
      value instanceof Framed ? value.shape.slice(-2) : moving(name, value) ? undefined : value,
    );
    if (signature !== this.signature) this.build(board);
    else this.each((panel, spec) => panel.update(spec));
    this.signature = signature;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const plays = board.scrub?.plays && before?.part === part && before.generation !== generation && !still;
    if (plays) this.frame = 0;
    this.layOut();
    if (plays) this.run();
  }

  value(header) {
    return header.board.scrub.values.values[this.frame];
  }

  nearest(value) {
    const { values } = this.header.board.scrub.values;
    let best = 0;
    for (let at = 1; at < values.length; at++)
      if (Math.abs(values[at] - value) < Math.abs(values[best] - value)) best = at;
    return best;
  }

  build(board) {
    this.stop();
    this.pressed = null;
    this.panels = board.rows.map((row) =>
      row.map((spec) => new PANELS[spec.drawn_by ?? spec.kind.toLowerCase()].Panel(this, spec)),
    );
    this.rows.replaceChildren(
      ...this.panels.map((row) =>
        el(
          "div",
          { class: "row" },
          row.map((panel) => panel.root),
        ),
      ),
    );
  }

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
      const columns = needs.reduce((sum, need) => sum + need.columns, 0);
      const free = width - needs.reduce((sum, need) => sum + need.fixed + GAP, 0);
      // A row too wide for readable numbers breaks in two; a matrix of words can be narrower than that.
      const least = row.some((panel) => panel.spec?.texts?.length) ? 14 : columns >= 24 ? 24 : 32;
      const cell = Math.max(least, Math.min(54, Math.floor(free / Math.max(1, columns)) - 2));
      for (const panel of row) panel.fit?.(cell);
    }
    const { scrub } = this.header.board;
    this.bar.classList.toggle("absent", !scrub);
    this.words.textContent = "";
    if (scrub) {
      this.slider.max = scrub.values.values.length - 1;
      this.slider.setAttribute("aria-label", scrub.label);
      this.label.textContent = scrub.label;
    }
    this.show(this.frame);
  }

  /* How high a picture may be. */
  heightOf() {
    return Math.max(220, Math.min(420, window.innerHeight * 0.42));
  }

  show(frame) {
    this.frame = frame;
    const { board, generation } = this.header;
    if (board.scrub) {
      const words = board.scrub.words[frame] ?? tickText(+board.scrub.values.values[frame].toPrecision(3));
      this.slider.value = frame;
      this.slider.setAttribute("aria-valuetext", words);
      this.words.textContent = words;
    }
    this.each((panel) => panel.draw(frame));
    this.story.notice.replaceChildren(
      ...emphasised(typeof board.notice === "string" ? board.notice : board.notice[frame]),
    );
    clearTimeout(this.writing); // browsers refuse hundreds of addresses in a few seconds
    this.writing = setTimeout(() => this.writeLink(), 150);
    this.root.dataset.frame = frame;
    announce(this.root, { what: "board", generation });
  }

  toggle() {
    if (this.playing) return this.stop();
    this.start(this.frame === +this.slider.max ? 0 : this.frame);
  }

  start(frame) {
    this.show(frame);
    this.run();
  }

  run() {
    this.stop();
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", "Pause");
    const next = () => (this.frame < +this.slider.max ? this.show(this.frame + 1) : this.stop());
    this.playing = setInterval(next, 1000 / this.header.board.scrub.speed);
  }

  step(by) {
    this.stop();
    this.show(Math.max(0, Math.min(+this.slider.max, this.frame + by)));
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", "Play");
  }

  /* Shows a thumbnail in the large matrix; pressed again, what was there before. */
  press(panel) {
    this.pressed = this.pressed === panel ? null : panel;
    this.layOut();
  }

  /* Lights up the rows and columns of the axes named, in every panel; the status line says what is pointed
     at. */
  light(lit, words = HINT) {
    this.status.textContent = words;
    this.each((panel) => panel.light?.(lit));
  }

  /* What an axis calls its entry, in whichever panel that is written: names beside one matrix serve all of
     its row. */
  nameOf(axis, at) {
    const named = (panel) => [
      [panel.row_axis, panel.rows],
      [panel.column_axis, panel.columns],
      [panel.axis, panel.labels],
    ];
    const found = this.header.board.rows
      .flat()
      .flatMap(named)
      .find(([name, names]) => axis && name === axis && names?.length);
    return found?.[1][at] ?? at;
  }

  colour(name) {
    return typeof name === "number" ? this.theme.heads[name % this.theme.heads.length] : this.theme[name];
  }

  writeLink() {
    const { link, scrub, board } = this.header;
    const params = new URLSearchParams(link);
    if (scrub && this.frame !== this.nearest(scrub.usual))
      params.set(board.scrub.field, plainNumber(this.value(this.header)));
    writeAddress(params);
    this.root.dataset.linked = `${this.header.generation}/${this.frame}`; // for whoever waits for the address
  }

  leave() {
    this.stop();
    clearTimeout(this.writing);
    this.takeDown();
  }
}

const HINT = "Point at a number: where it stands, and its digits.";

/* **Stars** make words bold. */
function emphasised(text) {
  return text
    .split("**")
    .map((part, at) => (at % 2 ? el("strong", { text: part }) : document.createTextNode(part)));
}

export const mount = mounting(Board);
