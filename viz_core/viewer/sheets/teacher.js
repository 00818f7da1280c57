/* The teacher's page of a class: its link, who is where, what was answered. */

import { button, el, isNew, reveal, typed } from "../browser/dom.js";
import { saveFile } from "../browser/files.js";
import { inLanguage } from "../browser/page.js";
import { keepEntries, keptEntries } from "../browser/storage.js";
import { t } from "../browser/words.js";
import { unreachable } from "../talk/hall.js";
import { GIVEN } from "./assign.js";
import { ClassPage, dayOf, howOf } from "./classroom.js";

/** @import { Refusal } from "../talk/hall.js" */

/** first: which counts.
   @typedef {{answer: string, right: boolean | null}} Given
   @typedef {Given & {tries: number, at: number, first: Given}} Answer */
/** @typedef {{name: string, number: number, at: number, seen: number,
     answers: Record<number, Answer>}} Student */
/** @typedef {{title: string, kind: string, question: import("../talk/types").Question | null}} Task */
/** numbers: of all students. students: those of whom something is new; all at first, with the sheet.
   @typedef {{now: number, numbers: number[], students: Student[]}} News */
/** lasts: though nobody begins it.
   @typedef {{title: string, ends: number, tasks: Task[], lasts: boolean}} Sheet */

const LOOK = 3000; // milliseconds between two looks
const HERE = 120; // seconds since somebody was last heard of, who is then still at it
const MOST_TOLD = 8; // links of which the last are shown
const CLEAR = "Remove all students without answers? Those at work begin again.";
const ARROW = "First answers count; a different last answer follows after →.";

/** Of the first answers, and of the last where these differ.
   @param {string | number} first @param {string | number} last */
const both = (first, last) => (first === last ? `${first}` : `${first} → ${last}`);

export class Teacher extends ClassPage {
  isDeleted = false; // by this page, which says so itself
  /** @type {Sheet | null} */ sheet = null;
  /** @type {Map<number, Student>} by their numbers */ known = new Map();
  timer = 0; // of the next look
  since = 0; // when it was looked, by the server's clock

