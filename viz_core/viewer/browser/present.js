/* Presenting: the board alone, as large as the screen, worked by keys or a clicker. */

import { button, el, isForView, reveal } from "./dom.js";
import { DRAWERS } from "./drawers.js";
import { find, page } from "./page.js";
import { t } from "./words.js";

/** What can be presented: a view with a place of its own on the page, and how its frames are gone through.
   spoiler: the question whose answer its headline gives away. where: what it is called.
   @typedef {{
     root: HTMLElement, outer: HTMLElement, story: {notice: HTMLElement},
     where: string, spoiler: Spoilt | null,
     glossary: {nodes(text: string): (Node | string)[]},
     act(action: object): void, redraw(): void, advance(by: 1 | -1): void,
     toggle?(): void, rewind?(): void,
     drawers: import("./drawers.js").Drawers,
   }} Presentable */

/** panels: the titles of those that give the answer away, too.
   @typedef {{place: string, question: number, ask: string, options: string[], panels: string[]}} Spoilt */

/** The size of a page, in CSS pixels, that fills the screen: the smallest letters, of 12, are 20 at
    1366 x 768 and 28 at 1920 x 1080. */
const PAGE = { width: 819, height: 460 };

const AWAKE = 3000; // milliseconds that buttons are seen after the pointer has moved
const SAID = 4000; // milliseconds that a sentence stands where else the place is named

const NEXT = ["ArrowRight", "PageDown", "Enter"];
const BACK = ["ArrowLeft", "PageUp", "Backspace"];

/* How much larger this tab's pages are than when it first presented on this screen: who presses Ctrl + wants
   larger letters. */
function enlarged() {
  try {
    const first = (sessionStorage[`attention-lab:pixels-${screen.width}`] ??= devicePixelRatio);
    return Math.max(1, devicePixelRatio / Number(first));
  } catch {
    return 1; // a talk that is a file keeps nothing
  }
}

/** The keys that what is shown has, and what they do. @param {Presentable} view */
const helpOf = (view) => [
  ["→  Page Down", "next step, then next part, then next page"],
  ["←  Page Up", t("back")],
  ["n  N", "skip the rest of this part; back a part"],
  ...(view.toggle ? [["Space", "play, pause"]] : []),
  ...("scrubber" in view ? [["a", "uncover the headline"]] : []),
  [
    view.drawers.names.map((name) => DRAWERS[name].key).join("  "),
    view.drawers.names.map((name) => t(DRAWERS[name].label)).join(", "),
  ],
  ["v", "this as a table, with a sentence"],
  ["b  .", "blank the screen"],
  ["t", "the page's colours, or those for a projector"],
  ["?", "these keys"],
  ["Tab", "the buttons, as when the pointer moves"],
  ["Esc", t("leave")],
];

/* Those of a talk, where no film is played by keys. */
export const KEYS = { next: [...NEXT, "ArrowDown", " "], back: [...BACK, "ArrowUp"] };

/** Where a key leads, if on or back. @param {KeyboardEvent} event */
function stepOf({ key, shiftKey }) {
  const by = NEXT.includes(key) || (key.toLowerCase() === "n" && !shiftKey) ? 1 : -1;
  if (key.toLowerCase() === "n") return (/** @type {Presentable} */ view) => view.act({ type: "skip", by });
  if (NEXT.includes(key) || BACK.includes(key)) return (/** @type {Presentable} */ view) => view.advance(by);
}

export class Present {
  on = false;
  covered = false; // whether the headline is
  /** @type {Spoilt | null} what it gives away, and stands in its place */ asked = null;
  /** What was pressed while the page goes to where the press before leads: what is there says what it does.
      One list for all programs, as the next page may be another's.
      @type {((view: Presentable) => void)[]} */
  pressed = globalThis.attentionLabPresents?.pressed ?? [];
  projector = true; // whether the colours are those for a projector
  /** @type {ReturnType<typeof setTimeout> | undefined} until its buttons are hidden */ waking;
  /** @type {ReturnType<typeof setTimeout> | undefined} until the place is named again */ saying;

