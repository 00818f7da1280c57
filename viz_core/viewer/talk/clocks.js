/* The clock and the timer of the lecturer's devices, and what comes next. */

import { typed } from "../browser/dom.js";
import { t, tWith } from "../browser/words.js";

/** @import { Shared } from "./types" */

/** @param {HTMLElement} clock @param {HTMLElement} timer @param {Shared | null} shared */
export function tick(clock, timer, shared) {
  const now = new Date();
  clock.textContent = now.toLocaleTimeString(document.documentElement.lang, {
    hour: "2-digit",
    minute: "2-digit",
  });
  const { started, minutes } = shared?.timer ?? { started: 0, minutes: 0 };
  const seconds = started ? Math.floor(now.getTime() / 1000 - started) : 0;
  timer.textContent = `${minuteText(seconds)}${minutes ? ` / ${minuteText(60 * minutes)}` : ""}`;
  timer.classList.toggle("late", Boolean(minutes) && seconds > 60 * minutes);
}

/** @param {string | undefined} title of the next stop */
export function nextOf(title) {
  return title === undefined ? [t("This is the last stop.")] : tWith`Next: ${typed(title)}`;
}

/** @param {number} seconds */
function minuteText(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
