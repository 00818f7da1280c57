/* Explore in Streamlit's page: the model of the viewer's contract that asks the route (routes.py). */

import { headerOf } from "../../viz_core/viewer/browser/message.js";
import { Held } from "../../viz_core/viewer/browser/model.js";
import { viewOfOther, written } from "../../viz_core/viewer/stage/view.js";
import { isSame, mountingWith } from "../shared/browser/streamlit.js";

/** @import { Render } from "../../viz_core/viewer/contract" */
/** @import { Asked } from "../../viz_core/viewer/stage/types" */
/** @typedef {Record<string, any>} Change of a question (question.py) */

const ADDRESS = "./explore/answer";
const PATIENCE = 1_000; // milliseconds until a server that does not answer is asked again
const STOPPED = "The figure was stopped; the previous one stays.";
const AWAY = "The server does not answer; it is asked again.";
/* Only Streamlit's page does these, of what is shown. All acts that are not named here are questions. */
const OF_THE_PAGE = ["takeaway", "beside", "models", "picture"];
const LEAVES = ["go", "skip"];

export class Asking extends Held {
  /** @type {Uint8Array | null} the message that the page began with */ given = null;
  /** @type {Asked} what is shown */ asked = { model: "", text: "", settings: {}, edits: "" };
  /** @type {Record<string, any> | null} the head whose numbers are here */ opened = null;
  /** @type {Map<string, Change>} what was asked for beside the trace */ beside = new Map();
  /** @type {Map<string, string>} by memory, the text that its models read last */ texts = new Map();
  /** @type {{name: string, value: string, memory?: string}[]} */ models = [];
  /** @type {Change[]} what waits to be asked, one after the other */ queue = [];
  /** @type {Change | null} what was stopped */ stopped = null;
  /** @type {AbortController | null} of the question on its way */ way = null;
  /** @type {Change | null} what that asks for */ current = null;
  has = ""; // the model whose declaration is here
  home = ""; // the model that a text is first tried with
  stays = false; // whether that model reads what it lacks words for, too
  anew = 0;
  isBusy = false;

  /** A message of the page itself; the same once more is none. @param {Uint8Array} bytes */
  receive(bytes) {
    if (this.given && isSame(this.given, bytes)) return;
    this.given = bytes;
    Object.assign(this, { opened: null });
    this.beside.clear();
    this.anew = Number(headerOf(bytes).viewToken.split(".").at(-1)); // the stage asks as soon as it has them
    this.take(bytes);
  }

  /** @param {Uint8Array} bytes */
  take(bytes) {
    const header = headerOf(bytes);
    if (header.controls) Object.assign(this, { has: header.has, models: header.controls.models });
    const { widened } = header.notes ?? {};
    // an answer to another question than a text says nothing of who passed it on
    if (widened || header.asked.model !== this.asked.model) this.home = widened?.model ?? header.asked.model;
    this.asked = header.asked;
    this.texts.set(this.memoryOf(this.asked.model), this.asked.text);
    this.set("message", bytes);
  }

  /** @param {string} name */
  memoryOf(name) {
    return this.models.find(({ value }) => value === name)?.memory ?? name;
  }

  /** Does what a person asked for. @param {Change & {type: string}} act */
  send({ type, ...values }) {
    if (type === "ask") return this.ask(values);
    if (type === "text") return this.ask({ text: values.text, fresh: true });
    if (type === "edits") return this.ask({ edits: values.text });
    if (type === "edit") return this.ask({ press: values });
    if (type === "stop") return this.stop();
    if (type === "again") return this.stopped && this.ask(this.stopped);
    if (type === "contrast") return this.ask(contrast(values));
    if (type === "open") {
      this.opened = values;
      return this.ask({});
    }
    if (LEAVES.includes(type)) return this.tellPage({ type, ...values });
    if (OF_THE_PAGE.includes(type))
      return this.tellPage({ type, ...values, asked: JSON.stringify(this.question({})) });
    this.beside.set(type, { type, ...values }); // to be computed beside the trace
    this.ask({});
  }

  /** Asks for something else; a newer change takes the place of one of its kind that waits.
     @param {Change} change */
  ask(change) {
    const kind = kindOf(change);
    const last = this.queue.at(-1);
    if (last && kindOf(last) === kind) this.queue.pop();
    this.queue.push(change);
    this.stopped = null;
    this.set("awaits", true);
    if (!this.isBusy) this.work();
  }

  async work() {
    this.isBusy = true;
    try {
      for (let change = this.queue.shift(); change; change = this.queue.shift()) await this.answer(change);
    } finally {
      this.isBusy = false;
    }
  }

