/* What a page of files fetches, and files that a page writes. */

import { el } from "./dom.js";

const FROM_A_DISK =
  "Browsers do not read files on a disk; start python -m http.server in their folder, and " +
  "open its address.";

/** The bytes at an address. @param {string} address @param {boolean} isPacked by gzip, in the file itself */
export async function bytesAt(address, isPacked) {
  if (location.protocol === "file:" && !address.startsWith("data:")) throw new Error(FROM_A_DISK);
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} is not there (${answer.status}); reload`);
  const unpacked = isPacked && answer.body?.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await (unpacked ? new Response(unpacked) : answer).arrayBuffer());
}

const PART = 0x8000; // bytes that are written at once

/** A text or bytes, made small and written as base64. @param {BlobPart} content
   @param {CompressionFormat} format */
export async function packed(content, format) {
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream(format));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += PART)
    binary += String.fromCharCode(...bytes.subarray(at, at + PART));
  return btoa(binary);
}

const TYPES = {
  csv: "text/csv",
  html: "text/html",
  md: "text/markdown",
  svg: "image/svg+xml",
  png: "image/png",
};

/** Hands a text or a picture to whoever looks, as a file. @param {string | Blob} text
   @param {string} title that its name is made of
   @param {keyof typeof TYPES} kind */
export function saveFile(text, title, kind) {
  const parts = kind === "csv" ? ["\uFEFF", text] : [text]; // by the mark, Excel knows UTF-8
  const href = URL.createObjectURL(new Blob(parts, { type: TYPES[kind] }));
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["talk"];
  el("a", { href, download: `${words.join("-").slice(0, 80)}.${kind}` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000); // the browser has read it by then
}
