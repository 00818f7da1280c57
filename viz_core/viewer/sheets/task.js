/* The page of the app in which a task is done. */

import { el, pause } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { t } from "../browser/words.js";
import { linkWithin } from "../talk/own_talks.js";

/** @import { Refusal } from "../talk/hall.js" */

export const TASK = "attention-lab-task"; // the name of its frame
const WRITING = 250; // milliseconds until a page has written its address
const LOOKING = 100;
const PATIENCE = 15_000; // milliseconds that a page may compute before its link is read all the same
const COMPUTING = ".stProgress, .computing, [data-test-script-state=running]";

const AGAIN = 2000;

/** What an act gives, tried until the server answers. say: hears that it does not, and "" once it does.
   @template T @param {() => Promise<T>} act @param {(sentence: string) => void} say @returns {Promise<T>} */
export async function untilAnswered(act, say) {
  for (let isAway = false; ; isAway = true) {
    try {
      const result = await act();
      if (isAway) say("");
      return result;
    } catch (error) {
      if (/** @type {Refusal} */ (error).status) throw error;
      say(t("The server does not answer; your work is kept."));
      await pause(AGAIN);
    }
  }
}

export class TaskFrame {
  /** @param {string} root of the app @param {string} link as a stop of a talk has it @param {string} title
     @param {(sentence: string) => void} say */
  constructor(root, link, title, say) {
    this.root = root;
    this.opened = link;
    this.element = el("iframe", { name: TASK, title, translate: "no" });
    this.element.onload = () => this.isLost && this.open(say);
    this.open(say);
  }

  /** Once the server answers: so the frame shows no error page of the browser's.
     @param {(sentence: string) => void} say */
  async open(say) {
    await untilAnswered(async () => {
      const { ok, statusText } = await fetch(new URL("_stcore/health", this.root), { cache: "no-store" });
      if (!ok) throw new Error(statusText);
    }, say);
    this.element.src = inLanguage(new URL(this.opened || "?", this.root).href);
  }

  /* Whether the browser shows an error page of its own. */
  get isLost() {
    return this.element.contentDocument === null;
  }

  /* What the page shows now, or showed last. */
  get link() {
    const href = this.isLost ? "" : (this.element.contentWindow?.location.href ?? "");
    this.opened = linkWithin(this.root, href) ?? this.opened;
    return this.opened;
  }

  /* The same once the page has done what it was last asked for: a text that is typed counts when the field is
     left, as on the way to "check". */
  async settledLink() {
    await pause(WRITING);
    const isBusy = () => this.element.contentDocument?.querySelector(COMPUTING);
    for (let waited = 0; isBusy() && waited < PATIENCE; waited += LOOKING) await pause(LOOKING);
    await pause(WRITING);
    return this.link;
  }
}
