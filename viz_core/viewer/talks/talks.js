/* The talks that ship, and the own ones, of which one is edited. Written by pages/talks/talks.py. */

import { button, el, reveal, typed } from "../browser/dom.js";
import { saveFile } from "../browser/files.js";
import { inLanguage } from "../browser/page.js";
import { rendering } from "../browser/rendering.js";
import { putUp } from "../browser/shell.js";
import { themeOf } from "../browser/theme.js";
import { t } from "../browser/words.js";
import { isSheet, listed, namesIn, namesOf, read, write } from "../talk/format.js";
import {
  freePlace,
  keepOwn,
  keptPlaces,
  MOST_CHARACTERS,
  MOST_TALKS,
  onOwnChange,
  openedPlace,
  ownText,
  tooLong,
} from "../talk/own_talks.js";
import { LONGEST_LINK, pack } from "../talk/source.js";

/** @import { Problem, Stop, Talk } from "../talk/types" */
/** pages: the titles of the app's by address. here: those of them that are here. shipped: the files that
   ship by language, sheets only where classes are served.
   @typedef {{talks: Record<string, string>, sheets: Record<string, string>}} Shipped
   @typedef {{pages: Record<string, string>, here: string[], shipped: Record<string, Shipped>}} Content */

const AT = "- at:"; // the line of a file in which the places of a slider are
const NONE = [
  "No stop yet.",
  "Press “add to talk” on any page, open a file, or copy a ready-made talk.",
  "Your texts stay in this browser.",
].join(" ");
const NOT_KEPT = "This browser keeps nothing: download the talk before you leave.";
const MOST_STEPS = 100; // that can be undone

/** @returns {Talk} */
const noTalk = () => ({ title: t("My talk"), about: "", settings: {}, stops: [] });
/** @returns {Stop} */
const noStop = () => ({
  ...{ title: "", line: 0, link: "", notes: "", hide: [], at: [], question: null, settings: {} },
});

class Talks {
  /** @type {Content} */ content;
  hasClasses = false;
  talk = noTalk();
  place = ""; // where this talk is kept
  kept = ""; // its file, as it was kept last
  /** @type {{place: string, text: string}[]} what was where, before each step that can be undone */ steps =
    [];
  /** @type {object | null} the field that was written into last: what is typed there is one step */ typedIn =
    null;
  /** @type {Set<Stop>} those of which all is seen */ unfolded = new Set();
  base = document.body.dataset.root ?? "./"; // the root of the app or site

  /** @param {HTMLElement} host */
  constructor(host) {
    this.shipped = el("ul", { class: "cards" });
    this.sheets = el("ul", { class: "cards" });
    this.title = el("input", { class: "title", "aria-label": "Title of my talk" });
    this.minutes = el("input", { type: "number", min: "1", max: "600", "aria-label": "Minutes of my talk" });
    this.about = el("input", { "aria-label": "What my talk is about", placeholder: "What it is about" });
    this.present = el("a", { text: t("present"), target: "_blank", href: "" });
    this.give = el("a", { text: "give to a class", target: "_blank", href: "" });
    this.owned = el("ul", { class: "owned", "aria-label": "My talks" });
    this.file = el("input", { type: "file", accept: ".md,.markdown,.txt", class: "absent" });
    this.undo = button({ text: t("undo"), onclick: () => this.goBack() });
    this.said = el("p", { role: "status" });
    this.problems = el("ul", { class: "problems" });
    this.stops = el("ol", { class: "stops" });
    const actions = [
      this.present,
      this.give,
      button({ text: t("download"), title: "As a Markdown file", onclick: () => this.download() }),
      button({ text: "open a file", title: "Or drag it onto this page", onclick: () => this.file.click() }),
      button({ text: "copy as a link", onclick: () => this.copyLink() }),
      button({ text: "new talk", onclick: () => this.create(write(noTalk()), "A talk without stops.") }),
    ];
    const minutes = el("label", { class: "muted" }, [this.minutes, ` ${t("minutes")}`]);
    const head = el("div", { class: "head" }, [
      this.title,
      minutes,
      el("div", { class: "actions" }, actions),
    ]);
    const add = el("div", { class: "actions" }, [button({ text: "add a stop", onclick: () => this.add() })]);
    const told = el("div", { class: "told" }, [this.said, this.undo]);
    const part = (/** @type {string} */ name, /** @type {HTMLElement[]} */ parts) =>
      el("section", { "aria-label": name }, [el("h2", { text: name }), ...parts]);
    this.own = part("My talk", [
      ...[this.owned, head, this.about, told, this.problems, this.stops, add, this.file],
    ]);
    this.root = el("div", { class: "shell talks" }, [
      part("Ready-made talks", [this.shipped]),
      part("Ready-made work sheets", [this.sheets]),
      this.own,
    ]);
    const takeDown = putUp(host, this.root, () => themeOf(this.root));
    const listening = new AbortController();
    const follow = () => (ownText(this.place) === this.kept ? this.list() : this.open(this.place));
    onOwnChange(follow, listening.signal);
    this.listen();
    this.leave = () => {
      listening.abort();
      takeDown();
    };
  }

