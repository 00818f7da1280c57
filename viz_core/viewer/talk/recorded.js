/* A talk as one file: the pictures of its stops are in it, and it asks for nothing. */

import { el } from "../browser/dom.js";
import { packed } from "../browser/files.js";
import { Frame } from "./frames.js";

/** @import { Heard, Picture, Press, Talk, Told } from "./types" */
/** message: an address that holds it whole, packed.
   @typedef {{kind: Picture["kind"], state: Picture["state"], message: string}} Recorded */
/** templates: by kind, a document of one view; pictures: by stop; words: the catalogue in which it was kept.
   @typedef {{text: string, templates: Record<string, string>, plotly: string,
     pictures: (Recorded | null)[], words: import("../browser/words.js").Given}} TalkFile */

const PATIENCE = 30_000; // milliseconds that a stop has to show itself

/** Puts values where a document that Python wrote has the names of their places. @param {string} html
   @param {Record<string, unknown>} values */
function filled(html, values) {
  return Object.entries(values).reduce(
    (html, [place, value]) =>
      html.replace(`"${place}"`, () => JSON.stringify(value).replaceAll("<", "\\u003c")),
    html,
  );
}

/** The address of the picture of a stop. @param {TalkFile} file @param {number} at */
export function addressIn({ pictures, templates, plotly, words }, at) {
  const picture = pictures[at];
  if (!picture) return "";
  const { kind, message, state } = picture;
  const html = filled(templates[kind], { MESSAGE: message, STATE: state, PLOTLY: plotly, WORDS: words });
  return URL.createObjectURL(new Blob([html], { type: "text/html" }));
}

/** The picture of a stop, as it opens. @param {Talk["stops"][0]} stop @param {string} address of its page
   @param {HTMLElement} area where it is opened for a moment @returns {Promise<Recorded | null>} */
async function record(stop, address, area) {
  /** @type {PromiseWithResolvers<void>} */ const { promise, resolve } = Promise.withResolvers();
  const frame = new Frame(
    { ...stop, hide: [] },
    () => address,
    (told) => "kind" in told && resolve(),
  );
  area.append(frame.element);
  const timer = setTimeout(resolve, PATIENCE);
  await promise;
  clearTimeout(timer);
  const { picture, bytes } = frame;
  frame.leave();
  if (!picture) return null;
  const message = `data:application/gzip;base64,${await packed(/** @type {any} */ (bytes), "gzip")}`;
  return { kind: picture.kind, state: picture.state, message };
}

/** All of a talk as HTML, and the stops whose pages showed nothing. @param {Talk} talk
   @param {string} text its file
   @param {(link: string, at: number) => string} addressOf @param {HTMLElement} area
   @param {(at: number) => void} tell how far it is */
export async function talkFile(talk, text, addressOf, area, tell) {
  const pictures = [];
  const missing = [];
  for (const [at, stop] of talk.stops.entries()) {
    tell(at);
    const picture = stop.link ? await record(stop, addressOf(stop.link, at), area) : null;
    if (stop.link && !picture) missing.push(stop.title);
    pictures.push(picture);
  }
  const answer = await fetch("file.html");
  if (!answer.ok) throw new Error(`file.html is not there (${answer.status}); reload`);
  const words = globalThis.attentionLabWords ?? null;
  return { html: filled(await answer.text(), { TALK: text, PICTURES: pictures, WORDS: words }), missing };
}

/* A picture of a talk that is one file. */
export class RecordedMirror {
  at = -1; // the stop that it shows
  /** @type {Frame | null} */ frame = null;
  /** @type {Heard | null} */ heard = null;
  mode = "off";

  /** @param {TalkFile} file @param {"this" | "next"} which
     @param {(press: Press) => void} press */
  constructor(file, which, press) {
    this.file = file;
    this.which = which;
    this.press = press;
    this.box = el("div", { class: "mirror" });
  }

  get window() {
    return this.frame?.element.contentWindow ?? null;
  }

  /** @param {string} mode */
  use(mode) {
    this.mode = mode;
    this.frame?.want({ mode });
  }

  /** @param {Heard} heard */
  follow(heard) {
    this.heard = heard;
    const at = heard.at + (this.which === "next" ? 1 : 0);
    if (at !== this.at) this.open(at, heard);
    else this.bring();
  }

  /** @param {number} at @param {Heard} heard */
  open(at, { stops, hidden }) {
    this.at = at;
    this.frame?.leave();
    const address = addressIn(this.file, at);
    const stop = /** @type {any} */ ({ title: stops[at], hide: this.which === "this" ? hidden : [], at: [] });
    this.frame = address
      ? new Frame(
          stop,
          () => address,
          (told) => this.hear(told),
        )
      : null;
    this.box.replaceChildren(...(this.frame ? [this.frame.element] : []));
    this.frame?.element.classList.remove("behind");
  }

  /** @param {Told} told */
  hear(told) {
    if ("kind" in told && told.message) this.bring();
    if ("go" in told) this.press({ type: "go", by: told.go });
    if ("point" in told) this.press({ type: "point", place: told.point });
    if ("line" in told) this.press({ type: "draw", line: told.line });
  }

  /* What the show shows now. */
  bring() {
    if (this.which === "next" || !this.heard) return;
    const { picture, pointer, ink, hidden } = this.heard;
    if (picture) this.frame?.want({ state: picture.state });
    if (!hidden.length) this.frame?.want({ uncover: true });
    this.frame?.draw(pointer, ink);
    this.use(this.mode);
  }
}
