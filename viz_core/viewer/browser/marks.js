/* What a visitor opened and predicted: remembered in this browser alone, told to no server. */

import { findAll } from "./page.js";
import { keep, keepEntries, keptEntries } from "./storage.js";

/** @typedef {Record<string, boolean>} Predicted whether the first prediction was right, by question */
/** @typedef {Record<string, Predicted>} Marks by "page/part", for all that were opened */

const KEPT = "attention-lab.marks";

/** @returns {Marks} */
export const marks = () => keptEntries(KEPT);

/** @param {string} place "page/part" @param {Predicted} predicted the first predictions stay */
function note(place, predicted) {
  const entries = marks();
  const known = entries[place] && Object.keys(predicted).every((question) => question in entries[place]);
  if (known) return;
  keepEntries(KEPT, { ...entries, [place]: { ...predicted, ...entries[place] } });
}

/** @param {string} page @param {string} part */
export function noteOpened(page, part) {
  note(`${page}/${part}`, {});
}

/* Notes what the page says: a prediction whose answer is there (pages/lab/page.py), a station of the walk. */
export function noteSaid() {
  for (const { dataset } of findAll("[data-predicted]")) {
    const [page, part, question] = String(dataset.predicted).split("/");
    note(`${page}/${part}`, { [question]: dataset.right === "1" });
  }
}

/** Does so whenever the page has changed; returns a stop.
   @param {() => void} then what else is done */
export function notePredictions(then) {
  const noteAll = () => {
    noteSaid();
    then();
  };
  const watcher = new MutationObserver(noteAll);
  watcher.observe(document.body, { childList: true, subtree: true });
  return () => watcher.disconnect();
}

export const forget = () => keep(KEPT, "");
