/* A talk as a Markdown file: read with what is wrong in it, and written. markdown-it has to be loaded. */

import { cut, headOf, linkOf, MOST_STOPS, titled, tooLong, UNPRESENTED } from "./own_talks.js";

/** @import { Problem, Question, Stop, Talk } from "./types" */
/** One block of a file. map: where it begins and ends, in lines from 0. source: its lines.
   @typedef {{type: string, tag: string, markup: string, map: [number, number], source: string,
     inside: any[]}} Block */
/** @typedef {{key: string, value: string, line: number}} Entry of a list of settings */

/* Those of a work sheet (pages/sheets) too. */
const KNOWN = {
  talk: ["minutes", "language", "ends", "model", "pages"],
  stop: ["hide", "at", "rule", "hint", "write"],
};
const SETTING = /^([a-z][a-z-]*):(?:\s+(.*))?$/s;
const OPTION = /^\[([ xX])\](?:\s+(.*))?$/s;
const ALMOST_LINK = /^(?:\[[^\]]*\]\(<?(.*?)>?\)|([/?]\S+))$/s; // that Markdown takes for text

/** A talk, whatever the file holds. pages: the addresses of all pages, Explore's is ""; left out, no page is
   looked for.
   @param {string} text @param {readonly string[]} [pages]
   @returns {{talk: Talk, problems: Problem[]}} */
export function read(text, pages) {
  return new Reader(text, pages).read();
}

/** The file of a talk. Headings in its notes become small ones, so that they begin no stop.
   @param {Talk} talk */
export function write({ title, about, settings, stops }) {
  const blocks = [`# ${titled(title)}`, listed(settings), kept(about), ...stops.map(written)];
  return `${blocks.filter(Boolean).join("\n\n")}\n`;
}

/** A sheet is one by its tasks, or its last day. @param {Talk} talk */
export const isSheet = ({ settings, stops }) =>
  "ends" in settings || stops.some(({ settings: own }) => own.rule || own.write);

class Reader {
  /** @type {Problem[]} */ problems = [];
  /** @type {Talk} */ talk = { title: "", about: "", settings: {}, stops: [] };

  /** @param {string} text @param {readonly string[]} [pages] */
  constructor(text, pages) {
    this.pages = pages;
    this.blocks = blocksOf(cut(text));
    if (tooLong(text)) this.say(0, tooLong(text));
  }

  /** @param {number} line counted from 0 @param {string} text */
  say(line, text) {
    this.problems.push({ line: line + 1, text });
  }

  read() {
    const { blocks, talk } = this;
    if (blocks[0]?.tag === "h1") talk.title = contentOf(/** @type {Block} */ (blocks.shift()));
    else this.say(0, "The talk has no title: begin with a line such as # Ten minutes of attention.");
    const begins = blocks.flatMap(({ tag }, at) => (tag === "h1" || tag === "h2" ? [at] : []));
    const before = blocks.slice(0, begins[0] ?? blocks.length);
    for (const { key, value, line } of this.settings(before, "talk")) {
      if (key === "minutes" && !(Number(value) > 0))
        this.say(line, `minutes: ${value} is no number above 0; try 10.`);
      else talk.settings[key] = value;
    }
    talk.about = sourceOf(before);
    for (const [at, begin] of begins.slice(0, MOST_STOPS).entries())
      talk.stops.push(this.stop(blocks.slice(begin, begins[at + 1])));
    for (const stop of isSheet(talk) ? [] : talk.stops) this.refuse(stop);
    if (!talk.stops.length)
      this.say(0, "The talk has no stop: each begins with a line such as ## Where it looks.");
    return { talk, problems: this.problems.toSorted((one, other) => one.line - other.line) };
  }

  /** A page that cannot be presented is no stop: its address goes to the notes. @param {Stop} stop */
  refuse(stop) {
    const page = stop.link.split("?")[0];
    if (!UNPRESENTED.includes(page)) return;
    this.say(stop.line - 1, `/${page} cannot be presented: link a page whose picture fills the window.`);
    Object.assign(stop, { link: "", notes: `\`/${stop.link}\`\n\n${stop.notes}` });
  }

  /** @param {Block[]} blocks a heading and what follows it @returns {Stop} */
  stop([heading, ...blocks]) {
    if (heading.tag === "h1")
      this.say(heading.map[0], `A talk has one title; write ## ${contentOf(heading)} for a stop.`);
    /** @type {Stop} */
    const stop = {
      ...{ title: contentOf(heading), line: heading.map[0] + 1, link: "", notes: "", hide: [], at: [] },
      ...{ question: null, settings: {} },
    };
    const ofLink = this.ofLink(stop, blocks);
    for (const entry of this.settings(blocks, "stop")) this.set(stop, entry);
    blocks.unshift(...ofLink);
    const asked = blocks.findIndex(({ tag }, at) => tag === "h3" && optionsOf(blocks[at + 1]));
    if (asked >= 0) stop.question = this.question(blocks.splice(asked));
    stop.notes = sourceOf(blocks);
    return stop;
  }

