/* The teacher's page of a class: its link, who is where, what was answered. */

import { button, el, isNew, reveal, typed } from "../browser/dom.js";
import { saveFile } from "../browser/files.js";
import { inLanguage } from "../browser/page.js";
import { t } from "../browser/words.js";
import { unreachable } from "../talk/hall.js";
import { Classroom, dayOf, keep, kept } from "./classroom.js";
import { GIVEN } from "./give.js";

/** @import { Refusal } from "../talk/hall.js" */

/** @typedef {{answer: string, right: boolean | null, tries: number, at: number}} Answer */
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

export class Teacher {
  isDeleted = false; // by this page, which says so itself
  /** @type {Sheet | null} */ sheet = null;
  /** @type {Map<number, Student>} by their numbers */ known = new Map();
  since = 0; // when it was looked, by the server's clock

  /** @param {HTMLElement} place @param {string} root @param {string} code */
  constructor(place, root, code) {
    this.room = new Classroom(root, code);
    this.code = code;
    this.room.token = location.hash.slice(1);
    this.said = el("p", { class: "problem absent", role: "alert" });
    this.title = el("h1", { translate: "no" });
    this.ends = el("p", { class: "muted" });
    this.image = el("img", { alt: "QR code of the link", width: "160", height: "160" });
    this.students = el("table", { class: "students" });
    this.tasks = el("div", { class: "by-task" });
    const link = el("a", {
      href: this.room.link,
      text: this.room.link.replace(/^https?:\/\//, ""),
      translate: "no",
    });
    const actions = [
      button({ text: "copy link", onclick: () => this.copy() }),
      button({ text: "answers as CSV", onclick: () => this.download() }),
      button({ text: "delete the class", onclick: () => this.close() }),
    ];
    const head = el("div", {}, [this.title, el("p", { class: "link" }, [link]), this.ends]);
    place.replaceChildren(
      el("div", { class: "given teacher" }, [
        el("div", { class: "head" }, [
          this.image,
          el("div", {}, [head, el("div", { class: "works" }, actions)]),
        ]),
        this.said,
        el("h2", { text: "Who is where" }),
        el("div", { class: "wide", tabindex: "0" }, [this.students]),
        el("h2", { text: "Answers by task" }),
        this.tasks,
      ]),
    );
    this.drawCode();
    this.look();
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = t(sentence);
    reveal(this.said, sentence);
  }

  async drawCode() {
    const { image } = await this.room
      .ask("/code", "POST", { text: this.room.link })
      .catch(() => ({ image: "" }));
    if (image) this.image.src = image;
    reveal(this.image, image);
  }

  async look() {
    if (this.isDeleted) return;
    try {
      const news = await this.room.ask(`/progress?since=${this.since}`);
      this.say(unreachable(this.room.link));
      this.take(news);
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      if (this.isDeleted) return;
      this.say(message);
      if (status === 404) return this.forget();
    }
    setTimeout(() => this.look(), LOOK);
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
    const begun = [...this.known.values()].sort((one, other) => one.number - other.number);
    const students = begun.map((each) => ({ ...each, name: each.name || t(`student ${each.number}`) }));
    const isHere = (/** @type {Student} */ student) => now - student.seen < HERE;
    const count = students.filter(isHere).length;
    this.title.textContent = title;
    document.title = title;
    const rule = "If nobody begins within an hour, the class is deleted: begin once yourself.";
    this.ends.textContent = [
      t(`Until ${dayOf(ends)}. Started: ${students.length}, active: ${count}.`),
      lasts || students.length ? "" : t(rule),
    ].join(" ");
    const shown = students.map((student) => ({ ...student, seen: isHere(student) }));
    if (!isNew(this.students, [tasks, shown])) return;
    const heads = tasks.map((task, at) =>
      el("th", { scope: "col", text: String(at + 1), title: task.title, translate: "no" }),
    );
    const rows = shown.map((student) => {
      const cells = tasks.map((task, at) =>
        cellOf(student.answers[at], task.kind, student.at === at && student.seen),
      );
      const name = el("th", { scope: "row", text: student.name, translate: "no" });
      return el("tr", {}, [name, ...cells, el("td", {}, [this.removal(student)])]);
    });
    this.students.replaceChildren(
      el("thead", {}, [el("tr", {}, [el("th", { scope: "col", text: t("Student") }), ...heads, el("td")])]),
      el("tbody", {}, rows),
    );
    this.tasks.replaceChildren(...tasks.map((task, at) => byTask(task, at, students)));
  }

  /** @param {{name: string, number: number}} student */
  removal({ name, number }) {
    const label = t(`Remove ${name}, with all answers`);
    const remove = async () => {
      if (!confirm(`${label}?`)) return;
      try {
        await this.room.ask("/students", "DELETE", { number });
        this.known.delete(number);
        if (this.sheet) this.show(this.sheet, this.since);
      } catch (error) {
        this.say(/** @type {Error} */ (error).message);
      }
    };
    return button({ class: "remove", text: "×", "aria-label": label, title: label, onclick: remove });
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.room.link);
      this.say("The link is copied.");
    } catch {
      this.say("This browser lets no page copy anything here: mark the link and copy it.");
    }
  }

  async download() {
    try {
      saveFile(await this.room.ask("/answers.csv"), this.code, "csv");
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
    }
  }

  async close() {
    if (!confirm(t("Delete the class, with the names and all answers?"))) return;
    try {
      await this.room.ask("", "DELETE");
      this.isDeleted = true;
      this.forget();
      for (const part of [this.students, this.tasks]) part.replaceChildren();
      this.say("The class is deleted, with the names and all answers.");
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
    }
  }

  forget() {
    const { [this.code]: _, ...others } = kept(GIVEN);
    keep(GIVEN, others);
  }
}

