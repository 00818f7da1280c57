/* The board: panels in rows, and the control of their frame, which never asks the server. */

import { button, el, onPhone, reveal, say } from "../browser/dom.js";
import { Drawers } from "../browser/drawers.js";
import { Glossary } from "../browser/glossary.js";
import { noteOpened, notePredictions } from "../browser/marks.js";
import { readMessage } from "../browser/message.js";
import { isStill, lasting } from "../browser/motion.js";
import { tickText } from "../browser/numbers.js";
import { find, page } from "../browser/page.js";
import { nextOf, Present } from "../browser/present.js";
import { rendering } from "../browser/rendering.js";
import { announce, moreMenu, putUp, storyLine } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";
import { t } from "../browser/words.js";
import {
  cellSize,
  Fitting,
  linkOf,
  nameIn,
  nearest,
  pictureHeight,
  rowHeight,
  signatureOf,
} from "./fitting.js";
import { legendNodes } from "./words.js";

/** @import { Scrub, Header, Spec, Panel } from "./specs" */
/** @import { Send } from "../browser/rendering.js" */

const LEAST_SHARE = 0.1; // of its room, that rows show which are presented without others
const STRIDES = 10; // a clicker needs at most so many presses from end to end

export class Scrubber {
  /** @type {ReturnType<typeof setInterval> | undefined} */ playing;
  speed = 1; // frames a second, as the scrub says

  /** @param {Board} board */
  constructor(board) {
    this.board = board;
    const oninput = () => board.show(+this.slider.value);
    this.slider = el("input", { type: "range", min: 0, step: 1, oninput });
    this.label = el("span", { class: "choice-label" });
    this.words = el("output", {});
    /** @param {string} name @param {string} text @param {() => void} onclick */
    const player = (name, text, onclick) => button({ class: "play", text, "aria-label": name, onclick });
    this.play = player(t("Play"), "▶", () => this.toggle());
    const back = player("Step back", "❘◀", () => this.step(-1));
    const on = player("Step forward", "▶❘", () => this.step(1));
    const steps = el("div", { class: "steps" }, [back, this.play, on]);
    this.root = el("div", { class: "scrub" }, [steps, this.label, this.slider, this.words]);
  }

  get last() {
    return (this.board.header.board.scrub?.values.values.length ?? 1) - 1;
  }

  /** Takes the place of another control, or of none. @param {Scrub | null} scrub */
  show(scrub) {
    reveal(this.root, scrub);
    this.words.textContent = "";
    if (!scrub) return;
    this.speed = scrub.speed ?? 1;
    this.slider.max = String(this.last);
    this.slider.setAttribute("aria-label", scrub.label);
    this.label.textContent = scrub.label;
  }

  /** @param {number} frame @param {string} words */
  moveTo(frame, words) {
    this.slider.value = String(frame);
    this.slider.setAttribute("aria-valuetext", words);
    // the slider says it itself
    this.words.ariaLive = this.playing || this.slider.matches(":focus") ? "off" : "polite";
    say(this.words, [words]);
  }

  toggle() {
    if (this.playing) return this.stop();
    const { board } = this;
    const isAtEnd = board.frame === this.last;
    const stepsInStills = isStill() && board.header.board.scrub?.film;
    board.show(isAtEnd ? 0 : board.frame + Number(stepsInStills));
    if (stepsInStills) return;
    this.run();
  }

  run() {
    this.stop();
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", t("Pause"));
    const { board } = this;
    const next = () => (board.frame < this.last ? board.show(board.frame + 1) : this.stop());
    this.playing = setInterval(next, 1000 / this.speed);
    board.story.notice.ariaLive = "off"; // what changes with each frame would be read out without an end
  }

