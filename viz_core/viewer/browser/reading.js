/* What a picture shows, for those who do not see it: real rows and cells, and a sentence of what stands out.
   A panel or a view says its rows; the sentence, the table and its dialog are made here. */

import { button, el, isForView, region, reveal, switchOfLetters } from "./dom.js";
import { anyNumber } from "./numbers.js";
import { tableOf } from "./tables.js";
import { hear, hush } from "./tones.js";
import { t, tIfWords } from "./words.js";

/** A `grid` has numbers of one kind; of others each column is something of its own, and rows of a `series`
   follow each other. marked: what stands out in the picture. row: the one that is chosen there.
   @typedef {object} Reading
   @property {string} title
   @property {"grid" | "rows" | "series"} form
   @property {string} [rowAxis] what rows are
   @property {string} [columnAxis]
   @property {string[]} rows their names
   @property {string[]} columns
   @property {(row: number, column: number) => number | string} at
   @property {boolean} [weights] whether its numbers are shares of attention
   @property {(row: number, column: number) => unknown} [marked]
   @property {number} [row] */
/** @typedef {{value: number, i: number, j: number}} Place */

const WIDEST = 26; // columns that are shown at once: a matrix that is wider is read row by row
const LONGEST = 100; // rows that are shown before all are asked for
const HEAVIEST = 24; // of a row that is read alone
const MOST_SAID = 4;

/** Names that can be told apart: those that come again say where they stand. @param {string[]} names */
export function apart(names) {
  const count = Map.groupBy(names, (name) => name);
  return names.map((name, at) => ((count.get(name)?.length ?? 0) > 1 ? `${name} (${at})`.trim() : name));
}

/** @param {number | string} cell */
const written = (cell) => (typeof cell === "string" ? cell : Number.isNaN(cell) ? "none" : anyNumber(cell));

/** The numbers among some cells. @param {Reading} reading @param {number[]} rows @param {number[]} columns */
function numbersIn({ at }, rows, columns) {
  /** @type {Place[]} */ const found = [];
  for (const i of rows)
    for (const j of columns) {
      const value = at(i, j);
      if (typeof value === "number" && Number.isFinite(value)) found.push({ value, i, j });
    }
  return found;
}

/** @param {Place[]} places */
const largest = (places) => places.reduce((best, each) => (each.value > best.value ? each : best));

/** @param {Place[]} places */
const smallest = (places) => places.reduce((best, each) => (each.value < best.value ? each : best));

/** The largest number; of a query that may look at one key alone only where there are no others.
   @param {Place[]} all */
function clearest(all) {
  const rows = Object.values(Object.groupBy(all, ({ i }) => i));
  const free = rows.filter((row = []) => row.filter(({ value }) => value > 0).length > 1);
  return largest(free.length ? free.flatMap((row = []) => row) : all);
}

/** @param {{length: number}} list */
const indices = ({ length }) => Array.from({ length }, (_, at) => at);

/** A name, with what it names where it does not say so. @param {string} axis @param {string} name */
const placed = (axis = "", name) =>
  /^\S+$/.test(axis) && !name.includes(axis) ? `${t(axis)} ${name}` : tIfWords(name);

/** Whether its numbers are how much queries look at keys. @param {Reading} reading */
const looks = ({ weights, rowAxis, columnAxis }) => weights && rowAxis === "query" && columnAxis === "key";

/** @param {Reading} reading */
const named = (reading) => ({ ...reading, rows: apart(reading.rows), columns: apart(reading.columns) });

/** What stands out in what is shown. @param {Reading} reading */
export function standsOut(reading) {
  const of = named(reading);
  const { rows, columns, form, rowAxis } = of;
  if (!rows.length) return t("Nothing is here yet.");
  const parts = form === "grid" ? [ofGrid(of)] : indices(columns).map((j) => ofColumn(of, j));
  if (form === "series" && rowAxis) parts.unshift(t(`Over ${rowAxis}:`));
  const said = [...parts.filter(Boolean).slice(0, MOST_SAID), ofMarked(of)].filter(Boolean);
  return said.length ? said.join(" ") : ofWords(of);
}

/** @param {Reading} reading */
function ofGrid(reading) {
  const { rows, columns, rowAxis, columnAxis } = reading;
  const all = numbersIn(reading, indices(rows), indices(columns));
  if (!all.length) return "";
  const [high, low] = [largest(all), smallest(all)];
  const place = (/** @type {Place} */ { i, j }) =>
    `${placed(rowAxis, rows[i])}, ${placed(columnAxis, columns[j])}`;
  if (high.value === low.value) return t(`All ${all.length} numbers are ${written(high.value)}.`);
  if (looks(reading)) {
    const best = clearest(all);
    const of = rows.length > 1 ? `${t(`Of ${rows.length} queries,`)} ` : "";
    return of + t(`“${rows[best.i]}” looks most at “${columns[best.j]}”: ${written(best.value)}.`);
  }
  if (all.every(({ value }) => value === 0 || value === 1))
    return t(`${all.filter(({ value }) => value).length} of ${all.length} numbers are 1, the others 0.`);
  const end = (/** @type {Place} */ each) => `${written(each.value)} (${place(each)})`;
  return t(`Of ${all.length} numbers, the largest is ${end(high)}, the smallest ${end(low)}.`);
}

