/* What the server sent: the trace's numbers, with edits and without, special tokens shown or hidden,
   and which heads come first and pass. Nothing here touches the page. */

import { number } from "../browser/numbers.js";
import { t } from "../browser/words.js";

/** @import { Measure, Header, View, Side } from "./types" */
/** @import { Framed } from "../browser/message.js" */
/** @typedef {{layer: number, head: number, at: number, passes: boolean}} Place at: of all heads in a row */
/** @typedef {{q0: number, k0: number, nq: number, nk: number}} Area */
/** @typedef {Record<"q" | "k" | "v" | "z" | "scores" | "pattern" | "softmax", Float32Array>} Arrays */
/** @typedef {Record<"hidden" | "left" | "bias", Float32Array>} Some */
/** @typedef {{dots: Float64Array, blank: Uint8Array}} Derived */
/** @typedef {Area & Arrays & {d: number} & Partial<Some & Derived>} Exact */
/** @typedef {{after: TraceData, before?: TraceData, difference?: TraceData}} Passes */

/** Whether a measure may be asked for in a stack: of cross-attention, no text repeats.
   @param {Measure} measure @param {Stack} stack */
export const isOffered = ({ name, random }, stack) =>
  name in stack.stats || (random && stack.querySide === stack.keySide);

/** The measure that is chosen and whose numbers are not here yet.
   @param {Measure[]} measures @param {Stack} stack @param {{sort: string}} view */
export function awaited(measures, stack, { sort }) {
  return measures.find((each) => each.name === sort && isOffered(each, stack) && !(sort in stack.stats));
}

/** Puts what the server computed among the other numbers of each stack.
   @param {Stack[]} stacks @param {Header["repeated"]} sent */
export function take(stacks, sent) {
  for (const stack of stacks) Object.assign(stack.stats, sent?.stats?.[stack.id]);
}

/** What is said beside a definition: what was counted, or which pairs are meant; or of random tokens, of
   which texts a measure is, why there is none, or that it is on its way.
   @param {Measure | undefined} measure @param {Stack} stack @param {Header["repeated"]} sent */
export function noteOnMeasure(measure, stack, sent) {
  if (measure?.said || measure?.paired) return measure.said || stack.pairs;
  if (!measure?.random) return "";
  return sent?.said ?? sent?.problem ?? "The model is reading random tokens…";
}

/** Which layer and head are at a place of [layer * head]. @param {Stack} stack @param {number} at */
export const headAt = ({ layers, heads }, at) => ({
  layer: layers[Math.floor(at / heads)],
  head: at % heads,
});

/** The place of a head in [layer * head]. @param {Stack} stack @param {number} layer @param {number} head */
export const placeIn = ({ layers, heads }, layer, head) => layers.indexOf(layer) * heads + head;

/** The measure that is chosen, or undefined where none is, or where it is not defined for the stack.
   @param {Measure[]} measures @param {Stack} stack @param {{sort: string}} view */
export function measureOf(measures, stack, { sort }) {
  return measures.find(({ name }) => name === sort && stack.stats[name]);
}

/** Every head of a stack, in order; those that do not pass stay where they are.
   @param {Stack} stack @param {Pick<View, "order" | "keep" | "limit">} view
   @param {Measure | undefined} measure @returns {Place[]} */
export function placesOf(stack, { order, keep, limit }, measure) {
  const all = Array.from({ length: stack.layers.length * stack.heads }, (_, at) => ({
    ...headAt(stack, at),
    at,
    passes: true,
  }));
  if (!measure) return all;
  const values = stack.stats[measure.name];
  const sign = measure.smallestFirst ? 1 : -1;
  const sorted = [...all].sort((a, b) => sign * (values[a.at] - values[b.at]) || a.at - b.at);
  sorted.forEach((place, rank) => {
    place.passes = passes(values[place.at], rank, keep, limit);
  });
  return order === "layer" ? all : sorted;
}

/** @param {number} value @param {number} rank from 0 @param {View["keep"]} keep @param {number} limit */
function passes(value, rank, keep, limit) {
  if (keep === "least") return value >= limit;
  if (keep === "most") return value <= limit;
  return keep !== "top" || rank < limit;
}

/** A limit to begin with: of the first heads so many, else what half of the heads reach.
   @param {number[]} values @param {View["keep"]} keep */
export function firstLimit(values, keep) {
  if (keep === "top") return Math.min(5, values.length);
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] * 100) / 100;
}

