/* View: every head switched off alone, every position patched from another text, what each part gives
   to a logit, or one head through another. The server computes it when the view is open. */

import { button, el, region, reveal, shorten } from "../browser/dom.js";
import { cssColour } from "../browser/images.js";
import { FEW_DIGITS, number, powerOfTen, shortNumber } from "../browser/numbers.js";
import { barsOf, coloured, tableOf, weightCell } from "../browser/tables.js";
import { t } from "../browser/words.js";
import { listFor, listOf } from "./controls.js";
import { attentionOf } from "./edits.js";
import { outputsTable } from "./output.js";
import { upTo } from "./view.js";

/** @import { Swept, View, Header } from "./types" */
/** @typedef {"sweep" | "goal" | "step" | "put" | "other" | "sender" | "receiver" | "through"} Name */
/** @typedef {Pick<View, Name>} SweepRequest */

const A_HEAD = /^(\w+)\.(\d+)\.(self|cross) head (\d+)$/;
const MOST_PARTS = 200;
const ROUNDING = 2e-6; // of single precision, in what is looked at
export const WAYS = [
  "as it is",
  "path, feed-forward recomputed",
  "path, feed-forward frozen",
  "heard by all",
];

/** Below this, a change is rounding and no effect. @param {Swept | null} answer */
const leastOf = (answer) => ROUNDING * Math.max(1, Math.abs(answer?.before ?? 0));

/** @param {number[][][]} tables */
const largest = (...tables) => Math.max(0, ...tables.flat(2).map(Math.abs));

/** The change of the strongest colour, of which all tables have the same. @param {Swept | null} answer */
const mostOf = (answer) =>
  largest(...[answer?.effects, answer?.direct].flatMap((tables) => Object.values(tables ?? {})));

export class SweepTables {
  root = el("div", { class: "sweep-tables" });

  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
  }

  /** @param {Swept | null} answer */
  draw(answer) {
    const parts = [];
    for (const [name, rows] of Object.entries(answer?.effects ?? {})) {
      const direct = answer?.direct?.[name];
      parts.push(this.cells(name, rows, answer, ""));
      if (direct) parts.push(this.cells(name, direct, answer, ", on the direct way to the output alone"));
    }
    if (answer?.parts) parts.push(this.parts(answer.parts, answer.before ?? 0));
    if (answer?.outputs) parts.push(this.path(answer.outputs));
    this.root.replaceChildren(...parts);
  }

  /** @param {string} name of a stack's attention, or of a stack
     @param {number[][]} rows [layer, head or position] @param {Swept | null} answer that they are of
     @param {string} how */
  cells(name, rows, answer, how) {
    const { theme, data } = this.stage;
    const ofHeads = name.includes(".");
    const layers = answer?.layers?.[name] ?? [];
    const [own, most, least] = [largest(rows), mostOf(answer), leastOf(answer)];
    const power = own > least && own < FEW_DIGITS ? Math.floor(Math.log10(own)) : 0;
    const short = (/** @type {number} */ value) => shortNumber(value / 10 ** power);
    const side = /** @type {"encoder"} */ (name);
    const heads = ofHeads
      ? rows[0].map((_, head) => `head ${head}`)
      : data.tokens(side).map(({ text }) => shorten(text, 8));
    const streams = { encoder: "Stream of the encoder", decoder: "Stream of the decoder" };
    const title = ofHeads ? data.stacks.find(({ id }) => id === name)?.title : streams[side];
    /** @param {number} layer @param {number} at @param {number} value */
    const inside = (layer, at, value) =>
      ofHeads
        ? button({
            text: short(value),
            title: `${number(value, 4)}: open layer ${layer} head ${at}`,
            onclick: () => this.stage.openHead({ stack: name, layer, head: at }),
          })
        : el("span", { text: short(value), title: number(value, 4) });
    const body = rows.map((row, which) => ({
      name: ofHeads ? `layer ${layers[which]}` : `into layer ${layers[which]}`,
      cells: row.map((value, at) =>
        coloured(theme.diverging, 127.5 + (most > least ? (127.5 * value) / most : 0), {
          children: [inside(layers[which], at, value)],
        }),
      ),
    }));
    const unit = power ? `(in ${powerOfTen(power)})` : "";
    return el("section", {}, [
      el("h3", {
        text: `${t(title ?? name)}${t(how)} ${t(own > least ? unit : "(nothing changes)")}`.trim(),
      }),
      tableOf({ class: "stream" }, body, ["", ...heads]),
    ]);
  }

  /** Bars to both sides of 0, the largest first, and what all of them sum to.
     @param {[string, number][]} parts @param {number} sum */
  parts(parts, sum) {
    const { theme } = this.stage;
    const most = Math.max(...parts.map(([, value]) => Math.abs(value)), 1e-12);
    const [cold, warm] = [16, 239].map((level) => cssColour(theme.diverging, level));
    const bar = (/** @type {number} */ value) => {
      const share = Math.abs(value) / most / 2;
      return barsOf({ share, from: value < 0 ? 0.5 - share : 0.5, colour: value < 0 ? cold : warm });
    };
    const digits = (/** @type {number} */ value) => weightCell(number(value, 3), number(value, 6));
    const rows = parts.slice(0, MOST_PARTS).map(([name, value]) => ({
      name: { children: [this.nameOf(name)] },
      cells: [bar(value), digits(value)],
    }));
    const total = { class: "chosen", name: `all ${parts.length} together`, cells: [barsOf(), digits(sum)] };
    return el("section", {}, [
      el("h3", { text: "What each part of the stream gives, the largest first" }),
      tableOf({ class: "rows parts" }, [total, ...rows]),
    ]);
  }

  /** A part's name; a head's opens it. @param {string} name */
  nameOf(name) {
    const [, side, layer, kind, head] = A_HEAD.exec(name) ?? [];
    const [, ofSide] = /^(\w+)\.0\.resid_pre$/.exec(name) ?? [];
    if (ofSide) return `${ofSide}: embedding of this token`;
    if (!side) return name;
    const onclick = () => this.stage.openHead({ stack: `${side}.${kind}`, layer: +layer, head: +head });
    return button({ class: "link", text: name, title: "Open this head", onclick });
  }

  /** @param {[string, number, number, number, number][]} outputs */
  path(outputs) {
    const { theme } = this.stage;
    const colours = [theme.muted, theme.accent, theme.heads[2], theme.heads[1]];
    return el("section", {}, [
      el("h3", { text: "Probabilities of the likeliest outputs at this step" }),
      outputsTable(outputs, colours, WAYS),
    ]);
  }
}

