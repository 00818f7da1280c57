/* Presenting: the board alone, as large as the screen, worked by keys or a clicker. */

import { button, el, reveal } from "./dom.js";
import { DRAWERS } from "./drawers.js";

/**
 * What can be presented: a view with a place of its own on the page, and how its frames are gone through.
 * spoils: whether its headline gives the answer of a question away.
 * @typedef {{
 *   root: HTMLElement, outer: HTMLElement, story: {notice: HTMLElement}, spoils: boolean,
 *   redraw(): void, advance(by: 1 | -1): void, toggle(): void, faster?(factor: number): void,
 *   rewind?(): void, drawers: import("./drawers.js").Drawers,
 * }} Presentable
 */

/** The size of a page, in CSS pixels, that fills the screen: letters of 12 are 20 at 1920 x 1080. */
const PAGE = { width: 1152, height: 648 };

const NEXT = ["ArrowRight", "PageDown", "Enter"];
const BACK = ["ArrowLeft", "PageUp", "Backspace"];
const PLAYING = [
  ["+  −", "play faster, slower"],
  ["a", "uncover the headline"],
];

/** The keys that what is shown has, and what they do. @param {Presentable} view */
const helpOf = (view) => [
  ["→  Page Down", "next step, then next part, then next page"],
  ["←  Page Up", "back"],
  ["Space", "play, pause"],
  ...(view.faster ? PLAYING : []),
  [
    view.drawers.names.map((name) => DRAWERS[name].key).join("  "),
    view.drawers.names.map((name) => DRAWERS[name].label).join(", "),
  ],
  ["b  .", "blank the screen"],
  ["l", "spotlight"],
  ["t", "the page's colours, or those for a projector"],
  ["?", "these keys"],
  ["Esc", "leave"],
];

export class Present {
  on = false;
  covered = false; // whether the headline is
  projector = true; // whether the colours are those for a projector

  /** @param {Presentable} view */
  constructor(view) {
    this.view = view;
    this.button = button({
      text: "present",
      title: "This alone, for a projector; key p",
      onclick: () => this.toggle(),
    });
    this.cover = button({
      class: "cover absent",
      text: "What do you expect? Press here, or a, for the answer.",
      onclick: () => this.uncover(),
    });
    const help = helpOf(view).map(([keys, does]) =>
      el("tr", {}, [el("th", { scope: "row", text: keys }), el("td", { text: does })]),
    );
    this.veil = el("div", { class: "veil absent" });
    this.spot = el("div", { class: "spot absent" });
    this.help = el("table", { class: "help absent", "aria-label": "Keys while presenting" }, help);
    this.layers = [this.veil, this.spot, this.help];
    /** @param {PointerEvent} event */
    this.follow = ({ clientX, clientY }) => {
      this.spot.style.setProperty("--x", `${clientX}px`);
      this.spot.style.setProperty("--y", `${clientY}px`);
    };
    this.leftFullScreen = () => !document.fullscreenElement && this.on && this.toggle();
  }

  /* A link may ask for it, and the page before this one: its board is gone, the screen is still filled. */
  begin() {
    const isWanted = new URLSearchParams(window.location.search).get("present") === "1";
    if (!this.on && (isWanted || "present" in document.documentElement.dataset)) this.toggle();
  }

  /* Whether the colours are those for a projector now. */
  get projected() {
    return this.on && this.projector;
  }

  /* Gives what is shown the whole window, or its place on the page back. */
  takeRoom() {
    const { outer, root } = this.view;
    outer.classList.toggle("presented", this.on);
    outer.classList.toggle("projected", this.projected);
    const { innerWidth, innerHeight } = window;
    const zoom = this.on ? Math.min(innerWidth / PAGE.width, innerHeight / PAGE.height) : 1;
    Object.assign(root.style, {
      transform: this.on ? `scale(${zoom})` : "",
      width: this.on ? `${innerWidth / zoom}px` : "",
      height: this.on ? `${innerHeight / zoom}px` : "",
    });
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
    window.addEventListener("pointermove", this.follow);
    const listen = () => document.addEventListener("fullscreenchange", this.leftFullScreen);
    if (document.fullscreenElement) listen();
    // Refused without a press; the window is filled all the same.
    else root.requestFullscreen?.().then(listen, () => {});
  }

  end() {
    this.stopListening();
    this.on = false;
    delete document.documentElement.dataset.present;
    if (document.fullscreenElement) document.exitFullscreen();
  }

  /* The headline of a part that gives a question's answer away waits until it is asked for. */
  coverHeadline() {
    this.covered = this.on && this.view.spoils;
    this.showCover();
  }

  uncover() {
    this.covered = false;
    this.showCover();
  }

  showCover() {
    reveal(this.cover, this.covered);
    this.view.story.notice.classList.toggle("absent", this.covered);
  }

  /** What keys do wherever the focus is, but in a field that is written into. @param {KeyboardEvent} event */
  hear(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !isForView(event)) return;
    const { drawers } = this.view;
    const drawer = drawers.forKey(event.key);
    if (drawer) drawers.toggle(drawer);
    else if (event.key === "Escape" && drawers.opened) drawers.open(null);
    else if (!this.key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Whether the key did something. @param {KeyboardEvent} event */
  key(event) {
    const { view } = this;
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!this.on && name !== "p") return false;
    /** @type {Record<string, () => void>} */
    const does = {
      p: () => this.toggle(),
      ...Object.fromEntries(NEXT.map((key) => [key, () => view.advance(1)])),
      ...Object.fromEntries(BACK.map((key) => [key, () => view.advance(-1)])),
      " ": () => view.toggle(),
      "+": () => view.faster?.(1.5),
      "-": () => view.faster?.(1 / 1.5),
      a: () => this.uncover(),
      b: () => this.veil.classList.toggle("absent"),
      ".": () => this.veil.classList.toggle("absent"),
      l: () => this.spot.classList.toggle("absent"),
      "?": () => this.help.classList.toggle("absent"),
      t: () => {
        this.projector = !this.projector;
        view.redraw();
      },
      Escape: () => this.toggle(),
    };
    does[name]?.();
    return name in does;
  }

  stopListening() {
    window.removeEventListener("pointermove", this.follow);
    document.removeEventListener("fullscreenchange", this.leftFullScreen);
  }

  /* The board goes; if none of another page takes its place, nothing is presented any more. */
  leave() {
    this.stopListening();
    setTimeout(() => {
      if (globalThis.attentionLabPresents === this) delete document.documentElement.dataset.present;
    }, 3000);
  }
}

/** Whether a key is not meant for a field or button that has the focus. @param {KeyboardEvent} event */
export function isForView(event) {
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
