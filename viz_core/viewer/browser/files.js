/* What a page of files fetches. */

/** The bytes at an address. @param {string} address @param {boolean} isPacked by gzip, in the file itself */
export async function bytesAt(address, isPacked) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} is not there (${answer.status}); load the page again`);
  const unpacked = isPacked && answer.body?.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await (unpacked ? new Response(unpacked) : answer).arrayBuffer());
}