  /** @param {Change} change */
  async answer(change) {
    const question = this.question(change);
    this.current = change;
    this.way = new AbortController();
    const { signal } = this.way;
    try {
      const bytes = await this.answered(question, signal);
      this.note(change, question);
      this.set("isStopped", false);
      this.set("problem", "");
      this.set("awaits", this.queue.length > 0);
      this.take(bytes);
    } catch (error) {
      const { name, message } = /** @type {Error} */ (error);
      this.set("isStopped", name === "AbortError");
      if (name === "AbortError") this.set("problem", STOPPED);
      else if (name !== "TypeError") this.set("problem", message);
      else {
        this.set("problem", AWAY);
        await new Promise((done) => setTimeout(done, PATIENCE));
        const isNewer = this.queue.some((each) => kindOf(each) === kindOf(change));
        if (!isNewer) this.queue.unshift(change);
      }
      this.set("awaits", this.queue.length > 0);
      // controls show again what they showed before; what was typed stays
      if (name !== "TypeError" && change.text === undefined) this.set("message", this.get("message"));
    } finally {
      this.set("progress", "");
      this.way = null;
    }
  }

  /* What stays of a change that was answered. */
  note(/** @type {Change} */ change, /** @type {Change} */ question) {
    if (question.anew) this.anew = question.anew;
    if (change.stays !== undefined) this.stays = change.stays;
    if (change.model || change.reset) this.opened = null;
  }

  /** The whole of what is asked, with a change. @param {Change} change */
  question({ reset, fresh, stays, ...change }) {
    const { model, text, settings, edits } = this.asked;
    const same = { before: model, model, text, settings, edits };
    const rest = { opened: this.opened, beside: [], has: this.has, anew: this.anew };
    if (reset) return { has: this.has, anew: this.anew + 1 };
    if (change.model && change.model !== model) {
      const known = this.texts.get(this.memoryOf(change.model)) ?? null;
      return { ...same, ...rest, opened: null, text: known, ...change };
    }
    const isThis = !Object.keys(change).length;
    const acts = [...this.beside.values()];
    const beside = isThis ? acts : acts.filter(({ type }) => type === "repeated" && !change.turned);
    if (!isThis) this.beside = new Map(beside.map((act) => [act.type, act]));
    const widens = change.text !== undefined && !(stays ?? this.stays) ? this.home : "";
    return {
      ...same,
      ...rest,
      beside,
      ...(fresh ? { fresh } : {}),
      ...(widens ? { widens } : {}),
      ...change,
    };
  }

  /** The message that answers a question. @param {Change} question @param {AbortSignal} signal
     @returns {Promise<Uint8Array>} */
  async answered(question, signal) {
    const headers = { "Content-Type": "application/json", "X-Window": globalThis.attentionLabSession ?? "" };
    const body = JSON.stringify(question);
    const response = await fetch(ADDRESS, { method: "POST", headers, body, signal });
    if (response.status === 422) throw new Error((await response.json()).problem);
    if (!response.ok) throw await refusalOf(response);
    if (response.headers.get("X-Takes-Long") === null) return new Uint8Array(await response.arrayBuffer());
    return this.heard(/** @type {ReadableStream<Uint8Array>} */ (response.body));
  }

  /** Reads an answer that takes long: lines of JSON, and then the message.
     @param {ReadableStream<Uint8Array>} stream */
  async heard(stream) {
    const reader = stream.getReader();
    let come = new Uint8Array();
    let length = 0; // of the message, once it is told
    for (;;) {
      for (let end = length ? -1 : come.indexOf(10); end >= 0 && !length; end = come.indexOf(10)) {
        const said = JSON.parse(new TextDecoder().decode(come.subarray(0, end)));
        come = come.slice(end + 1);
        if (said.problem) throw new Error(said.problem);
        if (said.progress) this.set("progress", said.progress);
        length = said.bytes ?? 0;
      }
      if (length && come.length >= length) return come;
      const { value, done } = await reader.read();
      if (done) throw new TypeError(AWAY);
      come = joined(come, value);
    }
  }

  stop() {
    this.stopped = this.queue.at(-1) ?? this.current;
    this.queue = [];
    this.way?.abort();
  }
}

/** Names the kind of a change: a later one of the same kind replaces it. Each press is of its own kind.
   @param {Change} change */
const kindOf = ({ turned, press, ...change }) =>
  press ? Symbol("press") : JSON.stringify([Object.keys(change), Object.keys(turned ?? {})]);

/** The other model, in the same view of the same text. @param {Change} act */
function contrast(act) {
  const link = Object.entries(viewOfOther(act)).map(([name, value]) => [name, written(value)]);
  return { model: act.model, link: Object.fromEntries(link) };
}

/** Makes an error of a refusal; where a proxy answers for a server that is away, the error says so.
   @param {Response} response */
async function refusalOf(response) {
  const said = response.headers.get("Content-Type")?.startsWith("text/plain") && (await response.text());
  return said || response.status < 500 ? new Error(said || response.statusText) : new TypeError(AWAY);
}

/** @param {Uint8Array} one @param {Uint8Array} other */
function joined(one, other) {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

/** A component's function, as that of the other kinds. @param {Render} render @param {string} kind */
export const mounting = (render, kind) => mountingWith(Asking, render, kind);
