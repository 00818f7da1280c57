/* The message of Explore's stage, of a pass that this browser has computed: what payload.py, subject.py,
   head_measures.py, effect.py and figure.py of pages/explore make of one. What follows from the model alone
   is in a template that they wrote. */

import { Framed } from "../browser/message.js";
import { number } from "../browser/numbers.js";
import { positionsOf } from "../stage/sums.js";
import { upTo } from "../stage/view.js";
import { fourDigits, logSoftmax, rounded, rowSums, rowsOf, thumbnails, top, windowOf } from "./arrays.js";
import { condition, headsOff } from "./edits.js";
import { entriesOf, tokenText } from "./labels.js";
import { alignments } from "./links.js";
import { headScores, nameHead, weightOn } from "./measures.js";
import { idsOf } from "./tokens.js";

/** @import { Antecedent, Asked, Header, Layer, Model, Opened, Reading, Stack, Tensor, Trace } from
   "./types" */
/** @import { Span } from "./arrays.js" */
/** @typedef {[name: string, before: number, after: number]} Output */

const MASK = "[MASK]";
const FOR_WORDS = [MASK, "<mask>", "[UNK]", "<unk>"];
const PRONOUNS = /(?<![\p{L}\p{N}_])(ils|elles|il|elle|they|it)(?![\p{L}\p{N}_])/u;
const WRITES = ["translate", "answer", "continue"];
const ARRAYS = ["q", "k", "v", "z", "bias", "scores", "pattern"];
const MATRICES = ["bias", "scores", "pattern"];

/** What a text is shown by, before its passes. */
export class Message {
  /** @param {Model} model @param {Asked} asked @param {Reading} reading @param {Opened} opened */
  constructor(model, asked, reading, opened) {
    const { abilities, template } = model;
    this.model = model;
    this.asked = asked;
    this.reading = reading;
    this.opened = opened;
    this.writes = abilities.some((name) => WRITES.includes(name));
    this.side = /** @type {"encoder" | "decoder"} */ (reading.tokens.decoder ? "decoder" : "encoder");
    this.encoder = reading.tokens.encoder ?? [];
    const unknown = new Set(reading.unknown.map(({ text }) => text));
    const sides = Object.entries(reading.tokens);
    this.tokens = Object.fromEntries(sides.map(([side, tokens]) => [side, entriesOf(tokens, unknown)]));
    this.special = Object.fromEntries(sides.map(([side]) => [side, this.specialOf(side)]));
    const isNamed = (/** @type {string} */ token) =>
      abilities.includes("translate") && model.pronouns.includes(token);
    this.pronouns = upTo(this.encoder.length).filter((at) => isNamed(this.encoder[at]));
    this.pairs = alignments(model, reading);
    this.counts = countsOf(model, reading);
    /** @type {Stack[]} */ this.stacks = template.stacks.map((/** @type {Stack} */ stack) => {
      const [nQuery, nKey] = [stack.querySide, stack.keySide].map((side) => reading.tokens[side].length);
      const rows = stack.querySide === stack.keySide ? null : this.rowsOf(stack.querySide);
      return { ...stack, nQuery, nKey, rows };
    });
    const { thumbs, least, most } = model.budget;
    const nHeads = this.stacks.reduce((sum, { layers, heads }) => sum + layers.length * heads, 0);
    this.thumbSize = Math.floor(Math.min(Math.max(Math.sqrt(thumbs / nHeads), least), most));
  }

  /** Where the special tokens of a side stand; none where it has no others. @param {string} side */
  specialOf(side) {
    const tokens = this.tokens[side];
    const isSpecial = (/** @type {number} */ at) =>
      tokens[at].mark === "special" && !FOR_WORDS.includes(tokens[at].text);
    const places = upTo(tokens.length).filter(isSpecial);
    return places.length < tokens.length ? places : [];
  }

  /** The queries of cross-attention, each with what follows. @param {string} side */
  rowsOf(side) {
    return this.tokens[side].map((token, at) => {
      const next = this.tokens[side][at + 1]?.text ?? this.reading.following ?? "";
      if (!this.writes || !next) return token;
      const raw = token.raw === undefined ? {} : { raw: `${token.raw} → ${next}` };
      return { ...token, text: `${token.text} → ${next}`, ...raw, next };
    });
  }

