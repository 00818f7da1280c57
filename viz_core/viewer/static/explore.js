/* Explore on a page of static files: the model runs in the visitor's browser (viz_core/viewer/live). The
   picture of its own text comes from a file; the model is fetched when something is asked of it. */

import { addressBar, isEmbedded } from "../browser/page.js";
import { t } from "../browser/words.js";
import { openLive } from "../live/live.js";
import { Visit } from "../live/visit.js";
import { isStop } from "../talk/stop.js";
import { bytesOf, content, follow, keepLink, one, prepare, renderInto, say, sayNeeds } from "./host.js";

/** @import { Render } from "../contract" */

/** A value of an address: a number, where it is one. @param {string} value */
const read = (value) => (Number.isInteger(Number(value)) && value !== "" ? Number(value) : value);

const STAYS = ["lang", "level", "model", "text", "theme"]; // in the address when a model changes

/* A large model wants threads, which only an isolated page has: the worker makes one of this page when it is
   opened anew, once. */
async function isolate(/** @type {string} */ name) {
  const { serviceWorker } = navigator;
  const isOwn = !isEmbedded() && !isStop();
  if (crossOriginIsolated || !isOwn || !serviceWorker || sessionStorage.getItem("isolated")) return;
  sessionStorage.setItem("isolated", name);
  await serviceWorker.ready;
  const address = new URL(location.href);
  if (address.searchParams.get("model") !== name)
    for (const key of [...address.searchParams.keys()])
      if (!STAYS.includes(key)) address.searchParams.delete(key);
  address.searchParams.set("model", name);
  location.replace(address);
  await new Promise(() => {});
}

/** Reads what the address says, then what is typed. @param {Render} render */
export async function start(render) {
  prepare();
  const params = addressBar.params?.() ?? new URLSearchParams();
  const { text, edits, model: name, ...rest } = Object.fromEntries(params);
  /** @type {{offers: string[], large: string[], needs: string[], first: string, views: string[]}} */
  const { offers, large, needs, first, views } = content();
  sayNeeds(needs);
  const offer = offers.includes(name) ? name : offers[0];
  const entries = Object.entries(rest).map(([key, value]) => ({ key, value: read(value) }));
  /** @param {boolean} ofView */
  const those = (ofView) =>
    Object.fromEntries(
      entries.filter(({ key }) => views.includes(key) === ofView).map(({ key, value }) => [key, value]),
    );
  const [linked, settings] = [those(true), those(false)];
  const visit = new Visit(`${document.body.dataset.root}models/`, offers[0], async (folder, model, tell) => {
    if (large.includes(model)) await isolate(model);
    return openLive(folder, model, tell);
  });
  visit.tellPage = ({ by }) => follow(by);
  const waits = one(".waits");
  // until the stage says it
  visit.on("change:progress", () => (waits.textContent = t(visit.get("progress"))));
  const isOwn = text !== undefined || edits || offer !== offers[0] || "direction" in settings;
  try {
    if (isOwn || "target" in settings || "padding" in settings)
      await visit.arrive({ name: offer, text, edits: edits?.split("\n") ?? [], linked, settings });
    else visit.begin(await bytesOf(first), linked);
  } catch (error) {
    waits.remove();
    return say(/** @type {Error} */ (error).message);
  }
  waits.remove();
  if (name && name !== offer) keepLink(`The link's model=${name} is not here; ${offer} is opened.`);
  else if (visit.get("problem")) keepLink(visit.get("problem"));
  renderInto(render, visit, "stage");
  // whoever is about to type needs the model next
  const isField = (/** @type {Event} */ event) => event.composedPath()[0] instanceof HTMLTextAreaElement;
  one(".place").addEventListener("focusin", (event) => isField(event) && visit.ready().catch(() => {}));
}
