/* The page of the app in which a task is done. */

import { el } from "../browser/dom.js";
import { inLanguage } from "../browser/page.js";
import { linkWithin } from "../talk/own.js";

export const TASK = "attention-lab-task"; // the name of its frame
const WRITING = 250; // milliseconds until a page has written its address
const LOOKING = 100;
const PATIENCE = 15_000; // milliseconds that a page may compute before its link is read all the same
const COMPUTING = ".stProgress, .computing, [data-test-script-state=running]";

const pause = (/** @type {number} */ milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export class TaskFrame {
  /** @param {string} root of the app @param {string} link as a stop of a talk has it @param {string} title */
  constructor(root, link, title) {
    this.root = root;
    const src = inLanguage(new URL(link || "?", root).href);
    this.element = el("iframe", { name: TASK, title, translate: "no", src });
  }

  /* What the page shows now; "" where it is none of ours. */
  get link() {
    return linkWithin(this.root, this.element.contentWindow?.location.href ?? "") ?? "";
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
