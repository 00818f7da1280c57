/* What lets the hall follow: a link with its code, and what a lecturer does with the hall. */

import { button, el, reveal } from "../browser/dom.js";
import { saveFile } from "../browser/files.js";
import { t } from "../browser/words.js";
import { openAgain, openHall, unreachable } from "./hall.js";

/** @import { HallCard, Shared } from "./types" */
/** @import { Hall } from "./hall.js" */

export class Invitation {
  /** @type {Hall | null} */ hall = null;
  /** @type {HallCard | null} */ card = null;

  /** @param {string} root the app's address
     @param {{shared: Shared, join(hall: Hall): void, leaveHall(hall: Hall): void}} show */
  constructor(root, show) {
    this.appRoot = root;
    this.show = show;
    this.code = el("img", { alt: "The link as a QR code" });
    this.link = el("p", { class: "link" });
    this.said = el("p", { class: "said", role: "status" });
    this.clearing = button({ text: "clear the answers", onclick: () => this.clear() });
    this.works = el("div", { class: "works" }, [
      button({ text: "answers as CSV", onclick: () => this.save() }),
      this.clearing,
      button({ text: "end for all", onclick: () => this.end() }),
    ]);
    const close = button({ text: t("close"), autofocus: true, onclick: () => this.root.close() });
    this.root = /** @type {HTMLDialogElement} */ (
      el("dialog", { class: "invitation", "aria-label": "The hall" }, [
        el("h2", { text: "Follow on your own screen" }),
        this.code,
        this.link,
        this.said,
        el("div", { class: "works" }, [this.works, close]),
      ])
    );
  }

  /* Opens the hall, where it is not open, and shows the way into it; or takes that away. */
  async toggle() {
    if (this.root.open) return this.root.close();
    this.say("");
    this.root.showModal();
    this.draw();
    if (this.hall) return;
    try {
      await this.invite(await openHall(this.appRoot, this.show.shared));
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
    }
    this.draw();
  }

  /* After a reload the hall follows again. */
  async resume() {
    const hall = this.appRoot && (await openAgain(this.appRoot, this.show.shared));
    if (hall) await this.invite(hall).catch((error) => this.say(error.message));
  }

  /** @param {Hall} hall */
  async invite(hall) {
    const [drawn, clickerDrawn] = await Promise.all([hall.drawn(hall.link), hall.drawn(hall.clicker)]);
    this.hall = hall;
    this.card = { link: hall.link, clicker: hall.clicker, clickerDrawn };
    this.code.src = drawn;
    hall.onLife(({ is, sentence }) => this.say(is === "live" ? unreachable(hall.link) : sentence));
    this.show.join(hall);
  }

  draw() {
    this.link.textContent = this.hall?.link.replace(/^https?:\/\//, "") ?? "";
    for (const part of [this.code, this.works]) reveal(part, this.hall);
    reveal(this.clearing, this.show.shared.asked);
  }

  /** @param {string} text */
  say(text) {
    this.said.textContent = t(text);
  }

  async save() {
    try {
      saveFile(await /** @type {Hall} */ (this.hall).table(), "answers", "csv");
    } catch (error) {
      this.say(/** @type {Error} */ (error).message);
    }
  }

  async clear() {
    if (!confirm(t("Delete all answers to this question?"))) return;
    await this.hall?.clear().catch((error) => this.say(error.message));
  }

  async end() {
    if (!confirm(t("End the hall for all, and delete the answers?"))) return;
    const hall = /** @type {Hall} */ (this.hall);
    try {
      await hall.end();
    } catch (error) {
      return this.say(/** @type {Error} */ (error).message);
    }
    this.hall = this.card = null;
    this.show.leaveHall(hall);
    this.root.close();
  }
}
