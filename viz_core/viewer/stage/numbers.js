/* View 4: for the chosen query and key the whole computation, in the trace's own numbers. The products
   and their sum are worked out here from the trace's q and k; scores, weights, values and z are read
   from it. */

import { el, region, shorten } from "../browser/dom.js";
import { FEW_DIGITS, number, shortNumber } from "../browser/numbers.js";
import { barsOf, coloured, rowOf, tableOf, weightCell } from "../browser/tables.js";
import { t } from "../browser/words.js";
import { matrixOf, partnersOf, partsOf, topKeys } from "./data.js";
import { upTo, within } from "./view.js";

/** @typedef {ArrayLike<number>} Numbers */
/** @import { Children } from "../browser/dom.js" */
/** @typedef {"query" | "key"} Role */

/** @typedef {object} NormalizerStep
   @property {string} title the step in words
   @property {string} column what stands between score and weight
   @property {(score: number) => number} of that number, of a score; NaN where the row is not all here */

/** @param {string} normalizer of the model's config
   @param {Float32Array} row the scores of one query, −∞ where masked
   @param {boolean} whole all its keys are among them @returns {NormalizerStep} */
export function normalizerStep(normalizer, row, whole) {
  if (normalizer === "sigmoid") {
    const open = whole ? row.reduce((count, score) => count + Number(score > -Infinity), 0) : NaN;
    return {
      title: "sigmoid of each score, less ln of the n keys that are open",
      column: "score − ln n",
      of: (score) => score - Math.log(open),
    };
  }
  const exponential = { column: "exp(score)", of: Math.exp };
  if (normalizer === "softmax-plus-one")
    return { title: "softmax over the row and a score of 0 that is no key's", ...exponential };
  if (normalizer === "learnt-sink")
    return { title: "softmax over the row and a learnt score that is no key's", ...exponential };
  if (normalizer === "softpick")
    return {
      title: "softpick: exp(score) − 1 over the sum of all such without signs, 0 below",
      column: "exp(score) − 1",
      of: Math.expm1,
    };
  if (normalizer === "scalable-softmax")
    return {
      title: "softmax of the row, times a learnt number and ln n of its n keys",
      column: "score",
      of: (score) => score,
    };
  const largest = Math.max(...row);
  return {
    title: "softmax over the row",
    column: whole ? "exp(score − largest)" : "exp(score − largest here)",
    of: (score) => Math.exp(score - largest),
  };
}

const ROWS_SHOWN = 8;

/** @typedef {object} Cell
   @property {import("./types").Exact} exact
   @property {number} query
   @property {number} key
   @property {number} i the query's row in what was sent
   @property {number} j the key's column
   @property {string} queryName
   @property {string} keyName */

/** The largest size of all numbers. @param {Numbers[]} lists */
const most = (...lists) => Math.max(...lists.flatMap((list) => Array.from(list, Math.abs)));

