/* Plotly.js from our own server: loaded once, with the first figure or ahead of it. */

/** @type {Promise<any> | undefined} */
let loading;

/* Resolves with Plotly. */
export function loadPlotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = PLOTLY;
    script.onload = () => resolve(/** @type {any} */ (globalThis).Plotly);
    script.onerror = () => reject(new Error(`Plotly did not come from ${PLOTLY}`));
    document.head.append(script);
  });
  return loading;
}

/* Fetches Plotly's code without running it, once the browser has nothing else to do. */
export function fetchPlotlyAhead() {
  const link = Object.assign(document.createElement("link"), { rel: "prefetch", as: "script", href: PLOTLY });
  const fetchIt = () => document.head.append(link);
  if ("requestIdleCallback" in globalThis) requestIdleCallback(fetchIt, { timeout: 5000 });
  else setTimeout(fetchIt, 2000);
}