const VIEWS = ["grid", "head", "lines", "numbers"];

/** Whether a view can leave special tokens out. @param {Pick<View, "view" | "show">} view */
export const canHide = ({ view, show }) => VIEWS.includes(view) && !(view === "head" && show === "plane");

/** What a view shows of special tokens. @param {View} view */
export const hidingOf = (view) => (canHide(view) ? (view.special ?? "shown") : "shown");

/** The position itself, else the next one in a direction that is not gone, else the next one in the other.
   @param {number} at @param {number} count @param {Set<number>} gone @param {number} by */
export function beside(at, count, gone, by = 1) {
  for (const step of [by, -by])
    for (let next = at; next >= 0 && next < count; next += step) if (!gone.has(next)) return next;
  return at;
}

/** What a head's numbers are where special tokens are left out: `softmax` stays as it was traced, `pattern`
   has 0 at the cells that are `blank`, and is divided by what is left of each row where that is asked for.
   @template {{pattern: ArrayLike<number>, left?: ArrayLike<number>} & import("./types").Area} Sent
   @param {Sent} sent @param {string} how @param {{queries: Set<number>, keys: Set<number>}} gone */
export function withoutSpecial(sent, how, { queries, keys }) {
  const { pattern, q0, k0, nq, nk, left } = sent;
  if (how === "shown" || !left || !(queries.size || keys.size)) return { ...sent, softmax: pattern };
  const blank = new Uint8Array(nq * nk);
  const visible = new Float32Array(nq * nk);
  for (let at = 0; at < nq * nk; at++) {
    const i = Math.floor(at / nk);
    blank[at] = Number(queries.has(q0 + i) || keys.has(k0 + (at % nk)));
    const by = how === "renormalised" && left[i] > 0 ? left[i] : 1;
    if (!blank[at]) visible[at] = pattern[at] / by;
  }
  return { ...sent, softmax: pattern, pattern: visible, blank };
}

/** What the page adds to a row of which so much lies on hidden tokens, and so much on all others.
   @param {string} how @param {number} hidden @param {number} left */
export function hiddenInRow(how, hidden, left) {
  if (how === "shown") return "";
  const share = number(hidden, 3);
  return how === "renormalised" && !(left > 0)
    ? t(`; ${share} on hidden tokens, nothing is left`)
    : t(`; ${share} on hidden tokens`);
}

/** What the grid says: how much of a row lies on hidden tokens, on average over all heads, and in which
   heads least and most.
   @param {string} how @param {Stack} stack @param {boolean} ready */
export function hiddenInHeads(how, stack, ready) {
  const { hidden } = stack;
  if (how === "shown" || !hidden?.length) return "";
  if (!ready) return " Leaving out special tokens…";
  const mean = hidden.reduce((sum, value) => sum + value, 0) / hidden.length;
  const inHead = (/** @type {number} */ value) => {
    const { layer, head } = headAt(stack, hidden.indexOf(value));
    return `${number(value, 3)} in layer ${layer} head ${head}`;
  };
  const rest = how === "renormalised" ? ", and each row is made to add up to 1" : "";
  return (
    ` Special tokens are hidden${rest}: ${number(mean, 3)} of a row lies on them on average (from ` +
    `${inHead(Math.min(...hidden))} to ${inHead(Math.max(...hidden))}). Measures include them.`
  );
}

/** @typedef {object} Stack
   @property {string} id
   @property {string} title
   @property {number[]} layers their numbers, as addresses have them
   @property {number} heads
   @property {number} dHead
   @property {string} normalizer
   @property {number[]} scales what multiplies q · k, a layer each
   @property {number | null} cap scores are cap × tanh((scale × q · k + bias) / cap), where it is given
   @property {number[]} turned the layers whose queries and keys positions turn
   @property {boolean} whole queries, keys, values and scores are traced, not the pattern alone
   @property {number} sharing how many query heads share one key head
   @property {"encoder" | "decoder"} querySide
   @property {"encoder" | "decoder"} keySide
   @property {{text: string, next?: string, mark?: string, typed?: string}[] | null} [rows] queries that write
   @property {number} nQuery
   @property {number} nKey
   @property {number} thumbQuery
   @property {number} thumbKey
   @property {Framed} thumbs
   @property {Record<string, number[]>} stats a number per head [layer * heads + head] of each measure
   @property {string[]} labels
   @property {string} pairs what pairs of queries and keys are, where some belong together
   @property {number[]} [hidden] the mean weight on special tokens of each head's rows; [] without any */

