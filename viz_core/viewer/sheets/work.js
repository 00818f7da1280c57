/* A student's page: a task, the page of the app in which it is done, and how it went. */

import { button, el, reveal, typed } from "../browser/dom.js";
import { keepEntries, keptEntries } from "../browser/storage.js";
import { t } from "../browser/words.js";
import { ClassPage, dayOf, howOf, write } from "./classroom.js";
import { TaskFrame, untilAnswered } from "./task.js";

/** @import { Refusal } from "../talk/hall.js" */

/** @typedef {{title: string, link: string, notes: string, kind: "" | "choice" | "link" | "text",
     hints: string[], ask?: string, options?: string[], most?: number}} Task */
/** @typedef {{title: string, about: string, ends: number, pages: {link: string, title: string}[],
     tasks: Task[]}} Sheet */
/** @typedef {{answer: string, right: boolean | null, tries: number, because: string}} Answer as the server
    keeps it */
/** What the browser keeps. links: where each task was left; drafts: texts and options that are not handed in;
   hints: how many were asked for.
   @typedef {{token: string, at: number, links: Record<number, string>, drafts: Record<number, string>,
     hints: Record<number, number>}} Kept */

const FIRST = "Your first answer counts; the last is kept too.";

export class Work extends ClassPage {
  /** @type {Sheet} */ sheet;
  /** @type {Record<number, Answer>} */ answers = {};
  /** @type {TaskFrame | null} */ frame = null;

  /** @param {HTMLElement} place @param {string} root @param {string} code */
  constructor(place, root, code) {
    super(root, code);
    this.name = `attention-lab.class.${code}`;
    /** @type {Kept} */
    this.kept = { token: "", at: 0, links: {}, drafts: {}, hints: {}, ...keptEntries(this.name) };
    this.token = this.kept.token;
    this.inside = el("div", { class: "work" });
    place.replaceChildren(this.said, this.inside);
    window.addEventListener("pagehide", () => this.keep());
    this.begin();
  }

  get task() {
    return this.sheet.tasks[this.kept.at];
  }

  keep() {
    const { frame, kept } = this;
    if (frame?.link) kept.links[kept.at] = frame.link;
    if (kept.token) keepEntries(this.name, kept);
  }

  /** Once the server answers. @param {string} path @param {string} method @param {any} [content] */
  async ask(path, method = "GET", content) {
    return untilAnswered(
      () => super.ask(path, method, content),
      (sentence) => this.say(sentence),
    );
  }

  async begin() {
    try {
      this.sheet = await this.ask("/sheet");
      document.title = this.sheet.title;
      if (this.kept.token) this.answers = await this.ask("/answers");
    } catch (error) {
      const { status, message } = /** @type {Refusal} */ (error);
      if (status !== 403) return this.say(message);
      this.kept.token = ""; // this sheet has begun anew
    }
    if (this.kept.token) this.open();
    else this.askForName();
  }

  askForName() {
    const { title, about, tasks, ends } = this.sheet;
    const name = el("input", { maxlength: "40", autocomplete: "name", "aria-label": "Your name, or none" });
    name.placeholder = t("Your name, or none");
    const count = tasks.filter(({ kind }) => kind).length;
    const form = el("form", { class: "card form" }, [
      el("h1", { text: title, translate: "no" }),
      write(about, el("div")),
      el("p", { class: "muted", text: `${count} tasks, until ${dayOf(ends)}.` }),
      el("p", {}, [name, el("button", { type: "submit", class: "main", text: t("begin") })]),
      el("p", {
        class: "muted",
        text: "Your teacher sees name and answers. All is deleted one day after the end.",
      }),
    ]);
    form.onsubmit = (event) => {
      event.preventDefault();
      this.act(async () => {
        const { token } = await this.ask("/students", "POST", { name: name.value });
        this.kept.token = this.token = token;
        this.say("");
        this.open();
      });
    };
    this.inside.replaceChildren(form);
    name.focus();
  }

