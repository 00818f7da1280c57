/* Shows again, in this window, what the show shows: the speaker's window and the hall. */

import { el } from "../browser/dom.js";

/** @import { Picture, Place } from "./types" */
/** @typedef {{pointer?: Place | null, lines?: Place[][], hides?: string[]}} Extras */
/** @typedef {ReturnType<typeof import("./copied_view.js").mirrored>} Mirrored */
/** @typedef {(place: HTMLElement, fills: boolean, message: Uint8Array, state: Picture["state"]) => Mirrored}
   Mirroring */

export class Mirror {
  /** @type {Picture | null} */ picture = null;
  /** @type {Mirrored | null} */ shown = null;
  turn = 0; // what was asked for last: a program may come late

  /** @param {HTMLElement} place @param {Record<Picture["kind"], string>} programs their addresses
     @param {(file: string) => Promise<Uint8Array>} fetch the bytes of a picture
     @param {boolean} fills the window, as on a projector */
  constructor(place, programs, fetch, fills) {
    this.place = place;
    this.programs = programs;
    this.fetch = fetch;
    this.fills = fills;
  }

  /** Shows a picture, or nothing. Resolves when it is shown, or when another was asked for meanwhile.
     @param {Picture | null} picture @param {Extras} extras */
  async show(picture, extras = {}) {
    const before = this.picture;
    const turn = ++this.turn;
    if (!picture) return this.clear();
    const isNew = before?.file !== picture.file;
    const [message, program] = await Promise.all([
      isNew ? this.fetch(picture.file) : null,
      import(new URL(this.programs[picture.kind], document.baseURI).href),
    ]);
    if (turn !== this.turn) return;
    this.picture = picture;
    if (this.shown && before?.kind === picture.kind) return this.shown.follow(message, picture.state, extras);
    this.clear();
    this.picture = picture;
    const [host, root] = [el("div"), el("div")];
    this.place.replaceChildren(host);
    host.attachShadow({ mode: "open" }).append(root);
    const mirroring = /** @type {Mirroring} */ (program.mirrored);
    this.shown = mirroring(root, this.fills, /** @type {Uint8Array} */ (message), picture.state);
    this.shown.follow(null, picture.state, extras);
  }

  clear() {
    this.shown?.leave();
    this.shown = this.picture = null;
  }
}
