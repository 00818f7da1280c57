/* How the windows of one browser share a talk. */

/** @import { Briefing, Heard, Press, Shared, Wire } from "./types" */

const MOST_KEPT = 8; // pictures: those before and after this one, and some that were just now

/* A channel between windows of files, which have none: the show, and what it has opened. */
class Windows {
  /** @type {Window[]} */ others = opener ? [opener] : [];
  /** @type {((event: MessageEvent) => void) | null} */ onmessage = null;
  listening = new AbortController();

  /** @param {string} name */
  constructor(name) {
    this.name = name;
    const hear = (/** @type {MessageEvent} */ event) => {
      if (event.data?.channel === name)
        this.onmessage?.(new MessageEvent("message", { data: event.data.data }));
    };
    window.addEventListener("message", hear, this.listening);
  }

  /** @param {unknown} data */
  postMessage(data) {
    for (const other of this.others) other.postMessage({ channel: this.name, data }, "*");
  }

  close() {
    this.listening.abort();
  }
}

/** @param {string} name of the talk's channel @returns {Wire & {meet(other: Window | null): void}} */
export function channelWire(name) {
  const isFile = location.protocol === "file:";
  const channel = isFile ? new Windows(name) : new BroadcastChannel(`attention-lab:${name}`);
  /** @type {Map<string, Uint8Array>} */ const kept = new Map();
  /** @type {Map<string, PromiseWithResolvers<Uint8Array>>} */ const wanted = new Map();
  /** @type {Record<string, (value: any) => void>} */ const hears = {};
  /** @type {Briefing} */ let known = { notes: null, counts: null };
  channel.onmessage = ({ data }) => {
    for (const [name, value] of Object.entries(data)) hears[name]?.(value);
  };
  hears.want = (/** @type {string} */ file) => {
    if (kept.has(file)) channel.postMessage({ file: { file, bytes: kept.get(file) } });
  };
  hears.file = (/** @type {{file: string, bytes: Uint8Array}} */ { file, bytes }) => {
    wanted.get(file)?.resolve(bytes);
  };
  return {
    tell: (shared) => channel.postMessage({ shared }),
    keep: async (file, bytes) => {
      kept.set(file, bytes);
      for (const old of [...kept.keys()].slice(0, -MOST_KEPT)) kept.delete(old);
    },
    ask: (press) => channel.postMessage({ press }),
    fetch: (file) => {
      const known = wanted.get(file) ?? Promise.withResolvers();
      if (!wanted.has(file)) channel.postMessage({ want: file });
      wanted.set(file, known);
      for (const old of [...wanted.keys()].slice(0, -MOST_KEPT)) wanted.delete(old);
      return known.promise;
    },
    brief: (briefing) => channel.postMessage({ briefing }),
    onShared: (/** @type {(heard: Heard) => void} */ hear) => {
      /** @type {Shared | null} */ let last = null;
      const tell = () => last && hear({ ...last, ...known });
      hears.shared = (shared) => {
        last = shared;
        tell();
      };
      hears.briefing = (briefing) => {
        known = briefing;
        tell();
      };
    },
    onPress: (/** @type {(press: Press) => void} */ hear) => (hears.press = hear),
    close: () => channel.close(),
    /** Of a file: the window that it has opened. */
    meet: (other) => other && channel instanceof Windows && channel.others.push(other),
  };
}
