/* Nine stops and their parts, each a link, with a mark where this browser remembers something. */

import { button, el, reveal } from "../browser/dom.js";
import { Drawers } from "../browser/drawers.js";
import { Glossary } from "../browser/glossary.js";
import { forget, marks } from "../browser/marks.js";
import { inLanguage, page } from "../browser/page.js";
import { Present } from "../browser/present.js";
import { rendering } from "../browser/rendering.js";
import { putUp } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";
import { read, t } from "../browser/words.js";

/** @typedef {Record<"name" | "title" | "after" | "section", string>} Words */
/** @typedef {Words & {parts: Record<string, string>}} Stop as pages/shared/lab_stops.py describes it */

class Way {
  /** @type {Stop[]} */ stops = [];
  /** @type {import("../browser/rendering.js").Send} */ act;
  drawers = new Drawers([]);
  glossary = new Glossary({});
  spoils = null;
  where = "Start here";

  /** @param {HTMLElement} host */
  constructor(host) {
    this.list = el("ol", { class: "stops" });
    this.done = el("span", { class: "done" });
    this.forget = button({ text: t("forget"), onclick: () => this.start() });
    const foot = el("div", { class: "remembered" }, [this.done, this.forget]);
    this.root = el("div", { class: "shell way" }, [this.list, foot]);
    this.story = { notice: this.done };
    this.present = new Present(this);
    foot.append(this.present.button);
    this.outer = el("div", {}, [this.root, this.present.where, ...this.present.layers]);
    const takeDown = putUp(host, this.outer, () => this.redraw());
    const listening = new AbortController();
    const hear = (/** @type {any} */ event) => this.present.hear(event);
    page.keys(this.outer).addEventListener("keydown", hear, { signal: listening.signal, capture: true });
    this.leave = () => {
      listening.abort();
      this.present.leave();
      takeDown();
    };
  }

  /** @param {Uint8Array} bytes @param {import("../browser/rendering.js").Send} send */
  receive(bytes, send) {
    this.act = send;
    const isFirst = !this.stops.length;
    this.stops = JSON.parse(new TextDecoder().decode(bytes), read);
    if (isFirst) this.present.begin();
    this.redraw();
    this.show();
  }

  redraw() {
    this.present.takeRoom();
    themeOf(this.root, this.present.projected);
  }

  /** @param {1 | -1} by */
  advance(by) {
    this.act({ type: "go", by });
  }

  start() {
    forget();
    this.show();
  }

  show() {
    const known = marks();
    const parts = this.stops.flatMap(({ name, parts }) =>
      Object.keys(parts).map((part) => `${name}/${part}`),
    );
    const opened = parts.filter((place) => known[place]);
    const predicted = opened.flatMap((place) => Object.values(known[place]));
    const right = predicted.filter(Boolean).length;
    const next = parts.find((place) => !known[place]);
    this.list.replaceChildren(...this.stops.map((stop) => this.stop(stop, known, next)));
    const said = opened.length
      ? `${opened.length} of ${parts.length} parts opened, ${right} of ${predicted.length} predictions right.`
      : `None of ${parts.length} parts is opened yet.`;
    this.done.textContent = t(`${said} This browser alone remembers what you open and predict.`);
    reveal(this.forget, opened.length);
  }

  /** @param {Stop} stop @param {import("../browser/marks.js").Marks} known
     @param {string | undefined} next the first place that was not opened */
  stop({ name, title, after, section, parts }, known, next) {
    const links = Object.entries(parts).map(([part, label]) => {
      const place = `${name}/${part}`;
      return el("li", { class: place === next ? "next" : null }, [
        this.link(name, part, t(label)),
        mark(known[place]),
      ]);
    });
    return el("li", { class: "stop" }, [
      el("h2", { text: title }),
      el("p", { class: "section muted", text: `§ ${section}` }),
      el("p", { text: after }),
      el("ul", { class: "parts" }, links),
    ]);
  }

  /* A plain press stays in this visit; a new tab has an address to open. */
  /** @param {string} page @param {string} part @param {string} text */
  link(page, part, text) {
    const onclick = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.act({ type: "open", page, part });
    };
    return el("a", { href: inLanguage(`${page}?part=${part}`), text, onclick });
  }
}

/** @param {import("../browser/marks.js").Predicted | undefined} predicted */
function mark(predicted) {
  if (!predicted) return null;
  const all = Object.values(predicted);
  const right = all.filter(Boolean).length;
  const words = all.length ? `opened; ${right} of ${all.length} predictions right` : "opened";
  const text = all.length ? `✓ ${right} of ${all.length} right` : "✓";
  return el("span", { class: "mark", role: "img", "aria-label": words, title: words, text });
}

export const render = rendering(Way);
