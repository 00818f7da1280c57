/* Light or dark, from the background that Streamlit shows. */

import { lookupTable } from "./dom.js";

export function themeOf(node) {
  const style = getComputedStyle(node);
  const probe = style.getPropertyValue("--st-background-color").trim();
  const context = (themeOf.context ||= document.createElement("canvas").getContext("2d"));
  context.fillStyle = probe || "#ffffff";
  const hex = context.fillStyle;
  const light = parseInt(hex.slice(1, 3), 16) + parseInt(hex.slice(3, 5), 16) + parseInt(hex.slice(5, 7), 16) > 382;
  const name = light ? "light" : "dark";
  if (!themeOf[name]) {
    const from = THEME[name];
    themeOf[name] = { ...from, sequential: lookupTable(from.sequential), diverging: lookupTable(from.diverging) };
  }
  const theme = themeOf[name];
  theme.font = style.getPropertyValue("--st-font").trim() || "sans-serif";
  for (const colour of ["query", "key", "value", "accent", "muted"]) node.style.setProperty(`--${colour}`, theme[colour]);
  return theme;
}

/* Calls back when the system changes between light and dark, once Streamlit has followed; gives a way to stop. */
export function onThemeChange(callback) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const later = () => setTimeout(callback, 400);
  system.addEventListener("change", later);
  return () => system.removeEventListener("change", later);
}