/** Says whether a token has a place of its own; the later pieces of a joined word have none.
   @param {{mark?: string}} token */
export const isSeen = ({ mark }) => mark !== "part";

export const JOINED = "Pieces of a word count as one: queries averaged, keys added up.";

export class TraceData {
  signed = false; // whether weights lie on both sides of 0

  /** @param {import("./types").Header} header */
  constructor(header) {
    this.header = header;
    this.stacks = this.header.stacks;
    take(this.stacks, this.header.repeated);
    /** @type {Map<string, Exact | null>} */ this.cache = new Map();
    this.how = "shown"; // what is shown of special tokens
    this.plain = false; // whether pieces of words are shown as a reader would write them
    this.whole = false; // whether the pieces of a word count as one
    /** @type {string | undefined} */ this.sign = undefined; // of words, or of pieces after the first
  }

  /** Shows special tokens from now on, or leaves them out. @param {string} how */
  hide(how) {
    if (how !== this.how) this.cache.clear();
    this.how = how;
  }

  /** Counts the pieces of a word as one from now on, or each alone. @param {boolean} whole */
  join(whole) {
    if (whole !== this.whole) this.cache.clear();
    this.whole = whole;
  }

  /** Gives for each position the one at which its word begins; its own where pieces count alone.
     @param {Side} side @returns {number[]} */
  starts(side) {
    let start = 0;
    return this.header.tokens[side].map(({ text }, at, all) => {
      const goesOn = at > 0 && this.whole && this.inPieces && isCut(this.sign, all[at - 1].text, text);
      if (!goesOn) start = at;
      return start;
    });
  }

  /** Says whether the pieces of any word of a stack are joined. @param {Stack} stack */
  joins({ querySide, keySide }) {
    return [querySide, keySide].some((side) => this.starts(side).some((start, at) => start !== at));
  }

  /** Gives the same for a stack's queries; a query that writes stays a piece, since a word follows each.
     @param {Stack} stack */
  startsOfQueries({ id, querySide }) {
    const starts = this.starts(querySide);
    return this.stack(id).rows ? starts.map((_, at) => at) : starts;
  }

  /** Joins the weights of a word's pieces: the row and column of its first piece get the mean over its
     queries of the sum over its keys; the other rows and columns get 0.
     @template {Pick<Exact, "pattern" | "hidden" | "left"> & Area & {softmax?: Float32Array}} Shown
     @param {Stack} stack @param {Shown} shown @returns {Shown} */
  joined(stack, shown) {
    if (!this.whole || !this.inPieces) return shown;
    const { q0, k0, nq, nk } = shown;
    const rows = this.startsOfQueries(stack)
      .slice(q0, q0 + nq)
      .map((at) => Math.max(0, at - q0));
    const columns = this.starts(stack.keySide)
      .slice(k0, k0 + nk)
      .map((at) => Math.max(0, at - k0));
    /** @param {ArrayLike<number>} values @param {number[]} across */
    const meanOf = (values, across) => {
      const sums = new Float64Array(values.length);
      for (let at = 0; at < sums.length; at++) {
        const row = rows[Math.floor(at / across.length)];
        const pieces = rows.lastIndexOf(row) - row + 1;
        sums[row * across.length + across[at % across.length]] += values[at] / pieces;
      }
      return Float32Array.from(sums);
    };
    const { pattern, softmax, hidden, left } = shown;
    return {
      ...shown,
      pattern: meanOf(pattern, columns),
      ...(softmax ? { softmax: meanOf(softmax, columns) } : {}),
      ...(hidden ? { hidden: meanOf(hidden, [0]) } : {}),
      ...(left ? { left: meanOf(left, [0]) } : {}),
    };
  }

  /** The positions that are left out. @param {"encoder" | "decoder"} side @returns {Set<number>} */
  gone(side) {
    return new Set(this.how === "shown" ? [] : this.header.special?.[side]);
  }

  /** Whether thumbnails and other bytes are of what is shown. */
  get fits() {
    return (this.header.specialTokens ?? "shown") === this.how;
  }

  /** @param {string} id */
  stack(id) {
    return this.stacks.find((stack) => stack.id === id) || this.stacks[0];
  }