  /** The attentions of a pass, in the order of computation. @param {Trace} trace @returns {Layer[]} */
  layersOf(trace) {
    const addresses = Object.keys(trace).filter((address) => address.endsWith(".z"));
    return addresses.map((address) => {
      const [side, layer, kind] = address.split(".");
      const stack = /** @type {Stack} */ (this.stacks.find(({ id }) => id === `${side}.${kind}`));
      return { stack, layer: Number(layer), address: address.slice(0, -2) };
    });
  }

  /** Which heads are sent in full, and which window of them.
     @param {boolean} biased
     @returns {(stack: Stack, layer: number) => {heads: number[], queries: Span, keys: Span}} */
  plan(biased) {
    const { model, opened, stacks } = this;
    const { exact, window } = model.budget;
    const open = stacks.find(({ id }) => id === opened.stack) ?? stacks[0];
    /** @param {Stack} stack @param {number} begin @param {number} length @returns {Span} */
    const span = (stack, begin, length) => {
      const size = Math.min(length, window);
      return [stack.id === opened.stack ? Math.min(Math.max(0, begin), length - size) : 0, size];
    };
    const areas = stacks.map((stack) => {
      const [queries, keys] = [span(stack, opened.q0, stack.nQuery), span(stack, opened.k0, stack.nKey)];
      const [nq, nk, matrices] = [queries[1], keys[1], biased && stack.querySide === stack.keySide ? 3 : 2];
      return { queries, keys, cost: 4 * (matrices * nq * nk + 2 * (nq + nk) * stack.dHead) };
    });
    const costs = stacks.map(({ layers, heads }, at) => areas[at].cost * layers.length * heads);
    const sendsAll = costs.reduce((a, b) => a + b) <= exact;
    const far = (/** @type {number} */ layer) => Math.abs(layer - opened.layer);
    const nearest = open.layers.reduce((a, b) => (far(b) < far(a) ? b : a));
    const sendsLayer = areas[stacks.indexOf(open)].cost * open.heads <= exact;
    const some = sendsLayer ? upTo(open.heads) : [Math.min(opened.head, open.heads - 1)];
    return (stack, layer) => {
      const ofOpen = stack === open && layer === nearest ? some : [];
      return { ...areas[stacks.indexOf(stack)], heads: sendsAll ? upTo(stack.heads) : ofOpen };
    };
  }

  /** What the stage gets of a pass: its stacks, and the heads whose numbers are sent.
     @param {Trace} trace @param {Antecedent[]} named with which heads may agree */
  collected(trace, named) {
    const layers = this.layersOf(trace);
    const plan = this.plan(layers.some(({ address }) => `${address}.bias` in trace));
    /** @type {Header[]} */ const exact = [];
    const stacks = this.stacks.map((stack) => {
      const made = {
        hidden: /** @type {number[]} */ ([]),
        stats: /** @type {Record<string, number[]>} */ ({}),
      };
      /** @type {(string | null)[]} */ const labels = [];
      /** @type {Framed[]} */ const thumbs = [];
      for (const { layer, address } of layers.filter((each) => each.stack === stack)) {
        const pattern = trace[`${address}.pattern`];
        const scores = this.scoresOf(stack, pattern, named);
        for (const [name, values] of Object.entries(scores))
          (made.stats[name] ??= []).push(...values.map(fourDigits));
        labels.push(...upTo(stack.heads).map((head) => nameHead(scores, head, this.model.labels)));
        const sums = this.sumsOf(stack, pattern);
        made.hidden.push(...this.meanHidden(stack, sums));
        const shown = this.shown(stack, pattern, sums);
        thumbs.push(thumbnails(shown, this.thumbSize));
        const chosen = plan(stack, layer);
        if (chosen.heads.length)
          exact.push(this.exactOf({ stack, layer, address }, trace, chosen, sums, shown));
      }
      const [, thumbQuery, thumbKey] = thumbs[0].shape;
      const bytes = Uint8Array.from(thumbs.flatMap(({ values }) => Array.from(values)));
      const all = new Framed(bytes, [labels.length, thumbQuery, thumbKey]);
      const pairs = this.pairsOf(stack, named);
      return { ...stack, ...made, labels, pairs, thumbQuery, thumbKey, thumbs: all };
    });
    const order = layers.map(({ stack, layer }) => `${stack.id} ${layer}`);
    exact.sort((a, b) => order.indexOf(`${a.stack} ${a.layer}`) - order.indexOf(`${b.stack} ${b.layer}`));
    return { stacks, exact };
  }

