/* Small helpers: elements, colours, numbers. Text reaches the page through textContent only, never as HTML. */

export function el(tag, attributes = {}, children = []) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") node.textContent = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(Boolean));
  return node;
}

export function number(value, digits = 2) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const small = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  return (small ? value.toExponential(1) : value.toFixed(digits)).replaceAll("-", "−");
}

/* The same where there is little room: what the digits would round away is about nothing. */
export function shortNumber(value, digits = 2) {
  return value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits ? "≈0" : number(value, digits);
}

/* A group of buttons of which one (or, with `many`, any number) is pressed. The same buttons are kept while the
   options stay the same, so that keyboard focus survives a redraw. */
export class Choice {
  constructor(label, onChoose, className = "") {
    this.buttons = [];
    this.shown = "";
    this.onChoose = onChoose;
    this.list = el("div", { class: "choice-list" });
    this.root = el("div", { class: `choice ${className}`, role: "group", "aria-label": label }, [
      el("span", { class: "choice-label", text: label, "aria-hidden": "true" }),
      this.list,
    ]);
    this.list.addEventListener("keydown", (event) => this.move(event));
  }

  move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const here = this.buttons.indexOf(event.target);
    const next = this.buttons[(here + step + this.buttons.length) % this.buttons.length];
    next.focus();
    event.preventDefault();
  }

  /* options: [{value, text, colour?, title?}] */
  update(options, pressed) {
    const signature = JSON.stringify(options);
    if (signature !== this.shown) {
      this.shown = signature;
      this.buttons = options.map((option) =>
        el("button", {
          type: "button",
          text: option.text,
          title: option.title,
          "aria-label": option.name,
          "data-value": option.value,
          style: option.colour ? `--chip:${option.colour}` : null,
          onclick: (event) => this.onChoose(option.value, event),
        }),
      );
      this.list.replaceChildren(...this.buttons);
    }
    options.forEach((option, index) => {
      this.buttons[index].setAttribute("aria-pressed", String(pressed.includes(option.value)));
    });
  }
}

/* A canvas of `width` x `height` CSS pixels, sharp on every screen. */
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio);
  const h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export function lookupTable(hex) {
  const table = new Uint8ClampedArray(hex.length / 2);
  for (let i = 0; i < table.length; i++) table[i] = parseInt(hex.substr(2 * i, 2), 16);
  return table;
}

/* An image of values in 0..255 (or null for a blank cell) through a 256-colour table. */
export function imageOf(width, height, level, table) {
  const image = new ImageData(width, height);
  const pixels = image.data;
  for (let at = 0; at < width * height; at++) {
    const value = level(at);
    if (value === null) continue;
    const from = 3 * value;
    pixels[4 * at] = table[from];
    pixels[4 * at + 1] = table[from + 1];
    pixels[4 * at + 2] = table[from + 2];
    pixels[4 * at + 3] = 255;
  }
  return canvasOf(image);
}

/* Colour levels 0..255 of a matrix [query, key]: {level(cell) or null where masked, extent}. Weights run from 0 to 1, to the
   row's largest, or over four powers of ten; signed values lie around 127.5. */
export function colourLevels(values, columns, range, signed) {
  const size = (value) => (Number.isFinite(value) ? Math.abs(value) : 0);
  const largest = (from, to) => {
    let most = 1e-12;
    for (let at = from; at < to; at++) most = Math.max(most, size(values[at]));
    return most;
  };
  const extent = signed ? largest(0, values.length) : 1;
  const rows = [];
  if (range === "row") for (let at = 0; at < values.length; at += columns) rows.push(largest(at, at + columns));
  const reach = (at) => (range === "row" ? rows[Math.floor(at / columns)] : extent);
  const level = (at) => {
    const value = values[at];
    if (value === -Infinity) return null;
    if (signed) return Math.round(127.5 + (127.5 * value) / reach(at));
    if (range === "log") return Math.round(255 * Math.max(0, 1 + Math.log10(Math.max(value, 1e-12)) / 4));
    return Math.round((255 * value) / reach(at));
  };
  return { level, extent };
}

/* The same for bytes that are levels already: one look-up a cell, for the many thumbnails of a grid. */
export function imageOfBytes(width, height, bytes, table) {
  const colours = new Uint32Array(256);
  const parts = new Uint8ClampedArray(colours.buffer);
  for (let level = 0; level < 256; level++) parts.set([table[3 * level], table[3 * level + 1], table[3 * level + 2], 255], 4 * level);
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < bytes.length; at++) pixels[at] = colours[bytes[at]];
  return canvasOf(image);
}

function canvasOf(image) {
  const canvas = document.createElement("canvas");
  canvas.width = image.width;
  canvas.height = image.height;
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

export function cssColour(table, level) {
  return `rgb(${table[3 * level]},${table[3 * level + 1]},${table[3 * level + 2]})`;
}

/* Black or white, whichever reads better on a colour of the table (relative luminance, WCAG 2). */
export function inkOn(table, level) {
  const [r, g, b] = [0, 1, 2].map((c) => {
    const s = table[3 * level + c] / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000" : "#fff";
}

export function shorten(text, length = 14) {
  const letters = [...text];
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : text;
}

/* Puts query parameters into the address bar, without a new page. */
export function writeAddress(params) {
  const query = params.toString();
  const next = window.location.pathname + (query ? `?${query}` : "");
  if (next !== window.location.pathname + window.location.search) window.history.replaceState(window.history.state, "", next);
}
