/* The edits that a browser makes by itself, heads switched off, as the lines of models/interventions. */

import { numbersOf } from "../stage/edits.js";
import { upTo } from "../stage/view.js";

/** @typedef {Record<string, number[] | null>} Off by the address of an attention; null: all its heads */

const LINE =
  /^\s*((?:encoder|decoder)\.\d+\.(?:self|cross))(?:\.z)?(?:\s+heads\s+(all|[\d,\s-]+))?\s*:\s*zero\s*$/;

/** The heads that a line switches off; null for a line that says something else. @param {string} line */
export function readLine(line) {
  const match = LINE.exec(line);
  if (!match) return null;
  const heads = numbersOf(match[2]);
  return { address: match[1], heads: heads ? [...new Set(heads)].sort((a, b) => a - b) : null };
}

/** @param {string[]} lines @returns {Off} */
export function headsOff(lines) {
  /** @type {Off} */ const off = {};
  for (const { address, heads } of lines.flatMap((line) => readLine(line) ?? [])) {
    const known = address in off ? off[address] : [];
    off[address] = known && heads && [...known, ...heads];
  }
  return off;
}

/** How a sentence about edits begins. @param {string[]} lines */
export function condition(lines) {
  const off = Object.values(headsOff(lines));
  const named = !off.includes(null);
  const count = named ? off.reduce((sum, heads) => sum + new Set(heads).size, 0) : lines.length;
  if (named) return count === 1 ? "Without this head" : `Without these ${count} heads`;
  return count === 1 ? "With this edit" : `With these ${count} edits`;
}

/** The lines after a press: "put" switches the heads of a line off, "undo" on, anything else the other way.
   @param {string[]} lines @param {string} line @param {string} how @param {number} count of all heads */
export function afterPress(lines, line, how, count) {
  const edit = readLine(line);
  if (!edit) return [...lines, line];
  const [off, heads] = [headsOff(lines), edit.heads ?? upTo(count)];
  const known = new Set(edit.address in off ? (off[edit.address] ?? upTo(count)) : []);
  const isOn = how === "undo" || (how !== "put" && heads.every((head) => known.has(head)));
  for (const head of heads) isOn ? known.delete(head) : known.add(head);
  const others = lines.filter((each) => readLine(each)?.address !== edit.address);
  return known.size ? [...others, `${edit.address} heads ${[...known].sort((a, b) => a - b)}: zero`] : others;
}

/** For each attention the factor of each head, 0 where it is off. @param {string[]} lines
   @param {string[]} attentions addresses @param {number} heads */
export function factors(lines, attentions, heads) {
  const values = new Float32Array(attentions.length * heads).fill(1);
  for (const [address, off] of Object.entries(headsOff(lines))) {
    const row = attentions.indexOf(address);
    if (row < 0) throw new Error(`${address} is no attention of this model; it has ${attentions.join(", ")}`);
    for (const head of off ?? upTo(heads)) {
      if (head >= heads) throw new Error(`${address} heads ${head} is not there; give 0 to ${heads - 1}`);
      values[row * heads + head] = 0;
    }
  }
  return values;
}