  /** @param {Stack} stack @param {Tensor} pattern @param {Antecedent[]} named */
  scoresOf({ id, querySide, keySide }, { data: weights, dims: [heads, nQuery, nKey] }, named) {
    const cross = querySide !== keySide;
    const nouns = id === "encoder.self" ? named : [];
    const asPair = (/** @type {Antecedent} */ each) =>
      /** @type {import("./links.js").Pair} */ ([each.position, each.antecedent, false]);
    const pairs = cross ? this.pairs : nouns.map(asPair);
    const tokens = this.reading.tokens[keySide];
    return headScores({ weights, heads, nQuery, nKey, cross, tokens, counts: this.counts, pairs });
  }

  /** The weight on the chosen keys together, in the mean of the chosen queries, of each head of a stack.
     @param {Trace} trace
     @param {{stack: string, queries: string, keys: string}} chosen as links write them */
  sums(trace, { stack: id, queries, keys }) {
    const { nQuery, nKey, heads } = this.stacks.find((stack) => stack.id === id) ?? this.stacks[0];
    const [rows, columns] = [positionsOf(queries || `0-${nQuery}`, nQuery), positionsOf(keys, nKey)];
    const layers = this.layersOf(trace).filter(({ stack }) => stack.id === id);
    return layers.flatMap(({ address }) => {
      const given = { weights: trace[`${address}.pattern`].data, heads, nQuery, nKey };
      return weightOn(
        given,
        (_, key) => columns.includes(key),
        (query) => rows.includes(query),
      );
    });
  }

  /** What pairs are in a stack. @param {Stack} stack @param {Antecedent[]} named */
  pairsOf({ id, querySide, keySide }, named) {
    const { said } = this.model;
    if (querySide !== keySide) return this.pairs.length ? said.aligned : "";
    return id === "encoder.self" && named.length ? said.named : "";
  }

  /** The weight of each row on special tokens and on all others, where there are any.
     @param {Stack} stack @param {Tensor} pattern */
  sumsOf({ querySide, keySide }, pattern) {
    const [queries, keys] = [this.special[querySide], this.special[keySide]];
    if (!queries.length && !keys.length) return null;
    const isHidden = (/** @type {number} */ key) => keys.includes(key);
    return { hidden: rowSums(pattern, isHidden), left: rowSums(pattern, (key) => !isHidden(key)) };
  }

  /** @typedef {{hidden: Float32Array, left: Float32Array} | null} Sums */

  /** @param {Stack} stack @param {Sums} sums */
  meanHidden({ querySide, heads, nQuery }, sums) {
    const rows = upTo(nQuery).filter((row) => !this.special[querySide].includes(row));
    const mean = (/** @type {number} */ head) =>
      rows.reduce((sum, row) => sum + (sums?.hidden[head * nQuery + row] ?? 0), 0) / rows.length;
    return sums ? upTo(heads).map((head) => fourDigits(mean(head))) : [];
  }

  /** The pattern as it is shown.
     @param {Stack} stack @param {Tensor} pattern @param {Sums} sums @returns {Tensor} */
  shown({ querySide, keySide, nQuery, nKey }, { data, dims }, sums) {
    const { special: how } = this.opened;
    if (how === "shown" || !sums) return { data, dims };
    const [queries, keys] = [this.special[querySide], this.special[keySide]];
    const visible = data.map((weight, at) => {
      const row = Math.floor(at / nKey);
      if (queries.includes(row % nQuery) || keys.includes(at % nKey)) return 0;
      return how === "renormalised" && sums.left[row] > 0 ? weight / sums.left[row] : weight;
    });
    return { data: visible, dims };
  }