/** What a student has done of a task. @param {Answer | undefined} answer @param {string} kind
   @param {boolean} isAt whether the student is there now */
function cellOf(answer, kind, isAt) {
  const how = !answer ? "" : answer.right ? "right" : answer.right === false ? "wrong" : "given";
  const mark = { right: "✓", wrong: "✗", given: "•", "": kind ? "" : "–" }[how];
  const words = {
    right: t("right"),
    wrong: t("not right yet"),
    given: t("answered"),
    "": t("nothing yet"),
  }[how];
  const tries = answer && answer.tries > 1 ? ` ${answer.tries}` : "";
  const parts = [words, tries && t(`${tries.trim()} tries`), isAt && t("is here")];
  const label = parts.filter(Boolean).join(", ");
  return el("td", { class: `${how}${isAt ? " at" : ""}`, title: label }, [
    el("span", { "aria-hidden": "true", text: `${mark}${tries}` }),
    el("span", { class: "heard", text: label }),
  ]);
}

/** @param {Task} task @param {number} at @param {Student[]} students */
function byTask({ title, kind, question }, at, students) {
  const given = students.flatMap(({ name, answers }) => (answers[at] ? [{ name, ...answers[at] }] : []));
  const right = given.filter((answer) => answer.right).length;
  const count =
    kind === "text" || question?.right === null ? `${given.length}` : `${right} / ${given.length}`;
  const part = el("section", {}, [
    el("h3", { text: `${at + 1}. ${title} `, translate: "no" }, [el("small", { text: count })]),
  ]);
  if (kind === "choice" && question) {
    const rows = question.options.map((text, option) => {
      const share = given.filter(({ answer }) => answer === text).length;
      const width = given.length ? (100 * share) / given.length : 0;
      const marks = { class: option === question.right ? "right" : "", style: `--share: ${width}%` };
      return el("li", marks, [el("span", { text, translate: "no" }), el("b", { text: String(share) })]);
    });
    part.append(el("ul", { class: "options counted" }, rows));
  }
  if (kind === "text")
    part.append(
      el(
        "ul",
        {},
        given.map(({ name, answer }) =>
          el("li", {}, [el("b", { text: `${name}: `, translate: "no" }), typed(answer)]),
        ),
      ),
    );
  if (kind === "link") {
    const links = given
      .slice(-MOST_TOLD)
      .map(({ name, answer, right }) =>
        el("li", { class: right ? "right" : "" }, [
          el("a", { href: inLanguage(`../../${answer}`), target: "_blank", text: name, translate: "no" }),
        ]),
      );
    part.append(el("ul", { class: "options" }, links));
  }
  return part;
}
