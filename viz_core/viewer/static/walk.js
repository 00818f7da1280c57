/* The bar of a station of the walk over a page of files, as pages/start/walk.py draws it in the app. */

import { el } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { t } from "../browser/words.js";

/** @typedef {{title: string, link: string, act: string, take: string}} Station */

/** Where a page of the app is on this site, as a document finds it.
   @param {string} link such as /masks?part=x */
export const addressOn = (link) =>
  inLanguage(link.replace(/^\/(\w*)/, (_, name) => document.body.dataset.root + (name && `${name}/`)));

/** The address of a station, from 0. @param {Station[]} walk @param {number} at */
export const stationAt = (walk, at) => addressOn(`${walk[at].link}&walk=${at + 1}`);

/** Puts the bar up, where the address names a station of this page. @param {Station[]} walk */
export function putUpWalk(walk = []) {
  const at = Number(new URLSearchParams(location.search).get("walk")) - 1;
  const [station, main] = [walk[at], document.querySelector("main")];
  const page = (/** @type {string} */ address) => new URL(address, location.href).pathname;
  if (!station || !main || page(stationAt(walk, at)) !== location.pathname) return;
  const to = (/** @type {number} */ next, /** @type {string} */ text) =>
    el("a", { text, href: walk[next] ? stationAt(walk, next) : addressOn("/start") });
  const said = { "data-predicted": `walk/${at}/reached`, "data-right": "1" };
  const bar = el("section", { class: "walk", "aria-label": t("Learn") }, [
    to(at - 1, t("back")),
    el("div", said, [
      el("b", { text: t(`Station ${at + 1} of ${walk.length}`) }),
      el("b", { text: ` · ${t(station.title)}` }),
      el("p", { text: t(station.act) }),
      el("p", {}, [el("em", { text: t(station.take) })]),
    ]),
    to(at + 1, t(walk[at + 1] ? "next" : "end")),
    el("a", { text: t("leave"), href: addressOn("/start") }),
  ]);
  main.prepend(bar);
  // Explore takes the height that is left
  document.body.style.setProperty("--top", `${Math.round(bar.getBoundingClientRect().bottom) + 20}px`);
}
