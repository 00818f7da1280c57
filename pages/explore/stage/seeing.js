/* A picture, and over it the weights of the positions that read its parts. */

import { el } from "../../shared/browser/dom.js";

/** @typedef {import("../../shared/browser/message.js").Framed} Framed */
/** @typedef {import("./types").Row} Row */

const STRONGEST = 0.85; // how thick the colour of the greatest weight lies

/**
 * The parts that have each a position, with the weight of that position, and the greatest of these weights.
 * @param {number[][]} places
 * @param {Row | null} row
 */
export function weighed(places, row) {
  const weights = places.map((line) => line.map((at) => row?.weights[at - row.k0] ?? 0));
  return { weights, most: Math.max(...weights.flat()) };
}

/** The tokens that read no part of the picture. @param {number[][]} places @param {number} count */
export function elsewhere(places, count) {
  const read = new Set(places.flat());
  return Array.from({ length: count }, (_, at) => at).filter((at) => !read.has(at));
}

/**
 * The position that reads the point at these shares of the picture's height and width.
 * @param {number[][]} places @param {number} down @param {number} along
 */
export function placeAt(places, down, along) {
  /** @param {number} share @param {number} count */
  const within = (share, count) => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  const line = places[within(down, places.length)];
  return line[within(along, line.length)];
}

/**
 * The part that a position reads, as shares of the picture: from its first part to its last.
 * @param {number[][]} places @param {number} at
 */
export function boxOf(places, at) {
  const [rows, columns] = [places.length, places[0].length];
  const found = places.flatMap((line, i) => line.flatMap((each, j) => (each === at ? [[i, j]] : [])));
  if (!found.length) return null;
  const [[top, left], [bottom, right]] = [found[0], found[found.length - 1]];
  return {
    top: top / rows,
    left: left / columns,
    height: (bottom - top + 1) / rows,
    width: (right - left + 1) / columns,
  };
}

/**
 * The position whose part lies so many parts further down and along; the same at an edge.
 * @param {number[][]} places @param {number} at @param {[number, number]} by
 */
export function stepped(places, at, [down, along]) {
  const box = boxOf(places, at);
  if (!box) return places[0][0];
  return placeAt(places, box.top + box.height * (down + 0.5), box.left + box.width * (along + 0.5));
}

/** A picture in grey or in colour as an image of its own pixels. @param {Framed} levels */
export function imageFrom({ values, shape: [rows, columns, channels = 1] }) {
  const image = new ImageData(columns, rows);
  for (let at = 0; at < rows * columns; at++) {
    for (let c = 0; c < 3; c++) image.data[4 * at + c] = values[channels * at + (c % channels)];
    image.data[4 * at + 3] = 255;
  }
  const canvas = el("canvas", { width: columns, height: rows });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Takes the colours out of what is drawn, so that the weights over it have the only one.
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {number} height
 */
export function drain(context, width, height) {
  context.globalCompositeOperation = "saturation";
  context.fillStyle = "#808080";
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = "source-over";
}

/**
 * Lays a colour over a picture's parts, as thick as the weights of the positions that read them.
 * @param {CanvasRenderingContext2D} context
 * @param {ReturnType<typeof weighed>} weighed
 * @param {string} colour
 * @param {number} width
 * @param {number} height
 */
export function lay(context, { weights, most }, colour, width, height) {
  const [down, along] = [height / weights.length, width / weights[0].length];
  context.fillStyle = colour;
  weights.forEach((line, i) =>
    line.forEach((weight, j) => {
      context.globalAlpha = (STRONGEST * weight) / (most || 1);
      context.fillRect(j * along, i * down, along, down);
    }),
  );
  context.globalAlpha = 1;
}
