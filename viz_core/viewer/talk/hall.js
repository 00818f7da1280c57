/* The hall of a talk: windows of all machines that follow it, by way of the server (pages/hall). */

import { pause } from "../browser/dom.js";
import { keep, kept } from "../browser/storage.js";

/** @import { Asked, Briefing, Heard, Press, Shared } from "./types" */
/** cut: the network is away, or the server; it is tried again. sentence: what is to be said of it.
   @typedef {{is: "live" | "cut" | "ended", sentence: string}} Life */

const LEAST = 100; // milliseconds between two records: a pointer moves ten times a second
const SILENT = 40_000; // milliseconds after which a connection is lost: the server says something every 15 s
const MOST_KEPT = 8; // pictures
const KEPT = "attention-lab:hall";
const CUT = "The connection is cut; it is tried again.";
const ENDED = "The talk has ended.";
/** @type {Life} */ const LIVE = { is: "live", sentence: "" };

/** Why others cannot come to a link; "" where they can. @param {string} link */
export function unreachable(link) {
  const { hostname } = new URL(link);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  return isHere ? `Only this machine reaches ${hostname}: start the app with HOST=0.0.0.0.` : "";
}

/** A server's refusal, with its sentence. */
export class Refusal extends Error {
  /** @param {number} status @param {string} sentence */
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

/** The hall that this tab has opened, where it is still there. @param {string} root the app's address
   @param {Shared} shared @returns {Promise<Hall | null>} */
export async function openAgain(root, shared) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
  if (!kept) return null;
  const hall = new Hall(root, kept.code, kept.secret);
  const isThere = await hall.request("", { method: "PUT", body: JSON.stringify(shared) }).catch(() => null);
  if (!isThere) hall.close();
  return isThere && hall;
}

/** Opens a hall for a talk. Throws the server's sentence. @param {string} root @param {Shared} shared */
export async function openHall(root, shared) {
  const answer = await fetch(new URL("hall/", root), { method: "POST", body: JSON.stringify(shared) });
  if (!answer.ok) throw new Error(await answer.text());
  const { code, secret } = await answer.json();
  sessionStorage.setItem(KEPT, JSON.stringify({ code, secret }));
  return new Hall(root, code, secret);
}

/* A wire, as types.d.ts has it. With the secret it drives, without it follows. */
export class Hall {
  /** @type {Life} */ life = LIVE;
  /** @type {Heard | null} */ heard = null;
  /** @type {Shared | null} what is still to be told */ newest = null;
  /** @type {Promise<void> | null} */ telling = null;
  /** @type {Map<string, Promise<Uint8Array>>} */ pictures = new Map();
  /** @type {Map<string, Promise<unknown>>} pictures on their way to the server */ keeping = new Map();
  notes = ""; // as they were told
  lastHeard = 0; // when the server said something
  last = 0; // the number of the press that was heard last
  connection = new AbortController();
  /** @type {(heard: Heard) => void} */ hearShared = () => {};
  /** @type {(press: Press) => void} */ hearPress = () => {};
  /** @type {(counts: number[] | null, following: number) => void} */ hearCounts = () => {};
  /** @type {(life: Life) => void} */ hearLife = () => {};

