import { button, el, isNew } from "./dom.js";
import { t } from "./words.js";

/** @typedef {{value: any, text: string, name?: string, colour?: string, title?: string}} Option */

/* A group of buttons of which some are pressed. The same buttons are kept while the options stay the same, so
   that keyboard focus survives a redraw. */
export class Choice {
  /** @param {string} label @param {(value: any, event: MouseEvent) => void} onChoose */
  constructor(label, onChoose, className = "") {
    /** @type {HTMLButtonElement[]} */ this.buttons = [];
    this.onChoose = onChoose;
    this.list = el("div", { class: "choice-list" });
    const name = el("span", { class: "choice-label", text: t(label), "aria-hidden": "true" });
    const group = { class: `choice ${className}`, role: "group", "aria-label": t(label) };
    this.root = el("div", group, [name, this.list]);
    this.list.addEventListener("keydown", (event) => this.move(event));
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const step = Number(event.key === "ArrowRight") - Number(event.key === "ArrowLeft");
    if (!step) return;
    const here = this.buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
    const next = this.buttons[(here + step + this.buttons.length) % this.buttons.length];
    next.focus();
    event.preventDefault();
  }

  /** @param {Option[]} options @param {any[]} pressed */
  update(options, pressed) {
    if (isNew(this.list, options)) {
      this.buttons = options.map((option) =>
        button({
          text: option.text,
          title: option.title,
          "aria-label": option.name,
          "data-value": option.value,
          style: option.colour ? `--chip:${option.colour}` : null,
          onclick: (/** @type {MouseEvent} */ event) => this.onChoose(option.value, event),
        }),
      );
      this.list.replaceChildren(...this.buttons);
    }
    options.forEach((option, index) => {
      this.buttons[index].setAttribute("aria-pressed", String(pressed.includes(option.value)));
    });
  }
}