const WHAT = /** @type {Record<string, string>} */ ({
  heads: "each head is switched off alone",
  from: "each head alone gives what it gives in the other text",
  positions: "each position alone is as in the other text",
});

/** What was found, or why there is nothing.
   @param {Swept | null} answer @param {string} sweep @param {string} [put] */
export function sweepSentence(answer, sweep, put = "zero") {
  if (!answer) return "Computing…";
  if (answer.problem) return answer.problem;
  const { title, notDirect } = answer;
  const kl = answer.kl ?? [Number.NaN, Number.NaN, Number.NaN];
  const now = number(answer.before ?? Number.NaN, 3);
  if (sweep === "path")
    return (
      `${title}: KL(before ‖ after) is ${number(kl[0], 3)} nats where only the receiver hears of it, with ` +
      `feed-forward recomputed (Wang et al. 2022), ${number(kl[1], 3)} with it frozen, ` +
      `and ${number(kl[2], 3)} nats where all hear it.`
    );
  if (sweep === "parts")
    return (
      `The ${title}, ${now}, is the sum of what these parts add to the last stream, with the scale of the ` +
      "last norm frozen."
    );
  const moves = Object.values(answer.effects ?? {}).flat(2);
  if (sweep === "positions" && moves.every((value) => Math.abs(value) <= leastOf(answer)))
    return `No position changes the ${title}, now ${now}: change a word of the other text.`;
  const most = number(mostOf(answer));
  const direct = notDirect ? ` Direct effects are not shown: ${notDirect}.` : "";
  return (
    `How the ${title}, now ${now}, changes when ${WHAT[sweep === "heads" && put === "from" ? put : sweep]} ` +
    `(warm: it grows, cold: it falls; at most ${most}).${direct}`
  );
}

/** @type {Name[]} in the server's order */
const ORDER = ["sweep", "goal", "step", "put", "other", "sender", "receiver", "through"];

