/* The clock and the timer of the lecturer's devices. */

/** @import { Shared } from "./types" */

/** @param {HTMLElement} clock @param {HTMLElement} timer @param {Shared | null} shared */
export function tick(clock, timer, shared) {
  const now = new Date();
  clock.textContent = now.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const { started, minutes } = shared?.timer ?? { started: 0, minutes: 0 };
  const seconds = started ? Math.floor(now.getTime() / 1000 - started) : 0;
  timer.textContent = `${minuteText(seconds)}${minutes ? ` of ${minuteText(60 * minutes)}` : ""}`;
  timer.classList.toggle("late", Boolean(minutes) && seconds > 60 * minutes);
}

/** @param {number} seconds */
function minuteText(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
