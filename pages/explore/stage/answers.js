/* What is written without the edits and with them, and the heads that the answer needs. */

import { el } from "../../shared/browser/dom.js";

/** @typedef {import("./types").Smallest} Smallest */

const NAMES = { self: "self-attention", cross: "cross-attention" };

export class Answers {
  asked = ""; // of which inputs the answers were asked for

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.before = el("td", {});
    this.after = el("td", {});
    const search = () => stage.act({ type: "smallest", stack: stage.view.stack });
    this.search = el("button", { type: "button", onclick: search });
    this.said = el("span", { "aria-live": "polite" });
    const take = () => stage.act({ type: "edits", text: this.lines.join("\n") });
    this.take = el("button", { type: "button", text: "switch these off", onclick: take });
    this.root = el("section", { class: "answers" }, [
      el("h3", { text: "What it writes, word by word to the end" }),
      el("table", {}, [
        el("tbody", {}, [
          el("tr", {}, [el("th", { scope: "row", text: "before" }), this.before]),
          el("tr", {}, [el("th", { scope: "row", text: "after" }), this.after]),
        ]),
      ]),
      el("div", { class: "choice search" }, [this.search, this.said, this.take]),
    ]);
  }

  /** @type {string[]} */
  lines = [];

  draw() {
    const { data, stack, act, view } = this.stage;
    const { writes, written, smallest, link } = data.header;
    this.root.classList.toggle("absent", !writes);
    if (!writes) return;
    const need = JSON.stringify(link);
    if (!written?.asked && this.asked !== need) {
      this.asked = need;
      act({ type: "written" });
    }
    const waits = written?.problem ?? "…";
    this.before.textContent = written?.before ?? waits;
    this.after.textContent = written?.after ?? waits;
    this.after.classList.toggle("other", written?.before !== written?.after);
    const found = smallest?.asked?.[0] === view.stack ? smallest : undefined;
    this.search.textContent = `which heads of ${stack.title} does the answer need?`;
    this.search.classList.toggle("absent", Boolean(found));
    this.lines = found?.lines ?? [];
    this.said.textContent = saidOf(found);
    this.take.classList.toggle("absent", !this.lines.length);
  }
}

/** What a search has found. @param {Smallest | undefined} found */
export function saidOf(found) {
  if (!found) return "";
  if (found.problem) return found.problem;
  const { lines = [], answer, tried, whole = 0, heads } = found;
  if (!lines.length) {
    const all = whole === heads ? "No set of them" : `No set of up to ${whole} of its ${heads} heads`;
    return `${all}, switched off alone, changes the answer; ${tried} sets were tried. `;
  }
  const named = lines.map(nameOf).join(" and ");
  const fewer = whole ? `No ${whole === 1 ? "single head" : `set of up to ${whole}`} is enough. ` : "";
  return `${fewer}Without ${named} it writes “${answer}”; ${tried} sets were tried. `;
}

/** The heads that a line switches off, in words. @param {string} line */
function nameOf(line) {
  const [, layer, kind, heads] = /\.(\d+)\.(self|cross) heads ([\d,]+):/.exec(line) ?? [];
  const named = `${heads.includes(",") ? "heads" : "head"} ${heads.replaceAll(",", ", ")}`;
  return `${named} of ${NAMES[/** @type {"self"} */ (kind)]} in layer ${layer}`;
}
