/* The boxes of a computation. */

import { el, onPhone, shorten, svg, textWidth } from "../../browser/dom.js";
import { caption } from "../words.js";

/** @typedef {[x: number, y: number]} Point */
/** @typedef {[from: Point, to: Point]} Line */
/** @import { Node } from "../specs" */

/** A line from one side of a box to the facing side of another.
   @param {Line} centres of both boxes @param {Point} size of a box
   @param {boolean} upright whether it goes from top to bottom or back, where it could go either way
   @returns {Line} */
function lineOf([[x1, y1], [x2, y2]], [wide, tall], upright) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  if (Math.abs(dx) <= 1 || (upright && Math.abs(dy) > tall)) {
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

/** Whether a line passes behind a box; where it starts or ends, it only touches one.
   @param {Line} line @param {Point} centre of the box @param {Point} size */
function passes([[x1, y1], [x2, y2]], [x, y], size) {
  const [wide, tall] = size.map((side) => side - 1);
  const [dx, dy] = [(x2 - x1) / 2, (y2 - y1) / 2];
  const [right, down] = [x - x1 - dx, y - y1 - dy]; // from the line's middle
  return (
    Math.abs(right) < wide / 2 + Math.abs(dx) &&
    Math.abs(down) < tall / 2 + Math.abs(dy) &&
    Math.abs(dx * down - dy * right) < (wide * Math.abs(dy) + tall * Math.abs(dx)) / 2
  );
}

/** The lines of a diagram's arrows: all that lead to another row leave by the same sides.
   @param {Line[]} edges from the centre of a box to that of another @param {Point[]} boxes their centres
   @param {Point} size of a box */
export function arrowsOf(edges, boxes, size) {
  const ways = [false, true].map((upright) => edges.map((edge) => lineOf(edge, size, upright)));
  const crossings = (/** @type {Line[]} */ lines) =>
    lines.reduce((sum, line) => sum + boxes.filter((box) => passes(line, box, size)).length, 0);
  const [sideways, upright] = ways;
  return crossings(upright) < crossings(sideways) ? upright : sideways;
}

const SMALLEST = 12; // pixels of letters; what is too long even so is cut
const LEAST_ROW = 19; // pixels from one box to the next below
const LEAST_BOX = 18; // pixels of a box's height, where arrows have little room between rows
const LEAST_NOTED = 36; // pixels from one box with two lines of words to the next below
const MOST_WORD = 78; // pixels that a box makes sure of for a word, where it can be scrolled to
const GAP = 14; // pixels between rows that arrows go through

let tips = 0;

export class Panel {
  /** @type {string | null} the size and the theme that it was prepared for */ ready = null;
  /** @type {{line: SVGElement, from: number, to: number}[]} */ edges = [];
  /** @type {SVGElement[]} */ boxes = [];

  /** @param {import("../specs").Board} board @param {import("../specs").DiagramSpec} spec */
  constructor(board, spec) {
    this.board = board;
    this.spec = spec;
    // a picture holds no buttons
    const role = spec.nodes.some((node) => node.frame !== null) ? "group" : "img";
    this.picture = svg("svg", { role, "aria-label": spec.title || "diagram" });
    this.root = el("figure", { class: "panel chart diagram" }, [caption(spec), this.picture]);
  }

  /** @param {import("../specs").DiagramSpec} spec */
  update(spec) {
    this.spec = spec;
    this.ready = null;
  }

  get columns() {
    return Math.max(...this.spec.nodes.map((node) => node.column)) + 1;
  }

  get rows() {
    return Math.max(...this.spec.nodes.map((node) => node.row)) + 1;
  }

  /* On a phone boxes have room for their words, and what is wider is scrolled. */
  get width() {
    const { spec, board, root, columns } = this;
    const font = `bold ${SMALLEST}px ${board.theme.font}`; // as what is lit is
    const word = Math.min(MOST_WORD, Math.max(...spec.nodes.map(({ label }) => textWidth(label, font))));
    const least = onPhone() ? columns * (spec.edges.length ? (word + 6) / 0.75 : word + 12) : 0;
    return Math.floor(Math.max(root.clientWidth, least));
  }

  get height() {
    const { rows, board, spec } = this;
    const least = spec.nodes.some((node) => node.note) ? LEAST_NOTED : LEAST_ROW;
    const row = Math.max(least, Math.min(spec.row_height, board.most / Math.min(6, Math.max(rows, 4))));
    return Math.floor(row * rows);
  }

  /* Takes its place on the page; what is in it follows when it is drawn. */
  size() {
    const size = { width: this.width, height: this.height };
    for (const [name, pixels] of Object.entries(size)) this.picture.setAttribute(name, String(pixels));
    return size;
  }

  /** @param {number} frame */
  draw(frame) {
    const { width, height } = this.size();
    const key = `${width}/${height}/${this.board.theme.background}`;
    if (width > 0 && this.ready !== key) {
      this.ready = key;
      this.picture.replaceChildren();
      this.prepare(width, height);
    }
    if (this.ready) this.move(frame);
  }

  /** @param {number} width @param {number} height */
  prepare(width, height) {
    const { spec, board, rows, columns } = this;
    const step = width / columns;
    const arrow = spec.edges.length ? Math.min(22, 0.25 * step) : 6;
    const wide = Math.min(150, step - arrow);
    const tall = this.boxHeight(height / rows);
    const tipSize = Math.max(5, Math.min(10, height / rows - tall));
    /** @param {Node} node @returns {[number, number]} */
    const centre = (node) => [(node.column + 0.5) * step, ((node.row + 0.5) * height) / rows];
    const byId = Object.fromEntries(spec.nodes.map((node, at) => [node.id, { node, at }]));
    const tip = `tip${++tips}`;
    const size = { markerUnits: "userSpaceOnUse", markerWidth: tipSize, markerHeight: tipSize };
    const marker = { id: tip, viewBox: "0 0 8 8", refX: 7, refY: 4, orient: "auto", ...size };
    this.picture.append(
      svg("defs", {}, [svg("marker", marker, [svg("path", { class: "tip", d: "M0 0L8 4L0 8Z" })])]),
    );
    /** @type {[[number, number], [number, number]][]} */
    const centres = spec.edges.map(([from, to]) => [centre(byId[from].node), centre(byId[to].node)]);
    const lines = arrowsOf(centres, spec.nodes.map(centre), [wide, tall]);
    this.edges = spec.edges.map(([from, to], at) => {
      const [[x1, y1], [x2, y2]] = lines[at];
      const line = svg("line", { class: "edge", x1, y1, x2, y2, "marker-end": `url(#${tip})` });
      return { line, from: byId[from].at, to: byId[to].at };
    });
    this.boxes = spec.nodes.map((node) => {
      const [x, y] = centre(node);
      const colour = node.colour === null ? board.theme.ink : board.colour(node.colour);
      const apart = tall < 40 ? 6 : 8;
      const label = [node.label, node.note].filter(Boolean).join(": ");
      const go = () => {
        board.scrubber.stop();
        board.show(node.frame ?? 0);
      };
      const onkeydown = (/** @type {KeyboardEvent} */ event) => {
        if (!["Enter", " "].includes(event.key)) return;
        event.preventDefault();
        go();
      };
      const press = { role: "button", tabindex: "0", class: "press", onclick: go, onkeydown };
      return svg("g", node.frame === null ? {} : press, [
        svg("rect", {
          class: node.changed ? "box changed" : "box",
          x: x - wide / 2,
          y: y - tall / 2,
          width: wide,
          height: tall,
          rx: Math.min(7, tall / 4),
          stroke: colour,
        }),
        this.words("box-label", node.label, x, node.note ? y - apart : y, colour, 14, wide),
        node.note ? this.words("box-note", node.note, x, y + apart + 2, colour, 12, wide) : null,
        svg("title", { text: label }),
      ]);
    });
    this.picture.append(...this.edges.map(({ line }) => line), ...this.boxes);
  }

  /** @param {number} frame @returns {import("../../browser/reading.js").Reading[]} */
  read(frame) {
    const { title, edges, nodes, levels } = this.spec;
    const now = levels?.frame(frame, 1);
    const there = nodes.filter((_, at) => !now || now[at] > 0);
    const label = (/** @type {string} */ id) => there.find((node) => node.id === id)?.label ?? "";
    const to = there.map(({ id }) => edges.filter(([from]) => from === id).map((edge) => label(edge[1])));
    const isLit = (/** @type {Node} */ node) => (now ? now[nodes.indexOf(node)] === 3 : node.changed);
    return [
      {
        ...{ title, form: "rows", rowAxis: "box", rows: there.map((node) => node.label) },
        columns: ["leads to", "note"],
        at: (i, j) => (j ? there[i].note : to[i].filter(Boolean).join(", ")),
        marked: (i, j) => !j && isLit(there[i]),
      },
    ];
  }

  /** How high a box is; between rows, arrows get room where there is any. @param {number} row pixels */
  boxHeight(row) {
    const { edges, nodes } = this.spec;
    if (nodes.some((node) => node.note)) return Math.min(44, row - 6);
    const between = edges.length ? Math.max(Math.min(LEAST_BOX, row - 4), row - GAP) : row - 4;
    return Math.min(34, between);
  }

  /** Text in a box: smaller where it is too long, down to SMALLEST of its size, then cut.
     @param {string} className @param {string} text @param {number} x @param {number} y @param {string} fill
     @param {number} size @param {number} wide */
  words(className, text, x, y, fill, size, wide) {
    const bold = className === "box-label" && this.spec.levels ? "bold " : ""; // as the lit one is
    const fits = (wide - 4) / textWidth(text, `${bold}${size}px ${this.board.theme.font}`);
    const scale = Math.max(SMALLEST / size, Math.min(1, fits));
    const place = {
      class: className,
      x,
      y,
      fill,
      "font-size": size * scale,
      "text-anchor": "middle",
      "dominant-baseline": "central",
    };
    return svg("text", {
      ...place,
      text: shorten(text, Math.floor((text.length * Math.min(fits, scale)) / scale + 1e-9)),
    });
  }

  /** @param {number} frame */
  move(frame) {
    const levels = this.spec.levels?.frame(frame, 1);
    if (!levels) return;
    this.boxes.forEach((box, at) => {
      box.dataset.level = String(levels[at]);
      if (this.spec.nodes[at].frame !== null) box.setAttribute("aria-pressed", String(levels[at] === 3));
    });
    for (const { line, from, to } of this.edges)
      line.dataset.level = String(Math.min(levels[from], levels[to]));
    const lit = /** @type {SVGGElement | undefined} */ (this.boxes[levels.indexOf(3)]);
    if (lit && onPhone()) this.root.scrollLeft = lit.getBBox().x - this.root.clientWidth / 2;
  }
}