/** @param {Reading} reading @param {number} j */
function ofColumn(reading, j) {
  const { rows, columns, form, rowAxis } = reading;
  const all = numbersIn(reading, indices(rows), [j]);
  if (!all.length) return "";
  const [first, last, high, low] = [all[0], /** @type {Place} */ (all.at(-1)), largest(all), smallest(all)];
  if (high.value === low.value) return `${t(columns[j])}: ${t(`${written(high.value)} everywhere.`)}`;
  const end = (/** @type {Place} */ { value, i }) =>
    `${written(value)} ${t("at")} ${form === "series" ? rows[i] : placed(rowAxis, rows[i])}`;
  const way = form === "series" ? `${t("from")} ${end(first)} ${t("to")} ${end(last)}; ` : "";
  return `${t(columns[j])}: ${way}${t("largest")} ${end(high)}, ${t("smallest")} ${end(low)}.`;
}

/** @param {Reading} reading */
function ofMarked({ rows, columns, form, marked }) {
  if (!marked) return "";
  const name = (/** @type {number} */ i, /** @type {number} */ j) =>
    form === "grid" ? `${rows[i]}, ${columns[j]}` : rows[i];
  const across = form === "grid" ? indices(columns) : [0];
  const all = indices(rows).flatMap((i) => across.flatMap((j) => (marked(i, j) ? [name(i, j)] : [])));
  if (form === "grid" && all.length > MOST_SAID)
    return t(`Marked: ${all.length} cells, from ${all[0]} to ${all.at(-1)}.`);
  return all.length ? t(`Marked: ${listed(all, "; ")}.`) : "";
}

/** @param {Reading} reading */
function ofWords({ rows, columns, at, form }) {
  if (form === "grid") {
    const cells = rows.flatMap((_, i) => columns.map((_, j) => written(at(i, j))));
    const counts = Array.from(
      Map.groupBy(cells, (cell) => cell),
      ([cell, all]) => `${cell} in ${all.length}`,
    );
    return `${cells.length} cells: ${listed(counts, ", ")}.`;
  }
  if (!columns.length) return `${listed(rows, ", ")}.`;
  const what = columns[0] === "value" ? "" : `, ${t(columns[0])}`;
  const said = rows.flatMap((name, i) =>
    at(i, 0) === "" ? [] : [`${tIfWords(name)}${what}: ${written(at(i, 0))}`],
  );
  return `${listed(said, "; ")}.`;
}

/** The first of them, and how many more there are. @param {string[]} all @param {string} between */
function listed(all, between) {
  const more = all.length > MOST_SAID + 1 ? between + t(`and ${all.length - MOST_SAID} more`) : "";
  return all.slice(0, more ? MOST_SAID : all.length).join(between) + more;
}

/** The entries of a row, the largest first; what is no number comes last.
   @param {Reading} reading @param {number} i */
export function ranked({ columns, at }, i) {
  const size = (/** @type {number} */ j) => {
    const value = at(i, j);
    return typeof value === "number" && !Number.isNaN(value) ? value : -Infinity;
  };
  return indices(columns).sort((a, b) => size(b) - size(a) || a - b);
}

/** What stands out in one row of a grid. @param {Reading} reading @param {number} i */
export function rowStandsOut(reading, i) {
  const of = named(reading);
  const top = ranked(of, i).slice(0, 3);
  const name = (/** @type {number} */ j) =>
    looks(of) ? `“${of.columns[j]}”` : placed(of.columnAxis, of.columns[j]);
  const [first, ...others] = top.map((j) => `${name(j)} (${written(of.at(i, j))})`);
  const then = others.length ? t(`, then ${others.join(" and ")}`) : "";
  return looks(of)
    ? t(`“${of.rows[i]}” looks most at ${first}${then}.`)
    : `${t(`Largest of ${placed(of.rowAxis, of.rows[i])}:`)} ${first}${then}.`;
}

/** A part of the dialog: a sentence and a table, of one row where one is chosen. */
class Section {
  all = false; // whether every row is shown, or every entry of one

