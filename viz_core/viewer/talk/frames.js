/* The frames of the show: the stop that is seen, and those beside it, ready behind. */

import { el } from "../browser/dom.js";
import { linkWithin } from "./own.js";
import { ORIGIN, STOP } from "./stop.js";

/** @import { PageQuestion, Picture, Place, Stop, Told } from "./types" */

/* The address of the app or site, which pages stand below. */
const root = () => new URL(document.body.dataset.root ?? "", document.baseURI).href;

/** The bytes of a picture under a name that no other has. */
function nameOfFile() {
  const digits = crypto.getRandomValues(new Uint8Array(16));
  return [...digits].map((digit) => digit.toString(16).padStart(2, "0")).join("");
}

export class Frame {
  /** @type {Picture | null} */ picture = null;
  /** @type {Uint8Array | null} of the picture */ bytes = null;
  /** @type {PageQuestion | null} */ asked = null;
  /** @type {string} as `Stop.link`, with what was changed since */ link;

  /** @param {Stop} stop @param {string} address of its page
     @param {(told: Told, isNew: boolean) => void} hear */
  constructor({ link, hide, at, title, question }, address, hear) {
    this.link = link;
    this.hear = hear;
    const name = STOP + JSON.stringify({ hides: hide, at, asks: Boolean(question) });
    this.element = el("iframe", {
      name,
      title,
      translate: "no",
      src: address,
      class: `behind${question ? " asks" : ""}`,
    });
    this.element.addEventListener("load", () => {
      const page = this.element.contentDocument; // a slow one shows its menu before our program comes
      if (page) page.documentElement.dataset.stop = "";
    });
    this.listen = (/** @type {MessageEvent} */ { source, data }) => {
      if (source === this.element.contentWindow && data?.type === "attention-lab:stop") this.take(data);
    };
    window.addEventListener("message", this.listen);
  }

  /** @param {Told} told */
  take(told) {
    let isNew = false;
    if ("kind" in told) {
      isNew = Boolean(told.message);
      if (told.message) this.bytes = told.message;
      const file = isNew ? nameOfFile() : /** @type {Picture} */ (this.picture).file;
      this.picture = { kind: told.kind, file, state: told.state };
      this.asked = told.asked ?? this.asked; // what was asked stays so when it is answered
      const address = new URL(told.href);
      address.searchParams.delete("present");
      this.link = linkWithin(root(), address.href) ?? this.link;
    }
    this.hear(told, isNew);
  }

  /** @param {Record<string, any>} wanted as types.d.ts has it */
  want(wanted) {
    this.element.contentWindow?.postMessage({ type: "attention-lab:show", ...wanted }, ORIGIN);
  }

  /** @param {Place | null} pointer @param {Place[][]} lines */
  draw(pointer, lines) {
    this.want({ pointer, lines });
  }

  /** @param {boolean} isSeen */
  reveal(isSeen) {
    this.element.classList.toggle("behind", !isSeen);
    this.element.inert = !isSeen;
    // A page that is not there yet would take the keys, and not know them.
    if (isSeen && this.picture) this.element.contentWindow?.focus();
  }

  leave() {
    window.removeEventListener("message", this.listen);
    this.element.remove();
  }
}
