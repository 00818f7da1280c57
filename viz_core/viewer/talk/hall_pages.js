/* The documents of a hall: of whoever follows, and of a clicker. */

import { startClicker } from "./clicker.js";
import { Follower } from "./follow.js";

/* Shows the one that this document is. */
export function start() {
  const { root, page } = document.body.dataset;
  const place = /** @type {HTMLElement} */ (document.querySelector("main"));
  const [, code] = location.pathname.match(/hall\/(\w+)/) ?? [];
  const address = new URL(String(root), document.baseURI).href;
  if (page === "clicker") startClicker(place, address, code.toLowerCase());
  else new Follower(place, address, code.toLowerCase());
}
