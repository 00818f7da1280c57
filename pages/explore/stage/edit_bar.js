/* The row of edits: what is changed in the pass, each to be taken back, and which pass is seen. */

import { Choice } from "../../shared/browser/choice.js";
import { el } from "../../shared/browser/dom.js";
import { readyEdits, toggled } from "./edits.js";
import { listOf } from "./list.js";
import { timesOf } from "./passes.js";

const WRITE = "write";
const TIMES = [
  { value: "after", text: "after", title: "The pass with the edits" },
  { value: "before", text: "before", title: "The pass without them" },
  { value: "difference", text: "difference", title: "After less before" },
];
const EXAMPLE = 'encoder.0.self heads 2: from "another text"';
const HELP = `place: change, such as ${EXAMPLE}; Enter applies it`;

export class EditBar {
  writes = false; // a line is being written
  beside = el("div"); // the row above

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.ready = listOf("edit", (chosen) => this.choose(chosen));
    this.when = new Choice("see", (when) => stage.set({ when }));
    this.lines = el("div", { class: "edit-lines", role: "group", "aria-label": "Edits" });
    this.none = el("button", { type: "button", text: "undo all", onclick: () => this.put([]) });
    this.typed = el("input", {
      type: "text",
      placeholder: EXAMPLE,
      title: HELP,
      "aria-label": `An edit: ${HELP}`,
      spellcheck: "false",
      onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && this.write(),
    });
    const label = el("span", { class: "choice-label", text: "edited", "aria-hidden": "true" });
    this.label = el("div", { class: "choice" }, [label, this.lines, this.none]);
    this.root = el("div", { class: "bar edit-bar" }, [this.when.root, this.label, this.typed]);
  }

  get header() {
    return this.stage.data.header;
  }

  /** @param {string} chosen */
  choose(chosen) {
    if (chosen === WRITE) {
      this.writes = true;
      this.draw();
      this.typed.focus();
      return;
    }
    const found = this.options().find(({ value }) => value === chosen);
    if (found) this.put(toggled(this.header.edits, found.line));
  }

  write() {
    const line = this.typed.value.trim();
    if (line) this.put(toggled(this.header.edits, line));
  }

  /** @param {string[]} lines */
  put(lines) {
    this.stage.act({ type: "edits", text: lines.join("\n") });
  }

  options() {
    const { view, stack } = this.stage;
    return readyEdits(view, { feeds: this.header.feeds, whole: stack.whole });
  }

  draw() {
    const { view } = this.stage;
    const { edits, editable } = this.header;
    const first = { value: "", text: "change this head…", title: "What would it be without it?" };
    const last = { value: WRITE, text: "write an edit…", title: HELP };
    const options = this.options().map(({ value, text, title }) => ({ value, text, title }));
    this.ready.update([first, ...options, last], "");
    const ofHead = ["grid", "head", "lines", "numbers"].includes(view.view);
    this.ready.root.classList.toggle("absent", !editable || !ofHead);
    const crowded = view.view === "head" || (view.view === "grid" && view.sort !== "layer");
    const apart = this.place(editable && crowded);
    this.root.classList.toggle("absent", !edits.length && !this.writes && !apart);
    this.typed.classList.toggle("absent", !this.writes);
    this.label.classList.toggle("absent", !edits.length);
    const times = timesOf(view.view, this.header);
    this.when.update(
      TIMES.filter(({ value }) => times.includes(/** @type {any} */ (value))),
      [view.when],
    );
    this.when.root.classList.toggle("absent", times.length < 2);
    this.chips(edits);
  }

  /** The list stands apart, in this row, where the one above has no room for it. @param {boolean} apart */
  place(apart) {
    const home = apart ? this.root : this.beside;
    if (this.ready.root.parentElement === home) return apart;
    if (apart) home.prepend(this.ready.root);
    else home.append(this.ready.root);
    return apart;
  }

  /** @param {string[]} edits */
  chips(edits) {
    const signature = JSON.stringify(edits);
    if (this.lines.dataset.shown === signature) return;
    this.lines.dataset.shown = signature;
    this.typed.value = "";
    this.lines.replaceChildren(
      ...edits.map((line) =>
        el(
          "button",
          {
            type: "button",
            title: `Take back ${line}`,
            "aria-label": `Take back ${line}`,
            onclick: () => this.put(edits.filter((each) => each !== line)),
          },
          [el("span", { text: line }), " ×"],
        ),
      ),
    );
  }
}
