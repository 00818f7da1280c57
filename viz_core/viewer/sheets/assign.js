/* Where a teacher gives a sheet to a class: what is wrong in it, and until when it is worked on. */

import { el, reveal } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { keepEntries, keptEntries } from "../browser/storage.js";
import { talkOf } from "../talk/source.js";
import { ClassPage, dayOf, write } from "./classroom.js";

/** @import { Problem, Talk } from "../talk/types" */

export const GIVEN = "attention-lab.classes"; // by the codes of those that this browser has opened
const USUAL_DAYS = 28;
const DAY = 86_400_000; // milliseconds

/** A day as fields of a form have it, in this place. @param {Date} date */
const written = (date) =>
  new Date(date.getTime() - 60_000 * date.getTimezoneOffset()).toISOString().slice(0, 10);

export class Giver extends ClassPage {
  /** @param {HTMLElement} place @param {string} root @param {string[]} pages */
  constructor(place, root, pages) {
    super(root, "");
    this.inside = el("div", { class: "given" });
    this.problems = el("ul", { class: "problems" });
    this.day = el("input", { type: "date", required: true, "aria-label": "End date" });
    place.replaceChildren(this.inside);
    talkOf(location.hash, { root, pages }).then(({ talk, problems }) => this.show(talk, problems));
  }

  /** @param {Talk} talk @param {Problem[]} problems */
  show(talk, problems) {
    const { ends } = talk.settings;
    this.day.min = written(new Date());
    this.day.value = ends ?? ""; // which drops what is no day
    if (this.day.value < this.day.min) this.day.value = written(new Date(Date.now() + USUAL_DAYS * DAY));
    const form = el("form", {}, [
      el("label", {}, ["End date ", this.day]),
      el("button", { type: "submit", class: "main", text: "open the class" }),
    ]);
    form.onsubmit = (event) => {
      event.preventDefault();
      this.act(() => this.give(talk));
    };
    const tasks = talk.stops.map(({ title }) => el("li", { text: title, translate: "no" }));
    this.inside.replaceChildren(
      el("h1", { text: "Give to a class" }),
      el("h2", { text: talk.title, translate: "no" }),
      write(talk.about, el("div")),
      el("ol", {}, tasks),
      el("p", {
        text: "Students open one link. All is deleted one day after the end.",
      }),
      form,
      this.said,
      this.problems,
      this.others(),
    );
    reveal(form, talk.stops.length);
    this.name(problems);
  }

  /** @param {Problem[]} problems */
  name(problems) {
    this.problems.replaceChildren(
      ...problems.map(({ line, text }) => el("li", {}, [el("b", { text: `Line ${line}: ` }), text])),
    );
  }

  /** @param {Talk} talk */
  async give(talk) {
    const ends = new Date(`${this.day.value}T23:59:59`).getTime() / 1000;
    const { problems, code, secret } = await this.ask("", "POST", { sheet: talk, ends });
    this.name(problems ?? []);
    if (problems) return this.say("Nobody can work on it yet; fix these lines:");
    keepEntries(GIVEN, { ...keptEntries(GIVEN), [code]: { secret, title: talk.title, ends } });
    location.href = this.teachers(code, secret);
  }

  /** The address of a class for its teacher. @param {string} code @param {string} secret */
  teachers(code, secret) {
    return inLanguage(new URL(`class/${code}/teacher#${secret}`, this.root).href);
  }

  /* The classes that this browser has opened before. */
  others() {
    const known = Object.entries(keptEntries(GIVEN)).map(([code, { secret, title, ends }]) =>
      el("li", {}, [
        el("a", {
          href: this.teachers(code, secret),
          text: title,
          translate: "no",
        }),
        ` ${code}, ${dayOf(ends)}`,
      ]),
    );
    return known.length
      ? el("section", {}, [el("h2", { text: "Your classes" }), el("ul", {}, known)])
      : el("span");
  }
}