  /** @param {Presentable} view */
  constructor(view) {
    this.view = view;
    this.button = button({
      text: t("present"),
      title: "This alone, for a projector; key p",
      onclick: () => this.toggle(),
    });
    reveal(this.button, page.presents);
    this.cover = el("div", { class: "cover absent" });
    view.drawers.changed = () => this.on && view.redraw();
    const help = helpOf(view).map(([keys, does]) =>
      el("tr", {}, [el("th", { scope: "row", text: keys }), el("td", { text: does })]),
    );
    this.veil = el("div", { class: "veil absent" });
    this.help = el("table", { class: "help absent", "aria-label": "Keys while presenting" }, help);
    this.where = el("p", { class: "whereabouts", role: "status" });
    this.layers = [this.veil, this.help];
    /** @param {PointerEvent} event */
    this.follow = ({ movementX, movementY }) => {
      if (movementX || movementY) this.wake();
    };
    this.leftFullScreen = () => !document.fullscreenElement && this.on && this.escape();
  }

  /* A link may ask for it, and the page before this one: its board is gone, the screen is still filled. */
  begin() {
    const isWanted = page.params().get("present") === "1";
    if (!this.on && (isWanted || "present" in document.documentElement.dataset)) this.toggle();
  }

  /* Whether the colours are those for a projector now. */
  get projected() {
    return this.on && this.projector;
  }

  /* Gives what is shown the whole window, or its place on the page back. */
  takeRoom() {
    const { outer, root, drawers, story } = this.view;
    outer.classList.toggle("presented", this.on);
    outer.classList.toggle("projected", this.projected);
    if (!this.saying) this.where.textContent = this.whereabouts;
    const { innerWidth, innerHeight } = window;
    const full = Math.min(innerWidth / PAGE.width, page.height() / PAGE.height) * enlarged();
    // What stands under the headline makes the rest smaller as a whole: nothing on it moves or is cut off.
    const room = this.on ? drawers.room : 0;
    const zoom = this.on ? full * (1 - room / innerHeight) : 1;
    Object.assign(root.style, {
      transform: this.on ? `scale(${zoom})` : "",
      width: this.on ? `${innerWidth / zoom}px` : "",
      height: this.on ? `${innerHeight / zoom}px` : "",
    });
    const headline = /** @type {HTMLElement} */ (story.notice.parentElement);
    headline.style.marginBottom = room ? `${room / zoom}px` : "";
    const { style } = document.documentElement;
    const ofDrawers = Math.max(1, full);
    style.setProperty("--present-zoom", String(ofDrawers));
    const top = ((headline.offsetTop + headline.offsetHeight) * zoom) / ofDrawers;
    style.setProperty("--present-top", `${top}px`);
  }

  toggle() {
    if (this.on) this.end();
    else this.start();
    for (const layer of this.layers) layer.classList.add("absent");
    this.coverHeadline();
    this.view.drawers.open(null);
    this.view.redraw();
  }

  start() {
    const { documentElement: root } = document;
    this.on = true;
    this.view.rewind?.();
    globalThis.attentionLabPresents = this;
    root.dataset.present = "";
    this.button.blur();
    this.wake();
    window.addEventListener("pointermove", this.follow);
    const listen = () => document.addEventListener("fullscreenchange", this.leftFullScreen);
    if (document.fullscreenElement) listen();
    else if (!page.fillsScreen) return;
    // Refused without a press; the window is filled all the same.
    else root.requestFullscreen?.().then(listen, () => {});
  }

  end() {
    this.stopListening();
    this.on = false;
    this.pressed.length = 0;
    delete document.documentElement.dataset.present;
    if (document.fullscreenElement) document.exitFullscreen();
  }

  /* Buttons are seen for a while, and keep their places where they are not. */
  wake() {
    const { classList } = this.view.outer;
    clearTimeout(this.waking);
    classList.remove("asleep");
    this.waking = setTimeout(() => classList.add("asleep"), AWAKE);
  }

  /** Says something for a while, in the place of where one is. @param {string} text */
  say(text) {
    clearTimeout(this.waking);
    clearTimeout(this.saying);
    this.view.outer.classList.add("asleep");
    this.where.textContent = text;
    this.saying = setTimeout(() => {
      this.saying = undefined;
      this.where.textContent = this.whereabouts;
    }, SAID);
  }

  /* A talk says itself where one is. */
  get whereabouts() {
    return page.fillsScreen ? this.view.where : "";
  }

  /* The headline that gives a question's answer away waits until that is given, or asked for. */
  coverHeadline() {
    this.asked = page.isAsked ? null : this.view.spoiler;
    const { hides } = page;
    const isHidden = hides ? hides.includes("headline") : this.asked && !this.isAnswered;
    this.covered = Boolean(isHidden && (hides || this.on));
    this.showCover();
  }