  /** The numbers of the heads of a layer that are sent in full.
     @param {Layer} place @param {Trace} trace @param {{heads: number[], queries: Span, keys: Span}} chosen
     @param {Sums} sums @param {Tensor} shown */
  exactOf({ stack, layer, address }, trace, { heads, queries, keys }, sums, shown) {
    const names = ARRAYS.filter((name) => `${address}.${name}` in trace);
    const arrays = names.map((name) => {
      const tensor = trace[`${address}.${name}`];
      const columns = MATRICES.includes(name) ? keys : /** @type {Span} */ ([0, tensor.dims[2]]);
      const { data, dims } = windowOf(tensor, heads, "kv".includes(name) ? keys : queries, columns);
      return [name, new Framed(data, dims)];
    });
    const rows = Object.entries(sums ?? {}).map(([name, data]) => {
      const ofHeads = windowOf({ data, dims: [stack.heads, stack.nQuery, 1] }, heads, queries, [0, 1]);
      return [name, new Framed(ofHeads.data, [heads.length, queries[1]])];
    });
    const isPart = heads.length < stack.heads && this.thumbSize < Math.max(stack.nQuery, stack.nKey);
    const every = windowOf(shown, upTo(stack.heads), queries, keys);
    const coarse = isPart ? thumbnails(every, this.model.budget.window) : null;
    const [[q0, nq], [k0, nk]] = [queries, keys];
    const numbers = { heads, arrays: Object.fromEntries([...arrays, ...rows]), coarse };
    return { stack: stack.id, layer, ...numbers, q0, k0, nq, nk };
  }

  /** The most probable outputs at each position. @param {Trace} trace */
  stepsOf({ logits }) {
    const { names, budget } = this.model;
    if (!logits) return [];
    const rows = rowsOf(logits).slice(0, budget[this.side]);
    return rows.map((row, at) => {
      const known = logSoftmax(row.subarray(0, names.length));
      const ids = top(known, budget.top);
      const likely = ids.map((id) => [tokenText(names[id]), rounded(Math.exp(known[id]))]);
      const chosen = this.side === "decoder" ? this.following(at, tokenText(names[ids[0]])) : null;
      return { top: likely, chosen };
    });
  }

  /** The token after a decoder's token. @param {number} at @param {string} likeliest */
  following(at, likeliest) {
    const { tokens, following } = this.reading;
    if (at + 1 < tokens.decoder.length) return tokenText(tokens.decoder[at + 1]);
    return following || (this.model.abilities.includes("continue") ? null : likeliest);
  }

  /** For each pronoun that was read, the noun that the encoder's output there names.
     @param {Trace} trace @returns {Antecedent[] | null} */
  antecedentsOf(trace) {
    if (!this.model.asked) return null;
    const { names } = this.model;
    const ids = this.encoder.map((token) => idsOf(names).get(token) ?? 3);
    const logits = rowsOf(trace["encoder.logits"]);
    return this.pronouns.map((position) => {
      const probable = logSoftmax(logits[position]);
      const [best] = top(probable, 1);
      const at = ids.indexOf(best);
      const antecedent = at >= 0 && best !== ids[position] ? at : null;
      const word = antecedent === null ? names[best] : this.encoder[antecedent];
      return { position, word, probability: Math.exp(probable[best]), antecedent };
    });
  }

  /** An answer in parts, so that its pronouns can stand out. */
  get answer() {
    const { answer, forced } = this.reading;
    const texts = this.pronouns.length ? answer.split(PRONOUNS) : [answer];
    const parts = texts.map((text, at) => ({ text, strong: at % 2 === 1 })).filter(({ text }) => text);
    return answer ? { translation: parts, typed: forced } : {};
  }

  /** Where this text opens: on its pronoun or masked word, as an example says, or as the model does.
     @param {Antecedent[]} named @param {Record<string, number>} opens */
  focusOf([named], opens) {
    const { template } = this.model;
    const masked = this.encoder.indexOf(MASK);
    const own = ["query", "pinned"].filter((name) => template.story.includes(name));
    const usual = {
      pinned: "none",
      ...Object.fromEntries(own.map((name) => [name, template.defaults[name]])),
    };
    const by = (/** @type {object} */ place) => ({ ...place, pinned: "query" });
    const focus = named
      ? by({ query: named.position, key: named.antecedent })
      : masked >= 0
        ? by({ query: masked, step: masked })
        : this.pronouns.length
          ? by({ query: this.pronouns[0] })
          : usual;
    const pinned = "query" in opens ? { pinned: "query" } : {};
    return { ...focus, ...pinned, ...opens, ...("head" in opens ? { heads: [opens.head] } : {}) };
  }

