/** @typedef {import("./types").View} View */

const NAMES =
  "view stack layer head heads show range sort order keep limit sight special when step query key " +
  "pinned queries keys over sweep goal put other sender receiver through q0 k0";
const URL_FIELDS = /** @type {(keyof View)[]} */ (NAMES.split(" "));

/**
 * The query parameters of a link to what is shown: the server's part, and what differs from the usual view.
 * @param {Record<string, string>} link
 * @param {import("./types").Loose} usual
 * @param {View} view
 */
export function linkOf(link, usual, view) {
  const params = new URLSearchParams(link);
  /** @param {unknown} value */
  const written = (value) => (Array.isArray(value) ? value.join(".") : String(value));
  for (const name of URL_FIELDS) {
    const expected = name === "heads" ? [view.head] : usual[name];
    if (written(view[name]) !== written(expected)) params.set(name, written(view[name]));
  }
  return params;
}
