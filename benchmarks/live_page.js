/* The smallest page that shows a shipped model without a server: a text to type, and Explore's stage. */

import { openLive } from "../viz_core/viewer/live/live.js";

/** @param {import("../viz_core/viewer/contract").Render} render */
export async function start(render) {
  const [text, said, el] = ["text", "said", "stage"].map(
    (id) => /** @type {any} */ (document.getElementById(id)),
  );
  const live = await openLive("./", new URLSearchParams(location.search).get("model") ?? "translator");
  text.value = live.asked.text;
  live.on("change:message", () => (said.textContent = live.get("said")));
  live.on("change:problem", () => (said.textContent = live.get("problem")));
  render({ model: live, el });
  const times = Object.assign(window, { times: /** @type {number[]} */ ([]) }).times;
  let typed = 0;
  el.addEventListener("attention-lab:painted", () => {
    const since = typed;
    typed = 0;
    if (since) requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - since)));
  });
  text.addEventListener("input", (/** @type {Event} */ event) => {
    typed = event.timeStamp;
    live.ask({ text: text.value });
  });
}
