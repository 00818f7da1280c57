/* The page of whoever follows a talk: what is shown, the question, a way to try and to come back. */

import { button, el, isNew, onPhone, reveal, typed } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { t, tWith } from "../browser/words.js";
import { Hall } from "./hall.js";
import { channelWire } from "./wires.js";

/** @import { Asked, Heard } from "./types" */

const AHEAD = 1500; // milliseconds within which all fetch what comes next, so that not all do at once

export class Follower {
  /** @type {Heard | null} */ heard = null;
  /** @type {Map<string, number>} what was answered, by question */ answers = new Map();
  /** @type {HTMLIFrameElement | null} the app, in which something is tried */ tried = null;
  turn = 0; // what came last: a picture may come late

  /** @param {HTMLElement} place @param {string} root @param {string} code */
  constructor(place, root, code) {
    this.root = root;
    this.hall = new Hall(root, code);
    this.channel = `${code}-${Math.random().toString(36).slice(2)}`;
    this.wire = channelWire(this.channel);
    this.said = el("p", { class: "problem", role: "status" });
    this.title = el("h1");
    this.try = button({ text: "try it yourself", onclick: () => this.leave() });
    this.back = button({ class: "back", text: "back to the talk", onclick: () => this.comeBack() });
    this.card = el("div", { class: "card" });
    this.veil = el("div", { class: "veil absent", text: "The lecturer has blanked the screen." });
    this.area = el("div", { class: "frames" }, [this.card, this.veil]);
    this.question = el("section", { class: "question absent", "aria-label": t("Question") });
    place.replaceChildren(
      el("div", { class: "follow" }, [
        el("div", { class: "line" }, [this.title, this.try, this.back]),
        this.said,
        this.area,
        this.question,
      ]),
    );
    reveal(this.back, false);
    this.openMirror();
    window.matchMedia("(max-width: 640px)").addEventListener("change", () => this.openMirror());
    this.wire.onPress(() => this.showPicture());
    this.hall.onLife(({ sentence }) => {
      this.said.textContent = t(sentence);
      reveal(this.said, sentence);
    });
    this.hall.onShared((heard) => this.show(heard));
  }

  /* A phone shows a picture in its own way, a larger window as a projector does. */
  openMirror() {
    this.mirror?.remove();
    const query = new URLSearchParams({ channel: this.channel, which: "this", fills: onPhone() ? "0" : "1" });
    const src = inLanguage(new URL(`talk/mirror.html?${query}`, this.root).href);
    this.mirror = el("iframe", { title: "What is shown", src });
    this.area.prepend(this.mirror);
  }

  /** @param {Heard} heard */
  show(heard) {
    const before = this.heard;
    this.heard = heard;
    const { at, stops, title, picture, link, next } = heard;
    document.title = `${stops[at]} · ${title}`;
    this.name();
    reveal(this.card, !picture);
    this.card.replaceChildren(el("p", {}, [typed(stops[at])]), el("p", {}, [typed(at ? "" : title)]));
    reveal(this.veil, heard.blank);
    reveal(this.try, link && !this.tried);
    this.showQuestion(heard);
    this.showPicture();
    if (next && next.file !== before?.next?.file)
      setTimeout(() => this.hall.fetch(next.file).catch(() => {}), AHEAD * Math.random());
  }

  async showPicture() {
    const { heard } = this;
    const turn = ++this.turn;
    if (!heard) return;
    if (heard.picture) {
      const bytes = await this.hall.fetch(heard.picture.file).catch(() => null);
      if (!bytes || turn !== this.turn) return;
      await this.wire.keep(heard.picture.file, bytes);
    }
    this.wire.tell(heard);
  }

  /** The options are pressed; how many chose each is seen once it is uncovered. @param {Heard} heard */
  showQuestion({ asked, counts }) {
    reveal(this.question, asked);
    const own = asked ? this.answers.get(asked.id) : undefined;
    if (!asked || !isNew(this.question, [asked, counts, own])) return;
    const all = Math.max(1, counts?.reduce((sum, count) => sum + count, 0) ?? 0);
    const options = asked.options.map((text, at) =>
      button(
        {
          class: at === asked.right ? "right" : "",
          style: counts ? `--share: ${(100 * counts[at]) / all}%` : null,
          "aria-pressed": String(at === own),
          disabled: asked.uncovered && own !== undefined,
          onclick: () => this.answer(asked, at),
        },
        [
          el("span", {}, [typed(text)]),
          at === asked.right && el("span", { text: " ✓" }),
          counts && el("b", { text: String(counts[at]) }),
        ],
      ),
    );
    const because = el("div", { class: "because" });
    because.innerHTML = globalThis.markdownit().render(asked.because); // which lets no HTML through
    const ask = el("p", {}, [typed(asked.ask)]);
    const list = el("div", { class: `options${counts ? " counted" : ""}` }, options);
    this.question.replaceChildren(ask, list, because, (this.counted = el("p", { role: "status" })));
  }

  /** @param {Asked} asked @param {number} option */
  async answer(asked, option) {
    const before = this.answers.get(asked.id);
    this.answers.set(asked.id, option);
    const show = () => this.heard && this.showQuestion(this.heard);
    show();
    try {
      await this.hall.answer(asked, option);
    } catch (error) {
      if (before === undefined) this.answers.delete(asked.id);
      else this.answers.set(asked.id, before);
      show();
      if (this.counted) this.counted.textContent = t(/** @type {Error} */ (error).message);
    }
  }

  /* The app itself in the place of the picture, where the lecturer is now. */
  leave() {
    const address = new URL(this.heard?.link ?? "", this.root);
    if (address.origin !== location.origin) return;
    const src = inLanguage(address.href);
    this.tried = el("iframe", { title: "The app, to try", src, class: "tried" });
    this.area.append(this.tried);
    this.change();
  }

  comeBack() {
    this.tried?.remove();
    this.tried = null;
    this.change();
    this.try.focus();
  }

  name() {
    if (!this.heard) return;
    const { at, stops } = this.heard;
    const where = typed(`${at + 1} / ${stops.length}  ${stops[at]}`);
    this.title.replaceChildren(...(this.tried ? tWith`The talk is at ${where}` : [where]));
  }

  change() {
    this.name();
    reveal(this.try, !this.tried);
    reveal(this.back, this.tried);
    if (this.tried) this.back.focus();
  }
}
