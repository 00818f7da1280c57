/* A visit to Explore without a server: the models that a person opens, each fetched when something asks it. A
   host shows one thing, whichever model answers. Choices are those of pages/explore/asking.js. */

import { headerOf, packMessage, readMessage } from "../browser/message.js";
import { Held } from "../browser/model.js";
import { viewOfOther } from "../stage/view.js";
import { memberAt, openLive } from "./live.js";
import { read } from "./readings.js";
import { words } from "./tokens.js";

/** @import { Live } from "./live.js" */
/** @import { Header, Model } from "./types" */

const OPENING = "The model is opened in this browser.";
const LEAVES = ["go", "skip"];

/** The different words of a text that a model of words does not know. @param {Model} model
   @param {string} text */
export const lackedBy = ({ reads, tokenizer }, text) =>
  reads === "translation" ? [...new Set(words(tokenizer, text, []).unknown.map((each) => each.text))] : [];

/** Reads a text with a model; null where it cannot be read, for example because it is too long.
   @param {Model} model @param {string} text */
function readBy(model, text) {
  try {
    return read(model, text, model.usual);
  } catch {
    return null; // a sentence says why
  }
}

/** Says whether a model knows all words of a text. @param {Model} model @param {string} text */
export const knows = (model, text) => readBy(model, text)?.unknown.length === 0;

export class Visit extends Held {
  /** @type {Map<string, Promise<Live>>} */ lives = new Map();
  /** @type {Set<string>} those that have come */ here = new Set();
  /** @type {Live | null} the model that answers */ live = null;
  /** @type {Map<string, string>} by memory, the text that its models read last */ texts = new Map();
  /** @type {Promise<unknown>} one thing is done at a time */ last = Promise.resolve();
  stays = false; // whether the home model reads what it lacks words for, too
  anew = 0;

  /** @param {string} folder of the models, ends with a slash
     @param {string} home the model that a text is first tried with
     @param {typeof openLive} open */
  constructor(folder, home, open = openLive) {
    super();
    this.folder = folder;
    this.first = home;
    this.home = home;
    this.open = open;
  }

  /** Shows the message of the first model and its own text, before either is fetched.
     @param {Uint8Array} message @param {Header} linked the view that the address says */
  begin(message, linked) {
    this.set("message", packMessage({ ...readMessage(message), linked }));
  }

  /** Shows what an address says. @param {{name: string, text?: string, edits: string[], linked: Header,
     settings: Header}} link of its settings, those that the model has */
  async arrive({ name, text, edits, linked, settings }) {
    let live = await this.opened(name);
    this.home = name;
    for (const dial of Object.keys(live.model.family?.first ?? {})) {
      const member = dial in settings && memberAt(live.model, { [dial]: settings[dial] });
      if (member) live = await this.opened((this.home = member.file));
    }
    this.live = live;
    live.model.template.linked = linked;
    const { usual, family } = live.model;
    const known = Object.entries(settings).filter(([key]) => key in usual && !(key in (family?.first ?? {})));
    if (text !== undefined && !edits.length && !known.length) return this.read(text, {}, linked);
    await live.ask({ text: text ?? live.model.text, edits, settings: Object.fromEntries(known) });
    this.take(live);
  }

  /** @param {string} name */
  async opened(name) {
    const megabytes = (/** @type {number} */ bytes) => Math.round(bytes / 1e6);
    const tell = (/** @type {number} */ come, /** @type {number} */ all) =>
      this.set("progress", `${OPENING} ${megabytes(come)} of ${megabytes(all)} MB have come.`);
    const opening = this.lives.get(name) ?? this.open(this.folder, name, tell);
    this.lives.set(name, opening);
    if (!this.here.has(name)) this.set("progress", OPENING);
    try {
      const live = await opening;
      this.here.add(name);
      return live;
    } catch (error) {
      this.lives.delete(name); // it may be there the next time
      throw navigator.onLine
        ? error
        : new Error("Without a network, only models that were opened before open.");
    } finally {
      if (this.get("progress")) this.set("progress", "");
    }
  }

  /* The model that is shown. */
  async ready() {
    this.live ??= await this.opened(this.home);
    return this.live;
  }