  listen() {
    const { root, title, about, minutes, file } = this;
    const write = (/** @type {object} */ field) => {
      Object.assign(this.talk, { title: title.value, about: about.value });
      if (Number(minutes.value) > 0) this.talk.settings.minutes = minutes.value;
      else delete this.talk.settings.minutes;
      this.keep(field);
    };
    for (const field of [title, about, minutes]) field.oninput = () => write(field);
    file.onchange = () => this.openFile(file.files?.[0]);
    root.ondragover = (event) => event.preventDefault();
    root.ondrop = (event) => {
      event.preventDefault();
      this.openFile(event.dataTransfer?.files[0]);
    };
  }

  /** @param {Uint8Array} bytes */
  receive(bytes) {
    const isFirst = !this.content;
    this.content = JSON.parse(new TextDecoder().decode(bytes));
    themeOf(this.root);
    const cards = (/** @type {Record<string, string>} */ files, sheet = false) =>
      Object.entries(files).map(([name, text]) => this.card(name, text, sheet));
    const { shipped } = this.content;
    const { talks, sheets } = shipped[document.documentElement.lang] ?? Object.values(shipped)[0];
    this.hasClasses = Object.keys(sheets).length > 0;
    this.shipped.replaceChildren(...cards(talks));
    this.sheets.replaceChildren(...cards(sheets, true));
    if (isFirst) this.open(ownText() ? openedPlace() : (keptPlaces()[0] ?? ""));
    if (isFirst && this.talk.stops.length) this.root.prepend(this.own); // what one comes back for
  }

  /** One that ships. @param {string} name @param {string} text @param {boolean} sheet */
  card(name, text, sheet) {
    const { title, about, settings, stops } = this.read(text).talk;
    const mine = () => {
      if (this.create(text, `A copy of “${title}”.`)) this.title.focus();
    };
    const [minutes, count] = [settings.minutes, stops.length];
    const words = el("div");
    words.innerHTML = globalThis.markdownit().render(about); // which lets no HTML through
    return el("li", { class: "card" }, [
      el("h3", {}, [typed(title)]),
      words,
      el("p", {
        class: "muted",
        text: sheet ? `${minutes} minutes, ${count} tasks` : `${minutes} minutes, ${count} stops`,
      }),
      el("div", { class: "actions" }, [
        el("a", {
          ...(sheet
            ? { text: "give to a class", href: this.giveTo(`shipped=${name}`) }
            : { text: t("present"), href: this.show(`shipped=${name}`) }),
          ...{ "aria-label": `${sheet ? "Give to a class:" : "Present:"} ${title}`, target: "_blank" },
        }),
        button({ text: "edit a copy", "aria-label": `Edit a copy of ${title}`, onclick: mine }),
      ]),
    ]);
  }

  /** @param {string} text */
  read(text) {
    return read(text, Object.keys(this.content.pages));
  }

  /** The address that shows a talk. @param {string} hash */
  show(hash) {
    return inLanguage(`${this.base}talk/#${hash}`);
  }

  /** The address that gives a sheet to a class. @param {string} hash */
  giveTo(hash) {
    return inLanguage(`${this.base}class/#${hash}`);
  }