  stop() {
    const { notice } = this.board.story;
    clearInterval(this.playing);
    if (this.playing) {
      notice.ariaLive = "polite";
      notice.append(...notice.childNodes); // and is read out, as it is in the end
    }
    this.playing = undefined;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", t("Play"));
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
}

export class Board {
  // these come with the first message
  /** @type {Header} */ header;
  /** @type {import("./specs").Theme} */ theme;
  /** @type {Send} */ act;
  /** @type {import("../browser/rendering.js").Tell} */ tell;
  /** @type {string} */ signature;
  /** @type {Panel[][]} */ panels = [];
  /** @type {Panel | null} the thumbnail that is shown large */ pressed = null;
  glossary = new Glossary({});
  frame = 0;
  width = 0;
  most = 0; // how high a picture may be
  fits = false; // whether it has a height of its own
  path = ""; // of its page
  room = ""; // what the rows were chosen for that have room while it is presented
  /** @type {Panel[][]} those rows */ roomy = [];
  shownAt = 0; // when its numbers changed last, in milliseconds
  lasts = 0; // how long its pictures take to follow them
  returned = false; // whether a part was left by the browser's Back
  unfolded = false; // whether more than the main panels are in sight
  /** @type {Panel[][]} what is, in its rows */ inSight = [];
  entered = false; // whether a part was chosen that the address does not tell of yet
  /** @type {ReturnType<typeof setTimeout> | undefined} */ writing;
  listening = new AbortController();

  /** @param {HTMLElement} host */
  constructor(host) {
    const takeAway = () => this.act({ type: "takeaway", frame: this.frame, address: location.href });
    const read = () => this.shown.flatMap((row) => row.flatMap((panel) => panel.read(this.frame)));
    const stacks = ["across", "", ""].map((name) => el("div", { class: `stack ${name}` }));
    this.rows = el("div", { class: "rows" }, stacks);
    this.legend = el("div", { class: "legend muted" });
    const write = () => this.writeLink();
    const pictured = [this.rows, this.legend];
    this.story = storyLine("Figure, numbers and code to keep", takeAway, write, read, pictured);
    this.scrubber = new Scrubber(this);
    this.status = el("p", { class: "status muted" });
    this.drawers = new Drawers();
    this.present = new Present(this);
    this.story.root.prepend(this.present.cover);
    this.claim = el("p", { class: "claim" });
    this.aids = el("div", { class: "actions" }, [...this.drawers.buttons, this.present.button]);
    const more = moreMenu([...this.story.actions.children], this.listening.signal);
    this.story.actions.replaceChildren(more);
    this.fold = button({ text: "", onclick: () => this.unfold(!this.unfolded) });
    this.story.root.append(el("div", { class: "actions" }, [this.fold]));
    const foot = el("div", { class: "foot" }, [this.aids, this.story.actions, this.legend, this.status]);
    this.root = el("div", { class: "shell board" }, [
      this.claim,
      this.story.root,
      this.scrubber.root,
      this.rows,
      foot,
    ]);
    this.outer = el("div", { class: "board-place" }, [this.root, this.present.where, ...this.present.layers]);
    this.fitting = new Fitting(this.outer, this.root, this.rows);
    const redraw = () => this.header && this.layOut();
    // Its height changes with every drawing of other words; only another width asks for a new one.
    const resized = () => (this.fits || this.rows.clientWidth !== this.width) && redraw();
    this.takeDown = putUp(host, this.outer, redraw, { watched: this.outer, resized });
    this.redraw = redraw;
    this.listen();
  }

  get spoiler() {
    return this.header.spoiler ?? null;
  }

  get where() {
    return (this.header.where ?? "").split(" · ").map(t).join(" · ");
  }

  get canPresent() {
    return Boolean(this.header?.fits || this.header?.presents);
  }

  /* For who can point, and not for a hall. */
  get hint() {
    return this.present.on ? "" : t("Point at a number: where it stands, and its digits.");
  }

  /* Its rows, while presented perhaps the first ones; of these the main panels, until one asks for more. */
  get shown() {
    const rows = this.present.on ? this.panels.slice(0, this.header.presents || undefined) : this.panels;
    if (this.unfolded || !this.nMore) return rows;
    return rows.map((row) => row.filter(({ spec }) => spec.main)).filter((row) => row.length);
  }

  /* How many panels there are beside the main ones. */
  get nMore() {
    const specs = this.header.board.rows.flat().filter(({ kind }) => kind !== "Sign");
    const nMain = specs.filter(({ main }) => main).length;
    return nMain && specs.length - nMain;
  }

  /** @param {boolean} unfolded */
  unfold(unfolded) {
    this.unfolded = unfolded;
    this.layOut();
  }

