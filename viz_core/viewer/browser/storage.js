/* What this browser keeps for a visitor. It may refuse to keep anything: then nothing is remembered. */

/** Reads the text that is kept under a name; "" where there is none. @param {string} name */
export function kept(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Keeps a text, or forgets it where it is ""; says whether the browser did so. @param {string} name
   @param {string} text */
export function keep(name, text) {
  try {
    if (text) localStorage.setItem(name, text);
    else localStorage.removeItem(name);
    return true;
  } catch {
    return false;
  }
}

/** Reads the entries that are kept under a name; {} where there are none.
   @param {string} name @returns {Record<string, any>} */
export function keptEntries(name) {
  try {
    const entries = JSON.parse(kept(name));
    return entries && typeof entries === "object" ? entries : {};
  } catch {
    return {};
  }
}

/** @param {string} name @param {Record<string, any>} entries */
export const keepEntries = (name, entries) => keep(name, JSON.stringify(entries));
