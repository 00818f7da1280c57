/* Ranges on upright axes: what a pointer or a key makes of one. Heights are shares of an axis, 0 at its lower
   end. Nothing here touches the page. */

/** @typedef {[low: number, high: number]} Range */
/** @typedef {"low" | "high" | "all" | "new"} Grip what is dragged: an end, all of the range, or a new one */

const NEAR = 6; // pixels around an end by which it is gripped
const BESIDE = 16; // pixels beside an axis where it is dragged
const OVER = 10; // pixels beyond its ends
const SAME = 1e-9;

/** @param {number} height */
const within = (height) => Math.min(1, Math.max(0, height));

/** Whether a range is all of its axis. @param {Range | null} range */
export const isWhole = (range) => !range || (range[0] <= SAME && range[1] >= 1 - SAME);

/**
 * Where the axes stand in their panel, in pixels: at 0, 1, 2, ... of a figure, each from 0 to 1.
 * @param {{x: number[], y: number[]}} shown from and to, as Plotly has them
 * @param {{left: number, top: number, width: number, height: number}} body
 * @param {number} count
 */
export function placesOf({ x, y }, { left, top, width, height }, count) {
  /** @param {number} at */
  const down = (at) => top + ((y[1] - at) / (y[1] - y[0])) * height;
  return Array.from({ length: count }, (_, at) => ({
    left: left + ((at - x[0]) / (x[1] - x[0])) * width,
    top: down(1),
    height: down(0) - down(1),
  }));
}

/**
 * The axis at a point of the panel, and its height there; null beside all axes.
 * @param {ReturnType<typeof placesOf>} places
 * @param {number} x
 * @param {number} y
 */
export function axisAt(places, x, y) {
  const at = places.findIndex(
    ({ left, top, height }) => Math.abs(x - left) <= BESIDE && y >= top - OVER && y <= top + height + OVER,
  );
  if (at < 0) return null;
  return { at, height: within(1 - (y - places[at].top) / places[at].height) };
}

/**
 * What is gripped at a height of an axis.
 * @param {Range | null} range
 * @param {number} height
 * @param {number} pixels of the axis
 * @returns {Grip}
 */
export function gripAt(range, height, pixels) {
  if (!range || isWhole(range)) return "new";
  const [low, high] = range.map((end) => Math.abs(end - height) * pixels);
  if (Math.min(low, high) <= NEAR) return high <= low ? "high" : "low";
  return height > range[0] && height < range[1] ? "all" : "new";
}

/**
 * The range after a drag from one height to another.
 * @param {Grip} grip
 * @param {Range | null} range
 * @param {number} from
 * @param {number} to
 * @returns {Range}
 */
export function dragged(grip, range, from, to) {
  const [low, high] = range ?? [0, 1];
  if (grip === "all") {
    const by = Math.min(1 - high, Math.max(-low, to - from));
    return [low + by, high + by];
  }
  const [fixed, moved] = grip === "low" ? [high, to] : grip === "high" ? [low, to] : [from, to];
  return [within(Math.min(fixed, moved)), within(Math.max(fixed, moved))];
}

/**
 * The range after a key on one of its ends, which goes from stop to stop and not past the other end; null for
 * a key that does nothing there.
 * @param {Range | null} range
 * @param {0 | 1} end the lower or the upper one
 * @param {string} key
 * @param {number[]} stops
 * @returns {Range | null}
 */
export function stepped(range, end, key, stops) {
  const now = range ?? [0, 1];
  const [least, most] = end ? [now[0], 1] : [0, now[1]];
  const free = [...new Set([0, ...stops, 1])].filter((at) => at >= least - SAME && at <= most + SAME);
  free.sort((a, b) => a - b);
  const up = free.find((at) => at > now[end] + SAME) ?? most;
  const down = free.findLast((at) => at < now[end] - SAME) ?? least;
  /** @type {Record<string, number>} */
  const keys = { ArrowUp: up, ArrowRight: up, ArrowDown: down, ArrowLeft: down, Home: least, End: most };
  if (!(key in keys)) return null;
  return end ? [now[0], keys[key]] : [keys[key], now[1]];
}

/**
 * The words at an end: the value that is nearest to it; of choices, the outermost that is taken in.
 * @param {import("./specs").Upright} upright
 * @param {0 | 1} end
 * @param {number} height
 */
export function wordsAt({ stops, said }, end, height) {
  const far = stops.map((stop) => Math.abs(stop - height));
  const at = far.indexOf(Math.min(...far));
  return said[Math.max(0, said.length < stops.length ? at - end : at)] ?? "–";
}
