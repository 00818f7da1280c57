/* A page of parts, each with its states: what documents.py calls so. */

import { button, el } from "../browser/dom.js";
import { packMessage, readMessage } from "../browser/message.js";
import { Held } from "../browser/model.js";
import { addressBar, find, findAll } from "../browser/page.js";
import { t } from "../browser/words.js";
import {
  bytesOf,
  content,
  follow,
  keepLink,
  NEEDS_THE_APP,
  one,
  prepare,
  renderInto,
  say,
  sayIn,
  sayNeeds,
} from "./host.js";
import { html } from "./markdown.js";

/** @import { Render } from "../contract" */
/** @typedef {{label: string, state: number, scrub: number | null}} Choice */
/** @typedef {{ask: string, options: string[], right: number, because: string, shows: Choice | null}}
   Question */
/** @typedef {{file?: string, link?: Record<string, string>, problem?: string}} State */
/** @typedef {{name: string, states: State[], tries: Choice[], steps: Choice[], questions: Question[],
     needs: string[]}} Part */

const DRAWERS = ["formula", "code", "glossary"];
/** @type {Choice} as a part is at first */ const USUAL = { label: "", state: 0, scrub: null };
const ROLES = { q: "query", k: "key", v: "value", new: "accent" };

/** Shows what a document's content says. @param {Render} render */
export function start(render) {
  prepare();
  new Parts(render, content().parts).arrive();
}

/* Formulas are drawn by the browser (MathML), in which a role's colour is the page's. */
/** @param {HTMLElement} place */
function drawFormulas(place) {
  for (const each of findAll(".latex", place)) {
    let text = each.textContent ?? "";
    Object.keys(ROLES).forEach((macro, at) => {
      text = text.replaceAll(`\\${macro}{`, `\\textcolor{#00000${at + 1}}{`); // stands for the role
    });
    const displayMode = each.tagName === "DIV";
    globalThis.katex.render(text, each, { output: "mathml", strict: false, displayMode });
    Object.values(ROLES).forEach((role, at) => {
      for (const coloured of each.querySelectorAll(`[mathcolor="#00000${at + 1}"]`)) {
        coloured.removeAttribute("mathcolor");
        coloured.classList.add(role);
      }
    });
  }
}

/* Which part is shown, in which of its states. */
class Parts {
  /** @type {Part} */ part;
  at = 0;
  shown = new Held();
  scrub = ""; // the parameter that the slider moves
  asked = 0; // what was asked for last: a file may come late
  list = /** @type {HTMLSelectElement | null} */ (find("select.parts"));

