/* Pages of static files as hosts of the viewer (../README.md): documents.py writes them. */

import { el } from "../browser/dom.js";
import { bytesAt } from "../browser/files.js";
import { Held } from "../browser/model.js";
import {
  addressBar,
  findAll,
  hearSwitch,
  hostedBy,
  inLanguage,
  isEmbedded,
  page,
  prepareEmbedded,
  tellHeight,
} from "../browser/page.js";
import { savePicture } from "../browser/picture.js";
import { runPacked } from "../browser/plotly.js";
import { speak, t } from "../browser/words.js";
import { answeredByShow, isStop, prepareStop, shareView } from "../talk/stop.js";
import { html } from "./markdown.js";
import { addressOn, putUpWalk, stationAt } from "./walk.js";

/** @import { Model, Render } from "../contract" */

export const NEEDS_THE_APP = "Your own computer computes this: uvx attention-lab starts the app.";

/** @param {string} selector */
export function one(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}

/** What a document has for its script. */
export function content() {
  return JSON.parse(one("#content").textContent ?? "");
}

/** Puts what a part of the document says into the page's language. @param {Element} place */
export function sayIn(place) {
  for (const each of place.querySelectorAll(".markdown")) each.innerHTML = html(t(each.textContent ?? ""));
  const texts = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode);
    if (
      !text.parentElement?.closest("script, style, code, .latex, .markdown, .see, [translate], body [lang]")
    )
      text.data = t(text.data);
  }
  for (const name of ["title", "aria-label"])
    for (const each of place.querySelectorAll(`[${name}]`))
      each.setAttribute(name, t(each.getAttribute(name) ?? ""));
}

/** Says what only the app can do. @param {string[]} needs */
export function sayNeeds(needs) {
  const where = t("Only in the app, which `uvx attention-lab` starts:");
  one(".needs").innerHTML = needs.length ? html(`${where} ${needs.map(t).join(", ")}.`) : "";
}

/** Says what is wrong, or nothing. @param {string} problem */
export function say(problem) {
  one(".problem").textContent = t(problem);
  one(".problem").hidden = !problem;
}

/** Says what is not shown of a link, whose address stays until somebody presses something.
   @param {string} problem */
export function keepLink(problem) {
  say(problem);
  const { write } = page;
  if (!write || isStop()) return;
  hostedBy({ write: () => {} });
  const begin = () => hostedBy({ write });
  for (const press of ["pointerdown", "keydown"])
    addEventListener(press, begin, { capture: true, once: true });
}

/** @param {string} selector */
const linksOf = (selector) => /** @type {HTMLAnchorElement[]} */ ([...findAll(selector)]);

/** To the next page, or the one before. @param {number} by */
export function follow(by) {
  const links = linksOf("header nav a:not([hreflang])");
  const next = links[links.findIndex((link) => link.ariaCurrent) + by];
  if (next) location.href = next.href;
}

/** The bytes of a file of this page. @param {string} address as documents.py names it */
export function bytesOf(address) {
  const isInside = address.startsWith("data:");
  return bytesAt(isInside ? address : document.body.dataset.root + address, isInside);
}

/** Says what is around the view. */
export function prepare() {
  const { plotly, words, walk } = content();
  speak(words);
  const { lang } = document.documentElement;
  document.title = document.title.replace(/^.*(?= ·)/, t);
  sayIn(document.body);
  const links = linksOf("header a");
  for (const link of links)
    if (!link.hreflang) link.href = inLanguage(link.href);
    else if (link.hreflang === lang) {
      link.ariaCurrent = "true";
      for (const summary of document.querySelectorAll(".languages summary"))
        summary.textContent = link.textContent;
    }
  hearSwitch();
  const asked = new URLSearchParams(location.search).get("theme");
  if (asked) document.documentElement.dataset.theme = asked;
  hostedBy({
    ...addressBar,
    write: plotly ? null : addressBar.write, // no address of a file holds what is shown in it
    plotly: plotly ? async () => runPacked(await bytesOf(plotly)) : null,
    keys: () => window,
    computes: false,
    savePicture,
    presents: true,
    above: ".heading",
    parts: ".parts [aria-current=true]",
    questions: ".drawer.questions",
  });
  if (!isEmbedded() && !isStop()) putUpWalk(walk);
  if (isStop()) prepareStop();
  else if (isEmbedded()) prepareEmbedded();
  else if (!plotly && location.protocol.startsWith("http") && isSecureContext) keepForLater();
}

/* Has what this page fetched kept for when there is no network. */
async function keepForLater() {
  await navigator.serviceWorker.register(`${document.body.dataset.root}worker.js`);
  const { active } = await navigator.serviceWorker.ready;
  active?.postMessage([location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]);
}

/** Renders into a tree of its own, which the document's styles do not reach; its custom properties do.
   @param {Render} render @param {Held} shown @param {string} kind of a view that can be a stop of a talk */
export function renderInto(render, shown, kind = "") {
  const place = el("div");
  one(".place").attachShadow({ mode: "open" }).append(place);
  const answer = shown.send.bind(shown);
  shown.send = (act) => (isStop() && answeredByShow(act)) || answer(act);
  render({ model: /** @type {Model} */ (/** @type {any} */ (shown)), el: place });
  if (isStop()) shareView(kind, shown, place);
  tellHeight(document.body);
}

/** Shows the one view of a page. @param {Render} render @param {string} kind of view that it renders */
export async function start(render, kind) {
  prepare();
  const { message, state, walk } = content();
  const shown = new Held();
  shown.send = ({ type, page, part, by, at }) => {
    if (type === "walk") location.href = stationAt(walk, at);
    else if (type === "open") location.href = addressOn(`/${page}?part=${part}`);
    else if (type === "go" || type === "skip") follow(by);
    else say(NEEDS_THE_APP);
  };
  try {
    shown.set("message", await bytesOf(message));
  } catch (error) {
    return say(/** @type {Error} */ (error).message);
  }
  shown.set("state", state);
  renderInto(render, shown, kind);
}
