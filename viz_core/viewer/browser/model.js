/* A model as the contract has it, for a host that has none: what is shown, and who hears of its changes. */

export class Held extends EventTarget {
  /** @type {Record<string, any>} */ values = { message: null, state: null };

  /** @param {string} name */
  get(name) {
    return this.values[name];
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.values[name] = value;
    this.dispatchEvent(new Event(`change:${name}`));
  }

  save_changes() {}

  /** @param {string} event @param {() => void} callback */
  on(event, callback) {
    this.addEventListener(event, callback);
  }

  /** @param {string} event @param {() => void} callback */
  off(event, callback) {
    this.removeEventListener(event, callback);
  }

  /** Answers what a person did; here nobody does. @param {any} _act */
  send(_act) {}
}