  listen() {
    const { signal } = this.listening;
    window.addEventListener("resize", this.redraw, { signal });
    const hear = (/** @type {any} */ event) => this.canPresent && this.present.hear(event);
    page.keys(this.outer).addEventListener("keydown", hear, { signal, capture: true });
    this.story.reader.listen(page.keys(this.outer), signal);
    window.addEventListener("popstate", () => this.goBack(), { signal });
    const stopNoting = notePredictions(() => {
      this.glossary.explainAsked();
      if (this.present.covered && this.present.isAnswered) this.present.uncover();
    });
    signal.addEventListener("abort", stopNoting);
    this.fitting.watch(() => !this.present.on && this.redraw(), signal);
  }

  /* The browser's Back and Forward change the address alone; the part that it names is asked for. Where they
     lead to another page, that is Streamlit's to draw, which a question of this one would stop. */
  goBack() {
    if (location.pathname !== this.path) return;
    const part = page.params().get("part") ?? this.header?.parts?.[0];
    if (!this.header?.page || part === this.header.part) return;
    this.returned = true;
    this.act({ type: "part", name: part });
  }

  /** @param {Uint8Array} bytes @param {Send} send @param {import("../browser/rendering.js").Tell} tell */
  receive(bytes, send, tell) {
    this.act = send;
    this.tell = tell;
    /** @type {Header | undefined} */ const before = this.header;
    this.header = readMessage(bytes);
    this.path = location.pathname;
    const { board, scrub, moves, part, generation } = this.header;
    this.change();
    if (this.header.page) noteOpened(this.header.page, part);
    if (before && before.part !== part) this.entered = !this.returned;
    if (before?.part !== part)
      this.unfolded = (!before || this.returned) && page.params().get("more") === "1";
    this.returned = false;
    reveal(this.aids, this.canPresent);
    const same = before?.part === part && before.moves === moves ? before : null;
    this.frame = scrub ? this.nearest(same ? this.value(same) : scrub.at) : 0;
    reveal(this.story.take, page.takesAway && this.header.keep !== false);
    this.status.classList.toggle("absent", this.header.keep === false);
    this.root.classList.toggle("stale", Boolean(this.header.stale));
    this.glossary = new Glossary(this.header.terms ?? {});
    // a cell that changes beside numbers that do not would be false
    if (!page.computes)
      for (const spec of board.rows.flat()) Object.assign(spec, { edit: null, choose: null });
    const signature = signatureOf(part, board.rows);
    if (signature !== this.signature) this.build(board);
    else this.each((panel, spec) => panel.update(spec));
    this.signature = signature;
    // What a preset sets up stands where it says, at once; what a person types is played from its start.
    const plays = board.scrub?.plays && same && same.generation !== generation && !isStill();
    if (plays) this.frame = 0;
    if (before?.part !== part) {
      this.drawers.open(null);
      if (!before) this.present.begin();
      this.present.coverHeadline();
      if (onPhone()) this.showPart();
    }
    this.layOut();
    if (plays) this.scrubber.run();
  }

  /* On a phone the row of parts is scrolled; a page may draw its buttons late. */
  showPart(looks = 20) {
    setTimeout(() => {
      const chosen = find(page.parts);
      if (chosen) chosen.scrollIntoView({ inline: "center", block: "nearest" });
      else if (looks) this.showPart(looks - 1);
    }, 250);
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
    this.scrubber.stop();
    this.pressed = null;
    this.panels = board.rows.map((row) =>
      row.map((spec) => new PANELS[spec.drawn_by ?? spec.kind.toLowerCase()].Panel(this, spec)),
    );
    const roots = this.panels.map((row) => row.map((panel) => panel.root));
    for (const stack of this.rows.children) stack.replaceChildren();
    this.rows.children[0].append(...roots.map((row) => el("div", { class: "row" }, row)));
  }

  /** @param {(panel: Panel, spec: Spec) => void} visit */
  each(visit) {
    this.panels.forEach((row, i) => row.forEach((panel, j) => visit(panel, this.header.board.rows[i][j])));
  }

