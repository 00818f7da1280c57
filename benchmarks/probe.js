// Times what a person feels: from the input event to the frame that shows its effect.
const probe = {
  /** @type {Promise<number> | undefined} what `arm` is waiting for */ result: undefined,
  /** @type {number | undefined} of the payload that was drawn last */ generation: undefined,

  // Resolves once the next frame is on the screen: the frame's callback runs before it is painted, a message
  // after.
  /** @returns {Promise<number>} */
  painted() {
    return new Promise((resolve) =>
      requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => resolve(performance.now());
        channel.port2.postMessage(null);
      }),
    );
  },

  // Resolves with the time at which `effect`, a promise, is on the screen; gives up when it does not come.
  /** @param {Promise<unknown>} effect @returns {Promise<number>} */
  shown(effect) {
    const tooLate = new Promise((_, reject) =>
      setTimeout(() => reject(new Error("no effect seen")), 120_000),
    );
    return Promise.race([effect.then(() => this.painted()), tooLate]);
  },

  // Resolves when every part that `parts()` lists differs from what it listed at the call.
  // Compared by identity, so a part may be a text or a node that is made anew.
  /** @param {() => unknown[]} parts @returns {Promise<void>} */
  changed(parts) {
    const before = parts();
    const isDone = () => {
      const now = parts();
      return now.length > 0 && now.every((part, i) => part !== before[i]);
    };
    return new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (!isDone()) return;
        observer.disconnect();
        resolve();
      });
      observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    });
  },

  // Resolves when a view says that it drew and Plotly has put up all charts in it; `fresh`: from a payload
  // that came after the call.
  /** @returns {Promise<void>} */
  drawn(fresh = false) {
    const before = this.generation;
    return new Promise((resolve) => {
      const listener = (/** @type {any} */ event) => {
        if (fresh && event.detail.generation === before) return;
        document.removeEventListener("attention-lab:painted", listener, true);
        resolve(this.idle(event.composedPath()[0]));
      };
      document.addEventListener("attention-lab:painted", listener, true);
    });
  },

  // Resolves when nothing in sight below `root` is still to come, at once where nothing is.
  /** @param {Element} root @returns {Promise<void> | undefined} */
  idle(root) {
    const isIdle = () =>
      ![...root.querySelectorAll("[aria-busy=true]")].some((part) => part.checkVisibility());
    if (isIdle()) return undefined;
    return new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (!isIdle()) return;
        observer.disconnect();
        resolve();
      });
      observer.observe(root, { subtree: true, childList: true, attributes: true });
    });
  },

  // Call before an input of one of the event `types`; `await probe.result` after it gives the milliseconds
  // from the input to the painted effect.
  /** @param {Promise<unknown>} effect @param {string[]} types */
  arm(effect, types) {
    let pressed = 0;
    const note = (/** @type {Event} */ event) => (pressed ||= event.timeStamp);
    for (const type of types) addEventListener(type, note, { capture: true });
    this.result = this.shown(effect).then((now) => {
      for (const type of types) removeEventListener(type, note, { capture: true });
      return now - pressed;
    });
  },
};
Object.assign(globalThis, { probe });
const remember = (/** @type {any} */ { detail }) => (probe.generation = detail.generation);
document.addEventListener("attention-lab:painted", remember, true);
