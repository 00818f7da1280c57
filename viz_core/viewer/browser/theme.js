/* Light or dark, from the background that the page shows. */

import { contextOf, onPhone } from "./dom.js";
import { lookupTable } from "./images.js";
import { page } from "./page.js";

/** @import { Table } from "./images.js" */
/** @typedef {Colours & {sequential: Table, diverging: Table, font: string}} Theme */

/** @param {GivenColours} colours @returns {Theme} */
function themeFrom(colours) {
  const tables = { sequential: lookupTable(colours.sequential), diverging: lookupTable(colours.diverging) };
  return { ...colours, ...tables, font: "" };
}

const LIGHT = themeFrom(THEME.light);
const DARK = themeFrom(THEME.dark);
const PROJECTOR = themeFrom(THEME.projector);
const PROBE = contextOf(document.createElement("canvas"));

/** The colours and the font that fit the page around a node, or a projector.
   @param {HTMLElement} node @param {boolean} projected */
export function themeOf(node, projected = false) {
  const style = getComputedStyle(node);
  PROBE.fillStyle = style.getPropertyValue("--lab-background-color").trim() || "#ffffff";
  const parts = [1, 3, 5].map((at) => Number.parseInt(String(PROBE.fillStyle).slice(at, at + 2), 16));
  const theme = projected ? PROJECTOR : parts.reduce((a, b) => a + b) > 382 ? LIGHT : DARK;
  // A finger that lies on a figure scrolls the page.
  theme.template.layout.dragmode = onPhone() ? false : "zoom";
  theme.font = style.getPropertyValue("--lab-font").trim() || "sans-serif";
  for (const [name, value] of Object.entries(theme))
    if (["query", "key", "value", "accent", "muted"].includes(name))
      node.style.setProperty(`--${name}`, value);
  return theme;
}

/** Calls back when the system changes between light and dark, once the page has followed. Returns a stop.
   @param {() => void} callback */
export function onThemeChange(callback) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const later = (looks = 40) => {
    if (page.hasFollowed(system.matches ? "dark" : "light") || !looks) setTimeout(callback, 100);
    else setTimeout(later, 100, looks - 1);
  };
  const changed = () => setTimeout(later, 300);
  system.addEventListener("change", changed);
  return () => system.removeEventListener("change", changed);
}
