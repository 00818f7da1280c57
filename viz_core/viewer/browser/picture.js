/* What a page shows as an SVG: its texts stay texts, its canvases become pictures. And the same as a PNG. */

import { asTyped, contextOf, el } from "./dom.js";
import { saveFile } from "./files.js";

const MARGIN = 16;
const SHARPNESS = 2; // pixels of a PNG for one of the screen
const SHAPE = [
  ...[
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-linecap",
  ],
  ...["opacity", "display", "visibility", "marker-end", "clip-path", "text-anchor", "dominant-baseline"],
  ...["font-family", "font-size", "font-weight", "font-style", "paint-order", "vector-effect"],
];
const SHADE = /(rgba?\([^)]*\))(?: ([\d.]+)%)?/g;
/** What a picture leaves out: controls that are no words of it, and what is only heard. */
const UNSEEN = "select, input, textarea, style, script, .actions, .heard, .modebar";

/** @typedef {{x: number, y: number, right: number, bottom: number}} Corner where on the page a picture
   begins, and how far it is drawn by now */

/** Parts of a page as one SVG, each where the screen has it.
   @param {HTMLElement[]} parts @param {string} background */
export function svgOf(parts, background) {
  const boxes = parts
    .map((part) => part.getBoundingClientRect())
    .filter(({ width, height }) => width * height);
  const x = Math.min(...boxes.map(({ left }) => left)) - MARGIN;
  const y = Math.min(...boxes.map(({ top }) => top)) - MARGIN;
  const from = { x, y, right: x, bottom: y };
  const drawn = parts.map((part) => drawing(part, from)).join("");
  const right = Math.min(from.right, Math.max(...boxes.map((box) => box.right)));
  const bottom = Math.min(from.bottom, Math.max(...boxes.map((box) => box.bottom)));
  const [width, height] = [Math.ceil(right - x + MARGIN), Math.ceil(bottom - y + MARGIN)];
  const names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const ground = `<rect width="100%" height="100%" fill="${background}"/>`;
  return { width, height, svg: `<svg ${names} ${size}>${ground}${drawn}</svg>` };
}

/** Notes that something is drawn as far as this. @param {Corner} from
   @param {{right: number, bottom: number}} box */
function reach(from, { right, bottom }) {
  from.right = Math.max(from.right, right);
  from.bottom = Math.max(from.bottom, bottom);
}

/** @param {Element} node @param {Corner} from @returns {string} */
function drawing(node, from) {
  if (node.matches(UNSEEN) || !node.checkVisibility({ visibilityProperty: true })) return "";
  const style = getComputedStyle(node);
  const { opacity, overflow, transform, rotate } = style;
  if (opacity === "0") return "";
  if (transform === "none" && rotate === "none") {
    const inside = within(node, style, from);
    const clipped = overflow === "visible" ? inside : clip(node, inside, from);
    return opacity === "1" ? clipped : `<g opacity="${opacity}">${clipped}</g>`;
  }
  // A turned part is measured as it lies before it is turned.
  const { style: own } = /** @type {HTMLElement} */ (node);
  const before = own.cssText;
  const [left, top] = style.transformOrigin.split(" ").map(Number.parseFloat);
  own.cssText += "; transform: none !important; rotate: none !important; transition: none !important";
  try {
    const box = node.getBoundingClientRect();
    const [atX, atY] = [box.left - from.x + left, box.top - from.y + top];
    const turned = new DOMMatrix(rotate === "none" ? "" : `rotate(${rotate})`).multiply(
      new DOMMatrix(transform === "none" ? "" : transform),
    );
    const { a, b, c, d, e, f } = turned;
    const put = `translate(${atX} ${atY}) matrix(${[a, b, c, d, e, f]}) translate(${-atX} ${-atY})`;
    return `<g transform="${put}" opacity="${opacity}">${within(node, style, from)}</g>`;
  } finally {
    own.cssText = before;
  }
}

/** @param {Element} node @param {CSSStyleDeclaration} style @param {Corner} from */
function within(node, style, from) {
  const box = node.getBoundingClientRect();
  const { left, top, width, height } = box;
  const place = `x="${left - from.x}" y="${top - from.y}" width="${width}" height="${height}"`;
  if (node instanceof HTMLCanvasElement || node instanceof SVGSVGElement) reach(from, box);
  if (node instanceof HTMLCanvasElement)
    return width * height ? `<image ${place} href="${node.toDataURL()}"/>` : "";
  if (node instanceof SVGSVGElement) return copyOf(node, place);
  const children = Array.from(node.childNodes, (child) => {
    if (child instanceof Element) return drawing(child, from);
    return child instanceof Text ? written(child, style, from) : "";
  });
  return boxOf(style, box, from) + children.join("");
}

/** The ground, the outline and the borders of a part. @param {CSSStyleDeclaration} style
   @param {DOMRect} box @param {Corner} from */