/** What can be looked at in a sweep.
   @param {string} sweep @param {Pick<Header, "tokens" | "scored">} header */
export function targetsOf(sweep, { tokens, scored }) {
  const absent = new Set([
    ...(tokens.decoder ? [] : ["loss"]),
    ...(scored && sweep === "heads" ? [] : ["score"]),
  ]);
  return CHOICES.goal.options.filter(({ value }) =>
    sweep === "parts" ? value.startsWith("logit") : !absent.has(value),
  );
}

/** What may be put in place of a head: along a path, nothing of another text. @param {string} sweep */
const putsOf = (sweep) =>
  CHOICES.put.options.filter(({ value }) => sweep === "heads" || (sweep === "path" && value !== "from"));

/** Whether a sweep takes values of another text. @param {string} sweep @param {string} put */
const readsOther = (sweep, put) => sweep === "positions" || put === "from";

/** What the server is asked: nothing that does not matter to the sweep, so that it computes nothing twice.
   @param {View} view @param {Header} header @param {{sender: string, receiver: string}} usual
   @returns {SweepRequest} */
export function requestOf(view, header, usual) {
  const { sweep, step } = view;
  const targets = targetsOf(sweep, header).map(({ value }) => value);
  const ofPath = sweep === "path";
  const put = putsOf(sweep).some(({ value }) => value === view.put) ? view.put : "zero";
  const goal = targets.includes(view.goal) && !ofPath ? view.goal : "logits";
  return {
    sweep,
    step,
    goal,
    put,
    other: readsOther(sweep, put) ? view.other || header.swap.other : "",
    sender: ofPath ? view.sender || usual.sender : "",
    receiver: ofPath ? view.receiver || usual.receiver : "",
    through: ofPath ? view.through : "qkv",
  };
}

export class SweepView {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @param {Name} name */
    const chooses = (name) => (/** @type {string} */ value) => stage.set({ [name]: value });
    this.sweep = listFor(stage, "sweep");
    this.goal = listFor(stage, "goal");
    this.put = listFor(stage, "put");
    this.sender = listOf("from", chooses("sender"));
    this.receiver = listOf("to", chooses("receiver"));
    this.through = listFor(stage, "through");
    const onchange = () => stage.set({ other: this.text.value });
    this.text = el("input", { type: "text", "aria-label": "The other text", onchange });
    const lists = [this.sweep, this.goal, this.put, this.sender, this.receiver, this.through];
    this.bar = el("div", { class: "bar" }, [...lists.map(({ root }) => root), this.text]);
    this.note = el("p", { class: "measure", "aria-live": "polite" });
    this.tables = new SweepTables(stage);
    this.root = region("view sweep-view", "Sweep of edits", [this.bar, this.note, this.tables.root]);
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

  get request() {
    return requestOf(this.stage.view, this.stage.data.header, this.usual);
  }

  /** What was computed, as it was asked for; null while it is on its way. @returns {Swept | null} */
  get answer() {
    const { swept } = this.stage.data.header;
    const { request } = this;
    return swept?.asked && String(swept.asked) === String(ORDER.map((name) => request[name])) ? swept : null;
  }

  draw() {
    const { header } = this.stage.data;
    const { request } = this;
    const { sweep } = request;
    this.sweep.update(CHOICES.sweep.options, sweep);
    this.goal.update(targetsOf(sweep, header), request.goal);
    this.put.update(putsOf(sweep), request.put);
    this.drawPath(request);
    reveal(this.goal.root, sweep !== "path");
    reveal(this.put.root, sweep === "heads" || sweep === "path");
    reveal(this.text, readsOther(sweep, request.put));
    this.text.value = request.other;
    const { answer } = this;
    const edited = header.edits.length ? " It ignores your edits." : "";
    this.note.textContent = t(sweepSentence(answer, sweep, request.put) + edited);
    this.tables.draw(answer);
    if (!answer) this.stage.askOnce({ type: "sweep", ...request });
  }

  /** @param {SweepRequest} request */
  drawPath({ sweep, sender, receiver, through }) {
    for (const { root } of [this.sender, this.receiver, this.through]) reveal(root, sweep === "path");
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
    this.through.update(CHOICES.through.options, through);
  }
}
