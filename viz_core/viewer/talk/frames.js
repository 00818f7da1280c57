/* The frames of the show: the stop that is seen, and those beside it, ready behind. */

import { el } from "../browser/dom.js";
import { linkWithin } from "./own_talks.js";
import { ORIGIN, STOP } from "./stop.js";

/** @import { PageQuestion, Picture, Place, Stop, Told } from "./types" */

/* The address of the app or site, which pages stand below. */
const root = () => new URL(document.body.dataset.root ?? "", document.baseURI).href;

/** A name that no other has: of a picture, or of a talk's channel; length: in bytes. */
export function randomName(/** @type {number} */ length) {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Frame {
  /** @type {Picture | null} */ picture = null;
  /** @type {Uint8Array | null} of the picture */ bytes = null;
  /** @type {PageQuestion | null} */ asked = null;
  /** @type {string} as `Stop.link`, with what was changed since */ link;
  hasCome = false; // whether the server has sent its page
  isLost = false; // whether it has forgotten that page, or could not send it
  /** @type {HTMLIFrameElement | null} its page once more, until that shows the picture */ again = null;

  /** @param {Stop} stop @param {(link: string) => string} addressOf where its page is
     @param {(told: Told, isNew: boolean) => void} hear */
  constructor({ link, hide, at, title, question }, addressOf, hear) {
    this.link = link;
    this.addressOf = addressOf;
    this.hear = hear;
    this.named = { name: STOP + JSON.stringify({ hides: hide, at, asks: Boolean(question) }), title };
    this.element = this.page();
    this.element.classList.toggle("asks", Boolean(question));
    this.listen = (/** @type {MessageEvent} */ { source, data }) => {
      if (data?.type !== "attention-lab:stop") return;
      if (this.again && source === this.again.contentWindow && data.message) this.replace(this.again);
      if (source === this.element.contentWindow) this.take(data);
    };
    window.addEventListener("message", this.listen);
  }

  page() {
    const src = this.addressOf(this.link);
    const element = el("iframe", { ...this.named, translate: "no", src, class: "behind" });
    element.addEventListener("load", () => {
      const page = element.contentDocument; // a slow one shows its menu before our program comes
      if (page) page.documentElement.dataset.stop = "";
      const [loaded] = page?.defaultView?.performance.getEntriesByType("navigation") ?? [];
      const status = /** @type {PerformanceNavigationTiming | undefined} */ (loaded)?.responseStatus ?? 0;
      // A browser's own page, or a proxy's, in the place of ours.
      const isLost = (!page && src.startsWith("http")) || status >= 500;
      this.isLost ||= isLost;
      this.hasCome = !isLost && element === this.element;
    });
    return element;
  }

  /* Asks for its page once more, where that is lost; the picture stays until it comes again. */
  mend() {
    if (!this.isLost) return;
    this.isLost = false;
    this.again?.remove();
    this.again = this.page();
    this.again.classList.toggle("asks", this.element.matches(".asks"));
    this.element.after(this.again);
  }

  /** @param {HTMLIFrameElement} again */
  replace(again) {
    again.className = this.element.className;
    again.inert = this.element.inert;
    this.element.remove();
    this.element = again;
    this.again = null;
  }

  /** @param {Told} told */
  take(told) {
    let isNew = false;
    if ("lost" in told) this.isLost = true;
    if ("kind" in told) {
      isNew = Boolean(told.message);
      if (told.message) this.bytes = told.message;
      const file = isNew ? randomName(16) : /** @type {Picture} */ (this.picture).file;
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
    this.again?.remove();
    this.element.remove();
  }
}
