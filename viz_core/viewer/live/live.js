/* A shipped model in this browser, by onnxruntime-web: what a visitor asks for becomes the message that the
   server would send. What only the server computes is answered by the command that starts it. */

import { bytesAt } from "../browser/files.js";
import { packMessage, readMessage } from "../browser/message.js";
import { Held } from "../browser/model.js";
import { afterPress, factors, readLine } from "./edits.js";
import { Message } from "./message.js";
import { openParts } from "./parts.js";
import { answered, notesOf, read, written } from "./readings.js";

/** @import { Asked, Header, Model, Opened, Reading, Trace } from "./types" */
/** @typedef {{outputNames: readonly string[],
   run(feeds: object, fetches: readonly string[]): Promise<Trace>}} Session */
/** @typedef {{Tensor: new (type: string, data: any, dims: number[]) => object,
   env: {wasm: object},
   InferenceSession: {create(bytes: Uint8Array, options: object): Promise<Session>}}} Runtime */

const NEEDS_THE_APP = "Your own computer computes this: uvx attention-lab starts the app.";
const SEEN = /\.(?:q|k|v|z|bias|scores|pattern)$|logits$/;
const COMPARED = /\.resid_(?:pre|post)$/;
/* By the type of an act that asks for something beside the trace: what is asked of its fields. */
const REQUESTS = /** @type {Record<string, string[]>} */ ({
  words: [],
  map: ["stack"],
  further: ["show", "stack", "layer", "head", "q0", "k0"],
  repeated: [],
  sums: ["stack", "queries", "keys"],
  sweep: ["sweep", "goal", "step", "put", "other", "sender", "receiver", "through"],
  written: [],
  smallest: ["stack"],
});

/* What is shown of a shipped model, as a host hands it to a viewer (contract.d.ts). Beside "message" it has
   the "reading" that this is of. */
export class Live extends Held {
  /** @type {Header} what was asked for beside the trace */ beside = {};
  /** @type {Asked | null} what waits to be computed */ next = null;
  /** @type {{message: Message, trace: Trace} | null} */ shown = null;
  /** @type {Promise<unknown>} the last pass: a session makes one at a time */ last = Promise.resolve();
  isBusy = false;

  /** @param {Runtime} runtime @param {Session} session @param {Model} model */
  constructor(runtime, session, model) {
    super();
    this.runtime = runtime;
    this.session = session;
    this.model = model;
    /** @type {Asked} */ this.asked = { text: model.text, settings: {}, edits: [] };
    const { stack = "encoder.self", layer = 0, head = 0 } = model.template.defaults;
    /** @type {Opened} */ this.opened = { stack, layer, head, q0: 0, k0: 0, special: "shown" };
    const attentions = session.outputNames.filter((name) => name.endsWith(".z"));
    this.attentions = attentions.map((name) => name.slice(0, -2));
  }

  /** One pass.
     @param {Record<string, number[]>} inputs @param {string[]} edits @param {RegExp[]} wanted
     @returns {Promise<Trace>} */
  async trace(inputs, edits, wanted) {
    const { Tensor } = this.runtime;
    const { heads } = this.model.template.stacks[0];
    const on = factors(edits, this.attentions, heads);
    /** @type {Record<string, object>} */
    const feeds = { heads: new Tensor("float32", on, [this.attentions.length, heads]) };
    for (const [name, ids] of Object.entries(inputs))
      feeds[name] = new Tensor("int64", BigInt64Array.from(ids, BigInt), [1, ids.length]);
    const fetched = this.session.outputNames.filter((name) => wanted.some((some) => some.test(name)));
    const pass = this.last.then(() => this.session.run(feeds, fetched));
    this.last = pass.catch(() => {});
    const values = await pass;
    return Object.fromEntries(fetched.map((name) => [name, values[name]]));
  }

  /** What a model of texts reads and writes, and the message of it. @param {Asked} asked */
  async messageOf(asked) {
    const { model } = this;
    const refused = asked.edits.find((line) => !readLine(line)) ?? (asked.settings.beam > 1 && "a beam");
    if (refused)
      throw new Error(
        `${refused}: heads are switched off here, and texts written greedily. ${NEEDS_THE_APP}`,
      );
    const settings = { ...model.usual, ...model.dials, ...asked.settings };
    const reading = await this.reading(asked.text, settings, []);
    const wanted = asked.edits.length ? [SEEN, COMPARED] : [SEEN];
    const trace = await this.trace(reading.inputs, asked.edits, wanted);
    const before = asked.edits.length ? await this.trace(reading.inputs, [], wanted) : undefined;
    const message = new Message(model, { ...asked, settings }, reading, this.opened);
    this.shown = { message, trace };
    const { controls } = model.template;
    const usual = Object.fromEntries(
      controls.settings.map((/** @type {any} */ each) => [each.name, each.usual]),
    );
    const { widened, ...beside } = this.beside;
    const shown = { model: model.name, text: asked.text, edits: asked.edits.join("\n") };
    const more = {
      asked: { ...shown, settings: { ...usual, ...asked.settings, ...model.dials } },
      notes: { ...notesOf(reading, controls), ...(widened ? { widened } : {}) },
      abilities: model.abilities,
      ...beside,
    };
    return { bytes: packMessage({ ...message.header(trace, before), ...more }), reading };
  }

