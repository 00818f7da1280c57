/* How the windows of one browser share a talk. */

/** @import { Briefing, Heard, Press, Shared, Wire } from "./types" */

const MOST_KEPT = 8; // pictures: those before and after this one, and some that were just now

/** @param {string} name of the talk's channel @returns {Wire} */
export function channelWire(name) {
  const channel = new BroadcastChannel(`attention-lab:${name}`);
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
  };
}
