/* What a page keeps in drawers beside its figure: the page sends them all, one at a time is seen
   (pages/shared/page.css). */

import { button, reveal } from "./dom.js";
import { find, page } from "./page.js";
import { t } from "./words.js";

/** By the name of their container on the page: what their button says, and the key that opens them. */
export const DRAWERS = {
  formula: { label: "formula", key: "f" },
  code: { label: "code", key: "s" },
  questions: { label: "questions", key: "q" },
  glossary: { label: "glossary", key: "g" },
  side: { label: "controls", key: "i" },
  text: { label: "write a text", key: "w" },
};

/** What takes room under the headline of a figure that has the screen. @param {Drawer | null} name */
const stripOf = (name) => find(name === "questions" || name === "text" ? page[name] : "");

/** @typedef {keyof typeof DRAWERS} Drawer */

export class Drawers {
  /** @type {Drawer | null} */ opened = null;
  /** @type {HTMLElement | null | undefined} what had the focus before */ opener = null;
  /** @type {HTMLInputElement | HTMLTextAreaElement | null} the text as it is written */ field = null;
  text = ""; // as it was before
  /** @type {HTMLTextAreaElement | null} the view's own field for a text */ own = null;
  changed = () => {}; // is called when the opened drawer takes more or less room
  resizer = new ResizeObserver(() => this.changed());

  /** @param {Drawer[]} names those that the page has */
  constructor(names = /** @type {Drawer[]} */ (Object.keys(DRAWERS))) {
    this.names = names;
    const withButtons = names.filter((name) => name !== "text");
    this.buttons = withButtons.map((name) =>
      button({
        text: t(DRAWERS[name].label),
        title: `Open beside the figure, or close; key ${DRAWERS[name].key}`,
        "aria-expanded": "false",
        "data-drawer": name,
        onclick: () => this.toggle(name),
      }),
    );
    const onclick = () => this.open(null);
    this.close = button({ class: "lab-drawer-close", text: "×", "aria-label": t("Close"), onclick });
  }

  /** The controls stand beside the figure, but for one that has the whole screen, and on a phone, where their
     button is always there (shell.css). Only the lab has the others.
     @param {{side: boolean, all: boolean}} are */
  allow({ side, all }) {
    for (const button of this.buttons) reveal(button, button.dataset.drawer === "side" ? side : all);
  }

  /** @param {string} key of the keyboard */
  forKey(key) {
    const name = this.names.find((name) => DRAWERS[name].key === key.toLowerCase());
    const isThere =
      name === "text"
        ? "present" in document.documentElement.dataset && this.whereWritten()
        : this.buttons.some(
            ({ dataset, classList }) => dataset.drawer === name && !classList.contains("absent"),
          );
    return isThere ? name : undefined;
  }

  whereWritten() {
    return this.own ?? /** @type {HTMLInputElement | null} */ (find(page.field));
  }

  /* How much room the opened drawer takes under the headline. */
  get room() {
    return stripOf(this.opened)?.getBoundingClientRect().height ?? 0;
  }

  /** Ends the writing of a text: it is read, or else the one before stays. @param {boolean} isRead */
  finish(isRead) {
    const { field } = this;
    if (field && !isRead) {
      // React hears of a value only where its own setter is passed by.
      const { prototype } = /** @type {any} */ (field.constructor);
      Object.getOwnPropertyDescriptor(prototype, "value")?.set?.call(field, this.text);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    field?.blur();
    this.open(null);
  }

  /** @param {Drawer} name */
  toggle(name) {
    this.open(this.opened === name ? null : name);
  }

  /** Opens one drawer, or none; the keyboard goes with it. @param {Drawer | null} name */
  open(name) {
    if (name && !this.opened) {
      const { activeElement: host } = document;
      this.opener = /** @type {HTMLElement | null} */ (host?.shadowRoot?.activeElement ?? host);
    }
    this.opened = name;
    const { documentElement, body } = document;
    this.resizer.disconnect();
    if (name) {
      documentElement.dataset.drawer = name;
      body.append(this.close);
      this.field = name === "text" ? this.whereWritten() : null;
      this.text = this.field?.value ?? "";
      this.changed(); // what takes the focus is there by now
      const fold = this.field?.closest("details");
      if (fold && !fold.open) find("summary", fold)?.click();
      queueMicrotask(() => {
        (this.field ?? this.close).focus();
        this.field?.select();
      });
      const strip = stripOf(name);
      if (strip) this.resizer.observe(strip);
    } else {
      delete documentElement.dataset.drawer;
      this.close.remove();
      this.opener?.focus();
      this.opener = null;
      this.changed();
    }
    for (const button of this.buttons)
      button.setAttribute("aria-expanded", String(button.dataset.drawer === name));
  }

  leave() {
    this.resizer.disconnect();
    delete document.documentElement.dataset.drawer;
    this.close.remove();
  }
}