function boxOf(style, { left, top, right, bottom }, from) {
  const [x, y, r, b] = [left - from.x, top - from.y, right - from.x, bottom - from.y];
  const radius = Number.parseFloat(style.borderTopLeftRadius) || 0;
  const frame = (/** @type {number} */ out, /** @type {string} */ paint) => {
    reach(from, { right, bottom });
    const size = `width="${r - x + 2 * out}" height="${b - y + 2 * out}"`;
    return `<rect x="${x - out}" y="${y - out}" ${size} rx="${radius}" ${paint}/>`;
  };
  const line = (/** @type {string} */ colour, /** @type {number} */ width) =>
    `fill="none" stroke="${colour}" stroke-width="${width}"`;
  const isClear = /^rgba\(.*, 0\)$/.test(style.backgroundColor);
  let drawn = isClear ? "" : frame(0, `fill="${style.backgroundColor}"`);
  const shades = [...style.backgroundImage.matchAll(SHADE)];
  if (style.backgroundImage.startsWith("linear-gradient") && shades.length) {
    const stop = (/** @type {RegExpMatchArray} */ [, colour, share], /** @type {number} */ at) =>
      `<stop offset="${share ?? (100 * at) / (shades.length - 1)}%" stop-color="${colour}"/>`;
    const id = newId();
    drawn += `<linearGradient id="${id}">${shades.map(stop).join("")}</linearGradient>`;
    drawn += frame(0, `fill="url(#${id})"`);
  }
  const outline = style.outlineStyle === "none" ? 0 : Number.parseFloat(style.outlineWidth);
  const offset = Number.parseFloat(style.outlineOffset) + outline / 2;
  if (outline) drawn += frame(offset, line(style.outlineColor, outline));
  const sides = /** @type {const} */ (["Top", "Right", "Bottom", "Left"]).map((side) => ({
    width: Number.parseFloat(style[`border${side}Width`]),
    colour: style[`border${side}Color`],
  }));
  const [{ width, colour }] = sides;
  if (width && sides.every((side) => side.width === width && side.colour === colour))
    return drawn + frame(-width / 2, line(colour, width));
  const paths = [`M${x} ${y}H${r}`, `M${r} ${y}V${b}`, `M${x} ${b}H${r}`, `M${x} ${y}V${b}`];
  sides.forEach((side, at) => {
    if (side.width) drawn += `<path d="${paths[at]}" ${line(side.colour, side.width)}/>`;
  });
  return drawn;
}

/** The lines of a text, each as wide as on the screen whichever font draws it.
   @param {Text} node @param {CSSStyleDeclaration} style @param {Corner} from */
function written(node, style, from) {
  const range = document.createRange();
  const isVertical = style.writingMode !== "horizontal-tb";
  /** @type {{text: string, left: number, top: number, right: number, bottom: number}[]} */ const lines = [];
  for (const { index, 0: word } of node.data.matchAll(/\S+/gu)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const { left, top, right, bottom } = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && (isVertical ? last.left === left : Math.abs(last.top - top) < 2))
      Object.assign(last, { text: `${last.text} ${word}`, right, bottom });
    else if (right > left) lines.push({ text: word, left, top, right, bottom });
  }
  const { color, fontFamily, fontSize, fontWeight, fontStyle } = style;
  const font = `font-family="${asTyped(fontFamily).replaceAll('"', "'")}" font-size="${fontSize}"`;
  const kind = `${font} font-weight="${fontWeight}" font-style="${fontStyle}" fill="${color}"`;
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = measured(style);
  const drawn = lines.map((line) => {
    reach(from, line);
    const [x, y, width, height] = [
      line.left - from.x,
      line.top - from.y,
      line.right - line.left,
      line.bottom - line.top,
    ];
    const turned = `transform="translate(${x + descent} ${y}) rotate(90)" textLength="${height}"`;
    const level = `x="${x}" y="${y + (height * ascent) / (ascent + descent)}" textLength="${width}"`;
    const place = isVertical ? turned : level;
    return `<text ${place} lengthAdjust="spacingAndGlyphs" ${kind}>${asTyped(line.text)}</text>`;
  });
  return drawn.join("");
}

/** @param {CSSStyleDeclaration} style */
function measured({ fontStyle, fontWeight, fontSize, fontFamily }) {
  const pen = contextOf(document.createElement("canvas"));
  pen.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  return pen.measureText("Ag");
}

/** Shapes with what style sheets say of them. @param {SVGSVGElement} node @param {string} place */
function copyOf(node, place) {
  const copy = /** @type {SVGSVGElement} */ (node.cloneNode(true));
  const copies = copy.querySelectorAll("*");
  node.querySelectorAll("*").forEach((shape, at) => {
    const style = getComputedStyle(shape);
    for (const name of SHAPE) copies[at].setAttribute(name, style.getPropertyValue(name));
    copies[at].removeAttribute("class");
  });
  for (const title of copy.querySelectorAll("title")) title.remove();
  const inside = new XMLSerializer().serializeToString(copy).replace(/^<svg[^>]*>|<\/svg>$/g, "");
  const box = node.getAttribute("viewBox");
  return `<svg ${place} overflow="visible"${box ? ` viewBox="${box}"` : ""}>${inside}</svg>`;
}

let ids = 0;
const newId = () => `of-picture-${++ids}`;

/** @param {Element} node @param {string} inside @param {Corner} from */
function clip(node, inside, { x, y }) {
  const { left, top, width, height } = node.getBoundingClientRect();
  const [id, place] = [newId(), `x="${left - x}" y="${top - y}"`];
  const cut = `<clipPath id="${id}"><rect ${place} width="${width}" height="${height}"/></clipPath>`;
  return `${cut}<g clip-path="url(#${id})">${inside}</g>`;
}

/** Hands parts of a page to whoever looks, as a file.
   @param {"svg" | "png"} kind @param {HTMLElement[]} parts @param {string} title that its name is made of */
export async function savePicture(kind, parts, title) {
  const background = getComputedStyle(parts[0]).getPropertyValue("--lab-background-color").trim() || "white";
  const { width, height, svg } = svgOf(parts, background);
  if (kind === "svg") return saveFile(svg, title, "svg");
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = el("canvas", { width: width * SHARPNESS, height: height * SHARPNESS });
  contextOf(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done));
  saveFile(/** @type {Blob} */ (blob), title, "png");
}