  /** @param {Render} render @param {Part[]} parts */
  constructor(render, parts) {
    this.render = render;
    this.parts = parts;
    this.shown.send = (act) => this.answer(act);
    for (const link of findAll("[data-part]"))
      link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        this.open(String(link.dataset.part));
      });
    const { list } = this;
    list?.addEventListener("change", () => this.open(list.value));
  }

  /* The state whose link the address has. */
  arrive() {
    const { at } = content(); // of a file, whose address does not say it
    if (this.parts.some(({ name }) => name === at)) return this.open(at);
    const params = addressBar.params?.() ?? new URLSearchParams();
    const states = this.parts.flatMap(({ name, states }) =>
      states.map(({ link }, state) => ({ name, state, entries: Object.entries(link ?? { none: "" }) })),
    );
    const fitting = states.filter(({ entries }) =>
      entries.every(([name, value]) => params.get(name) === value),
    );
    const { name, state } = fitting.toSorted((one, other) => other.entries.length - one.entries.length)[0];
    const asked = params.get("part");
    const isThere = !asked || this.parts.some(({ name }) => name === asked);
    this.open(name, { ...USUAL, state }, params).then(() => {
      if (!isThere)
        return keepLink(`The link's part=${asked} is none of this page's; its first part is shown.`);
      const link = this.part?.states[state].link ?? {};
      const others = Object.entries(this.part ? content().usual : {}).filter(([field, usual]) => {
        const value = params.get(field);
        return value !== null && value !== (link[field] ?? usual) && field !== this.scrub;
      });
      const said = others.map(([field]) => `${field}=${params.get(field)}`).join(", ");
      if (said)
        keepLink(
          `The link's ${said} needs the app, which uvx attention-lab starts; this page shows the nearest.`,
        );
    });
  }

  /** @param {string} name @param {Choice} shows
     @param {URLSearchParams} params of an address that says where the slider stands */
  async open(name, shows = USUAL, params = new URLSearchParams()) {
    const part = this.parts.find((each) => each.name === name) ?? this.parts[0];
    const { file, problem } = part.states[shows.state];
    const turn = ++this.asked;
    say(problem ?? "");
    if (!file) return;
    try {
      const bytes = await bytesOf(file);
      if (turn === this.asked) this.show(part, shows, bytes, params);
    } catch (error) {
      say(/** @type {Error} */ (error).message);
    }
  }

  /** @param {Part} part @param {Choice} shows @param {Uint8Array} bytes @param {URLSearchParams} params */
  show(part, shows, bytes, params) {
    const header = readMessage(bytes, (_, value) => value); // the board reads it again
    const isOther = this.part !== part;
    const before = this.part;
    Object.assign(this, { part, at: shows.state });
    this.scrub = header.board.scrub?.field;
    const to = shows.scrub ?? params.get(this.scrub);
    const scrub = header.scrub && { ...header.scrub };
    if (scrub && to !== null) scrub.at = Number(to);
    this.write(header.words, isOther);
    this.shown.set("message", packMessage({ ...header, scrub, moves: this.asked, generation: this.asked }));
    if (!before) renderInto(this.render, this.shown, "board");
  }

  /** @param {string} selector @param {string} html */
  fill(selector, html) {
    one(selector).innerHTML = html;
    sayIn(one(selector));
    drawFormulas(one(selector));
  }

  /** The words beside the board. @param {Record<string, string>} words @param {boolean} isOther part */
  write(words, isOther) {
    const { part, at } = this;
    // They are of our own making: whoever writes a page's content has escaped what is in them.
    for (const name of DRAWERS) this.fill(`.drawer.${name}`, words[name] ?? "");
    this.fill(".see", html(t(words.see ?? "")));
    for (const link of findAll("[data-part]"))
      link.setAttribute("aria-current", String(link.dataset.part === part.name));
    if (this.list) this.list.value = part.name;
    const choice = (/** @type {Choice} */ shows) =>
      button({ text: t(shows.label), onclick: () => this.open(part.name, shows) });
    const steps = part.steps.map((step) => {
      const made = choice(step);
      made.setAttribute("aria-pressed", String(step.state === at));
      return made;
    });
    one(".steps").replaceChildren(...steps);
    if (!isOther) return;
    const usual = button({ text: t("Reset"), onclick: () => this.open(part.name) });
    const tries = [el("strong", { text: "Try this" }), ...part.tries.map(choice), usual];
    one(".tries").replaceChildren(...(part.tries.length ? tries : []));
    sayNeeds(part.needs);
    const questions = part.questions.map((question, at) => this.question(question, at));
    one(".drawer.questions").replaceChildren(el("h5", { text: "Predict, then reveal" }), ...questions);
  }

  /** @param {Question} question @param {number} at */
  question({ ask, options, right, because, shows }, at) {
    const { name } = this.part;
    const place = `${document.body.dataset.page}/${name}/${at}`;
    const verdict = el("div", { role: "status" });
    const choose = (/** @type {number} */ option) => {
      const isRight = option === right;
      const said = el("p", { class: isRight ? "right" : "wrong" });
      said.innerHTML = html(t(because));
      drawFormulas(said);
      said.prepend(el("strong", { text: `${isRight ? t("Right.") : t(`No: ${options[right]}.`)} ` }));
      // Read by viz_core/viewer/browser/marks.js, which remembers it.
      verdict.replaceChildren(said, el("i", { "data-predicted": place, "data-right": isRight ? "1" : "0" }));
      if (shows) this.open(name, shows);
    };
    const radios = options.map((text, option) =>
      el("label", {}, [el("input", { type: "radio", name: place, onchange: () => choose(option) }), t(text)]),
    );
    return el("fieldset", {}, [el("p", { text: ask }), ...radios, verdict]);
  }

  /** What a person did on the board that a page has to answer. @param {any} act */
  answer({ type, name, question, option, by }) {
    if (type === "part") this.open(name);
    if (type === "answer") findAll(`fieldset:nth-of-type(${question + 1}) input`)[option].click();
    if (type === "go" || type === "skip") this.go(by, type === "go");
    if (type === "edit") say(NEEDS_THE_APP);
  }

  /** To the next step, part or page, or back. @param {1 | -1} by @param {boolean} walks */
  go(by, walks) {
    const { part, parts } = this;
    const step = part.steps.findIndex(({ state }) => state === this.at) + by;
    if (walks && part.steps[step]) return this.open(part.name, part.steps[step]);
    const next = parts[parts.indexOf(part) + by];
    if (next) return this.open(next.name, walks && by < 0 ? next.steps.at(-1) : next.steps[0]);
    follow(by);
  }
}
