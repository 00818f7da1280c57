/* The speaker's window: this picture and the next, notes, clock and timer, and what the show is asked for. */

import { button, el, isForView, reveal, typed } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { KEYS } from "../browser/present.js";
import { t, tWith } from "../browser/words.js";
import { nextOf, tick } from "./clocks.js";
import { optionsOf } from "./question.js";
import { RecordedMirror } from "./recorded.js";
import { channelWire } from "./wires.js";

/** @import { Heard, Press } from "./types" */

/** @type {(keyof Heard)[]} what of a talk is drawn anew where it has changed */
const DRAWN = ["goes", "asked", "counts", "following", "notes", "hall", "isAway"];
const SIZE = { width: 1152, height: 648 }; // of a picture, before it is made smaller

export class Speaker {
  /** @type {Heard | null} */ shared = null;
  /** @type {"off" | "laser" | "pen"} */ mode = "off";

  /** @param {HTMLElement} place @param {string} channel
     @param {import("./recorded.js").TalkFile} [file] that this window is in */
  constructor(place, channel, file) {
    this.channel = channel;
    this.file = file;
    this.wire = channelWire(channel);
    this.now = this.mirror("this");
    this.next = this.mirror("next");
    this.title = el("h1");
    this.nextTitle = el("p", { class: "muted" });
    this.words = el("div", { class: "notes", tabIndex: 0, "aria-label": t("Notes") });
    this.asked = el("div", { class: "question" });
    this.clock = el("time");
    this.timer = el("output", { role: "timer", "aria-label": t("Timer") });
    this.list = el("ol", { class: "stops" });
    const press = (/** @type {string} */ text, /** @type {Press} */ of, title = "") =>
      button({ text, title, onclick: () => this.wire.ask(of) });
    const tool = (/** @type {"laser" | "pen"} */ mode, /** @type {string} */ text) =>
      button({ text, "data-mode": mode, "aria-pressed": "false", onclick: () => this.use(mode) });
    this.tools = [tool("laser", t("laser")), tool("pen", t("pen"))];
    const works = [
      press("◀ back", { type: "go", by: -1 }, "Page Up"),
      press("on ▶", { type: "go", by: 1 }, "Page Down"),
      press(t("uncover"), { type: "uncover" }, "Key a"),
      press(t("blank"), { type: "blank" }, "Key b"),
      ...this.tools,
      press(t("clear"), { type: "clear" }, "Key c"),
      press(t("timer"), { type: "timer" }, "Starts it, or sets it to 0"),
    ];
    this.following = el("p");
    this.phone = el("details", { class: "phone" });
    this.problem = el("p", {
      class: "problem",
      role: "status",
      text: "The show does not answer; open it and its speaker's window.",
    });
    place.replaceChildren(
      el("div", { class: "speaker" }, [
        el("section", {}, [this.title, this.now.box, el("div", { class: "works" }, works), this.words]),
        el("section", {}, [
          el("div", { class: "clocks" }, [this.clock, this.timer]),
          this.problem,
          this.nextTitle,
          this.next.box,
          this.asked,
          this.following,
          this.phone,
          this.list,
        ]),
      ]),
    );
    this.wire.onShared((heard) => this.show(heard));
    window.addEventListener("keydown", (event) => this.hear(event));
    window.addEventListener("message", ({ source, data }) => {
      if (source === this.now.window && data.key) this.key(data.key); // a picture that was drawn on
    });
    window.addEventListener("resize", () => this.fit());
    setInterval(() => this.tick(), 500);
    this.wire.ask({ type: "hello" });
    this.fit();
  }

  /** @param {"this" | "next"} which */
  mirror(which) {
    if (this.file) return new RecordedMirror(this.file, which, this.wire.ask);
    const name = which === "this" ? "What is shown" : "What comes next";
    const src = inLanguage(`mirror.html?channel=${this.channel}&which=${which}`);
    const frame = el("iframe", { title: name, src });
    const use = (/** @type {string} */ mode) => frame.contentWindow?.postMessage({ mode }, location.origin);
    const box = el("div", { class: "mirror" }, [frame]);
    const follow = () => {}; // it hears of the talk by itself
    return {
      ...{ box, use, follow },
      get window() {
        return frame.contentWindow;
      },
    };
  }

  fit() {
    for (const { box } of [this.now, this.next]) {
      box.style.setProperty("--scale", String(box.clientWidth / SIZE.width));
      box.style.height = `${(box.clientWidth * SIZE.height) / SIZE.width}px`;
    }
  }

  /** @param {"laser" | "pen"} mode */
  use(mode) {
    this.mode = this.mode === mode ? "off" : mode;
    for (const tool of this.tools) tool.setAttribute("aria-pressed", String(tool.dataset.mode === this.mode));
    this.now.use(this.mode);
  }

  /** @param {Heard} shared */
  show(shared) {
    const before = this.shared;
    this.shared = shared;
    if (!before || DRAWN.some((name) => JSON.stringify(before[name]) !== JSON.stringify(shared[name])))
      this.draw();
    for (const mirror of [this.now, this.next]) mirror.follow(shared);
    this.tick();
  }

  draw() {
    const { shared } = this;
    if (!shared) return;
    const { goes: at, stops, asked, notes, counts, following, hall, isAway } = shared;
    this.problem.textContent = t("The server does not answer; it is tried again.");
    reveal(this.problem, isAway);
    document.title = `${at + 1}/${stops.length} ${shared.title}`;
    this.title.textContent = `${at + 1} / ${stops.length}  ${stops[at]}`;
    this.nextTitle.replaceChildren(...nextOf(stops[at + 1]));
    const markdown = globalThis.markdownit({ linkify: true }); // which lets no HTML through
    this.words.innerHTML = markdown.render(notes?.[at] ?? "");
    this.asked.replaceChildren(...(asked ? [el("p", {}, [typed(asked.ask)]), optionsOf(asked, counts)] : []));
    this.following.textContent = t(following === 1 ? "1 window follows." : `${following} windows follow.`);
    for (const part of [this.phone, this.following]) reveal(part, hall);
    if (hall)
      this.phone.replaceChildren(
        el("summary", { text: "A phone as clicker" }),
        el("p", { text: "Scan this with your phone." }),
        el("img", { src: hall.clickerDrawn, alt: "The clicker's link as a QR code" }),
        el(
          "p",
          {},
          tWith`The hall follows at ${el("a", { href: hall.link, target: "_blank", text: hall.link })}`,
        ),
      );
    const entries = stops.map((text, stop) =>
      el("li", {}, [
        button({
          ...{ text, translate: "no", "aria-current": String(stop === at) },
          onclick: () => this.wire.ask({ type: "to", stop }),
        }),
      ]),
    );
    this.list.replaceChildren(...entries);
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  tick() {
    tick(this.clock, this.timer, this.shared);
  }

  /** @param {KeyboardEvent} event */
  hear(event) {
    if (event.target === this.words && /^( |Arrow(Up|Down))$/.test(event.key)) return; // which scroll them
    if (event.ctrlKey || event.metaKey || event.altKey || !isForView(event)) return;
    if (this.key(event.key)) event.preventDefault();
  }

  /** Whether the key did something. @param {string} key */
  key(key) {
    const by = KEYS.next.includes(key) ? 1 : KEYS.back.includes(key) ? -1 : 0;
    /** @type {Record<string, "uncover" | "blank" | "clear">} */
    const types = { a: "uncover", b: "blank", ".": "blank", c: "clear" };
    if (by) this.wire.ask({ type: "go", by });
    else if (key in types) this.wire.ask({ type: types[key] });
    return Boolean(by) || key in types;
  }
}