  /** @param {HTMLElement} place @param {string} root @param {string} code */
  constructor(place, root, code) {
    super(root, code);
    this.token = location.hash.slice(1) || history.state || keptEntries(GIVEN)[code]?.secret || "";
    history.replaceState(this.token, "", location.pathname + location.search); // a class may see the address
    this.title = el("h1", { translate: "no" });
    this.ends = el("p", { class: "muted" });
    this.students = el("table", { class: "students" });
    this.tasks = el("div", { class: "by-task" });
    const { link } = this;
    const address = { text: link.replace(/^https?:\/\//, ""), translate: "no" };
    this.image = el("img", { alt: "QR code of the link" });
    this.projected = /** @type {HTMLDialogElement} */ (
      el("dialog", { class: "invitation projected", "aria-label": "The link" }, [
        this.image,
        el("p", { class: "link", ...address }),
        button({ text: t("close"), autofocus: true, onclick: () => this.projected.close() }),
      ])
    );
    this.clearing = this.removal({ class: "absent", text: "remove all without answers" }, CLEAR, {});
    const works = [
      button({ text: "show the link", onclick: () => this.act(() => this.project()) }),
      button({ text: "copy link", onclick: () => this.copy(link) }),
      button({ text: "copy the teacher's link", onclick: () => this.copy(`${link}/teacher#${this.token}`) }),
      button({ text: "answers as CSV", onclick: () => this.act(() => this.download()) }),
      button({ text: "delete the class", onclick: () => this.act(() => this.close()) }),
    ];
    place.replaceChildren(
      el("div", { class: "given teacher" }, [
        this.title,
        el("p", { class: "link" }, [el("a", { href: link, ...address })]),
        this.ends,
        el("div", { class: "works" }, works),
        this.said,
        el("h2", { text: "Who is where" }),
        el("p", { class: "muted", text: ARROW }),
        el("div", { class: "wide", tabindex: "0" }, [this.students]),
        this.clearing,
        el("h2", { text: "Answers by task" }),
        this.tasks,
        this.projected,
      ]),
    );
    this.look();
  }

  /* Shows the link alone: no names, and no secret. */
  async project() {
    this.image.src = (await this.ask("/code", "POST", { text: this.link })).image;
    this.projected.showModal();
  }

  async look() {
    if (this.isDeleted) return;
    try {
      const news = await this.ask(`/progress?since=${this.since}`);
      this.say(unreachable(this.link));
      this.take(news);
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      if (this.isDeleted) return;
      this.say(message);
      if (status === 404) return this.forget();
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), LOOK);
  }

  /** @param {News & Partial<Sheet>} news */
  take({ now, numbers, students, ...sheet }) {
    if (sheet.tasks) this.sheet = /** @type {Sheet} */ (sheet);
    if (sheet.tasks) this.known.clear();
    for (const student of students) {
      const answers = { ...this.known.get(student.number)?.answers, ...student.answers };
      this.known.set(student.number, { ...student, answers });
    }
    for (const number of this.known.keys()) if (!numbers.includes(number)) this.known.delete(number);
    this.since = now;
    if (this.sheet) this.show(this.sheet, now);
  }

  /** @param {Sheet} sheet @param {number} now */
  show({ title, ends, tasks, lasts }, now) {
    const students = [...this.known.values()].map((each) => ({
      ...each,
      name: each.name || t(`student ${each.number}`),
    }));
    const isHere = (/** @type {Student} */ student) => now - student.seen < HERE;
    const count = students.filter(isHere).length;
    this.title.textContent = title;
    document.title = title;
    const rule = "If nobody begins within an hour, the class is deleted.";
    this.ends.textContent = [
      t(`Until ${dayOf(ends)}. Started: ${students.length}, active: ${count}.`),
      lasts || students.length ? "" : t(rule),
    ].join(" ");
    const shown = students.map((student) => ({ ...student, seen: isHere(student) }));
    if (!isNew(this.students, [tasks, shown])) return;
    reveal(
      this.clearing,
      students.some(({ answers }) => !Object.keys(answers).length),
    );
    const heads = tasks.map((task, at) =>
      el("th", { scope: "col", text: String(at + 1), title: task.title, translate: "no" }),
    );
    const rows = shown.map((student) => {
      const cells = tasks.map((task, at) =>
        cellOf(student.answers[at], task.kind, student.at === at && student.seen),
      );
      const name = el("th", { scope: "row", text: student.name, translate: "no" });
      const label = t(`Remove ${student.name}, with all answers`);
      const marks = { class: "remove", text: "×", "aria-label": label, title: label };
      const removal = this.removal(marks, `${label}?`, { number: student.number });
      return el("tr", {}, [name, ...cells, el("td", {}, [removal])]);
    });
    this.students.replaceChildren(
      el("thead", {}, [el("tr", {}, [el("th", { scope: "col", text: t("Student") }), ...heads, el("td")])]),
      el("tbody", {}, rows),
    );
    this.tasks.replaceChildren(...tasks.map((task, at) => byTask(task, at, students)));
  }

  /** A button that removes students. @param {Record<string, string>} marks @param {string} question
     @param {{number?: number}} which */
  removal(marks, question, which) {
    const remove = async () => {
      await this.ask("/students", "DELETE", which);
      await this.look();
      this.students.parentElement?.focus(); // the button is gone
    };
    return button({ ...marks, onclick: () => confirm(t(question)) && this.act(remove) });
  }

  /** @param {string} link */
  async copy(link) {
    try {
      await navigator.clipboard.writeText(link);
      this.say("The link is copied.");
    } catch {
      prompt(t("This browser does not let pages copy: copy the link yourself."), link);
    }
  }

  async download() {
    saveFile(await this.ask("/answers.csv"), this.code, "csv");
  }

  async close() {
    if (!confirm(t("Delete the class with all answers?"))) return;
    this.isDeleted = true; // from here on nobody looks: there may be nothing to see
    try {
      await this.ask("", "DELETE");
    } catch (error) {
      this.isDeleted = false;
      this.look();
      throw error;
    }
    this.forget();
    for (const part of [this.students, this.tasks]) part.replaceChildren();
    reveal(this.clearing, false);
    this.say("The class and all answers are deleted.");
  }

  forget() {
    const { [this.code]: _, ...others } = keptEntries(GIVEN);
    keepEntries(GIVEN, others);
  }
}

/** What a student has done of a task. @param {Answer | undefined} answer @param {string} kind
   @param {boolean} isAt whether the student is there now */
function cellOf(answer, kind, isAt) {
  const [how, mark, words] = howOf(answer?.first);
  const [, lastMark, lastWords] = howOf(answer);
  const tries = answer && answer.tries > 1 ? ` ${answer.tries}` : "";
  const went = mark === lastMark ? words : t(`first ${words}, last ${lastWords}`);
  const parts = [went, tries && t(`${tries.trim()} tries`), isAt && t("is here")];
  const label = parts.filter(Boolean).join(", ");
  return el("td", { class: `${how}${isAt ? " at" : ""}`, title: label }, [
    el("span", { "aria-hidden": "true", text: `${both(mark, lastMark) || (kind ? "" : "–")}${tries}` }),
    el("span", { class: "heard", text: label }),
  ]);
}

/** @param {Task} task @param {number} at @param {Student[]} students */
function byTask({ title, kind, question }, at, students) {
  const given = students.flatMap(({ name, answers: { [at]: last } }) =>
    last ? [{ name, first: last.first, last }] : [],
  );
  /** @param {(answer: Given) => unknown} is */
  const count = (is) =>
    both(given.filter(({ first }) => is(first)).length, given.filter(({ last }) => is(last)).length);
  const isOpen = kind === "text" || question?.right === null;
  const counted = isOpen ? `${given.length}` : `${count(({ right }) => right)} / ${given.length}`;
  const part = el("section", {}, [
    el("h3", { text: `${at + 1}. ${title} `, translate: "no" }, [el("small", { text: counted })]),
  ]);
  if (kind === "choice" && question) {
    const rows = question.options.map((text, option) => {
      const share = given.filter(({ first }) => first.answer === text).length;
      const width = given.length ? (100 * share) / given.length : 0;
      const marks = { class: option === question.right ? "right" : "", style: `--share: ${width}%` };
      const chosen = el("b", { text: count(({ answer }) => answer === text) });
      return el("li", marks, [el("span", { text, translate: "no" }), chosen]);
    });
    part.append(el("ul", { class: "options counted" }, rows));
  }
  if (kind === "text") {
    const texts = given.map(({ name, first, last }) =>
      el("li", {}, [el("b", { text: `${name}: `, translate: "no" }), typed(both(first.answer, last.answer))]),
    );
    part.append(el("ul", {}, texts));
  }
  if (kind === "link") {
    const link = (/** @type {Given} */ { answer }, /** @type {Record<string, string>} */ words) =>
      el("a", { href: inLanguage(`../../${answer}`), target: "_blank", ...words });
    const links = given
      .slice(-MOST_TOLD)
      .map(({ name, first, last }) =>
        el("li", { class: first.right ? "right" : "" }, [
          link(first, { text: name, translate: "no" }),
          " ",
          first.answer !== last.answer && link(last, { text: "→ last answer" }),
        ]),
      );
    part.append(el("ul", { class: "options" }, links));
  }
  return part;
}