  /** Where a stop's link leads from here. @param {string} link */
  addressOf(link) {
    const [page, query = ""] = link.split("?");
    if (this.base === "./") return `./${link}`;
    return `${this.base}${page && `${page}/`}?${query}`; // pages of files
  }

  /** Shows an own talk from its file. @param {string} place */
  open(place, text = ownText(place)) {
    const { talk, problems } = text ? this.read(text) : { talk: noTalk(), problems: [] };
    Object.assign(this, { talk, place, kept: text, typedIn: null });
    this.present.href = this.show(`own=${place}`);
    this.give.href = this.giveTo(`own=${place}`);
    this.unfolded.clear();
    this.title.value = talk.title;
    this.about.value = talk.about.replaceAll("\n", " ");
    this.minutes.value = talk.settings.minutes ?? "";
    this.say("");
    this.problems.replaceChildren(...(talk.stops.length ? problems : []).map(problemLine));
    this.draw();
    this.list();
  }

  /** @param {string} words */
  say(words) {
    this.said.textContent = words;
    reveal(this.undo, this.steps.length);
  }

  /** Keeps what was changed. @param {object | null} field that was written into */
  keep(field = null) {
    const text = write(this.talk);
    const long = tooLong(this.kept) || tooLong(text);
    if (long) return this.say(`${t(long)} ${t("The change is not kept.")}`);
    if (!field || field !== this.typedIn) this.remember(this.place, this.kept);
    this.typedIn = field;
    this.kept = text;
    this.say(keepOwn(text, this.place) ? "" : NOT_KEPT);
    this.list();
  }

  /** Makes a step that can be undone. @param {string} place @param {string} text what was there */
  remember(place, text) {
    this.steps = [...this.steps, { place, text }].slice(-MOST_STEPS);
  }

  /** Opens a file as another own talk; whether there is room. @param {string} text @param {string} words */
  create(text, words) {
    const place = freePlace();
    if (place === undefined) this.say(`${MOST_TALKS} talks fill this browser: download one and delete it.`);
    else {
      this.remember(place, "");
      const isKept = keepOwn(text, place);
      this.open(place, text);
      this.say(isKept ? words : NOT_KEPT);
    }
    return place !== undefined;
  }

  /** @param {string} place */
  drop(place) {
    const { title } = this.read(ownText(place)).talk;
    if (!confirm(t(`Delete the talk “${title}”?`))) return;
    this.remember(place, ownText(place));
    keepOwn("", place);
    this.open(place === this.place ? (keptPlaces()[0] ?? "") : this.place);
    this.say(`“${title}” is deleted.`);
  }

  goBack() {
    const { place, text } = /** @type {{place: string, text: string}} */ (this.steps.pop());
    keepOwn(text, place);
    this.open(text ? place : (keptPlaces()[0] ?? ""));
  }

