/* View: every head switched off alone, every position patched from another text, what each part gives to a
   logit, or one head through another. The server computes it when the view is open. */

import { el } from "../../shared/browser/dom.js";
import { attentionOf } from "./edits.js";
import { listOf } from "./list.js";
import { SweepTables, saidOf } from "./sweep_tables.js";
import { upTo } from "./view.js";

/** @typedef {import("./types").Swept} Swept */
/** @typedef {import("./types").View} View */
/** @typedef {import("./types").Header} Header */
/** @typedef {"sweep" | "goal" | "step" | "put" | "other" | "sender" | "receiver" | "through"} Name */
/** @typedef {Pick<View, Name>} Wish */

const SWEEPS = [
  { value: "heads", text: "switch off each head alone" },
  { value: "positions", text: "patch each position from another text" },
  { value: "parts", text: "what each part gives to a logit" },
  { value: "path", text: "one head through another" },
];
const TARGETS = [
  { value: "logits", text: "logit difference of the likeliest two" },
  { value: "logit", text: "logit of the likeliest" },
  { value: "probability", text: "probability of the likeliest" },
  { value: "kl", text: "KL divergence of all outputs" },
  { value: "loss", text: "loss of all that is written" },
  { value: "score", text: "the task's score", title: "Right answers in 16 held-out examples of its task" },
];
const PUTS = [
  { value: "zero", text: "zero", title: "z of the head is 0" },
  { value: "mean", text: "mean", title: "z of the head is its mean over the text" },
];
const WAYS = [
  { value: "qkv", text: "q, k and v" },
  { value: "q", text: "q", title: "What the receiver looks for" },
  { value: "k", text: "k", title: "What it finds its keys by" },
  { value: "v", text: "v", title: "What it takes from where it looks" },
];
/** @type {Name[]} in the server's order */
const ORDER = ["sweep", "goal", "step", "put", "other", "sender", "receiver", "through"];

/**
 * What can be looked at in a sweep.
 * @param {string} sweep
 * @param {Pick<Header, "tokens" | "scored">} header
 */
export function targetsOf(sweep, { tokens, scored }) {
  const absent = new Set([
    ...(tokens.decoder ? [] : ["loss"]),
    ...(scored && sweep === "heads" ? [] : ["score"]),
  ]);
  return TARGETS.filter(({ value }) => (sweep === "parts" ? value.startsWith("logit") : !absent.has(value)));
}

/**
 * What the server is asked: nothing that does not matter to the sweep, so that it computes nothing twice.
 * @param {View} view
 * @param {Header} header
 * @param {{sender: string, receiver: string}} usual
 * @returns {Wish}
 */
export function wishOf(view, header, usual) {
  const { sweep, step } = view;
  const targets = targetsOf(sweep, header).map(({ value }) => value);
  const ofPath = sweep === "path";
  const goal = targets.includes(view.goal) && !ofPath ? view.goal : "logits";
  return {
    sweep,
    step,
    goal,
    put: ofPath || sweep === "heads" ? view.put : "zero",
    other: sweep === "positions" ? view.other || header.swap.other : "",
    sender: ofPath ? view.sender || usual.sender : "",
    receiver: ofPath ? view.receiver || usual.receiver : "",
    through: ofPath ? view.through : "qkv",
  };
}

export class SweepView {
  asked = "";

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @param {Name} name */
    const chooses = (name) => (/** @type {string} */ value) => stage.set({ [name]: value });
    this.sweep = listOf("sweep", chooses("sweep"));
    this.goal = listOf("effect on", chooses("goal"));
    this.put = listOf("put", chooses("put"));
    this.sender = listOf("from", chooses("sender"));
    this.receiver = listOf("to", chooses("receiver"));
    this.through = listOf("through its", chooses("through"));
    this.text = el("input", {
      type: "text",
      "aria-label": "The other text",
      onchange: () => stage.set({ other: this.text.value }),
    });
    const lists = [this.sweep, this.goal, this.put, this.sender, this.receiver, this.through];
    this.bar = el("div", { class: "bar" }, [...lists.map(({ root }) => root), this.text]);
    this.told = el("p", { class: "measure", "aria-live": "polite" });
    this.tables = new SweepTables(stage);
    this.root = el(
      "div",
      { class: "view sweep-view", tabindex: "0", role: "region", "aria-label": "Sweep of edits" },
      [this.bar, this.told, this.tables.root],
    );
  }

  /* A path goes from the first head of the open stack to the open head, or to the last layer. */
  get usual() {
    const { view, stack } = this.stage;
    const [first] = stack.layers;
    const later = view.layer !== first;
    const [layer, head] = later ? [view.layer, view.head] : [stack.layers[stack.layers.length - 1], 0];
    return {
      sender: `${attentionOf(stack.id, first)} heads 0`,
      receiver: `${attentionOf(stack.id, layer)} heads ${head}`,
    };
  }

  get wish() {
    return wishOf(this.stage.view, this.stage.data.header, this.usual);
  }

  /** What was computed, as it was asked for; null while it is on its way. @returns {Swept | null} */
  get found() {
    const { swept } = this.stage.data.header;
    const { wish } = this;
    return swept?.asked && String(swept.asked) === String(ORDER.map((name) => wish[name])) ? swept : null;
  }

  draw() {
    const { header } = this.stage.data;
    const { wish } = this;
    const { sweep } = wish;
    this.sweep.update(SWEEPS, sweep);
    this.goal.update(targetsOf(sweep, header), wish.goal);
    this.put.update(PUTS, wish.put);
    this.drawPath(wish);
    /** @param {HTMLElement} part @param {boolean} on */
    const visible = (part, on) => part.classList.toggle("absent", !on);
    visible(this.goal.root, sweep !== "path");
    visible(this.put.root, sweep === "heads" || sweep === "path");
    visible(this.text, sweep === "positions");
    this.text.value = wish.other;
    const { found } = this;
    const edited = header.edits.length ? " It is of the text without your edits." : "";
    this.told.textContent = saidOf(found, sweep) + edited;
    this.tables.draw(found);
    this.ask();
  }

  /** @param {Wish} wish */
  drawPath({ sweep, sender, receiver, through }) {
    for (const { root } of [this.sender, this.receiver, this.through])
      root.classList.toggle("absent", sweep !== "path");
    if (sweep !== "path") return;
    const heads = this.stage.data.stacks.flatMap(({ id, title, layers, heads: count }) =>
      layers.flatMap((layer) =>
        upTo(count).map((head) => ({
          value: `${attentionOf(id, layer)} heads ${head}`,
          text: `${title} L${layer} H${head}`,
        })),
      ),
    );
    this.sender.update(heads, sender);
    this.receiver.update(heads, receiver);
    this.through.update(WAYS, through);
  }

  ask() {
    const { header } = this.stage.data;
    const { wish } = this;
    const need = JSON.stringify([header.link, wish]);
    if (this.found || this.asked === need) return;
    this.asked = need;
    this.stage.act({ type: "sweep", ...wish });
  }
}