  /** @param {string} root the app's address @param {string} code @param {string} secret */
  constructor(root, code, secret = "") {
    this.code = code;
    this.secret = secret;
    this.link = new URL(`hall/${code}`, root).href;
    window.addEventListener("offline", () => this.connection.abort());
    // A phone that slept may hold a connection that is long lost.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && Date.now() - this.lastHeard > SILENT / 2) this.connection.abort();
    });
    this.listen();
  }

  /* Where a phone drives. */
  get clicker() {
    return `${this.link}/clicker#${this.secret}`;
  }

  /** @param {string} path below the hall's @param {RequestInit} [how] */
  async request(path, how = {}) {
    /** @type {Record<string, string>} */ const headers = {};
    if (this.secret) headers.Authorization = `Bearer ${this.secret}`;
    if (this.last) headers["Last-Event-ID"] = String(this.last);
    const answer = await fetch(this.link + path, { ...how, headers });
    if (!answer.ok) throw new Refusal(answer.status, await answer.text());
    return answer;
  }

  /** Until it succeeds, is refused or the talk has ended. @param {() => Promise<Response>} request */
  async insist(request) {
    for (;;)
      try {
        return await request();
      } catch (error) {
        const isFinal = error instanceof Refusal && error.status < 500 && error.status !== 429;
        if (isFinal || this.life.is === "ended") throw error;
        await pause(1000 + 1000 * Math.random());
      }
  }

  /** @param {Life} life */
  live(life) {
    this.life = life;
    this.hearLife(life);
  }

  /* Hears until the talk has ended; a connection that is lost is made again, by all not at once. */
  async listen() {
    for (let tries = 0; this.life.is !== "ended"; tries++) {
      if (tries) await pause((300 + 1000 * Math.random()) * Math.min(tries, 4));
      try {
        this.connection = new AbortController();
        const answer = await this.request("/events", { signal: this.connection.signal });
        tries = 0;
        await this.read(/** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader());
      } catch (error) {
        const refused = error instanceof Refusal ? error : null;
        if (refused && refused.status < 429) this.live({ is: "ended", sentence: refused.message });
        else if (refused?.status === 429) this.live({ is: "cut", sentence: refused.message });
      }
      if (this.life.is === "live") this.live({ is: "cut", sentence: CUT });
    }
  }

  /** @param {ReadableStreamDefaultReader<Uint8Array>} reader */
  async read(reader) {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const silent = setTimeout(() => this.connection.abort(), SILENT);
      const { done, value } = await reader.read().finally(() => clearTimeout(silent));
      if (done) return;
      this.lastHeard = Date.now();
      const events = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) if (event.startsWith("data: ")) this.take(JSON.parse(event.slice(6)));
    }
  }

  /** @param {{whole?: Heard, change?: Partial<Heard>, press?: Press, number?: number, ended?: true}} event */
  take({ whole, change, press, number, ended }) {
    if (ended) return this.live({ is: "ended", sentence: ENDED });
    if (this.life.is === "cut") this.live(LIVE);
    const countsOf = (/** @type {Heard | null} */ heard) => JSON.stringify([heard?.counts, heard?.following]);
    const before = countsOf(this.heard);
    if (whole) this.heard = whole;
    if (change && this.heard) this.heard = { ...this.heard, ...change };
    if ((whole || change) && this.heard) {
      if (before !== countsOf(this.heard)) this.hearCounts(this.heard.counts, this.heard.following ?? 0);
      this.hearShared(this.heard);
    }
    if (press && number) {
      this.last = number;
      this.hearPress(press);
    }
  }

  /** @param {Shared} shared */
  tell(shared) {
    this.newest = shared;
    this.telling ??= this.tellNewest().finally(() => (this.telling = null));
  }

  async tellNewest() {
    while (this.newest && this.life.is !== "ended") {
      let record = this.newest;
      await Promise.all([record.picture, record.next].map((of) => this.keeping.get(of?.file ?? "")));
      try {
        await this.insist(() => {
          record = this.newest ?? record;
          this.newest = null;
          return this.request("", { method: "PUT", body: JSON.stringify(record) });
        });
      } catch (error) {
        this.live({ is: this.life.is, sentence: /** @type {Error} */ (error).message });
      }
      await pause(LEAST);
    }
  }

  /** @param {string} file @param {Uint8Array} bytes */
  async keep(file, bytes) {
    const body = /** @type {Uint8Array<ArrayBuffer>} */ (bytes);
    const kept = this.insist(() => this.request(`/pictures/${file}`, { method: "PUT", body }));
    const settled = kept.catch(() => {}).finally(() => this.keeping.delete(file));
    this.keeping.set(file, settled);
    await kept;
  }

  /** @param {Briefing} briefing whose counts the server knows */
  brief({ notes }) {
    const body = JSON.stringify({ notes });
    if (body === this.notes) return;
    this.notes = body;
    this.insist(() => this.request("/notes", { method: "PUT", body })).catch(() => {});
  }

  /** @param {Press} press */
  ask(press) {
    this.request("/press", { method: "POST", body: JSON.stringify(press) }).catch((error) => {
      const sentence = error instanceof Refusal ? error.message : CUT;
      this.live({ is: this.life.is, sentence });
    });
  }

  /** @param {string} file */
  fetch(file) {
    const known = this.pictures.get(file) ?? this.insist(() => this.request(`/pictures/${file}`)).then(bytes);
    this.pictures.delete(file); // and is the newest again
    this.pictures.set(file, known);
    known.catch(() => this.pictures.delete(file));
    for (const old of [...this.pictures.keys()].slice(0, -MOST_KEPT)) this.pictures.delete(old);
    return known;
  }

  /** Answers a question. Throws the server's sentence. @param {Asked} asked @param {number} option */
  async answer({ id }, option) {
    const body = JSON.stringify({ question: id, option, who: who() });
    await this.insist(() => this.request("/answers", { method: "POST", body }));
  }

  /* All questions with how many chose each option, as CSV. */
  async table() {
    return (await this.request("/answers.csv")).text();
  }

  /* Deletes the answers to what is asked. */
  async clear() {
    await this.request("/answers", { method: "DELETE" });
  }

  /** A QR code of a link, as the address of a picture. @param {string} text */
  async drawn(text) {
    const answer = await this.request("/code", { method: "POST", body: JSON.stringify({ text }) });
    return /** @type {string} */ ((await answer.json()).image);
  }

  /** @param {(heard: Heard) => void} hear */
  onShared(hear) {
    this.hearShared = hear;
    if (this.heard) hear(this.heard);
  }

  /** @param {(press: Press) => void} hear */
  onPress(hear) {
    this.hearPress = hear;
  }

  /** How many chose each option of what is asked, and how many follow.
     @param {(counts: number[] | null, following: number) => void} hear */
  onCounts(hear) {
    this.hearCounts = hear;
    if (this.heard) hear(this.heard.counts, this.heard.following ?? 0);
  }

  /** @param {(life: Life) => void} hear */
  onLife(hear) {
    this.hearLife = hear;
    hear(this.life);
  }

  /* Ends the talk for all that follow. */
  async end() {
    sessionStorage.removeItem(KEPT);
    await this.request("", { method: "DELETE" });
  }

  close() {
    this.live({ is: "ended", sentence: ENDED });
    this.connection.abort();
  }
}

/** @param {Response} answer */
async function bytes(answer) {
  return new Uint8Array(await answer.arrayBuffer());
}

/** @type {string | null} */ let own = null;

/* A random word of this browser, by which it may change its answer. */
function who() {
  const name = `${KEPT}:who`;
  own ??= kept(name) || [...crypto.getRandomValues(new Uint32Array(4))].join("-");
  keep(name, own);
  return own;
}