  /** @param {Reading} reading */
  constructor(reading) {
    this.reading = named(reading);
    const { rows, rowAxis, title, form, columns } = this.reading;
    this.wide = form === "grid" && columns.length > WIDEST;
    /** @type {number | null} */ this.row = this.wide ? (reading.row ?? this.strongest()) : null;
    this.sentence = el("p", { tabindex: "-1", "aria-live": "polite" });
    const option = (/** @type {string} */ text, /** @type {number | string} */ value) =>
      el("option", { text, value, selected: String(value) === String(this.row ?? "") });
    const onchange = () => this.choose(this.select.value === "" ? null : Number(this.select.value));
    this.select = el("select", { onchange }, [
      !this.wide && option(t(`show all ${rows.length}`), ""),
      ...(form === "grid" ? rows.map(option) : []),
    ]);
    const label = el("label", {}, [`${t(rowAxis || "row")} `, this.select]);
    this.more = button({ onclick: () => this.choose(this.row, true) });
    this.sound = button({
      text: "hear this row",
      title: "A tone for each number from left to right, the higher the larger",
      onclick: () => hear(indices(columns).map((j) => this.reading.at(this.row ?? 0, j))),
    });
    const list = form === "grid" && rows.length > 1 && label;
    const bar = el("p", { class: "choice" }, [list, this.more, this.sound]);
    this.place = el("div");
    this.root = el("section", {}, [title && el("h2", { text: title }), this.sentence, bar, this.place]);
    this.choose(this.row);
  }

  strongest() {
    const all = numbersIn(this.reading, indices(this.reading.rows), indices(this.reading.columns));
    return all.length ? clearest(all).i : 0;
  }

  /** @param {number | null} row all of them where it is null @param {boolean} all */
  choose(row, all = false) {
    Object.assign(this, { row, all });
    const { reading } = this;
    const ofRow = row === null ? "" : rowStandsOut(reading, row);
    const ofAll = this.wide || !ofRow ? standsOut(reading) : "";
    this.sentence.textContent = `${ofAll} ${ofRow}`.trim();
    const { table, rest } = row === null ? this.whole() : this.alone(row);
    this.place.replaceChildren(table);
    this.more.textContent = rest;
    reveal(this.more, rest);
    reveal(this.sound, row !== null);
  }

  whole() {
    const { rows, columns, rowAxis = "", columnAxis = "", at, form, title, marked } = this.reading;
    const every = form === "series" ? Math.ceil(rows.length / LONGEST) : 1;
    const shown = indices(rows).filter((i) => this.all || (i % every === 0 && i < LONGEST * every));
    const cell = (/** @type {number} */ i, /** @type {number} */ j) =>
      written(at(i, j)) + (marked?.(i, j) ? ` ${t("(marked)")}` : "");
    const body = shown.map((i) => ({ name: rows[i], cells: indices(columns).map((j) => cell(i, j)) }));
    const corner = [rowAxis, columnAxis].filter(Boolean).map(t).join(" \\ ") || t("name");
    const rest = shown.length < rows.length ? t(`show all ${rows.length}`) : "";
    const names = form === "grid" ? columns : columns.map(t);
    return { table: tableOf({ "aria-label": title || t("table") }, body, [corner, ...names]), rest };
  }

  /** @param {number} i */
  alone(i) {
    const { rows, columns, columnAxis = "", rowAxis = "", at } = this.reading;
    const shown = ranked(this.reading, i).slice(0, this.all ? columns.length : HEAVIEST);
    const body = shown.map((j) => ({ name: columns[j], cells: [written(at(i, j))] }));
    const rest = shown.length < columns.length ? t(`show all ${columns.length}`) : "";
    const label = `${t(rowAxis)} ${rows[i]}, ${t("the largest first")}`.trim();
    return { table: tableOf({ "aria-label": label }, body, [t(columnAxis), rows[i]]), rest };
  }
}

/** The button and the key that open it. Escape closes it, and the focus is where it was. */
export class Reader {
  /** @param {() => Reading[]} read */
  constructor(read) {
    this.read = read;
    const title = "A description of the picture; key v";
    this.button = button({
      text: t("table"),
      "aria-label": "As a table",
      title,
      "aria-haspopup": "dialog",
      onclick: () => this.open(),
    });
    this.body = region("reader-body", "Tables");
    const close = button({ text: "×", "aria-label": t("Close"), onclick: () => this.root.close() });
    this.root = el("dialog", { class: "reader", "aria-label": "What is shown, as a table" }, [
      close,
      this.body,
    ]);
    this.root.addEventListener("close", hush);
  }

  open() {
    const readings = this.read().filter(({ rows }) => rows.length);
    const none = { title: "", form: /** @type {"rows"} */ ("rows"), rows: [], columns: [], at: () => "" };
    const sections = (readings.length ? readings : [none]).map((reading) => new Section(reading));
    this.body.replaceChildren(...sections.map(({ root }) => root), switchOfLetters());
    this.root.showModal();
    sections[0].sentence.focus(); // it is what is read first
  }

  /** @param {EventTarget} keys where they are heard @param {AbortSignal} [signal] */
  listen(keys, signal) {
    const hear = (/** @type {KeyboardEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.key !== "v" || !isForView(event)) return;
      event.preventDefault();
      this.open();
    };
    keys.addEventListener("keydown", /** @type {any} */ (hear), { signal });
  }
}
