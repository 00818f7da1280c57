/* The documents of a talk: its show, its speaker's window, and the frames of that window. */

import { el, isForView } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { speak } from "../browser/words.js";
import { Mirror } from "./copies.js";
import { read } from "./format.js";
import { addressIn } from "./recorded.js";
import { Show } from "./show.js";
import { talkOf } from "./source.js";
import { Speaker } from "./speaker.js";
import { channelWire } from "./wires.js";

/** @import { Shared } from "./types" */

const content = () => JSON.parse(document.querySelector("#content")?.textContent ?? "");
const place = () => /** @type {HTMLElement} */ (document.querySelector("main"));
const params = () => new URLSearchParams(location.search);

/* The show, or the window that speaks for it. */
export async function startTalk() {
  const channel = params().get("speaker");
  /** @type {{pages: string[], inFolders: boolean, file: import("./recorded.js").TalkFile | undefined}} */
  const { pages, inFolders, file } = content();
  speak(file?.words);
  if (channel) return new Speaker(place(), channel, file);
  const root = /** @type {string} */ (document.body.dataset.root);
  const reading = file ? read(file.text, pages) : await talkOf(location.hash, { root, pages });
  const { talk, problems } = reading;
  if (!talk.stops.length) {
    place().append(...problems.map(({ text }) => el("p", { class: "problem", text })));
    return;
  }
  const addressOf = (/** @type {string} */ link, /** @type {number} */ at) => {
    if (file) return addressIn(file, at);
    const [name, query = ""] = link.split("?");
    const path = inFolders && name ? `${name}/` : name;
    return inLanguage(new URL(path + (query && `?${query}`), new URL(root, document.baseURI)).href);
  };
  const at = Number(new URLSearchParams(location.hash.slice(1)).get("at") ?? 1);
  const appRoot = inFolders || file ? null : new URL(root, document.baseURI).href;
  const show = new Show(place(), reading, addressOf, { appRoot, isFile: Boolean(file) });
  show.to(talk.stops[at - 1] ? at - 1 : 0);
  show.invitation.resume();
}

/* A picture of the speaker's window. */
export function startMirror() {
  const wire = channelWire(params().get("channel") ?? "");
  const which = params().get("which");
  const fills = params().get("fills") !== "0";
  place().classList.toggle("phone", !fills);
  const mirror = new Mirror(place(), content().programs, wire.fetch, fills);
  /** @type {"off" | "laser" | "pen"} */ let mode = "off";
  const listen = () => {
    const ink = mirror.shown?.ink;
    if (!ink) return;
    ink.onPoint = (place) => wire.ask({ type: "point", place });
    ink.onLine = (line) => wire.ask({ type: "draw", line });
    if (ink.mode !== mode) ink.use(mode);
  };
  wire.onShared(async (/** @type {Shared} */ { picture, next, pointer, ink: lines, hidden: hides }) => {
    if (which === "next") await mirror.show(next);
    else await mirror.show(picture, { pointer, lines, hides });
    if (which === "this") listen();
  });
  window.addEventListener("message", ({ source, data }) => {
    if (source !== parent) return;
    mode = data.mode;
    listen();
  });
  window.addEventListener("keydown", (event) => {
    if (isForView(event)) parent.postMessage({ key: event.key }, location.origin);
  });
  wire.ask({ type: "hello" });
}
