/* The walk, and nine stops and their parts, each a link, with a mark where this browser remembers
   something. */

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
/** @typedef {Words & {parts: Record<string, string>, advanced: string[]}} Stop as
   pages/shared/lab_stops.py describes it; advanced: the parts that wait behind the others */
/** @typedef {{title: string, link: string}} Station as pages/start/walk.py describes it */

class Start {
  /** @type {Stop[]} */ stops = [];
  /** @type {Station[]} */ walk = [];
  /** @type {import("../browser/rendering.js").Send} */ act;
  drawers = new Drawers([]);
  glossary = new Glossary({});
  spoiler = null;
  where = "Start here";
  station = 0; // the next of the walk, from 0

  /** @param {HTMLElement} host */
  constructor(host) {
    this.begin = button({ class: "begin", onclick: () => this.act(this.step(this.station)) });
    this.stations = el("ol", { class: "stations" });
    this.list = el("ol", { class: "stops" });
    this.done = el("span", { class: "done" });
    this.forget = button({ text: t("forget"), onclick: () => this.start() });
    const foot = el("div", { class: "remembered" }, [this.done, this.forget]);
    this.root = el("div", { class: "shell start" }, [this.begin, this.stations, this.list, foot]);
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
    Object.assign(this, JSON.parse(new TextDecoder().decode(bytes), read));
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
    const reached = this.walk.findLastIndex((_, at) => known[`walk/${at}`]); // and all before it
    this.station = (reached + 1) % (this.walk.length || 1);
    reveal(this.begin, this.walk.length);
    reveal(this.stations, this.walk.length);
    this.begin.textContent = this.station
      ? t(`Continue the walk at station ${this.station + 1}`)
      : t("Begin the walk");
    this.stations.replaceChildren(
      ...this.walk.map(({ title, link }, at) =>
        el("li", {}, [this.linkTo(link, title, this.step(at)), at <= reached ? mark({}) : null]),
      ),
    );
    const parts = this.stops.flatMap(({ name, parts }) =>
      Object.keys(parts).map((part) => `${name}/${part}`),
    );
    const opened = parts.filter((place) => known[place]);
    const predicted = opened.flatMap((place) => Object.values(known[place]));
    const right = predicted.filter(Boolean).length;
    const isCore = (/** @type {string} */ place) => {
      const [name, part] = place.split("/");
      return !this.stops.find((stop) => stop.name === name)?.advanced.includes(part);
    };
    const next = parts.find((place) => !known[place] && isCore(place));
    this.list.replaceChildren(...this.stops.map((stop) => this.stop(stop, known, next)));
    const seen = predicted.length
      ? `${opened.length} of ${parts.length} parts opened, ${right} of ${predicted.length} predictions right.`
      : `${opened.length} of ${parts.length} parts opened.`;
    const said = opened.length ? seen : `You haven't opened any of the ${parts.length} parts yet.`;
    this.done.textContent = t(`${said} Only this browser remembers them.`);
    reveal(this.forget, opened.length);
  }

  /** @param {Stop} stop @param {import("../browser/marks.js").Marks} known
     @param {string | undefined} next the first place that was not opened */
  stop({ name, title, after, section, parts, advanced }, known, next) {
    const list = (/** @type {boolean} */ isAdvanced) =>
      el(
        "ul",
        { class: "parts" },
        Object.entries(parts)
          .filter(([part]) => advanced.includes(part) === isAdvanced)
          .map(([part, label]) =>
            el("li", {}, [this.link(name, part, t(label)), mark(known[`${name}/${part}`])]),
          ),
      );
    const names = Object.keys(parts);
    const opened = names.filter((part) => known[`${name}/${part}`]).length;
    const isNext = next?.startsWith(`${name}/`);
    return el("li", { class: "stop" }, [
      el("details", {}, [
        el("summary", { "aria-current": isNext ? "step" : null }, [
          el("h2", { text: title, title: `§ ${section}` }),
          opened ? el("span", { class: "mark", text: `${opened} of ${names.length}` }) : null,
          el("p", { text: after }),
        ]),
        list(false),
        advanced.length ? el("p", { text: "Advanced" }) : null,
        list(true),
      ]),
    ]);
  }

  /** Opens a station. @param {number} at @returns {import("../contract").Act} */
  step(at) {
    return { type: "walk", at, link: this.walk[at].link };
  }

  /** @param {string} page @param {string} part @param {string} text */
  link(page, part, text) {
    return this.linkTo(`${page}?part=${part}`, text, { type: "open", page, part });
  }

  /* A plain press stays in this visit; a new tab has an address to open. */
  /** @param {string} address @param {string} text @param {import("../contract").Act} act */
  linkTo(address, text, act) {
    const onclick = (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.act(act);
    };
    const { root } = document.body.dataset; // of pages of files, each in its folder
    const path = address.replace(/^\//, "");
    const href = root === undefined ? path : root + path.replace(/^(\w+)(?=\?)/, "$1/");
    return el("a", { href: inLanguage(href), text, onclick });
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

export const render = rendering(Start);