  /* Puts up what stays for all tasks. */
  open() {
    const { tasks, title, ends } = this.sheet;
    this.list = tasks.map((task, at) =>
      button({ onclick: () => this.to(at), title: task.title, translate: "no" }, [
        String(at + 1),
        el("span"),
      ]),
    );
    this.part = el("section", { class: "task" });
    this.frames = el("div", { class: "frames" });
    this.turn = button({ class: "turn main", onclick: () => this.turnOver() });
    this.panel = el("aside", { class: "panel" }, [
      el("h1", { text: title, translate: "no" }),
      el("p", { class: "muted", text: `Open until ${dayOf(ends)}` }),
      el("nav", { class: "tasks", "aria-label": t("Tasks") }, this.list),
      this.part,
    ]);
    this.inside.replaceChildren(this.panel, this.frames, this.turn);
    this.to(Math.min(this.kept.at, tasks.length - 1));
  }

  /** @param {number} at */
  to(at) {
    this.keep();
    this.kept.at = at;
    this.frame = null;
    this.say("");
    this.draw();
    this.openPage(this.kept.links[at] ?? this.task.link);
    this.part?.querySelector("h2")?.focus(); // what was pressed to come here is gone
    this.keep();
    super
      .ask("/at", "PUT", { at })
      .catch((/** @type {Refusal} */ { status, message }) => status && this.say(message));
  }

  /** @param {string} link */
  openPage(link) {
    const has = Boolean(this.task.link);
    const say = (/** @type {string} */ sentence) => frame === this.frame && this.say(sentence);
    const frame = has ? new TaskFrame(this.root, link, this.task.title, say) : null;
    this.frame = frame;
    this.frames?.replaceChildren(...(this.frame ? [this.frame.element] : []));
    this.inside.classList.toggle("alone", !has);
    this.turnOver(false);
  }

  /** On a phone, shows the page, or the task. @param {boolean} toPage */
  turnOver(toPage = !this.inside.classList.contains("on-page")) {
    this.inside.classList.toggle("on-page", toPage);
    if (this.turn) this.turn.textContent = t(toPage ? "back to the task" : "to the page");
    reveal(/** @type {HTMLElement} */ (this.turn), this.task.link);
  }

  mark() {
    for (const [at, entry] of (this.list ?? []).entries()) {
      const [how, mark, words] = howOf(this.answers[at]);
      entry.setAttribute("aria-label", `${at + 1}. ${this.sheet.tasks[at].title}: ${words}`);
      entry.className = how;
      entry.setAttribute("aria-current", String(at === this.kept.at));
      /** @type {Element} */ (entry.lastElementChild).textContent = mark;
    }
  }

  draw() {
    const { task, kept } = this;
    const { at } = kept;
    const answer = this.answers[at];
    this.verdict = el("div", { class: "verdict", role: "status" });
    const walk = (/** @type {number} */ to, /** @type {string} */ text, main = "") =>
      this.sheet.tasks[to] && button({ text, class: main, onclick: () => this.to(to) });
    this.onward = walk(at + 1, "next task") || null;
    this.part?.replaceChildren(
      el("h2", { text: `${at + 1}. ${task.title}`, translate: "no", tabindex: "-1" }),
      write(task.notes, el("div", { class: "notes-of-task" })),
      this.answering(answer),
      ...(task.kind ? [el("p", { class: "muted", text: FIRST })] : []),
      this.verdict,
      this.hints(),
      el("div", { class: "works" }, [walk(at - 1, "task before") || null, this.onward, ...this.ways()]),
    );
    this.mark();
    if (answer && answer.right !== false) this.tell(answer.right, "", answer.because);
  }

  /* What else the sheet offers beside its tasks, and the page of this task as it was at first. */
  ways() {
    const { task, sheet } = this;
    if (!task.link) return [];
    const others = sheet.pages.map(({ link, title }) =>
      button({ text: title, onclick: () => this.openPage(link) }),
    );
    const anew = button({
      text: "reset page",
      title: "As the task opens it",
      onclick: () => this.openPage(task.link),
    });
    return [...others, anew];
  }