  /* The own talks, by their names. */
  list() {
    const places = keptPlaces();
    const rows = places.map((place) => {
      const text = ownText(place);
      const name = /^# +(.*)/.exec(text)?.[1] ?? t("My talk");
      const open = button({ "aria-pressed": String(place === this.place), onclick: () => this.open(place) }, [
        typed(name),
      ]);
      const copy = () => this.create(text.replace(/^(# .*)/, "$1 (2)"), `A copy of “${name}”.`);
      return el("li", {}, [
        open,
        button({ text: "duplicate", "aria-label": `Duplicate ${name}`, onclick: copy }),
        button({ text: "delete", "aria-label": `Delete ${name}`, onclick: () => this.drop(place) }),
      ]);
    });
    this.owned.replaceChildren(...rows);
  }

  /** @param {File | undefined} file */
  async openFile(file) {
    if (!file) return;
    const text = await file.slice(0, 40 * MOST_CHARACTERS).text();
    this.file.value = "";
    if (tooLong(text)) this.say(tooLong(text));
    else if (this.read(text).talk.stops.length) this.create(text, `${file.name} is open.`);
    else this.say(`${file.name} has no stop, a line such as ## Where it looks.`);
  }

  download() {
    saveFile(tooLong(this.kept) ? this.kept : write(this.talk), this.talk.title, "md");
  }

  async copyLink() {
    const link = new URL(this.show(`talk=${await pack(write(this.talk))}`), location.href).href;
    const [size, most] = [link.length, LONGEST_LINK].map((count) => count.toLocaleString("en"));
    if (link.length > LONGEST_LINK)
      return this.say(`The link would have ${size} characters, over ${most}: send the file.`);
    try {
      await navigator.clipboard.writeText(link);
      this.say(`Copied a link of ${size} characters.`);
    } catch {
      this.say("This browser does not let pages copy: send the file.");
    }
  }

  add() {
    const stop = noStop();
    this.talk.stops.push(stop);
    this.unfolded.add(stop);
    this.keep();
    this.draw();
    this.stops.lastElementChild?.querySelector("input")?.focus();
  }

  /** @param {number} from @param {number} to */
  move(from, to) {
    const { stops } = this.talk;
    if (!stops[to]) return;
    stops.splice(to, 0, ...stops.splice(from, 1));
    this.keep();
    this.draw();
  }

  /** @param {number} at */
  remove(at) {
    const [{ title }] = this.talk.stops.splice(at, 1);
    this.keep();
    this.draw();
    this.say(`“${title}” is deleted.`);
    this.undo.focus();
  }

  draw() {
    const { stops } = this.talk;
    const none = el("li", { class: "muted", text: NONE });
    this.stops.replaceChildren(...(stops.length ? stops.map((stop, at) => this.stop(stop, at)) : [none]));
    reveal(this.present, stops.length);
    this.offer();
  }

  offer() {
    reveal(this.give, isSheet(this.talk) && this.hasClasses);
  }

  /** @param {Stop} stop @param {number} at */
  stop(stop, at) {
    const title = this.field("input", `Title of stop ${at + 1}`, stop.title, (value) => {
      stop.title = value;
    });
    const page = stop.link.split("?")[0];
    const text = t(stop.link ? this.content.pages[page] : "no picture");
    const link =
      stop.link && this.content.here.includes(page)
        ? el("a", { href: inLanguage(this.addressOf(stop.link)), target: "_blank", text })
        : el("span", { class: "muted", title: stop.link && "A page of the app alone", text });
    const more = el("details", { open: this.unfolded.has(stop) }, [el("summary", {}, [summaryOf(stop)])]);
    more.ontoggle = () => {
      this.unfolded[more.open ? "add" : "delete"](stop);
      if (more.open && !more.children[1]) more.append(...this.entries(stop, at));
    };
    return el("li", { class: "stop" }, [
      el("div", { class: "line" }, [
        ...[title, link, this.mover(at, -1), this.mover(at, 1)],
        button({ text: "×", "aria-label": `Delete stop ${at + 1}`, onclick: () => this.remove(at) }),
      ]),
      more,
    ]);
  }

  /** @param {number} at @param {1 | -1} by */
  mover(at, by) {
    const [text, where, label] =
      by < 0 ? ["↑", "up", `Move stop ${at + 1} up`] : ["↓", "down", `Move stop ${at + 1} down`];
    const onclick = () => {
      this.move(at, at + by);
      /** @type {HTMLElement | null | undefined} */
      const moved = this.stops.children[at + by]?.querySelector(`[data-move="${where}"]`);
      moved?.focus();
    };
    const words = { text, "aria-label": label, "data-move": where };
    return button({ ...words, onclick, disabled: !this.talk.stops[at + by] });
  }

  /** A field that is kept as it is written. @template {"input" | "textarea"} Tag
     @param {Tag} tag @param {string} label @param {string} value @param {(value: string) => void} change */
  field(tag, label, value, change) {
    const field = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (el(tag, { "aria-label": label }));
    field.value = value;
    field.oninput = () => {
      change(field.value);
      this.keep(field);
    };
    return field;
  }

  /** All of a stop but its title. @param {Stop} stop @param {number} at */
  entries(stop, at) {
    const of = `of stop ${at + 1}`;
    const link = this.field("input", `Link ${of}`, stop.link && `/${stop.link}`, (value) => {
      stop.link = this.taken(
        link,
        value.trim() && `[page](<${value.trim()}>)\n\n${listed(stop.settings)}`,
      ).link;
    });
    const notes = this.field("textarea", `Notes ${of}`, stop.notes, (value) => {
      stop.notes = value;
    });
    const hide = this.field("input", `Hidden at first ${of}`, namesOf(stop.hide), (value) => {
      stop.hide = namesIn(value);
    });
    const slider = this.field("input", `Where the slider halts ${of}`, stop.at.join(", "), (value) => {
      stop.at = this.taken(slider, value && `${AT} ${value}`).at;
    });
    const task = this.field("textarea", `Task ${of}`, listed(stop.settings), (value) => {
      stop.settings = this.taken(task, value.replace(/^(?!- )(?=\S)/gm, "- ")).settings;
      this.offer();
    });
    return [
      entry(t("Link"), "of a page, from “copy link”", link),
      entry(t("Notes"), "for the speaker, of a task for students; in Markdown", notes),
      entry(t("Hidden"), "until a is pressed: headline or panel titles, with commas", hide),
      entry(t("Slider"), "where a clicker halts, such as 0, 4, 8", slider),
      entry(t("Question"), "to the hall; the dot marks the right option", this.question(stop, of)),
      entry(t("Task"), "of a work sheet, such as rule: layer = 1, hint: …, write: 300", task),
    ];
  }

  /** The stop that has one line, as a file would be read; what is wrong in it is told beside the field.
     @param {HTMLElement} field @param {string} line */
  taken(field, line) {
    const { talk, problems } = this.read(`# Talk\n\n## Stop\n\n${line}`);
    field.setAttribute("aria-invalid", String(problems.length > 0));
    /** @type {Element} */ (field.nextElementSibling).textContent = problems
      .map(({ text }) => text)
      .join(" ");
    return talk.stops[0];
  }

  /** @param {Stop} stop @param {string} of which one it is */
  question(stop, of) {
    const { ask = "", options = [], right = null, because = "" } = stop.question ?? {};
    const list = el("div");
    const change = () => {
      const rows = [...list.children].map((row) => [...row.querySelectorAll("input")]);
      const texts = rows.filter(([, text]) => text.value.trim());
      const marked = texts.findIndex(([mark]) => mark.checked);
      const isAsked = asked.value.trim() || texts.length;
      stop.question = isAsked
        ? {
            ...{ ask: asked.value, options: texts.map(([, text]) => text.value.trim()), because: why.value },
            right: marked < 0 ? null : marked,
          }
        : null;
      if (texts.length === rows.length) add("", false);
    };
    const add = (/** @type {string} */ text, /** @type {boolean} */ isRight) => {
      const label = `Option ${list.children.length + 1} ${of}`;
      const name = `right ${of}`;
      const mark = el("input", { type: "radio", name, "aria-label": `${label} is right` });
      mark.checked = isRight;
      mark.onchange = () => {
        change();
        this.keep();
      };
      list.append(el("div", { class: "option" }, [mark, this.field("input", label, text, change)]));
    };
    const asked = this.field("input", `Question ${of}`, ask, change);
    const why = this.field("textarea", `Why ${of}`, because, change);
    why.placeholder = "why it is so, in Markdown";
    for (const [place, text] of options.entries()) add(text, place === right);
    add("", false);
    return el("div", { class: "question" }, [asked, list, why]);
  }
}

/** @param {string} name @param {string} help @param {HTMLElement} field */
const entry = (name, help, field) =>
  el("div", { class: "entry" }, [
    el("div", {}, [el("strong", { text: name }), el("small", { class: "muted", text: help })]),
    el("div", {}, [field, el("small", { class: "wrong", role: "status" })]),
  ]);

/** @param {Problem} problem */
const problemLine = ({ line, text }) => el("li", {}, [el("strong", { text: `Line ${line}: ` }), text]);

/** What is folded away, in a line. @param {Stop} stop */
function summaryOf({ notes, question, hide, at }) {
  const parts = [
    ...[question && t(`asks “${question.ask}”`), hide.length && t(`hides: ${namesOf(hide)}`)],
    ...[at.length && t(`halts: ${at.join(", ")}`), notes.replaceAll(/\s+/g, " ")],
  ];
  return typed(parts.filter(Boolean).join(" · ") || t("notes, question"));
}

export const render = rendering(Talks);
