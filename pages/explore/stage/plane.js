/* The queries and keys of a head as points in one plane. */

import { el, shorten } from "../../shared/browser/dom.js";
import { listOf } from "./list.js";
import { placed } from "./map_points.js";

/** @typedef {import("./types").Further} Further */
/** @typedef {import("./types").Area} Area */
/** @typedef {"query" | "key"} Role */

const MARGIN = 36; // pixels around the outermost points, where their names are
const MOST_NAMES = 64;
const FIRST = 40; // of 0..255: the first colours are nearly the page's own
const COLOURS = [
  { value: "role", text: "query or key" },
  { value: "position", text: "position" },
  { value: "token", text: "token" },
];

export class Plane {
  colour = "role";

  /** @param {import("./types").Stage} stage @param {() => void} redraw */
  constructor(stage, redraw) {
    this.stage = stage;
    this.points = el("div", {
      class: "map-points",
      role: "img",
      "aria-label": "Queries and keys in a plane",
    });
    this.choice = listOf("colour by", (colour) => {
      this.colour = colour;
      redraw();
    });
    this.shares = el("p", {});
  }

  /** @param {Further | null} found @param {Area} area */
  draw(found, { q0, k0 }) {
    this.choice.update(COLOURS, this.colour);
    const { queries = [], keys = [], shares } = found ?? {};
    const [x, y] = (shares ?? []).map((share) => `${Math.round(100 * share)} %`);
    this.shares.textContent = shares ? `Its axes show ${x} and ${y} of their variance.` : "";
    const { clientWidth, clientHeight } = this.points;
    const places = placed([...queries, ...keys], clientWidth, clientHeight, MARGIN);
    const { querySide, keySide } = this.stage.stack;
    const named = places.length <= MOST_NAMES;
    const make = (
      /** @type {Role} */ role,
      /** @type {number} */ at,
      /** @type {[number, number]} */ place,
    ) => {
      const text = this.stage.data.tokens(role === "query" ? querySide : keySide)[at]?.text ?? "";
      return el(
        "div",
        {
          class: `point ${role}`,
          title: `${role} “${text}”, position ${at}`,
          style: `left: ${place[0]}px; top: ${place[1]}px`,
        },
        [
          el("span", { class: "dot", style: `background: ${this.colourOf(role, at, text)}` }),
          named && el("span", { class: "name", text: shorten(text) }),
        ],
      );
    };
    this.points.replaceChildren(
      ...queries.map((_, i) => make("query", q0 + i, places[i])),
      ...keys.map((_, j) => make("key", k0 + j, places[queries.length + j])),
    );
  }

  /** @param {Role} role @param {number} at @param {string} text */
  colourOf(role, at, text) {
    const { theme, stack, data } = this.stage;
    if (this.colour === "role") return theme[role];
    if (this.colour === "position") {
      const last = Math.max(stack.nQuery, stack.nKey) - 1;
      const level = Math.round(FIRST + ((255 - FIRST) * at) / Math.max(1, last));
      return `rgb(${theme.sequential.subarray(3 * level, 3 * level + 3).join(", ")})`;
    }
    const known = [...data.tokens(stack.querySide), ...data.tokens(stack.keySide)].map((each) => each.text);
    return theme.heads[[...new Set(known)].indexOf(text) % theme.heads.length];
  }
}