  /** The text with the model's answer, as it is written with these edits.
     @param {string} text @param {Record<string, any>} settings @param {string[]} edits */
  reading(text, settings, edits) {
    const padding = Number(settings.padding ?? 0);
    const draft = this.get("reading")?.inputs.target?.slice(1);
    const reading = read(this.model, text, settings);
    return answered(this.model, reading, this.run(edits), { ...settings, padding }, draft);
  }

  /** What gives the logits of inputs. @param {string[]} edits @returns {import("./types").Run} */
  run(edits) {
    return async (inputs) => (await this.trace(inputs, edits, [/^logits$/])).logits.data;
  }

  /** Shows what is asked for, the latest of what comes while something is computed.
     @param {Partial<Asked>} change @param {Header} beside the trace */
  async ask(change, beside = {}) {
    this.beside = beside;
    this.next = { ...this.asked, ...this.next, ...change };
    if (this.isBusy) return;
    this.isBusy = true;
    while (this.next) {
      const asked = /** @type {Asked} */ (this.next);
      this.next = null;
      try {
        const { bytes, reading } = await this.messageOf(asked);
        this.asked = asked;
        this.set("problem", "");
        this.set("reading", reading);
        this.set("message", bytes);
      } catch (error) {
        this.set("problem", /** @type {Error} */ (error).message);
      }
    }
    this.isBusy = false;
  }

  /** What the stage wants. @param {{type: string} & Record<string, any>} act */
  async send(act) {
    const { asked } = this;
    if (act.type in REQUESTS) {
      const wanted = REQUESTS[act.type].map((name) => act[name]);
      const answer = { asked: wanted, ...(await this.answer(act)) };
      return this.ask({}, { [act.type === "sweep" ? "swept" : act.type]: answer });
    }
    if (act.type === "text") return this.ask({ text: act.text, settings: {} });
    if (act.type === "ask") return this.turn(act);
    if (act.type === "edits") return this.ask({ edits: act.text.split("\n").filter(Boolean) });
    if (act.type === "edit")
      return this.ask({ edits: afterPress(asked.edits, act.line, act.how, act.count) });
    if (act.type !== "open") return this.set("problem", NEEDS_THE_APP);
    const { type: _, ...opened } = act;
    this.opened = /** @type {Opened} */ (opened);
    return this.ask({});
  }

  /** Another text or setting. @param {Record<string, any>} act */
  async turn({ text, turned = {}, write }) {
    const { asked } = this;
    if (write) return this.ask({ text: await this.continued(write) });
    if (text !== undefined) return this.ask({ text });
    const [name] = Object.keys(turned);
    const { answer } = this.get("reading");
    const turns = this.model.turns.includes(name) && answer; // what was written is read
    return this.ask(
      turns ? { text: answer, settings: turned } : { settings: { ...asked.settings, ...turned } },
    );
  }

  /** The text with what the model writes on after it, cut in front to what it can read.
     @param {{temperature: number, n_new: number, seed: number}} writing */
  async continued({ temperature, n_new, seed }) {
    const { model, asked } = this;
    const most = Math.min(model.maxLen, model.length);
    const { tokens: ids } = read(model, asked.text, { ...model.usual, ...asked.settings }).inputs;
    const begun = ids.length;
    const random = randomFrom(seed);
    for (let left = Math.min(n_new, Math.max(1, most >> 1)); left > 0; left--) {
      const tokens = ids.slice(-most);
      const logits = Array.from(await this.run([])({ tokens }));
      const row = logits.slice(-logits.length / tokens.length).slice(0, model.names.length);
      const id = drawn(row, temperature, random);
      if (model.ends?.includes(id)) break;
      ids.push(id);
    }
    return ids.length <= most
      ? asked.text + written(model, ids.slice(begun))
      : written(model, ids.slice(-most));
  }

  /** What this browser computes beside the trace; the rest is left to the app. @param {any} act */
  async answer(act) {
    const { message, trace } = this.shown ?? {};
    if (act.type === "words" && this.model.words) {
      const { en, fr } = this.model.words;
      return { byLanguage: { English: en, French: fr } };
    }
    if (act.type === "sums" && message && trace) return { values: message.sums(trace, act) };
    if (act.type !== "written" || !this.model.abilities.includes("translate"))
      return { problem: NEEDS_THE_APP };
    const { text, settings, edits } = this.asked;
    const usual = { ...this.model.usual, ...settings, target: "" };
    const [before, after] = [await this.reading(text, usual, []), await this.reading(text, usual, edits)];
    return { before: before.answer, after: after.answer };
  }
}

