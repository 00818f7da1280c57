/* Where the heads lie on the map, and what colour each has. Nothing here touches the page. */

/** @typedef {import("./types").Stack} Stack */
/** @typedef {import("./types").Measure} Measure */

const DARKEST = 40; // of 0..255: the first colours are nearly the page's own

/**
 * Points of a plane in pixels: as large as fits, one unit for both axes, in the middle.
 * @param {[number, number][]} points
 * @param {number} width
 * @param {number} height
 * @param {number} margin
 * @returns {[number, number][]}
 */
export function placed(points, width, height, margin) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  const room = [Math.max(1, width - 2 * margin), Math.max(1, height - 2 * margin)];
  const unit = Math.min(room[0] / (right - left || 1e-9), room[1] / (high - low || 1e-9));
  const scale = Math.min(unit, 1e6);
  return points.map(([x, y]) => [
    width / 2 + scale * (x - (left + right) / 2),
    height / 2 - scale * (y - (low + high) / 2),
  ]);
}

/**
 * What gives the heads their colours, from the first colour to the last: a measure, or the layer.
 * @param {Stack} stack
 * @param {Measure | undefined} measure
 */
export function colouring({ layers, heads, stats }, measure) {
  const byLayer = layers.flatMap((layer) => Array(heads).fill(layer));
  const values = measure ? stats[measure.name] : byLayer;
  const low = Math.min(measure ? 0 : layers[0], ...values);
  const high = Math.max(...values);
  const level = (/** @type {number} */ value) =>
    Math.round(DARKEST + ((255 - DARKEST) * (value - low)) / (high - low || 1));
  return { values, low, high, levels: values.map(level), first: DARKEST };
}
