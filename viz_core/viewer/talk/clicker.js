/* A phone as the clicker of a talk: two large buttons, the notes, the timer. */

import { button, el, reveal, typed } from "../browser/dom.js";
import { t } from "../browser/words.js";
import { nextOf, tick } from "./clocks.js";
import { Hall } from "./hall.js";
import { optionsOf } from "./question.js";

/** @import { Heard, Press } from "./types" */

/** Fills the page of a clicker. @param {HTMLElement} place @param {string} root @param {string} code */
export function startClicker(place, root, code) {
  const hall = new Hall(root, code, location.hash.slice(1) || "none");
  /** @type {Heard | null} */ let heard = null;
  const work = (/** @type {string} */ text, /** @type {Press} */ press, /** @type {string} */ label = text) =>
    button({ text, "aria-label": label, onclick: () => hall.ask(press) });
  const [said, where, following] = [el("p", { class: "problem", role: "status" }), el("h1"), el("p")];
  const [notes, asked] = [el("div", { class: "notes", tabIndex: 0, "aria-label": t("Notes") }), el("div")];
  const [clock, timer] = [el("time"), el("output", { role: "timer", "aria-label": t("Timer") })];
  const works = [
    work(t("uncover"), { type: "uncover" }),
    work(t("blank"), { type: "blank" }),
    work(t("timer"), { type: "timer" }, "Start the timer, or set it to 0"),
  ];
  place.replaceChildren(
    el("div", { class: "clicker" }, [
      el("div", { class: "clocks" }, [clock, timer]),
      el("div", {}, [said, where, following]),
      notes,
      asked,
      el("div", { class: "works" }, works),
      el("div", { class: "large" }, [
        work("◀", { type: "go", by: -1 }, t("Back")),
        work("▶", { type: "go", by: 1 }, t("On")),
      ]),
    ]),
  );
  hall.onLife(({ sentence }) => {
    said.textContent = t(sentence);
    reveal(said, sentence);
  });
  hall.onShared((shared) => {
    heard = shared;
    const { goes: at, stops } = shared;
    document.title = `${at + 1}/${stops.length} ${shared.title}`;
    where.textContent = `${at + 1} / ${stops.length}  ${stops[at]}`;
    following.replaceChildren(...nextOf(stops[at + 1]));
    works[1].setAttribute("aria-pressed", String(shared.blank));
    notes.innerHTML = globalThis.markdownit().render(shared.notes?.[at] ?? ""); // which lets no HTML through
    asked.replaceChildren(
      ...(shared.asked
        ? [el("p", {}, [typed(shared.asked.ask)]), optionsOf(shared.asked, shared.counts)]
        : []),
    );
    tick(clock, timer, heard);
  });
  setInterval(() => tick(clock, timer, heard), 500);
  const keepAwake = () => navigator.wakeLock?.request("screen").catch(() => {});
  document.addEventListener("visibilitychange", keepAwake);
  keepAwake();
}
