/* Plotly.js from our own server, loaded once, with the first figure; the document may fetch it ahead. */

import { el } from "./dom.js";
import { page } from "./page.js";

const CONFIG = {
  displaylogo: false,
  modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
  plotlyServerURL: "",
  typesetMath: false,
};

/* Of a board's figures, beside which there is no room: to drag zooms, a double click shows all again. */
export const WITHOUT_BUTTONS = { ...CONFIG, displayModeBar: false };

/** What can be done with a figure, and what with none: send it elsewhere. @param {string} filename */
export function configOf(filename) {
  return { ...CONFIG, toImageButtonOptions: { format: "svg", filename } };
}

/** The colours of Plotly's buttons, which by themselves cannot be seen on every page.
   @param {{muted: string, accent: string}} theme */
export function buttonsOf({ muted, accent }) {
  return { bgcolor: "rgba(0, 0, 0, 0)", color: muted, activecolor: accent };
}

/** @type {Record<string, Promise<any>>} by address */ const loading = {};

/** Resolves with Plotly. @param {{type?: string}[]} traces that it is to draw */
export function loadPlotly(traces = []) {
  const whole = traces.some(({ type = "scatter" }) => !PLOTLY.kinds.includes(type));
  const address = whole ? PLOTLY.whole : PLOTLY.address;
  loading[address] ??= new Promise((resolve, reject) => {
    const ready = () => resolve(globalThis.LabPlotly);
    if (globalThis.LabPlotly && !whole) return ready();
    if (page.plotly) return page.plotly().then(ready, reject);
    const script = document.createElement("script");
    script.addEventListener("load", ready);
    script.addEventListener("error", () => reject(new Error(`Plotly did not come from ${address}`)));
    script.src = address;
    document.head.append(script);
  });
  return loading[address];
}

/** Runs Plotly's code where a host has it in its own bytes. @param {Uint8Array} code */
export async function runPacked(code) {
  // A notebook may have a loader of modules, to which Plotly's would tell its name and nobody else.
  const parts = [
    "(function (define, module, exports) {",
    /** @type {any} */ (code),
    "\n}).call(globalThis);",
  ];
  const address = URL.createObjectURL(new Blob(parts, { type: "text/javascript" }));
  await import(address);
  URL.revokeObjectURL(address);
}

/* Fetches Plotly's code without running it, once the browser has nothing else to do. */
export function fetchPlotlyAhead() {
  if (page.plotly) return;
  const link = Object.assign(document.createElement("link"), {
    rel: "prefetch",
    as: "script",
    href: PLOTLY.address,
  });
  const fetchIt = () => document.head.append(link);
  if ("requestIdleCallback" in globalThis) requestIdleCallback(fetchIt, { timeout: 5000 });
  else setTimeout(fetchIt, 2000);
}

/** Plotly writes its style sheet into the document; a component's own tree of nodes needs it too.
   @param {Node} root */
export function styled(root) {
  if (!(root instanceof ShadowRoot) || root.querySelector(".plotly-style")) return;
  const { sheet } = /** @type {HTMLStyleElement} */ (document.getElementById("plotly.js-style-global"));
  const rules = [...(sheet?.cssRules ?? [])].map((rule) => rule.cssText);
  root.prepend(el("style", { class: "plotly-style", text: rules.join("\n") }));
}