  /* Sizes first, then the numbers. */
  layOut() {
    this.present.takeRoom();
    this.status.textContent = this.hint;
    this.claim.replaceChildren(...this.glossary.nodes((this.present.on && this.header.claim) || ""));
    this.fits = this.present.on || (page.fits && Boolean(this.header.fits) && this.fitting.takeRoom());
    this.root.classList.toggle("fits", this.fits);
    this.drawers.allow({ side: this.present.on, all: Boolean(this.header.page) });
    const width = (this.width = this.rows.clientWidth);
    if (!width) return;
    this.theme = themeOf(this.root, this.present.projected);
    const { scrub, rows } = this.header.board;
    this.scrubber.show(scrub);
    reveal(this.fold, this.nMore);
    this.fold.textContent = this.unfolded ? t("fewer pictures") : `${t("more pictures")} (${this.nMore})`;
    this.fold.setAttribute("aria-expanded", String(this.unfolded));
    this.legend.replaceChildren(...legendNodes(rows, this.theme)); // as much room as it may take
    const { fitting, signature } = this;
    const hides = this.present.hides.flatMap((title) => [title, t(title)]); // a talk may name it in English
    const room = JSON.stringify([
      ...[signature, hides, width, this.rows.clientHeight, this.present.on, this.unfolded],
    ]);
    let panels = this.room === room ? this.roomy : this.shown;
    const show = () => {
      this.inSight = panels;
      const isSeen = (/** @type {Panel} */ panel) => panels.flat().includes(panel);
      for (const row of this.panels) {
        for (const panel of row) reveal(panel.root, isSeen(panel));
        reveal(/** @type {Element} */ (row[0].root.parentElement), row.some(isSeen));
      }
    };
    show();
    const sizeAll = (/** @type {number} */ most) => this.sizeAll(most);
    fitting.across = this.shown.length === rows.length ? this.header.board.across : 0;
    const choose = (/** @type {Panel[][]} */ rows) => {
      panels = rows;
      show();
      this.most = fitting.choose(signature, panels, sizeAll, this.most);
      return fitting.isWhole ? fitting.drawnArea(panels) : 0;
    };
    if (this.fits) {
      choose(panels);
      // Letters for a hall leave room for some rows: the first ones that show much, and what is asked for.
      while (this.present.on && !fitting.isWhole && panels.length > 1) {
        const rows = panels;
        const last = rows.slice(rows.length > 2 ? 1 : 0);
        const spare = last.filter((row) => !row.some(({ spec }) => hides.includes(spec.title)));
        const rests = (spare.length ? spare : last).map((row) => rows.filter((other) => other !== row));
        const { width, height } = this.rows.getBoundingClientRect();
        const least = width * height * LEAST_SHARE;
        const areas = new Map(rests.map((rest) => [rest, choose(rest)]));
        const most = Math.max(...areas.values());
        const kept = rows.length === 2 && most > least ? most : least; // of the last two, the larger picture
        const rest = rests.findLast((each) => Number(areas.get(each)) >= kept) ?? rests.at(-1);
        choose(/** @type {Panel[][]} */ (rest));
      }
      Object.assign(this, { room, roomy: panels });
    } else {
      fitting.arrange(panels, { first: panels.length, share: 1 });
      this.sizeAll(pictureHeight(window.innerHeight));
    }
    const specs = panels.map((row) => row.map(({ spec }) => spec));
    this.legend.replaceChildren(...legendNodes(specs, this.theme));
    this.show(this.frame);
    this.each(({ root }, { title }) => root.classList.toggle("answers", hides.includes(title)));
    this.glossary.explainIn(this.root);
  }

  /** All matrices of a row get cells of one size, and their first rows one height.
     @param {number} most how high a picture may be */
  sizeAll(most) {
    this.most = most;
    for (const row of this.inSight) {
      const needs = row.map((panel) => panel.needs ?? { fixed: 260, columns: 0 });
      const hasTexts = row.some((panel) => panel.spec?.texts?.length);
      const line = /** @type {HTMLElement} */ (row[0].root.parentElement);
      const lines = this.fitting.breakIn(row, line, this.fits);
      const cell = cellSize(line.clientWidth, needs, hasTexts, this.fits, lines);
      for (const panel of row) panel.fit?.(cell);
      const above = Math.max(...row.map((panel) => panel.above ?? 0));
      for (const panel of row) panel.lower?.(above);
    }
    this.each((panel) => panel.size?.());
  }

