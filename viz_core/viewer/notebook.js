/* A notebook as a host of the viewer (README.md): JupyterLab, VS Code, Colab, marimo. */

import { el } from "./browser/dom.js";
import { hostedBy } from "./browser/page.js";
import { runPacked } from "./browser/plotly.js";

/** @import { AnyModel, Render as Widget } from "@anywidget/types" */
/** @import { Render } from "./contract" */
/** @typedef {{message: DataView, state: Record<string, unknown> | null, plotly: DataView, still: string,
   problem?: string}} Traits */

const HEIGHT = "640px"; // of Explore, which by itself fills what a window leaves
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

/** @type {Set<AnyModel<Traits>>} the figures in this document; one without charts has no code of Plotly */
const shown = new Set();
hostedBy({ plotly });

/** The widget of a kind of view. @param {Render} render @returns {{render: Widget<Traits>}} */
export function widget(render) {
  return {
    render({ model, el: cell }) {
      shown.add(model);
      const place = el("div", { style: "display: block; padding: 4px 8px" });
      const shell = el("div");
      shell.attachShadow({ mode: "open" }).append(place); // the notebook's styles stay outside
      cell.append(shell);
      dress(cell, place);
      const problem = el("p", { role: "alert", style: "margin: 4px 0" });
      const say = () => {
        problem.textContent = model.get("problem") ?? "";
      };
      model.on("change:problem", say);
      const alive = el("style", { text: `.${model.get("still")} { display: none }` }); // its picture
      document.head.append(alive);
      shell.shadowRoot?.prepend(problem);
      const leave = render({ model, el: place });
      return () => {
        leave();
        shown.delete(model);
        model.off("change:problem", say);
        shell.remove();
        alive.remove();
      };
    },
  };
}

/** Light or dark, as what is behind the cell.
   @param {HTMLElement} cell @param {HTMLElement} place */
function dress(cell, place) {
  const { background, ink, grid } = isDark(cell) ? THEME.dark : THEME.light;
  const styles = {
    "background-color": background,
    "secondary-background-color": grid,
    "text-color": ink,
    "border-color": grid,
    "red-color": "#d32f2f",
    font: FONT,
    "code-font": "ui-monospace, SFMono-Regular, Menlo, monospace",
    height: HEIGHT,
  };
  for (const [name, value] of Object.entries(styles)) place.style.setProperty(`--lab-${name}`, value);
  Object.assign(place.style, { background, color: ink, fontFamily: FONT });
}

/** @param {HTMLElement} cell */
function isDark(cell) {
  for (let at = /** @type {HTMLElement | null} */ (cell); at; at = at.parentElement) {
    const [red, green, blue, alpha = 1] = (getComputedStyle(at).backgroundColor.match(/[\d.]+/g) ?? []).map(
      Number,
    );
    if (alpha > 0.5 && red !== undefined) return red + green + blue < 382;
  }
  return false;
}

/** Runs Plotly's code, which comes packed with a figure that has charts. */
async function plotly() {
  const codes = [...shown].flatMap((model) => model.get("plotly") ?? []);
  const [longest] = codes.toSorted((one, other) => other.byteLength - one.byteLength); // which draws most
  const packed = new Blob([/** @type {any} */ (longest)]);
  const code = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  await runPacked(new Uint8Array(await new Response(code).arrayBuffer()));
}