export class NumbersView {
  /** @param {import("./types").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.root = region("view numbers-view", "The numbers of one cell");
  }

  draw() {
    const { stage } = this;
    const exact = stage.exactHead();
    if (!exact) {
      this.root.replaceChildren(el("p", { class: "muted", text: "Reading this head's numbers…" }));
      return;
    }
    const { stack, data, view } = stage;
    const i = within(view.query - exact.q0, exact.nq);
    const j = within(view.key - exact.k0, exact.nk);
    const [query, key] = [exact.q0 + i, exact.k0 + j];
    /** @type {Cell} */
    const cell = {
      ...{ exact, query, key, i, j },
      queryName: data.names(stack, "query")[query].text,
      keyName: data.names(stack, "key")[key].text,
    };
    const steps = [this.dot(cell), this.score(cell), this.softmax(cell), this.sum(cell)];
    this.root.replaceChildren(this.pickers(cell), ...steps);
  }

  /** @param {Cell} cell */
  pickers({ query, key, exact }) {
    const { stage } = this;
    const { stack } = stage;
    /** @type {(role: Role, from: number, count: number, value: number) => HTMLElement} */
    const picker = (role, from, count, value) => {
      const options = upTo(count).map((each) => {
        const { text, mark } = stage.data.names(stack, role)[from + each];
        const at = from + each;
        const option = { value: at, text: `${at} ${shorten(text, 24)}`, selected: at === value };
        return mark !== "gone" && el("option", option);
      });
      const onchange = () => this.pick(role, Number(select.value));
      const select = el("select", { "aria-label": t(role), "data-role": role, onchange }, options);
      return el("label", { class: role }, [`${t(role)} `, select]);
    };
    const [side, kind] = stack.id.split(".");
    const { layer, head } = stage.view;
    const own = `${exact.bias ? "bias|" : ""}scores|pattern|z`;
    const partners = partnersOf(stack, head);
    /** @param {string} arrays @param {number} at */
    const address = (arrays, at) => `trace["${side}.${layer}.${kind}.${arrays}"][${at}]`;
    const ofKeys = address("k|v", Math.floor(head / stack.sharing));
    const addresses = partners
      ? `${address(`q|${own}`, head)} · ${ofKeys}, shared by ${partners}`
      : address(`q|k|v|${own}`, head);
    return el("div", { class: "pickers" }, [
      picker("query", exact.q0, exact.nq, query),
      picker("key", exact.k0, exact.nk, key),
      el("span", { class: "muted", text: `${stage.headName()} · ${exact.d} channels · ${addresses}` }),
    ]);
  }

  /** @param {Role} role @param {number} at */
  pick(role, at) {
    this.stage.set({ key: this.stage.view.key, [role]: at });
    /** @type {HTMLElement | null} */ const picker = this.root.querySelector(`select[data-role=${role}]`);
    picker?.focus();
  }

  /** One row of coloured cells, a channel each.
     @param {string} name @param {string} role @param {Numbers} values
     @param {number} reach of the strongest colour */
  strip(name, role, values, reach, extra = "") {
    const { theme } = this.stage;
    const written = values.length <= 16 && reach > FEW_DIGITS;
    return rowOf({
      "data-strip": name,
      name: { class: role, text: name },
      cells: [
        ...Array.from(values, (value, channel) =>
          coloured(theme.diverging, 127.5 + (127.5 * value) / (reach || 1), {
            title: `channel ${channel}: ${value}`,
            text: written ? shortNumber(value) : "",
          }),
        ),
        { class: "total", text: extra },
      ],
    });
  }

  /** @param {string} step @param {string} title @param {Children} children */
  section(step, title, children) {
    return el("section", {}, [
      el("h3", {}, [el("span", { class: "count", text: step }), title]),
      ...children,
    ]);
  }

  /** @param {Cell} cell */
  dot({ exact, i, j, queryName, keyName }) {
    const q = exact.q.subarray(i * exact.d, (i + 1) * exact.d);
    const k = exact.k.subarray(j * exact.d, (j + 1) * exact.d);
    const products = Float64Array.from(q, (value, channel) => value * k[channel]);
    const dot = matrixOf(exact, "dots")[i * exact.nk + j];
    const { stack, view } = this.stage;
    const turned = stack.turned.includes(view.layer) ? ", both turned by their positions" : "";
    return this.section("1", `query · key, channel by channel${turned}`, [
      el("table", { class: "strips" }, [
        this.strip(`q of “${shorten(queryName)}”`, "query", q, most(q, k)),
        this.strip(`k of “${shorten(keyName)}”`, "key", k, most(q, k)),
        this.strip("q × k", "", products, most(products), `Σ = ${number(dot, 4)}`),
      ]),
    ]);
  }

  /** @param {Cell} cell */
  score({ exact, i, j }) {
    const at = i * exact.nk + j;
    const score = exact.scores[at];
    const { scales, cap, layers } = this.stage.stack;
    const scale = scales[layers.indexOf(this.stage.view.layer)];
    const product = `${number(matrixOf(exact, "dots")[at], 4)} × ${number(scale, 4)}`;
    const bias = exact.bias ? ` + ${t(`(${number(exact.bias[at], 4)}, bias)`)}` : "";
    const sum = bias && cap ? `(${product}${bias})` : `${product}${bias}`;
    const scaled = cap ? `${number(cap)} tanh(${sum} / ${number(cap)})` : sum;
    const mask = t(score === -Infinity ? "(−∞, masked)" : "0 (not masked)");
    return this.section("2", exact.bias ? "scale, bias and mask" : "scale and mask", [
      el("p", { class: "formula", "data-step": "score" }, [
        `${scaled} + ${mask} = `,
        el("strong", { text: number(score, 4) }),
      ]),
    ]);
  }

  /** @param {Cell} cell */
  softmax(cell) {
    const { exact, i, j } = cell;
    const { stack, data, theme } = this.stage;
    const top = topKeys(exact, i, j, ROWS_SHOWN);
    const divided = data.how === "renormalised" && exact.left;
    const row = exact.scores.subarray(i * exact.nk, (i + 1) * exact.nk);
    const step = normalizerStep(stack.normalizer, row, exact.nk === stack.nKey);
    const listedWeight = top.reduce((sum, at) => sum + exact.softmax[i * exact.nk + at], 0);
    /** @type {import("../browser/tables.js").Row[]} */
    const rows = top.map((at) => {
      const score = exact.scores[i * exact.nk + at];
      const weight = exact.softmax[i * exact.nk + at];
      return {
        ...{ class: at === j ? "chosen" : null, "data-key": at + exact.k0 },
        name: { class: "key", text: shorten(data.names(stack, "key")[at + exact.k0].text) },
        cells: [
          number(score, 3),
          number(step.of(score), 3),
          weightCell(number(weight, 3)),
          divided && { class: "divided", text: number(exact.pattern[i * exact.nk + at], 3) },
          barsOf({ share: exact.pattern[i * exact.nk + at], colour: theme.accent }),
        ],
      };
    });
    rows.push(...this.unlisted(cell, top.length, listedWeight, Boolean(divided)));
    const head = [
      "key",
      "score",
      step.column,
      "weight",
      ...(divided ? [`weight / ${number(divided[i], 3)}`] : []),
      "",
    ];
    return this.section("3", step.title, [tableOf({ class: "rows" }, rows, head.map(t))]);
  }

  /** The rows of the keys that have none of their own: those that are hidden, and all others.
     @param {Cell} cell @param {number} listed how many have one @param {number} listedWeight their weight
     @param {boolean} divided there is a column of renormalised weights */
  unlisted({ exact, i }, listed, listedWeight, divided) {
    const hidden = this.hiddenKeys();
    const [rest, onHidden] = [this.stage.stack.nKey - listed - hidden, exact.hidden?.[i] ?? 0];
    const row = exact.softmax.subarray(i * exact.nk, (i + 1) * exact.nk);
    // 1, or 0 where every key is masked
    const sum = exact.nk < this.stage.stack.nKey ? 1 : row.reduce((a, b) => a + b, 0);
    const left = Math.max(0, sum - listedWeight - (hidden ? onHidden : 0));
    /** @param {string} name @param {number} weight @param {string} share */
    const other = (name, weight, share) => ({
      name: { class: "muted", text: name },
      cells: ["", "", weightCell(number(weight, 3)), divided && { class: "divided", text: share }, ""],
    });
    const by = exact.left?.[i] || 1;
    return [
      ...(rest > 0 ? [other(`${rest} other keys`, left, number(left / by, 3))] : []),
      ...(hidden ? [other(`${hidden} special, hidden`, onHidden, "–")] : []),
    ];
  }

  /* How many keys are hidden. */
  hiddenKeys() {
    return this.stage.data.gone(this.stage.stack.keySide).size;
  }

  /** The rows add up to z: the heaviest keys one by one, then all others together. @param {Cell} cell */
  sum(cell) {
    const { exact, i, j } = cell;
    const { stack, data } = this.stage;
    const top = topKeys(exact, i, j, ROWS_SHOWN);
    const { z, weighted, others } = partsOf(exact, i, top);
    const reach = most(...weighted, z);
    const name = (/** @type {number} */ at) => {
      const token = shorten(data.names(stack, "key")[at + exact.k0].text);
      return `${number(exact.pattern[i * exact.nk + at], 3)} × v of “${token}”`;
    };
    const rest = stack.nKey - top.length;
    const hidden = this.hiddenKeys() ? `, ${this.hiddenKeys()} of them hidden` : "";
    return this.section("4", "weighted sum of the values: z", [
      el("table", { class: "strips" }, [
        ...top.map((at, row) => this.strip(name(at), "value", weighted[row], reach)),
        rest > 0 && this.strip(`${rest} other keys${hidden}`, "muted", others, reach),
        this.strip("z, their sum", "z", z, reach),
      ]),
    ]);
  }
}
