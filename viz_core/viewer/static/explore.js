/* Explore on a page of static files: the model runs in the visitor's browser (viz_core/viewer/live). */

import { button, el } from "../browser/dom.js";
import { addressBar, inLanguage } from "../browser/page.js";
import { t } from "../browser/words.js";
import { openLive } from "../live/live.js";
import { content, follow, keepLink, one, prepare, renderInto, say, sayNeeds } from "./host.js";

/** @import { Render } from "../contract" */
/** @typedef {{name: string, label: string, examples: {text: string, label: string}[]}} Offer */

const MODELS = "../models/";

/** Reads what the address says, then what is typed. @param {Render} render */
export async function start(render) {
  prepare();
  const params = addressBar.params?.() ?? new URLSearchParams();
  const { text: typed, edits, model: name, ...rest } = Object.fromEntries(params);
  /** @type {{offers: Offer[], needs: string[]}} */ const { offers, needs } = content();
  sayNeeds(needs);
  const offer = offers.find((each) => each.name === name) ?? offers[0];
  const choice = /** @type {HTMLSelectElement} */ (one("#model"));
  choice.value = offer.name;
  choice.addEventListener("change", () => {
    location.href = inLanguage(choice.value === offers[0].name ? "./" : `./?model=${choice.value}`);
  });
  const field = /** @type {HTMLInputElement} */ (one("#text"));
  one("[for=text]").textContent = t(offer.label);
  const live = await openLive(MODELS, offer.name).catch((error) => {
    one(".waits").remove();
    const offline = "Without a network only models open that were opened before; choose one of those.";
    say(navigator.onLine ? error.message : offline);
  });
  if (!live) return;
  const settings = Object.fromEntries(Object.entries(rest).filter(([name]) => name in live.model.usual));
  const view = Object.entries(rest).filter(
    ([name]) => !(name in settings || ["theme", "embed", "lang"].includes(name)),
  );
  live.model.template.linked = Object.fromEntries(
    view.map(([name, value]) => [name, Number.isInteger(Number(value)) ? Number(value) : value]),
  );
  live.on("change:problem", () => say(live.get("problem")));
  live.on("change:message", () => {
    one(".said").textContent = t(live.get("said"));
    if (field !== document.activeElement) field.value = live.asked.text;
  });
  live.on("change:act", () => {
    const { type, by, model, level, view } = live.get("act");
    if (type !== "contrast") return follow(by);
    const { text, edits } = live.asked;
    const params = new URLSearchParams({ model, level, view, text });
    if (edits.length) params.set("edits", edits.join("\n"));
    location.href = inLanguage(`./?${params}`);
  });
  await live.ask({
    text: typed ?? live.model.text,
    edits: edits?.split("\n") ?? [],
    settings,
  });
  one(".waits").remove();
  const isOther = name && name !== offer.name;
  const problem = isOther
    ? `The link's model=${name} is not here; ${offer.name} is opened.`
    : live.get("problem");
  if (problem) keepLink(problem);
  if (problem && typed) field.value = typed;
  renderInto(render, live, "stage");
  field.disabled = false;
  field.addEventListener("input", () => live.ask({ text: field.value, settings: {} }));
  const examples = offer.examples.map(({ text, label }) =>
    button({ text: label, title: text, translate: "no", onclick: () => live.ask({ text, settings: {} }) }),
  );
  one(".tries").replaceChildren(el("strong", { text: t("Examples") }), ...examples);
}
