/* How pictures follow numbers that are there at once: in at most 600 ms, by one easing, and still where less
   motion is asked for. */

export const MOST = 600; // milliseconds
const LEAST = 120; // what changes again so soon, under a hand that drags, is drawn at once
const POWER = 3;

/** How far a motion has come, fast at first, as board.css has it. @param {number} share of its time */
export const eased = (share) => 1 - (1 - share) ** POWER;

/** Whether nothing is to move by itself: what would play goes step by step. */
export const isStill = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** How long a change may take, so that none lags behind the next. @param {number} since the one before it */
export function lasting(since) {
  return isStill() || since < LEAST ? 0 : Math.min(MOST, since);
}

/** Draws a motion that takes so many milliseconds; returns what stops it.
   @param {number} duration @param {(share: number) => void} draw is told how far it has come, in the end 1 */
export function play(duration, draw) {
  const began = performance.now();
  let next = 0;
  const step = () => {
    const share = duration ? Math.min(1, (performance.now() - began) / duration) : 1;
    draw(eased(share));
    if (share < 1) next = requestAnimationFrame(step);
  };
  step();
  return () => cancelAnimationFrame(next);
}

/** What lies between two numbers, or lists of them; anything else is at its end at once.
   @param {any} from @param {any} to @param {number} share of the way @param {number} nothing for no number
   @returns {any} */
export function between(from, to, share, nothing = Number.NaN) {
  if (typeof to === "number") {
    const start = Number.isFinite(from) ? from : nothing;
    return Number.isFinite(start + to) ? start + (to - start) * share : to;
  }
  const isList = Array.isArray(to) || ArrayBuffer.isView(to);
  if (share === 1 || !isList || from?.length !== /** @type {any} */ (to).length) return to;
  return Array.from(/** @type {any[]} */ (to), (each, at) => between(from[at], each, share, nothing));
}

/** Lets a picture appear from the left in so many steps, as a sum adds up.
   @param {Element} picture @param {number} steps @param {number} duration */
export function sweep(picture, steps, duration) {
  const frames = Array.from({ length: steps + 1 }, (_, at) => ({
    offset: 1 - (1 - at / steps) ** (1 / POWER), // when it has come so far
    clipPath: `inset(0 ${100 - (100 * at) / steps}% 0 0)`,
    easing: "step-end",
  }));
  picture.animate(frames, duration);
}

/** Draws lines that go through a picture from end to end.
   @param {SVGPathElement} lines all of one length @param {number} duration */
export function cut(lines, duration) {
  const { width, height } = lines.getBBox();
  const length = Math.max(width, height);
  const drawn = (/** @type {number} */ share) => ({
    strokeDasharray: length,
    strokeDashoffset: (1 - share) * length,
  });
  lines.animate([drawn(0), drawn(1)], { duration, easing: "cubic-bezier(.33, 1, .68, 1)" });
}