  /** @param {Side} side @param {boolean} [whole]
     @returns {{text: string, mark?: string, typed?: string}[]} */
  tokens(side, whole = this.whole) {
    const gone = this.gone(side);
    const sent = whole ? this.words(side) : this.header.tokens[side];
    const tokens =
      this.readsPieces && !whole
        ? sent.map((token, at) => ({
            ...token,
            text: pieceOf(this.sign, token.text, sent[at - 1]?.text, sent[at + 1]?.text),
          }))
        : sent;
    return gone.size
      ? tokens.map((token, at) => (gone.has(at) ? { text: "", mark: "gone" } : token))
      : tokens;
  }

  /** The tokens of a side with the pieces of a word as one: the first is the word, the others are "part".
     @param {Side} side @returns {{text: string, mark?: string, typed?: string}[]} */
  words(side) {
    const sent = this.header.tokens[side];
    if (!this.inPieces) return sent;
    const { sign = "" } = this;
    const bare = (/** @type {string} */ text) =>
      text.startsWith(sign) && text !== sign ? text.slice(sign.length) : text;
    const starts = this.starts(side);
    return sent.map((token, at) => {
      const pieces = sent.slice(at, starts.lastIndexOf(at) + 1);
      if (!pieces.length) return { text: "", mark: "part" };
      return { ...token, text: pieces.map(({ text }) => bare(text)).join("") };
    });
  }

  /** What stands at a stack's queries or keys; in cross-attention a query is a word read and the next
     written.
     @param {Stack} stack @param {"query" | "key"} role */
  names(stack, role) {
    const rows = role === "query" && this.stack(stack.id).rows;
    const side = role === "query" ? stack.querySide : stack.keySide;
    const tokens = this.tokens(side, this.whole && !rows);
    if (!rows) return tokens;
    const row = (/** @type {number} */ at) => {
      const { next } = rows[at];
      if (!next || !this.readsPieces) return rows[at];
      return { ...rows[at], text: `${tokens[at].text} → ${this.output(side, at, next)}` };
    };
    return tokens.map((token, at) => (token.mark === "gone" ? token : row(at)));
  }

  /** The name of an output after a position. @param {"encoder" | "decoder"} side @param {number} at */
  output(side, at, name = "") {
    if (!this.readsPieces) return name;
    const [before, next, after] = this.header.tokens[side].slice(at).map(({ text }) => text);
    return pieceOf(this.sign, name, before, next === name ? after : "");
  }

  /** Whether this model reads words in pieces. */
  get inPieces() {
    const all = Object.values(this.header.tokens).flat();
    this.sign ??= ["␣", "##"].find((sign) => all.some(({ text }) => text.startsWith(sign) && text !== sign));
    return this.sign !== undefined;
  }

  get readsPieces() {
    return this.plain && this.inPieces;
  }

  /** @param {Stack} stack @param {number} layer @param {number} head @returns {ArrayLike<number>} */
  thumb(stack, layer, head) {
    const own = this.stack(stack.id); // of this pass
    return own.thumbs.entry(placeIn(own, layer, head));
  }

  /** Thumbnails of short texts hold every cell, rounded to 1/255. @param {Stack} stack */
  thumbIsWhole(stack) {
    return stack.thumbQuery === stack.nQuery && stack.thumbKey === stack.nKey;
  }

  /** The trace's own float32 numbers of one head, or null where the server has not sent them. `bias` is there
     only when positions add something to the scores. `softmax` is what the softmax gave, `pattern` what is
     shown of it.
     @param {string} stackId @param {number} layer @param {number} head */
  exact(stackId, layer, head) {
    const name = `${stackId}/${layer}/${head}`;
    const known = this.cache.get(name);
    if (known !== undefined) return known;
    const exact = this.readExact(stackId, layer, head);
    this.cache.set(name, exact);
    return exact;
  }

  /** @param {string} stackId @param {number} layer @param {number} head @returns {Exact | null} */
  readExact(stackId, layer, head) {
    const block = this.sent(stackId, layer).find((each) => each.heads.includes(head));
    if (!block) return null;
    const place = block.heads.indexOf(head);
    const arrays = Object.entries(block.arrays).map(([name, array]) => [name, array.entry(place)]);
    const { q0, k0, nq, nk } = block;
    const { dHead: d, querySide, keySide } = this.stack(stackId);
    const gone = { queries: this.gone(querySide), keys: this.gone(keySide) };
    const sent = { q0, k0, nq, nk, d, ...Object.fromEntries(arrays) };
    return this.joined(this.stack(stackId), withoutSpecial(sent, this.how, gone));
  }

