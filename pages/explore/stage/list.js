/* A list of which one entry is chosen, with its name beside it. */

import { el } from "../../shared/browser/dom.js";

/** @typedef {{value: string, text: string, title?: string}} Option */

/**
 * Its entries are kept while they stay the same; the words on the chosen one are shown on hovering.
 * @param {string} label
 * @param {(value: string) => void} onChoose
 */
export function listOf(label, onChoose) {
  let shown = "";
  const list = el("select", { "aria-label": label, onchange: () => onChoose(list.value) });
  const name = el("span", { class: "choice-label", text: label, "aria-hidden": "true" });
  const root = el("div", { class: "choice", role: "group", "aria-label": label }, [name, list]);
  /** @param {Option[]} options @param {string} chosen */
  const update = (options, chosen) => {
    const signature = JSON.stringify(options);
    if (signature !== shown) list.replaceChildren(...options.map((option) => el("option", option)));
    shown = signature;
    list.value = chosen;
    list.title = options.find(({ value }) => value === chosen)?.title ?? "";
  };
  return { root, name, list, update };
}
