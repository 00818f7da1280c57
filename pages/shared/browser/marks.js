/* What a visitor opened and predicted: remembered in this browser alone, told to no server. */

/** @typedef {Record<string, boolean>} Predicted whether the first prediction was right, by question */
/** @typedef {Record<string, Predicted>} Marks by "page/part", for all that were opened */

const KEPT = "attention-lab.marks";

/** A browser may refuse to keep anything: then nothing is remembered. @returns {Marks} */
export function marks() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

/** @param {string} place "page/part" @param {Predicted} predicted the first predictions stay */
function note(place, predicted) {
  const kept = marks();
  const known = kept[place] && Object.keys(predicted).every((question) => question in kept[place]);
  if (known) return;
  kept[place] = { ...predicted, ...kept[place] };
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {}
}

/** @param {string} page @param {string} part */
export function noteOpened(page, part) {
  note(`${page}/${part}`, {});
}

/**
 * Notes each prediction as soon as its answer is on the page (pages/lab/page.py); returns a stop.
 * @param {() => void} then what else is done whenever the page has changed
 */
export function notePredictions(then) {
  const look = () => {
    for (const { dataset } of /** @type {NodeListOf<HTMLElement>} */ (
      document.querySelectorAll("[data-predicted]")
    )) {
      const [page, part, question] = String(dataset.predicted).split("/");
      note(`${page}/${part}`, { [question]: dataset.right === "1" });
    }
    then();
  };
  const watcher = new MutationObserver(look);
  watcher.observe(document.body, { childList: true, subtree: true });
  return () => watcher.disconnect();
}

export function forget() {
  try {
    localStorage.removeItem(KEPT);
  } catch {}
}