  /** What was sent of a layer in full: of which heads, and all heads of its window as bytes.
     @param {string} stackId @param {number} layer
     @returns {(Area & {heads: number[], arrays: Record<string, Framed>, coarse: Framed | null})[]} */
  sent(stackId, layer) {
    const blocks = /** @type {any[]} */ (this.header.exact);
    return blocks.filter((block) => block.stack === stackId && block.layer === layer);
  }

  /** The weights of one head as they were sent, or null. All others than the trace's own numbers are bytes,
     rounded to 1/255.
     @param {Stack} stack @param {number} layer @param {number} head */
  cells(stack, layer, head) {
    const exact = this.exact(stack.id, layer, head);
    if (exact) return { ...exact, values: exact.pattern, unit: 1, exact: true };
    if (!this.fits) return null;
    const rounded = { unit: 1 / 255, exact: false };
    const whole = { q0: 0, k0: 0, nq: stack.nQuery, nk: stack.nKey };
    const of = (/** @type {Area} */ area, /** @type {any} */ pattern) => {
      const { q0, k0, nq, nk } = area;
      return { q0, k0, nq, nk, ...rounded, values: this.joined(stack, { q0, k0, nq, nk, pattern }).pattern };
    };
    if (this.thumbIsWhole(stack)) return of(whole, this.thumb(stack, layer, head));
    const block = this.sent(stack.id, layer).find((each) => each.coarse);
    return block?.coarse ? of(block, block.coarse.entry(head)) : null;
  }
}

/** @param {Exact} exact @param {number} i @param {number} j */
function dotProduct({ q, k, d }, i, j) {
  let sum = 0;
  for (let c = 0; c < d; c++) sum += q[i * d + c] * k[j * d + c];
  return sum;
}

/** The heads that share one head of keys and values with this one, in words; "" where each has its own.
   @param {import("./types").Stack} stack @param {number} head */
export function partnersOf({ sharing }, head) {
  const first = head - (head % sharing);
  return sharing > 1 ? `heads ${first} to ${first + sharing - 1}` : "";
}

/** One matrix of an exact head: its pattern, its scores, or its dot products, summed here from q and k.
   @param {Exact} exact @param {"pattern" | "scores" | "dots"} show */
export function matrixOf(exact, show) {
  if (show !== "dots") return exact[show];
  const { nq, nk } = exact;
  exact.dots ??= Float64Array.from({ length: nq * nk }, (_, at) =>
    dotProduct(exact, Math.floor(at / nk), at % nk),
  );
  return exact.dots;
}

/** The numbers of a head without those of hidden tokens.
   @param {Exact} exact @param {Float32Array | Float64Array} values */
export const shownOf = ({ blank }, values) =>
  blank ? Float64Array.from(values, (value, at) => (blank[at] ? Number.NaN : value)) : values;

/** What each channel gives to a score, before positions add to it and a mask takes the pair away.
   @param {Exact} exact @param {number} i @param {number} j @param {number} scale */
export const productsOf = ({ q, k, d }, i, j, scale) =>
  Float64Array.from({ length: d }, (_, channel) => q[i * d + channel] * k[j * d + channel] * scale);

/** The keys that a row looks at most, heaviest first; the key j is always among them, hidden ones never.
   @param {Exact} exact @param {number} i @param {number} j @param {number} count */
export function topKeys({ softmax, blank, nk }, i, j, count) {
  const row = softmax.subarray(i * nk, (i + 1) * nk);
  const order = Array.from(row, (_, at) => at).filter((at) => !blank?.[i * nk + at]);
  const top = order.sort((a, b) => row[b] - row[a]).slice(0, count);
  if (!top.includes(j)) top[top.length - 1] = j;
  return top;
}

/** What z of a row is the sum of: the values of these keys times their weights, and all others together.
   @param {Exact} exact @param {number} i @param {number[]} keys */
export function partsOf({ z: all, v, softmax, nk }, i, keys) {
  const d = v.length / nk; // of a pair of heads it is twice as wide as q and k
  const z = all.subarray(i * d, (i + 1) * d);
  const weighted = keys.map((at) =>
    Float64Array.from(v.subarray(at * d, (at + 1) * d), (value) => value * softmax[i * nk + at]),
  );
  const others = Float64Array.from(z, (total, channel) =>
    weighted.reduce((rest, row) => rest - row[channel], total),
  );
  return { z, weighted, others };
}

/** Says whether a word goes on from one piece to the next.
   @param {string | undefined} sign "##" of a piece that goes on with a word, or that of the blank before one
   @param {string} one @param {string} next */
