/* A phone as the clicker of a talk: two large buttons, the notes, the timer. */

import { button, el, reveal, typed } from "../browser/dom.js";
import { t } from "../browser/words.js";
import { nextOf, tick } from "./clocks.js";
import { Hall } from "./hall.js";
import { optionsOf } from "./question.js";

/** @import { Heard, Press } from "./types" */

const THE_SHOW = "the show";
const KEPT = "attention-lab:device";

/** Fills the page of a clicker. @param {HTMLElement} place @param {string} root @param {string} code */
export function startClicker(place, root, code) {
  const name = nameOfDevice();
  const hall = new Hall(root, code, location.hash.slice(1) || "none");
  /** @type {Heard | null} */ let heard = null;
  const isRefused = () => Boolean(heard) && ![name, THE_SHOW].includes(heard?.driver ?? "");
  const refusal = el("p", { class: "driver", role: "status" });
  const press = (/** @type {object} */ of) => {
    if (isRefused() && !("type" in of && of.type === "drive")) {
      refusal.classList.remove("again");
      requestAnimationFrame(() => refusal.classList.add("again"));
    } else hall.ask(/** @type {Press} */ ({ from: name, ...of }));
  };
  const work = (/** @type {string} */ text, /** @type {object} */ of, /** @type {string} */ label = text) =>
    button({ text, "aria-label": label, onclick: () => press(of) });
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
      el("div", {}, [said, where, following, refusal]),
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
  const takeOver = button({ text: t("take over"), onclick: () => press({ type: "drive" }) });
  hall.onShared((shared) => {
    heard = shared;
    const { goes: at, stops, driver } = shared;
    document.title = `${at + 1}/${stops.length} ${shared.title}`;
    where.textContent = `${at + 1} / ${stops.length}  ${stops[at]}`;
    following.replaceChildren(...nextOf(stops[at + 1]));
    reveal(refusal, isRefused());
    refusal.replaceChildren(t(`${driver} drives, so that presses here do nothing. `), takeOver);
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

/* By which the lecturer's devices are told apart. */
function nameOfDevice() {
  const kind = navigator.userAgent.match(/iPhone|iPad|Android|Windows|Macintosh|Linux/)?.[0] ?? "device";
  const name = sessionStorage.getItem(KEPT) ?? `${kind} ${Math.floor(10 + 90 * Math.random())}`;
  sessionStorage.setItem(KEPT, name);
  return name;
}
