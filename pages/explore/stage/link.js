// @ts-nocheck
import { writeAddress } from "../../shared/browser/dom.js";

const URL_FIELDS = [
  "view",
  "stack",
  "layer",
  "head",
  "heads",
  "show",
  "range",
  "sort",
  "step",
  "query",
  "key",
  "pinned",
  "q0",
  "k0",
];

/* The address bar always holds a link to what is shown: the server's part, and what the view adds to its
   defaults. */
export function writeLink(link, defaults, view) {
  const params = new URLSearchParams(link);
  for (const name of URL_FIELDS) {
    const written = (value) => (Array.isArray(value) ? value.join(".") : String(value));
    const usual = name === "heads" ? [view.head] : defaults[name];
    if (written(view[name]) !== written(usual)) params.set(name, written(view[name]));
  }
  writeAddress(params);
}