  /** How high a line of a matrix is. @param {number} nRows @param {number} cell how wide its cells are */
  rowHeight(nRows, cell) {
    return rowHeight(cell, this.fits ? this.most / nRows : Infinity);
  }

  /** @param {number} frame */
  show(frame) {
    if (frame !== this.frame) this.change();
    this.frame = frame;
    if (!this.width) return; // until it is laid out, as a cell of a notebook is that comes into sight
    const { board, generation } = this.header;
    if (board.scrub) {
      const words = board.scrub.words[frame] ?? tickText(+this.value(this.header).toPrecision(3));
      this.scrubber.moveTo(frame, words);
    }
    this.each((panel) => panel.draw(frame));
    const notice = typeof board.notice === "string" ? board.notice : board.notice[frame];
    say(this.story.notice, this.glossary.nodes(notice));
    clearTimeout(this.writing); // browsers refuse hundreds of addresses in a few seconds
    delete this.root.dataset.linked;
    this.writing = setTimeout(() => this.writeLink(), 150);
    this.root.dataset.frame = String(frame);
    this.tell({ ...this.header.chosen, frame, ...(this.nMore && { more: this.unfolded }) });
    announce(this.root, { what: "board", generation });
  }

  /** @param {import("../contract").State} state */
  select({ frame, more }) {
    if (more !== undefined && more !== this.unfolded) this.unfold(Boolean(more));
    if (Number.isInteger(frame)) this.scrubber.step(Number(frame) - this.frame);
  }

  /* The pictures follow the numbers that come now. */
  change() {
    const now = performance.now();
    this.lasts = lasting(now - this.shownAt);
    this.shownAt = now;
    this.root.style.setProperty("--lasts", `${this.lasts}ms`);
  }

  toggle() {
    this.scrubber.toggle();
  }

  /* A stop of a talk begins where it halts first; elsewhere a film of a training where that began, unless a
     link opens it at another step. */
  rewind() {
    const { scrub } = this.header.board;
    const isLinked = !this.width && scrub && page.params().has(scrub.field);
    if (page.halts?.length) this.frame = this.nearest(page.halts[0]);
    else if (scrub?.film && !page.halts && !isLinked) this.frame = 0;
  }

  /** On by a tenth of the frames; past either end, to the next part or page. @param {1 | -1} by */
  advance(by) {
    if (!this.scrubber.advance(by)) this.act({ type: "go", by });
  }

  /** On to the next value of the slider at which a talk halts, or back; false where there is none.
     @param {1 | -1} by */
  advanceAmong(by) {
    const halts = (this.header.board.scrub && page.halts) || [];
    const frames = halts.map((value) => this.nearest(value));
    const next = nextOf(frames, this.frame, by);
    if (next === undefined) return false;
    this.scrubber.step(next - this.frame);
    return true;
  }

  /** Shows a thumbnail in the large matrix; pressed again, what was there before. @param {Panel} panel */
  press(panel) {
    this.pressed = this.pressed === panel ? null : panel;
    this.layOut();
  }

  /** Lights up the rows and columns of the axes named, in every panel; the status line says what is there.
     @param {import("./specs").Lit} lit */
  light(lit, words = this.hint) {
    this.status.textContent = words;
    this.each((panel) => panel.light?.(lit));
  }

  /** What an axis calls its entry, in whichever panel that is written: names beside one matrix serve all of
     its row.
     @param {string} axis @param {number} at */
  nameOf(axis, at) {
    return nameIn(this.header.board.rows, axis, at);
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
    if (this.unfolded) params.set("more", "1");
    page.write?.(params, this.entered);
    this.entered = false;
    this.root.dataset.linked = `${this.header.generation}/${this.frame}`; // for whoever waits for the address
  }

  leave() {
    this.scrubber.stop();
    clearTimeout(this.writing);
    this.listening.abort();
    this.drawers.leave();
    this.present.leave();
    this.takeDown();
  }
}

export const render = rendering(Board);
