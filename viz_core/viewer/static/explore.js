/* Explore on a page of static files: the model runs in the visitor's browser (viz_core/viewer/live). */

import { addressBar, inLanguage } from "../browser/page.js";
import { openLive } from "../live/live.js";
import { content, follow, keepLink, one, prepare, renderInto, say, sayNeeds } from "./host.js";

/** @import { Render } from "../contract" */

const MODELS = "../models/";

/** A value of an address: a number, where it is one. @param {string} value */
const read = (value) => (Number.isInteger(Number(value)) && value !== "" ? Number(value) : value);

/** Reads what the address says, then what is typed. @param {Render} render */
export async function start(render) {
  prepare();
  const params = addressBar.params?.() ?? new URLSearchParams();
  const { text, edits, model: name, ...rest } = Object.fromEntries(params);
  /** @type {{offers: string[], needs: string[]}} */ const { offers, needs } = content();
  sayNeeds(needs);
  const offer = offers.includes(name) ? name : offers[0];
  const live = await openLive(MODELS, offer).catch((error) => {
    one(".waits").remove();
    const offline = "Without a network, only models that were opened before open.";
    say(navigator.onLine ? error.message : offline);
  });
  if (!live) return;
  const entries = Object.entries(rest).map(([key, value]) => ({ key, value: read(value) }));
  /** @param {(key: string) => boolean} isOne */
  const those = (isOne) =>
    Object.fromEntries(entries.filter(({ key }) => isOne(key)).map(({ key, value }) => [key, value]));
  const isSetting = (/** @type {string} */ key) => key in live.model.usual;
  const isView = (/** @type {string} */ key) => !isSetting(key) && !["theme", "embed", "lang"].includes(key);
  live.model.template.linked = those(isView);
  live.on("change:act", () => {
    const { type, by, model, level, view } = live.get("act");
    if (type !== "contrast") return follow(by);
    const { text, edits } = live.asked;
    const params = new URLSearchParams({ model, ...(level ? { level, view, text } : {}) });
    if (level && edits.length) params.set("edits", edits.join("\n"));
    location.href = inLanguage(`./?${params}`);
  });
  await live.ask({
    text: text ?? live.model.text,
    edits: edits?.split("\n") ?? [],
    settings: those(isSetting),
  });
  one(".waits").remove();
  if (name && name !== offer) keepLink(`The link's model=${name} is not here; ${offer} is opened.`);
  else if (live.get("problem")) keepLink(live.get("problem"));
  renderInto(render, live, "stage");
}
