/* Numbers that say what a head does, as viz_core/measures/one_head.py declares them: each is a mean over the
   queries that count, or null where it is not defined. */

/** @typedef {{weights: Float32Array, heads: number, nQuery: number, nKey: number}} Patterns
   weights: [head, query, key] */
/** @typedef {Patterns & {cross: boolean, tokens: string[], counts: Map<string, number | null> | null,
   pairs: [number, number, boolean][]}} Given tokens: one a key; counts: null for a token that is never rare;
   pairs: of query and key, and whether they are sure */
/** @typedef {(query: number, key: number) => boolean} Is */
/** @typedef {(query: number) => boolean} Counts */

/** The mean over the queries that count and attend, of a number of each row; 0 where there are none.
   @param {Patterns} given @param {(row: Float32Array, query: number) => number} of @param {Counts} counts */
function mean({ weights, heads, nQuery, nKey }, of, counts = () => true) {
  return Array.from({ length: heads }, (_, head) => {
    let [sum, n] = [0, 0];
    for (let query = 0; query < nQuery; query++) {
      const start = (head * nQuery + query) * nKey;
      const row = weights.subarray(start, start + nKey);
      if (!counts(query) || row.reduce((a, b) => a + b, 0) <= 0.5) continue;
      sum += of(row, query);
      n += 1;
    }
    return sum / Math.max(n, 1);
  });
}

/** The weight of each query on keys of its own.
   @param {Patterns} given @param {Is} is @param {Counts} [counts] */
export const weightOn = (given, is, counts) =>
  mean(given, (row, q) => row.reduce((sum, weight, key) => sum + (is(q, key) ? weight : 0), 0), counts);

/** @param {Float32Array} row */
const largest = (row) => row.indexOf(row.reduce((a, b) => Math.max(a, b), -Infinity));

/** @param {Float32Array} row */
const entropy = (row) => Math.max(0, -row.reduce((sum, a) => sum + (a > 0 ? a * Math.log(a) : 0), 0));

/** @param {string} token */
const isPunctuation = (token) => /^\p{P}+$/u.test(token.trim().replace(/^[Ġ▁]+/, ""));

/** Which keys hold one of the rarest tokens. @param {Given} given */
function rarest({ tokens, counts }) {
  const numbers = tokens.map((token) => {
    if (!counts) return tokens.filter((other) => other === token).length;
    return counts.has(token) ? (counts.get(token) ?? Infinity) : 0;
  });
  const least = Math.min(...numbers);
  return numbers.map((each) => each === least);
}

/** Those that are defined, by name. @param {Given} given @returns {Record<string, number[]>} */
export function headScores(given) {
  const { nKey, nQuery, cross, tokens, pairs } = given;
  const offsets = !cross && nKey > 1;
  const [marks, rare] = [tokens.map(isPunctuation), rarest(given)];
  /** @type {Counts} */ const again = (q) => tokens.indexOf(tokens[q]) < q;
  const repeats = !cross && tokens.some((_, query) => again(query));
  /** @type {Is} */ const same = (q, k) => tokens[q] === tokens[k];
  /** @type {Is} */ const isPair = (q, k) => pairs.some(([query, key]) => query === q && key === k);
  /** @type {Is} */ const isSure = (q, k) =>
    pairs.some(([query, key, sure]) => sure && query === q && key === k);
  /** @type {Counts} */ const asked = (q) => pairs.some(([query]) => query === q);
  const hits = (/** @type {Is} */ is) => mean(given, (row, q) => Number(is(q, largest(row))), asked);
  const nAsked = new Set(pairs.map(([query]) => query)).size;
  const nSure = pairs.filter(([, , sure]) => sure).length;
  const alignmentError = () => {
    const sure = hits(isSure);
    return hits(isPair).map((hit, at) => 1 - (nAsked * (hit + sure[at])) / Math.max(nAsked + nSure, 1));
  };
  const away = (/** @type {Float32Array} */ row, /** @type {number} */ q) =>
    row.reduce((sum, a, k) => sum + a * Math.abs(q - k), 0);
  /** @type {[name: string, isDefined: boolean, values: () => number[]][]} */
  const others = [
    ["entropy", true, () => mean(given, entropy)],
    ["confidence", true, () => mean(given, (row) => row[largest(row)])],
    ["mean_distance", !cross, () => mean(given, away)],
    ["hits", nAsked > 0, () => hits(isPair)],
    ["alignment_error", nSure > 0, alignmentError],
  ];
  /** @type {[name: string, isDefined: boolean, is: Is, counts?: Counts][]} */
  const shares = [
    ["previous", offsets, (q, k) => k === q - 1, (q) => q > 0],
    ["first", cross || offsets, (_, k) => k === 0, (q) => cross || q > 0],
    ["same", offsets, (q, k) => k === q, (q) => q > 0],
    ["next", offsets, (q, k) => k === q + 1, (q) => q < nQuery - 1],
    ["duplicate", repeats, (q, k) => q !== k && same(q, k), again],
    ["induction", repeats, (q, k) => k > 0 && k <= q && same(q, k - 1), again],
    ["punctuation", marks.includes(true), (_, k) => marks[k]],
    ["rare", rare.includes(false), (_, k) => rare[k]],
    ["agreement", nAsked > 0, isPair, asked],
  ];
  return Object.fromEntries([
    ...others.flatMap(([name, isDefined, values]) => (isDefined ? [[name, values()]] : [])),
    ...shares.flatMap(([name, isDefined, ...of]) => (isDefined ? [[name, weightOn(given, ...of)]] : [])),
  ]);
}

/** A head by its largest share, if that is half or more. @param {Record<string, number[]>} scores
   @param {number} at @param {Record<string, string>} labels */
export function nameHead(scores, at, labels) {
  const names = Object.keys(labels).filter((name) => name in scores);
  const best = names.reduce((a, b) => (a && scores[a][at] >= scores[b][at] ? a : b), "");
  return best && scores[best][at] >= 0.5 ? `${labels[best]} ${scores[best][at].toFixed(2)}` : null;
}