  /** Takes the link of a stop away from its blocks: the first of ours. Returns what is to be kept, which is
     one that is not. @param {Stop} stop @param {Block[]} blocks */
  ofLink(stop, blocks) {
    const links = blocks.flatMap((block) => {
      const address = soleLink(block);
      return address === null ? [] : [{ block, address, link: linkOf(address, this.pages) }];
    });
    const shown = links.find(({ link }) => link !== null) ?? links[0];
    if (!shown) return [];
    const { block, address, link } = shown;
    blocks.splice(blocks.indexOf(block), 1);
    stop.link = link ?? "";
    if (link !== null) return [];
    const [rule, remedy] = ["such as /masks?part=reach", 'press "copy link" on the page'];
    this.say(block.map[0], `${address.slice(0, 80)} is no link to a page of this app, ${rule}; ${remedy}.`);
    return [block];
  }

  /** Takes the list of settings away from the blocks that it begins. @param {Block[]} blocks
     @param {"talk" | "stop"} of */
  settings(blocks, of) {
    const entries = blocks.length ? entriesOf(blocks[0], KNOWN[of]) : null;
    if (entries) blocks.shift();
    for (const { key, line } of entries ?? [])
      if (!KNOWN[of].includes(key))
        this.say(line, `${key} is no setting of a ${of}; known are ${KNOWN[of].join(", ")}.`);
    return entries ?? [];
  }

  /** @param {Stop} stop @param {Entry} entry */
  set(stop, { key, value, line }) {
    if (key === "hide") stop.hide.push(...namesIn(value));
    else if (key === "at") {
      for (const each of value.split(",").filter((part) => part.trim())) {
        const [place, last = -Infinity] = [Number(each), stop.at.at(-1)];
        if (!Number.isFinite(place))
          this.say(line, `at: ${each.trim()} is no number; write such as 0, 4, 8.`);
        else if (place > last) stop.at.push(place);
        else this.say(line, `at: ${place} after ${last} is never reached; write the lower place first.`);
      }
    } else stop.settings[key] = stop.settings[key] ? `${stop.settings[key]}\n${value}` : value;
  }

  /** @param {Block[]} blocks what is asked, the options, and why one is right @returns {Question} */
  question([heading, list, ...because]) {
    const entries = (optionsOf(list) ?? []).filter(({ text }) => text);
    for (const { mark, text, line } of entries)
      if (mark === undefined)
        this.say(line, `"${text}" has no box; write - [ ] ${text}, or [x] where it is right.`);
    const right = entries.findIndex(({ mark }) => mark === "x");
    const more = entries.find(({ mark }, at) => mark === "x" && at > right);
    if (more) this.say(more.line, `"${more.text}" is a second right option; the first one counts.`);
    if (entries.length < 2) this.say(list.map[0], "One option leaves nothing to choose; write two or more.");
    return {
      ask: contentOf(heading),
      options: entries.map(({ text }) => text),
      right: right < 0 ? null : right,
      because: sourceOf(because),
    };
  }
}

/** The blocks of a text, which stand below each other. @param {string} text @returns {Block[]} */
function blocksOf(text) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  const tokens = globalThis.markdownit({ linkify: true }).parse(lines.join("\n"), {});
  /** @type {Block[]} */ const blocks = [];
  const add = (/** @type {Pick<Block, "type" | "tag" | "markup" | "map">} */ block) => {
    const source = lines
      .slice(...block.map)
      .join("\n")
      .replace(/^\s*\n/, "");
    blocks.push({ ...block, source: source.trimEnd(), inside: [] });
  };
  const end = [lines.length, lines.length];
  for (const token of [...tokens, { type: "end", level: 0, nesting: 0, map: end }]) {
    const { type, tag, markup, map, level, nesting } = token;
    if (level === 0 && nesting >= 0) {
      // What Markdown passes over, such as definitions of links, is a block too.
      const from = blocks.at(-1)?.map[1] ?? 0;
      const between = lines.slice(from, map[0]).join("\n").trim();
      if (between) add({ type: "between", tag: "", markup: "", map: [from, map[0]] });
      if (type !== "end") add({ type, tag, markup, map });
    }
    blocks.at(-1)?.inside.push(token);
  }
  return blocks;
}

/** The lines of blocks. @param {Block[]} blocks */
const sourceOf = (blocks) => blocks.map(({ source }) => source).join("\n\n");

/** What stands in a heading. @param {Block} block */
const contentOf = ({ inside }) => inside[1].content.replaceAll("\n", " ");