  /** The other text that a button offers. */
  get swap() {
    const { swaps, examples, text: usual } = this.model;
    const { text } = this.asked;
    const typed = text.split(/\s+/).filter(Boolean);
    const old = Object.keys(swaps).find((word) => typed.includes(word));
    if (old) {
      const other = typed.map((word) => (word === old ? swaps[old] : word)).join(" ");
      return { label: `${old} → ${swaps[old]}`, text: other, other };
    }
    const at = examples.findIndex((example) => example.text === text);
    const after = at < 0 ? usual : examples[(at + 1) % examples.length].text;
    return after === text
      ? { label: "", text: "", other: text }
      : { label: "next example", text: after, other: text };
  }

  /** The part of the header that says what was asked for. @param {Antecedent[]} named */
  ownHeader(named) {
    const { model, asked } = this;
    const settings = Object.entries({ ...model.usual, ...asked.settings }).map(([name, value]) => [
      name,
      String(value),
    ]);
    const changed = Object.fromEntries(settings.filter(([name, value]) => value !== model.usual[name]));
    const isUsual = !("direction" in changed || "target" in changed);
    const example = isUsual ? model.examples.find(({ text }) => text === asked.text) : undefined;
    const turned = settings.flatMap(([name, value]) => (model.turns.includes(name) ? [value] : []));
    return {
      focus: this.focusOf(named, example?.opens ?? {}),
      focusToken: [...turned, asked.text].join(" "),
      link: {
        ...(model.isDefault ? {} : { model: model.name }),
        ...(asked.text === model.text && !model.standing ? {} : { text: asked.text }),
        ...(asked.edits.length ? { edits: asked.edits.join("\n") } : {}),
        ...changed,
      },
      edits: asked.edits,
      off: headsOff(asked.edits),
      swap: this.swap,
      ...(example?.see ? { see: example.see } : {}),
    };
  }

  /** The whole header.
     @param {Trace} trace @param {Trace} [before] the pass without the edits, where there are any
     @returns {Header} */
  header(trace, before) {
    const antecedents = this.antecedentsOf(trace);
    const named = (antecedents ?? []).filter(({ antecedent }) => antecedent !== null);
    const { stacks, exact } = this.collected(trace, named);
    const nouns = upTo(this.encoder.length).filter((at) => this.model.nouns.includes(this.encoder[at]));
    const asks = { "encoder.self": { queries: this.pronouns.slice(0, 1), keys: nouns } };
    const { story: _, ...standing } = this.model.template;
    const changed = before ? this.changeOf(before, trace, stacks) : {};
    const isThere = (/** @type {{name: string, random: boolean}} */ { name, random }) =>
      stacks.some(({ stats, id }) => name in stats || (random && id.endsWith(".self")));
    return {
      ...standing,
      tokens: this.tokens,
      special: this.special,
      specialTokens: this.opened.special,
      measures: this.model.measures.filter(isThere),
      stacks,
      exact,
      steps: this.stepsOf(trace),
      stepSide: this.side,
      antecedents,
      asks: this.pronouns.length && nouns.length ? asks : {},
      ...this.answer,
      ...changed,
      ...this.ownHeader(named),
    };
  }

  /** What the edits did; each stack gets the measure of how far its heads moved.
     @param {Trace} before @param {Trace} after
     @param {{id: string, stats: Record<string, number[]>}[]} stacks */
  changeOf(before, after, stacks) {
    for (const { stack, address } of this.layersOf(after)) {
      const stats = stacks.find(({ id }) => id === stack.id)?.stats ?? {};
      const [one, other] = [before, after].map((pass) => pass[`${address}.pattern`].data);
      const size = stack.nQuery * stack.nKey;
      const moved = upTo(stack.heads).map((head) => {
        const part = one.subarray(head * size, (head + 1) * size);
        return part.reduce((sum, weight, at) => sum + Math.abs(other[head * size + at] - weight), 0);
      });
      (stats[this.model.moved] ??= []).push(...moved.map((sum) => fourDigits(sum / stack.nQuery / 2)));
    }
    const { names, budget } = this.model;
    const logits = [before, after].map((pass) => rowsOf(pass.logits));
    const kl = logits[0].map((row, at) => {
      const [p, q] = [row, logits[1][at]].map(logSoftmax);
      return Math.max(
        0,
        p.reduce((sum, each, id) => sum + Math.exp(each) * (each - q[id]), 0),
      );
    });
    const outputs = logits[0].map((row, at) => {
      const sides = [row, logits[1][at]].map((each) =>
        logSoftmax(each.subarray(0, names.length)).map(Math.exp),
      );
      const largest = (/** @type {number} */ id) => Math.max(...sides.map((side) => side[id]));
      const ids = [...new Set(sides.flatMap((side) => top(side, budget.changed)))].sort(
        (a, b) => largest(b) - largest(a),
      );
      const shown = ids.slice(0, budget.changed + 2);
      return shown.map(
        (id) => /** @type {Output} */ ([tokenText(names[id]), ...sides.map((side) => rounded(side[id]))]),
      );
    });
    const stream = { stream: streamOf(before, after) };
    return {
      before: { ...this.collected(before, []), steps: this.stepsOf(before) },
      change: { kl: kl.map((each) => rounded(each)), outputs, ...this.answerAfter(outputs, kl), ...stream },
    };
  }

