/* A model as the contract has it, for a host that has none: what is shown, and who hears of its changes. */

export class Held extends EventTarget {
  /** @type {Record<string, any>} */ values = { message: null, state: null, problem: "", progress: "" };

  /** @param {string} name */
  get(name) {
    return this.values[name];
  }

  /** @param {string} name @param {any} value */
  set(name, value) {
    this.values[name] = value;
    this.dispatchEvent(new Event(`change:${name}`));
  }

  /** A message of the host. @param {Uint8Array} bytes */
  receive(bytes) {
    this.set("message", bytes);
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

  /** Answers what a person did. @param {any} act */
  send(act) {
    this.tellPage(act);
  }

  /** Has the page around it answer; here there is none. @param {any} _act */
  tellPage(_act) {}
}