const isCut = (sign, one, next) =>
  sign === "##" ? next.startsWith(sign) : /[\p{L}\p{N}]$/u.test(one) && /^[\p{L}\p{N}]/u.test(next);

/** A piece as a reader would write it: without its sign, and with a hyphen where its word is cut.
   @param {string | undefined} sign @param {string} piece */
function pieceOf(sign = "", piece, before = "", after = "") {
  const own = piece.startsWith(sign) && piece !== sign ? piece.slice(sign.length) : piece;
  return `${isCut(sign, before, piece) ? "-" : ""}${own}${isCut(sign, piece, after) ? "-" : ""}`;
}

/** @type {View["when"][]} */ const BOTH = ["after", "before"];
/** @type {Record<string, View["when"][]>} what can be seen of an edited pass, by the view */
const SEEN = {
  grid: [...BOTH, "difference"],
  head: [...BOTH, "difference"],
  lines: BOTH,
  numbers: BOTH,
  output: BOTH,
};

/** @param {Header} header @returns {Passes} */
export function passesOf(header) {
  const after = new TraceData(header);
  if (!header.before) return { after };
  const before = new TraceData({ ...header, ...header.before });
  return { after, before, difference: new Difference(after, before) };
}

/** What can be seen in a view: nothing but "after" where nothing was edited.
   @param {string} view @param {Header} header @returns {View["when"][]} */
export function timesOf(view, header) {
  return (header.before && SEEN[view]) || ["after"];
}

/** What the edits changed: every number after them, less the same number before. */
export class Difference extends TraceData {
  signed = true;

  /** @param {TraceData} after @param {TraceData} before */
  constructor(after, before) {
    super(after.header);
    this.after = after;
    this.before = before;
  }

  /** @param {string} how */
  hide(how) {
    super.hide(how);
    this.after.hide(how);
    this.before.hide(how);
  }

  /** @param {Stack} stack @param {number} layer @param {number} head */
  thumb(stack, layer, head) {
    return less(this.after.thumb(stack, layer, head), this.before.thumb(stack, layer, head));
  }

  /** @param {string} stackId @param {number} layer @param {number} head @returns {Exact | null} */
  readExact(stackId, layer, head) {
    const after = this.after.exact(stackId, layer, head);
    const before = this.before.exact(stackId, layer, head);
    if (!after || !before) return null;
    return {
      ...after,
      pattern: less(after.pattern, before.pattern),
      scores: after.scores && less(after.scores, before.scores),
      get dots() {
        return Float64Array.from(less(matrixOf(after, "dots"), matrixOf(before, "dots")));
      },
    };
  }
}

const CONTENT = /^\p{L}{4,}$/u; // most shorter words serve others
const APART = 2; // words: a neighbour is looked at by position alone

/** Finds where in the encoder one word of four letters and more looks most at another that is no neighbour;
   null where there are no two, or where not all weights are here.
   @param {TraceData} data
   @returns {{stack: string, layer: number, head: number, query: number, key: number} | null} */
export function mostTelling(data) {
  const stack = data.stacks.find(({ id }) => id === "encoder.self");
  if (!stack || data.header.random) return null;
  const { whole } = data;
  data.join(true);
  const place = mostTellingOf(data, stack);
  data.join(whole);
  return place;
}

/** @param {TraceData} data @param {Stack} stack @returns {ReturnType<typeof mostTelling>} */
function mostTellingOf(data, stack) {
  const words = data.words("encoder").flatMap((word, at) => (isSeen(word) ? { text: word.text, at } : []));
  let [most, best] = [0, /** @type {ReturnType<typeof mostTelling>} */ (null)];
  for (const layer of stack.layers)
    for (let head = 0; head < stack.heads; head++) {
      const cells = data.cells(stack, layer, head);
      if (!cells || cells.nq < stack.nQuery || cells.nk < stack.nKey) return null;
      for (const [i, { text, at: query }] of words.entries())
        for (const [j, { text: other, at: key }] of words.entries()) {
          if (Math.abs(i - j) < APART || !CONTENT.test(text) || !CONTENT.test(other)) continue;
          const weight = cells.values[query * cells.nk + key] * cells.unit;
          if (weight > most) [most, best] = [weight, { stack: stack.id, layer, head, query, key }];
        }
    }
  return best;
}

/** @param {ArrayLike<number>} after @param {ArrayLike<number>} before */
const less = (after, before) => Float32Array.from(after, (value, at) => value - before[at]);
