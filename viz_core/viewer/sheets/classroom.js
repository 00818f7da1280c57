/* What the pages of classes ask of the server (pages/sheets), say, and keep. */

import { el, reveal } from "../browser/dom.js";
import { t } from "../browser/words.js";
import { Refusal } from "../talk/hall.js";

export class ClassPage {
  token = "";
  said = el("p", { class: "problem absent", role: "alert" });

  /** @param {string} root the app's address @param {string} code "" before there is one */
  constructor(root, code) {
    this.root = root;
    this.code = code;
    this.link = new URL(`class/${code}`, root).href;
  }

  /** @param {string} path below the class @param {string} method @param {any} [content] */
  async ask(path, method = "GET", content) {
    const headers = { Authorization: `Bearer ${this.token}` };
    const body = content === undefined ? undefined : JSON.stringify(content);
    let answer;
    try {
      answer = await fetch(this.link + path, { method, headers, body });
    } catch {
      throw new Refusal(0, t("The server does not answer; try again."));
    }
    const text = await answer.text();
    if (!answer.ok) throw new Refusal(answer.status, t(text));
    return answer.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text;
  }

  /** @param {string} sentence */
  say(sentence) {
    this.said.textContent = t(sentence);
    reveal(this.said, sentence);
  }

  /** Does something, or says why it was refused. @param {() => Promise<void>} act */
  async act(act) {
    await act().catch((/** @type {Error} */ { message }) => this.say(message));
  }
}

/** How an answer went: the name of its style, a mark, and words.
   @param {{right: boolean | null} | undefined} answer */
export function howOf(answer) {
  if (!answer) return ["", "", t("nothing yet")];
  if (answer.right === null) return ["given", "•", t("answered")];
  return answer.right ? ["right", "✓", t("right")] : ["wrong", "✗", t("not right")];
}

/** A day in the document's language. @param {number} seconds since 1970 */
export function dayOf(seconds) {
  const { lang } = document.documentElement;
  const place = navigator.language.startsWith(lang) ? navigator.language : lang;
  return new Date(1000 * seconds).toLocaleDateString(place, { dateStyle: "long" });
}

/** Markdown as HTML, which lets no HTML through. @param {string} text @param {HTMLElement} into */
export function write(text, into) {
  into.innerHTML = globalThis.markdownit().render(text);
  for (const link of into.querySelectorAll("a")) link.target = "_blank";
  return into;
}