/** The files of the member of a family that a turned dial leads to, and the dials that go back with it; null
   where it is no dial. @param {Model} model @param {Header} turned one setting */
export function memberAt({ family, dials = {} }, turned) {
  const [[name, value]] = Object.entries(turned);
  if (!family || !(name in family.first)) return null;
  const { alone, first, members } = family;
  const next = Object.entries({ ...(alone ? {} : dials), [name]: value });
  const changed = new Map(next.filter(([each, at]) => String(at) !== String(first[each])));
  const isThis = (/** @type {Header} */ values) =>
    Object.keys(values).length === changed.size &&
    Object.entries(values).every(([each, at]) => String(changed.get(each)) === String(at));
  const file = Object.keys(members).find((each) => isThis(members[each]));
  const back = Object.keys(dials).filter((each) => alone && each !== name);
  return file && { file, followed: back.map((each) => `${each} = ${first[each]}`).join(", ") };
}

/** Numbers from 0 to 1, the same ones for a seed (mulberry32). @param {number} seed */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), 61 | bits);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A place of a row of logits, drawn by their softmax; at temperature 0 the largest.
   @param {number[]} row @param {number} temperature @param {() => number} random */
export function drawn(row, temperature, random) {
  const most = Math.max(...row);
  if (temperature === 0) return row.indexOf(most);
  const shares = row.map((logit) => Math.exp((logit - most) / temperature));
  let left = random() * shares.reduce((sum, share) => sum + share);
  const at = shares.findIndex((share) => (left -= share) < 0);
  return at < 0 ? row.indexOf(most) : at;
}

/** @type {Map<string, ReturnType<typeof runtimeOf>>} by folder, fetched once */
const runtimes = new Map();

/* The runtime, from files beside the models, and whether it finds WebGPU. */
async function runtimeOf(/** @type {string} */ folder) {
  const gpu = "Suspending" in WebAssembly ? /** @type {any} */ (navigator).gpu : null;
  const hasGpu = Boolean(await gpu?.requestAdapter());
  const { href } = new URL(folder, location.href);
  const kind = `${href}ort.${hasGpu ? "jspi" : "wasm"}`;
  /** @type {[Runtime, Uint8Array]} */
  const [runtime, wasmBinary] = await Promise.all([import(`${kind}.js`), bytesAt(`${kind}.packed`, true)]);
  // threads wait for each other: where no core is left for anything else, they are slower than one
  const spare = globalThis.crossOriginIsolated ? navigator.hardwareConcurrency - 1 : 1;
  const numThreads = Math.min(4, Math.max(1, spare));
  Object.assign(runtime.env.wasm, { wasmPaths: { mjs: `${kind}.threads.js` }, wasmBinary, numThreads });
  return { runtime, hasGpu };
}

/** How long the model takes for its own text; for ever where it fails, or says something else.
   @param {Live} live @param {string} answer */
async function millisecondsOf(live, answer) {
  try {
    await live.messageOf(live.asked); // the first pass makes ready what the others use
    const begun = performance.now();
    const { reading } = await live.messageOf(live.asked);
    return reading.answer === answer ? performance.now() - begun : Infinity;
  } catch {
    return Infinity;
  }
}

/** A model of a folder, with its first message.
   @param {string} folder ends with a slash @param {string} name
   @param {(come: number, all: number) => void} tell hears how much of a large model has come */
export async function openLive(folder, name, tell = () => {}) {
  const running = runtimes.get(folder) ?? runtimeOf(folder);
  runtimes.set(folder, running);
  running.catch(() => runtimes.delete(folder));
  const fetched = async () => {
    const model = /** @type {Model} */ (readMessage(await described));
    if (model.sizes) return { model, ...(await openParts(folder, model, model.sizes, tell)) };
    return { model, graph: await bytesAt(`${folder}${name}.onnx`, false), externalData: [] };
  };
  const described = bytesAt(`${folder}${name}.bin`, false);
  const [{ runtime, hasGpu }, { model, graph, externalData }] = await Promise.all([running, fetched()]);
  const open = async (/** @type {string} */ provider) => {
    const session = await runtime.InferenceSession.create(graph, {
      executionProviders: [provider],
      logSeverityLevel: 3,
      externalData,
    });
    if (!session.outputNames.includes("logits")) model.names = [];
    return new Live(runtime, session, model);
  };
  const live = await open("wasm");
  await live.ask({});
  if (!hasGpu) return live;
  // Of small models the way to a GPU and back may take longer than it saves.
  const other = await open("webgpu");
  const { answer } = live.get("reading");
  if ((await millisecondsOf(live, answer)) <= (await millisecondsOf(other, answer))) return live;
  await other.ask({});
  return other;
}
