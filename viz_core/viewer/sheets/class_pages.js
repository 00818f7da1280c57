/* The documents of classes: a student's, the teacher's, and that on which a sheet is given to a class. */

import { Giver } from "./assign.js";
import { Teacher } from "./teacher.js";
import { Work } from "./work.js";

/* Shows the one that this document is. */
export function start() {
  const { root, page } = document.body.dataset;
  const place = /** @type {HTMLElement} */ (document.querySelector("main"));
  const address = new URL(String(root), document.baseURI).href;
  const { pages } = JSON.parse(document.querySelector("#content")?.textContent ?? "");
  const code = (location.pathname.match(/class\/(\w+)/)?.[1] ?? "").toLowerCase();
  if (page === "give") new Giver(place, address, pages);
  else if (page === "teacher") new Teacher(place, address, code);
  else new Work(place, address, code);
}
