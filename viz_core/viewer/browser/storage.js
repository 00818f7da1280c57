/* What this browser keeps for a visitor. It may refuse to keep anything: then nothing is remembered. */

/** What is kept under a name; "" where that is nothing. @param {string} name */
export function kept(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** Keeps a text, or forgets it where it is ""; whether the browser did. @param {string} name
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

/** The entries that are kept under a name; {} where there are none.
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
