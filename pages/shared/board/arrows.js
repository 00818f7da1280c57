/* Where the arrows of a diagram begin and end, so that they pass behind as few boxes as can be;
   viz_core/boards/panels/diagram.py does alike. */

/** @typedef {[x: number, y: number]} Point */
/** @typedef {[from: Point, to: Point]} Line */

/**
 * A line from one side of a box to the facing side of another.
 * @param {Line} centres of both boxes
 * @param {Point} size of a box
 * @param {boolean} upright whether it goes from top to bottom or back, where it could go either way
 * @returns {Line}
 */
function lineOf([[x1, y1], [x2, y2]], [wide, tall], upright) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  if (Math.abs(dx) <= 1 || (upright && Math.abs(dy) > 1)) {
    const out = (Math.sign(dy) * tall) / 2;
    return [
      [x1, y1 + out],
      [x2, y2 - out],
    ];
  }
  const out = (Math.sign(dx) * wide) / 2;
  return [
    [x1 + out, y1],
    [x2 - out, y2],
  ];
}

/**
 * Whether a line passes behind a box.
 * @param {Line} line
 * @param {Point} centre of the box
 * @param {Point} size
 */
function passes([[x1, y1], [x2, y2]], [x, y], [wide, tall]) {
  const [dx, dy] = [(x2 - x1) / 2, (y2 - y1) / 2];
  const [right, down] = [x - x1 - dx, y - y1 - dy]; // from the line's middle
  return (
    Math.abs(right) < wide / 2 + Math.abs(dx) &&
    Math.abs(down) < tall / 2 + Math.abs(dy) &&
    Math.abs(dx * down - dy * right) < (wide * Math.abs(dy) + tall * Math.abs(dx)) / 2
  );
}

/**
 * The lines of a diagram's arrows: all that lead to another row leave by the same sides.
 * @param {Line[]} edges from the centre of a box to that of another
 * @param {Point[]} boxes their centres
 * @param {Point} size of a box
 */
export function arrowsOf(edges, boxes, size) {
  const ways = [false, true].map((upright) => edges.map((edge) => lineOf(edge, size, upright)));
  /** @param {Line[]} lines */
  const crossings = (lines) =>
    lines.reduce((sum, line) => sum + boxes.filter((box) => passes(line, box, size)).length, 0);
  const [sideways, upright] = ways;
  return crossings(upright) < crossings(sideways) ? upright : sideways;
}