  get isAnswered() {
    return Boolean(document.querySelector(`[data-predicted="${this.asked?.place}"]`));
  }

  /* The titles of the panels that are hidden. */
  get hides() {
    return page.hides ?? ((this.covered && this.asked?.panels) || []);
  }

  uncover() {
    if (page.hides) page.hides = [];
    this.covered = false;
    this.showCover();
    this.view.redraw();
  }

  showCover() {
    const { asked } = this;
    reveal(this.cover, this.covered);
    this.cover.replaceChildren();
    if (this.covered && asked) {
      const { question } = asked;
      const answers = asked.options.map((text, option) =>
        button({ text, onclick: () => this.view.act({ type: "answer", question, option }) }),
      );
      const ask = el("span", {}, this.view.glossary.nodes(asked.ask));
      this.cover.replaceChildren(ask, el("div", { class: "choice" }, answers));
    }
    this.view.story.notice.classList.toggle("absent", this.covered);
  }

  /** What keys do wherever the focus is, but in a field that is written into. @param {KeyboardEvent} event */
  hear(event) {
    const { drawers } = this.view;
    const ends = drawers.opened === "text" && !event.isComposing && ["Enter", "Escape"].includes(event.key);
    if (event.ctrlKey || event.metaKey || event.altKey || !(ends || isForView(event))) return;
    const drawer = drawers.forKey(event.key);
    if (ends) drawers.finish(event.key === "Enter");
    else if (drawer) drawers.toggle(drawer);
    else if (event.key === "Escape" && drawers.opened) drawers.open(null);
    else if (!this.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the key did something. @param {KeyboardEvent} event */
  key(event) {
    const { view } = this;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!this.on && (name !== "p" || !page.presents)) return false;
    const step = stepOf(event);
    if (step) {
      this.pressed.push(step);
      this.goOn();
      return true;
    }
    /** @type {Record<string, () => void>} */
    const does = {
      p: () => this.toggle(),
      " ": () => view.toggle?.(),
      a: () => this.uncover(),
      b: () => this.veil.classList.toggle("absent"),
      ".": () => this.veil.classList.toggle("absent"),
      "?": () => this.help.classList.toggle("absent"),
      t: () => {
        this.projector = !this.projector;
        view.redraw();
      },
      w: () => this.say("This page has no sentence of yours."),
      Escape: () => this.escape(),
    };
    if (name === "Tab") this.wake(); // and goes to the next button
    does[name]?.();
    return name in does;
  }

  /* Does what was pressed, one after the other: a host calls it when what a press led to is shown. A view
     that is gone leaves it to the next. */
  goOn() {
    const { pressed, view } = this;
    while (pressed.length && view.root.isConnected && !page.isGoing()) pressed.shift()?.(view);
  }

  /* Ends the topmost thing only: the keys, the blank; without any, the presentation. */
  escape() {
    if (this.topmost) this.topmost.classList.add("absent");
    else this.toggle();
  }

  get topmost() {
    return this.layers.findLast((layer) => !layer.classList.contains("absent"));
  }

  stopListening() {
    clearTimeout(this.waking);
    window.removeEventListener("pointermove", this.follow);
    document.removeEventListener("fullscreenchange", this.leftFullScreen);
  }

  /* The board goes. The screen stays filled until that of another page takes its place, unless somebody ends
     it or nothing is computed there. */
  leave() {
    this.stopListening();
    const ends = new AbortController();
    const end = () => {
      ends.abort();
      clearInterval(looking);
      if (globalThis.attentionLabPresents !== this) return;
      delete document.documentElement.dataset.present;
      this.pressed.length = 0;
    };
    const hear = (/** @type {KeyboardEvent} */ event) => {
      const step = stepOf(event);
      if (event.key === "Escape") end();
      else if (step && isForView(event) && globalThis.attentionLabPresents === this) this.pressed.push(step);
    };
    window.addEventListener("keydown", hear, ends);
    const look = () => {
      if (globalThis.attentionLabPresents !== this || !find(page.computing)) end();
    };
    const looking = setInterval(look, 3000);
  }
}

/** The next of these values, or the one before; undefined where there is none.
   @param {number[]} values in their order @param {number} now @param {1 | -1} by */
export function nextOf(values, now, by) {
  return by > 0 ? values.find((value) => value > now) : values.findLast((value) => value < now);
}