  /** What is handed in. @param {Answer | undefined} answer */
  answering(answer) {
    const { task } = this;
    if (task.kind === "choice") {
      const draft = this.kept.drafts[this.kept.at];
      const isChosen = (/** @type {number} */ option, /** @type {string} */ text) =>
        draft === undefined ? answer?.answer === text : draft === String(option);
      const options = (task.options ?? []).map((text, option) =>
        el("label", {}, [
          el("input", { type: "radio", name: "option", value: option, checked: isChosen(option, text) }),
          el("span", {}, [typed(text)]),
        ]),
      );
      const form = el("form", {}, [
        el("fieldset", {}, [el("legend", {}, [typed(task.ask ?? "")]), ...options]),
        el("button", { type: "submit", class: "main", text: t("answer") }),
      ]);
      form.onchange = () => this.draft(String(new FormData(form).get("option")));
      form.onsubmit = (event) => {
        event.preventDefault();
        const chosen = new FormData(form).get("option");
        if (chosen !== null) this.hand(async () => ({ option: Number(chosen) }), form);
      };
      return form;
    }
    if (task.kind === "text") {
      const text = el("textarea", {
        maxlength: task.most,
        rows: "5",
        "aria-label": task.title,
        translate: "no",
      });
      text.value = this.kept.drafts[this.kept.at] ?? answer?.answer ?? "";
      text.oninput = () => this.draft(text.value);
      const send = button({ class: "main", text: t("hand in") });
      send.onclick = () => this.hand(async () => ({ text: text.value }), send);
      return el("div", { class: "writing-task" }, [text, send]);
    }
    if (!task.kind) return el("span");
    const check = button({ class: "main", text: t("check") });
    check.onclick = () => this.hand(async () => ({ link: (await this.frame?.settledLink()) ?? "" }), check);
    return el("p", {}, [check]);
  }

  /** Keeps what is not handed in yet. @param {string} text */
  draft(text) {
    this.kept.drafts[this.kept.at] = text;
    this.keep();
  }

  /** @param {() => Promise<{option?: number, link?: string, text?: string}>} given
     @param {HTMLElement} from */
  async hand(given, from) {
    const { at } = this.kept;
    if (from.ariaBusy) return;
    from.ariaBusy = "true"; // where `inert` would take the focus away
    this.tell(undefined, t("It is looked at …"));
    try {
      const content = await given();
      const { right, sentence, because } = await this.ask(`/answers/${at}`, "PUT", content);
      const { tries = 0, right: wasRight } = this.answers[at] ?? {};
      const answer =
        content.text ?? content.link ?? this.sheet.tasks[at].options?.[content.option ?? 0] ?? "";
      if (!wasRight) this.answers[at] = { answer, right, tries: tries + 1, because };
      if (at === this.kept.at) this.tell(right, sentence, because);
    } catch (error) {
      if (at === this.kept.at) this.tell(undefined, /** @type {Error} */ (error).message);
    }
    from.ariaBusy = null;
    this.keep();
    this.mark();
  }

  /** How it went. @param {boolean | null | undefined} right undefined: nothing is known yet
     @param {string} sentence @param {string} because */
  tell(right, sentence, because = "") {
    const { verdict } = this;
    if (!verdict) return;
    verdict.className = `verdict ${right === undefined ? "" : right === false ? "wrong" : "right"}`;
    const head = right ? t("That is right.") : right === null ? t("It is handed in.") : "";
    verdict.replaceChildren(el("p", { text: [head, t(sentence)].filter(Boolean).join(" ") }));
    if (because) verdict.append(write(because, el("div")));
    this.onward?.classList.toggle("main", Boolean(right ?? right === null));
  }

  hints() {
    const { hints } = this.task;
    const { kept } = this;
    const list = el("ul", { class: "hints" });
    const more = button({
      onclick: () => {
        show((kept.hints[kept.at] ?? 0) + 1);
        /** @type {HTMLElement} */ (list.lastElementChild).focus(); // so that it is read out
      },
    });
    const show = (/** @type {number} */ count) => {
      kept.hints[kept.at] = count;
      list.replaceChildren(...hints.slice(0, count).map((text) => write(text, el("li", { tabindex: "-1" }))));
      more.textContent = t(`hint ${count + 1} / ${hints.length}`);
      reveal(more, count < hints.length);
    };
    show(kept.hints[kept.at] ?? 0);
    return el("div", {}, [list, more]);
  }
}