  /** What became of the answer, and how far its outputs moved.
     @param {Output[][]} outputs @param {number[]} kl */
  answerAfter(outputs, kl) {
    const places = this.answered(outputs.length);
    const best = outputs.map((row) =>
      [1, 2].map((when) => row.reduce((a, b) => (b[when] > a[when] ? b : a))),
    );
    const changed = places.filter((at) => best[at][0][0] !== best[at][1][0]);
    const at = changed[0] ?? places.reduce((a, b) => (kl[b] > kl[a] ? b : a));
    const [[was, before, after], [now]] = best[at];
    const [from, to] = [number(before, 3), number(after, 3)];
    const how =
      from === to ? `stays at ${to}` : `${after < before ? "falls" : "rises"} from ${from} to ${to}`;
    const pooled = Boolean(this.model.template.pooled);
    const token = pooled ? "" : `“${this.tokens[this.side][at].text}”`;
    const does = pooled ? "answers" : this.writes ? (this.reading.forced ? "would write" : "writes") : "says";
    const place = token && !this.writes ? ` at ${token}` : "";
    const where = token && this.writes ? `, after ${token}` : "";
    const still = changed.length ? "" : "still ";
    return {
      at,
      answer: `${condition(this.asked.edits)} it ${still}${does} “${now}”${place}: P(${was}) ${how}.`,
      moved: `The outputs there moved by a KL divergence of ${number(kl[at])} nats${where}.`,
    };
  }

  /** The positions whose outputs are the answer. @param {number} count */
  answered(count) {
    const every = upTo(count);
    if (this.writes) {
      const asked = this.model.reads === "needle" ? this.reading.tokens.decoder.indexOf("?") + 5 : count;
      return every.slice("source" in this.reading.inputs ? 0 : Math.min(asked, count) - 1);
    }
    const masked = every.filter((at) => !this.model.template.pooled && this.encoder[at] === MASK);
    return masked.length ? masked : every;
  }
}

/** How often the tokens of a text come; of a model of transformers, by their places in its vocabulary.
   @param {Model} model @param {Reading} reading @returns {Map<string, number | null> | null} */
function countsOf({ rarity, left, pieces }, { inputs }) {
  if (!left) return rarity && new Map(rarity);
  return new Map(inputs.tokens.map((id) => [pieces[id], left.has(id) ? null : -id]));
}

/** How far the stream moved where it enters the first layer and leaves each, relative to what it was.
   @param {Trace} before @param {Trace} after */
function streamOf(before, after) {
  const length = (/** @type {Float32Array} */ row) => Math.hypot(...row);
  const sides = ["encoder", "decoder"].flatMap((side) => {
    const isPlace = (/** @type {string} */ address) =>
      address === `${side}.0.resid_pre` || (address.startsWith(side) && address.endsWith(".resid_post"));
    const places = Object.keys(before).filter(isPlace);
    const moved = places.flatMap((address) => {
      const others = rowsOf(after[address]);
      return rowsOf(before[address]).map((row, at) => {
        const by = length(row.map((value, channel) => others[at][channel] - value));
        return by && by / length(row);
      });
    });
    const shape = [places.length, moved.length / places.length];
    return places.length ? [[side, new Framed(Float32Array.from(moved), shape)]] : [];
  });
  return Object.fromEntries(sides);
}
