/* Where a talk comes from: this browser's own, one that ships, or one that a link holds whole. */

import { packed } from "../browser/files.js";
import { read } from "./format.js";
import { MOST_CHARACTERS, ownText } from "./own_talks.js";

/** @import { Problem, Talk } from "./types" */
/** @typedef {{talk: Talk, problems: Problem[]}} Reading */
/** root: the address of the app or site from here. pages: as `read` has it.
   @typedef {{root?: string, pages?: readonly string[]}} Around */

export const LONGEST_LINK = 8000; // characters that mails and chats pass on whole

/** The talk that an address names after its #: own, shipped=<name> or talk=<packed>.
   @param {string} hash @param {Around} around @returns {Promise<Reading>} */
export async function talkOf(hash, { root = "./", pages } = {}) {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const [name, packed] = [params.get("shipped"), params.get("talk")];
  try {
    if (packed !== null) return read(await unpack(packed), pages);
    if (name !== null) return read(await shippedText(name, root), pages);
    const own = params.get("own");
    if (own !== null && ownText(own)) return read(ownText(own), pages);
    if (own === null) throw new Error("The address names no talk: open one on Talks.");
    throw new Error("This browser has no talk of yours: make or open one on Talks.");
  } catch (error) {
    const talk = { title: "", about: "", settings: {}, stops: [] };
    return { talk, problems: [{ line: 1, text: /** @type {Error} */ (error).message }] };
  }
}

/** The file of a talk that ships, in the language of the page. @param {string} name @param {string} root */
export async function shippedText(name, root) {
  const address = `${root}talk/${document.documentElement.lang || "en"}/${name}.md`;
  const answer = /^[a-z0-9-]+$/.test(name) ? await fetch(address) : null;
  if (answer?.ok) return answer.text();
  throw new Error(`There is no ready-made talk ${name.slice(0, 40)}: choose one on Talks.`);
}

/** A file as a part of an address. @param {string} text */
export async function pack(text) {
  return (await packed(text, "deflate-raw")).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** What `pack` made into a part of an address. @param {string} packed */
export async function unpack(packed) {
  const pieces = [];
  let size = 0;
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.getReader();
    // Few bytes may unpack to many: no more are taken than a file may have.
    for (let next = await reader.read(); !next.done && size <= MOST_CHARACTERS; next = await reader.read()) {
      pieces.push(next.value);
      size += next.value.length;
    }
  } catch {
    throw new Error("The link is cut off: copy all of it, or ask for the file.");
  }
  return new Blob(pieces).text();
}
