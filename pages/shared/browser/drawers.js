/* What a page keeps in drawers beside its figure: the page sends them all, one at a time is seen
   (pages/shared/page.css). */

import { button } from "./dom.js";

/** By the name of their container on the page: what their button says, and the key that opens them. */
export const DRAWERS = {
  formula: { label: "formula", key: "f" },
  code: { label: "code", key: "s" },
  questions: { label: "questions", key: "q" },
  glossary: { label: "glossary", key: "g" },
  side: { label: "controls", key: "i" },
};

/** @typedef {keyof typeof DRAWERS} Drawer */

export class Drawers {
  /** @type {Drawer | null} */ opened = null;
  /** @type {HTMLElement | null} the button that opened it, where no key did */ opener = null;

  /** @param {Drawer[]} names those that the page has */
  constructor(names = /** @type {Drawer[]} */ (Object.keys(DRAWERS))) {
    this.names = names;
    this.buttons = names.map((name) =>
      button({
        text: DRAWERS[name].label,
        title: `Open beside the figure, or close; key ${DRAWERS[name].key}`,
        "aria-expanded": "false",
        "data-drawer": name,
        onclick: (/** @type {MouseEvent} */ { currentTarget }) => {
          this.toggle(name);
          this.opener = this.opened && /** @type {HTMLElement} */ (currentTarget);
        },
      }),
    );
    const onclick = () => this.open(null);
    this.close = button({ class: "lab-drawer-close", text: "×", "aria-label": "Close", onclick });
  }

  /**
   * The controls stand beside the figure, but for one that has the whole screen, and on a phone, where their
   * button is always there (shell.css). Only the lab has the others.
   * @param {{side: boolean, all: boolean}} are
   */
  allow({ side, all }) {
    this.buttons.forEach((button, at) =>
      button.classList.toggle("absent", this.names[at] === "side" ? !side : !all),
    );
  }

  /** @param {string} key of the keyboard */
  forKey(key) {
    const isThere = (/** @type {number} */ at) => !this.buttons[at].classList.contains("absent");
    return this.names.find((name, at) => DRAWERS[name].key === key.toLowerCase() && isThere(at));
  }

  /** @param {Drawer} name */
  toggle(name) {
    this.open(this.opened === name ? null : name);
  }

  /** Opens one drawer, or none; the keyboard goes with it. @param {Drawer | null} name */
  open(name) {
    this.opened = name;
    const { documentElement, body } = document;
    if (name) {
      documentElement.dataset.drawer = name;
      body.append(this.close);
      this.close.focus();
    } else {
      delete documentElement.dataset.drawer;
      this.close.remove();
      this.opener?.focus();
      this.opener = null;
    }
    for (const button of this.buttons)
      button.setAttribute("aria-expanded", String(button.dataset.drawer === name));
  }

  leave() {
    delete document.documentElement.dataset.drawer;
    this.close.remove();
  }
}