  /** Does what a person asked for. @param {any} act */
  send(act) {
    if (LEAVES.includes(act.type)) return this.tellPage(act);
    const refuse = (/** @type {Error} */ { message }) => this.set("problem", message);
    this.last = this.last.then(() => this.answer(act)).catch(refuse);
    return this.last;
  }

  /** @param {any} act */
  async answer(act) {
    const { type, model, text, stays, reset } = act;
    if (type === "contrast") return this.turnTo(model, { linked: viewOfOther(act) });
    if (type === "ask" && reset) return this.reset();
    if (type === "ask" && model) return this.turnTo(model, { text, stays });
    if (type === "text") return this.read(text, { settings: {} });
    if (type === "ask" && text !== undefined) return this.read(text);
    const live = await this.ready();
    const member = type === "ask" && act.turned && memberAt(live.model, act.turned);
    if (member) return this.turnDial(live, member);
    await live.send(act);
    this.take(live);
  }

  /** Has a text read by the home model, or where that lacks words by the one with more words that it names.
     @param {string} text @param {{settings?: Header}} change
     @param {Header} linked the view of a model that was not shown */
  async read(text, change = {}, linked = {}) {
    const home = this.stays ? await this.ready() : await this.opened(this.home);
    const { name, title, wider } = home.model;
    const lacking = wider && !this.stays ? lackedBy(home.model, text) : [];
    const other = lacking.length ? await this.opened(wider) : null;
    const fresh = { text, settings: {}, edits: [] };
    if (other && readBy(other.model, text)) {
      other.model.template.linked = linked;
      await other.ask(fresh, { widened: { model: name, title, lacking } });
      return this.take(other);
    }
    await home.ask(home === (await this.ready()) ? { text, ...change } : fresh);
    this.take(home);
  }

  /** Opens another model, with the sentence of the visitor where it can read it.
     @param {string} name @param {{text?: string, stays?: boolean, linked?: Header}} choice */
  async turnTo(name, { text, stays = this.stays, linked = {} }) {
    // of a family the member that was shown last
    const home = this.here.has(this.home) ? await this.opened(this.home) : null;
    const file = home?.model.name === name ? this.home : name;
    const other = await this.opened(file);
    const now = headerOf(this.get("message"));
    other.model.template.linked = linked;
    await other.ask({ text: text ?? this.textFor(other.model, now), settings: {}, edits: [] });
    Object.assign(this, { home: file, stays });
    this.take(other);
  }

  /** Has another member of the family read the same text.
     @param {Live} live the member that has read it @param {{file: string, followed: string}} member */
  async turnDial(live, { file, followed }) {
    const other = await this.opened(file);
    const { viewToken } = live.model.template;
    Object.assign(other.model.template, { linked: {}, viewToken });
    const { text, settings } = live.asked;
    await other.ask({ text, settings, edits: [] }, { followed });
    this.home = file;
    this.take(other);
  }

  /** @param {Model} model @param {Header} now the header of what is shown @returns {string} */
  textFor(model, { asked, controls }) {
    const memoryOf = (/** @type {string} */ name) =>
      controls.models.find((/** @type {any} */ each) => each.value === name)?.memory ?? name;
    const isOwn = !controls.examples.some((/** @type {any} */ { text }) => text === asked.text);
    const isSame = memoryOf(asked.model) === memoryOf(model.name);
    this.texts.set(memoryOf(asked.model), asked.text);
    if (isSame || (isOwn && knows(model, asked.text))) return asked.text;
    return this.texts.get(memoryOf(model.name)) ?? model.text;
  }

  async reset() {
    const first = await this.opened(this.first);
    Object.assign(first.model.template, { linked: {}, viewToken: `${this.first}.${++this.anew}` });
    Object.assign(this, { home: this.first, stays: false });
    await first.ask({ text: first.model.text, settings: {}, edits: [] });
    this.take(first);
  }

  /** Shows what a model answered; what it refused leaves the picture as it is. @param {Live} live */
  take(live) {
    const problem = live.get("problem");
    this.set("problem", problem);
    if (problem && this.get("message")) return;
    this.live = live;
    this.set("message", live.get("message"));
  }
}