/** Where a paragraph leads that is one link alone; else null.
   @param {Block} block @returns {string | null} */
function soleLink({ type, inside }) {
  if (type !== "paragraph_open") return null;
  const [, almost, bare] = ALMOST_LINK.exec(inside[1].content) ?? [];
  const children = inside[1].children.filter(
    (/** @type {any} */ each) => each.type !== "text" || each.content,
  );
  const end = children.findIndex((/** @type {any} */ each) => each.type === "link_close");
  if (children[0]?.type !== "link_open") return (almost ?? bare)?.replace(/\s/g, "+") ?? null;
  return end === children.length - 1 ? children[0].attrGet("href") : null;
}

/** The items of a plain list, each of one paragraph; null for anything else.
   @param {Block | undefined} block @returns {{text: string, line: number}[] | null} */
function itemsOf(block) {
  if (block?.type !== "bullet_list_open") return null;
  const of = (/** @type {string} */ kind) => block.inside.filter(({ type }) => type === kind);
  const texts = of("inline").map(({ content, map }) => ({
    text: content.replaceAll("\n", " "),
    line: map[0],
  }));
  return texts.length === of("list_item_open").length ? texts : null;
}

/** The entries of a list in which each item is `key: value`. (Notes of ours never begin with such a list: see
   `kept`.) @param {Block} block @param {string[]} known @returns {Entry[] | null} */
function entriesOf(block, known) {
  const entries = itemsOf(block)?.map(({ text, line }) => {
    const match = SETTING.exec(text);
    return match && { key: match[1], value: match[2] ?? "", line };
  });
  const isMeant = block.markup === "-" || entries?.some((entry) => known.includes(String(entry?.key)));
  return isMeant && entries?.every(Boolean) ? /** @type {Entry[]} */ (entries) : null;
}

/** The options of a list of tasks: "x" marks the right one, " " the others, nothing what has no box.
   @param {Block | undefined} block */
function optionsOf(block) {
  const options = itemsOf(block)?.map(({ text, line }) => {
    const [, mark, option = ""] = OPTION.exec(text) ?? [];
    return { mark: mark?.toLowerCase(), text: mark ? option : text, line };
  });
  return options?.some(({ mark }) => mark) ? options : null;
}

/** Names with commas between, in quotation marks where a comma is in one. @param {string} value */
export const namesIn = (value) =>
  [...value.matchAll(/\s*"([^"]*)"\s*(?=,|$)|[^,]+/g)]
    .map(([all, quoted]) => (quoted ?? all).trim())
    .filter(Boolean);

/** The same as they are written. @param {string[]} names */
export const namesOf = (names) => names.map((name) => (name.includes(",") ? `"${name}"` : name)).join(", ");

/** A line for each value of a setting. @param {Record<string, string>} settings */
export function listed(settings) {
  const lines = Object.entries(settings).flatMap(([key, values]) =>
    values.split("\n").map((value) => `- ${key}: ${value.replace(/\s+/g, " ")}`),
  );
  return lines.join("\n");
}

/** @param {Stop} stop */
function written({ title, link, notes, hide, at, question, settings }) {
  /** @type {Record<string, string>} */ const own = {};
  if (hide.length) own.hide = namesOf(hide);
  if (at.length) own.at = at.join(", ");
  const blocks = [headOf(title, link), listed({ ...own, ...settings }), kept(notes)];
  if (question) {
    const { ask, options, right, because } = question;
    const boxes = (options.length ? options : [""]).map(
      (text, place) => `- [${place === right ? "x" : " "}] ${text.replace(/\s+/g, " ")}`,
    );
    blocks.push(`### ${titled(ask)}\n${boxes.join("\n")}`, kept(because));
  }
  return blocks.filter(Boolean).join("\n\n");
}

/** Text between parts of a file, so that it stays text: no heading of a part, no list that goes on from the
   one before, no block of code that never ends. @param {string} text */
function kept(text) {
  const lines = text.trim().split(/\r\n|\r|\n/);
  const blocks = blocksOf(text.trim());
  const list = blocks[0]?.type === "bullet_list_open" && blocks[0].markup === "-" ? blocks[0] : null;
  for (const { type, level, map } of list?.inside ?? [])
    if (type === "list_item_open" && level === 1) lines[map[0]] = lines[map[0]].replace("-", "*");
  for (const block of blocks.filter(({ tag }) => ["h1", "h2", "h3"].includes(tag))) {
    const [from, to] = block.map;
    lines.fill("", from, to);
    lines[from] = `#### ${contentOf(block)}`;
  }
  const last = blocks.at(-1);
  const isOpen = last?.type === "fence" && blocksOf(`${text.trim()}\n\n# end`).length === blocks.length;
  return lines.join("\n").trim() + (isOpen ? `\n${last.markup}` : "");
}
