import assert from "node:assert/strict";
import { test } from "node:test";
import "../../../../viz_core/viewer/vendored/markdown-it.js";
import { read, write } from "../../../../viz_core/viewer/talk/format.js";
import {
  addStop,
  keepOwn,
  linkOf,
  MOST_CHARACTERS,
  MOST_STOPS,
  ownText,
} from "../../../../viz_core/viewer/talk/own_talks.js";
import { pack, talkOf, unpack } from "../../../../viz_core/viewer/talk/source.js";

const PAGES = ["", "start", "masks", "findings"];

const WHOLE = `# Ten minutes of attention

- minutes: 10
- language: en

What it is about.

## Where "it" looks

[Explore](/?model=reader&text=the+animal%2C+it)

- hide: headline, "Scores, before softmax"
- at: 0, 4, 8.5

Notes, *any* Markdown:

- a list: of two
- entries

### Which word does it look at?
- [ ] street
- [x] animal

Because the animal is tired.

## A stop without a picture
`;

const ODD = `Some words before.

## One

[Maskz](/maskz?part=causal)

- hde: headline
- at: 0, middle, 8

### Which?
- [x] this
- [x] that
- neither

# Two

[elsewhere](https://example.org/)

## Three

[bad](javascript:alert(1))

### An aside, no question

- without boxes

## Four

http://localhost:8501/masks?part=reach

### Only one?
- [ ] one
`;

test("a talk is read: settings, links, notes, what is hidden, questions", (context) => {
  context.assert.snapshot(read(WHOLE, PAGES));
});

test("what is wrong is told with its line, and the rest of the talk is there", (context) => {
  context.assert.snapshot(read(ODD, PAGES));
});

test("a file that was read is written as it was", () => {
  const again = WHOLE.replaceAll("\n- a list", "\n* a list").replace("\n- entries", "\n* entries");
  assert.equal(write(read(again, PAGES).talk), again);
});

test("whatever was read is written so that it reads alike", () => {
  const odd = [
    WHOLE,
    ODD,
    "",
    "\uFEFF# T\r\n## S\r\nn",
    "#\n##\n###\n- [ ]\n- [x]",
    "```\n# no end",
    "\0- [x] \\",
    "##",
  ];
  for (const text of odd) {
    const once = read(text).talk;
    const again = read(write(once));
    assert.equal(write(again.talk), write(once), text);
    assert.deepEqual(
      again.talk.stops.map(({ title, link }) => [title, link]),
      once.stops.map(({ title, link }) => [title, link]),
    );
  }
});

test("files of any pieces are read, and written so that they read alike", () => {
  const pieces = [
    ...["# T", "## S", "### Q", "- [ ] a", "- [x] b", "* [X] c", '- hide: a, "b, c"', "- at: 1, x", "1. one"],
    ...[
      "- key: v",
      "[p](/masks?a=1)",
      "/masks",
      "<b>&amp;",
      "```",
      "~~~~",
      "> q",
      "    code",
      "===",
      "---",
      "\t-",
    ],
    ...[
      "[a]: /b",
      "[a][a]",
      "|a|b|\n|-|-|",
      "\\",
      "\0",
      "\u2028",
      "🙂",
      "",
      "",
      "  - [ ] deep",
      "![i](/x)",
      "#",
      "##\t",
    ],
  ];
  let seed = 1;
  const draw = (count) => (seed = (seed * 48271) % 2147483647) % count;
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 1 + draw(12) }, () => pieces[draw(pieces.length)]).join("\n");
    const once = write(read(text, PAGES).talk);
    const twice = write(read(once, PAGES).talk);
    assert.equal(write(read(twice, PAGES).talk), twice, JSON.stringify(text));
    assert.equal(read(twice).talk.stops.length, read(text).talk.stops.length, JSON.stringify(text));
  }
});

test("words of a person stay words: no heading, list or fence of theirs changes the talk", () => {
  const words = [
    "- hide: headline",
    "# Title",
    "Under\n===\n\nline",
    "```\ncode",
    "- [x] no",
    "[a]: /masks",
    "> ## q",
  ];
  for (const notes of words) {
    const question = { ask: "Which? #", options: ["- a", "[x] b"], right: 1, because: notes };
    const stop = {
      title: "S #",
      link: "masks?a=(1)",
      notes,
      hide: ["a, b"],
      at: [1],
      question,
      settings: {},
    };
    const talk = { title: "T", about: notes, settings: {}, stops: [stop, { ...stop, question: null }] };
    const { talk: same, problems } = read(write(talk), PAGES);
    assert.deepEqual(problems, [], notes);
    assert.equal(same.stops.length, 2);
    const { title, link, hide, at } = same.stops[0];
    assert.deepEqual([title, link, hide, at], ["S #", "masks?a=(1)", ["a, b"], [1]]);
    assert.deepEqual({ ...same.stops[0].question, because: "" }, { ...question, because: "" });
    for (const kept of [same.about, same.stops[0].notes, same.stops[1].notes, same.stops[0].question.because])
      assert.match(kept, new RegExp(/\w+/.exec(notes)[0]), notes);
  }
});

test("a link is one of ours wherever it was copied", () => {
  const links = {
    "/masks?part=reach": "masks?part=reach",
    "./masks/?part=reach#there": "masks?part=reach",
    "?model=reader": "?model=reader",
    "/": "?",
    "/?lang=de": "?", // a talk is in the language of whoever shows it
    "masks?lang=de&part=reach": "masks?part=reach",
    "masks?part=reach&lang=de-AT": "masks?part=reach",
    "explore/?text=a:b": "?text=a:b",
    "http://localhost:8501/lab/masks": "masks",
    "https://lab.example.edu/?model=reader": "?model=reader",
    "https://example.org/": null,
    "/maskz": null,
    "a/masks": null,
    "//masks": null,
    "mailto:masks": null,
  };
  for (const [address, link] of Object.entries(links)) assert.equal(linkOf(address, PAGES), link, address);
});

test("a talk that is too long is read to its end, and says so", () => {
  const { talk, problems } = read(`# T\n\n## S\n\n${"word ".repeat(MOST_CHARACTERS / 4)}`);
  assert.equal(talk.stops.length, 1);
  assert.match(problems[0].text, /^A talk of 125011 characters: at most 100000 are read/);
});

test("a link holds a talk whole; a broken one, and one that grows without end, are refused", async () => {
  const packed = await pack(WHOLE);
  assert.match(packed, /^[\w-]+$/);
  assert.equal(await unpack(packed), WHOLE);
  assert.equal((await talkOf(`#talk=${packed}&at=2`)).talk.title, "Ten minutes of attention");
  const { problems } = await talkOf(`#talk=${packed.slice(0, 90)}`);
  assert.match(problems[0].text, /^The link is cut off/);
  const bomb = await unpack(await pack("a".repeat(20 * MOST_CHARACTERS)));
  assert.ok(bomb.length < 2 * MOST_CHARACTERS);
});

test("a talk that ships is fetched in the language of the page", async () => {
  globalThis.document = { documentElement: { lang: "de" } };
  globalThis.fetch = async (address) => ({ ok: true, text: async () => `# ${address}\n` });
  const { talk } = await talkOf("#shipped=paper", { root: "../" });
  assert.equal(talk.title, "../talk/de/paper.md");
});

test("an address that names no talk says what to do", async () => {
  globalThis.fetch = async () => ({ ok: false });
  for (const [hash, says] of [
    ["", /names no talk/],
    ["#own", /has no talk of yours/],
    ["#shipped=../secret", /ready-made talk \.\.\/secret: choose/],
    ["#shipped=other", /ready-made talk other: choose/],
  ])
    assert.match((await talkOf(hash)).problems[0].text, says);
});

test("a page adds itself to the own talk, which reads as it was meant", () => {
  const kept = new Map();
  globalThis.localStorage = {
    getItem: (key) => kept.get(key),
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  };
  assert.equal(addStop("Where it looks", "http://localhost:8501/?model=reader&text=a"), "stop 1 added");
  keepOwn(`${ownText()}\n\`\`\`\n## no stop\n\`\`\`\n`);
  const long = `It has *one* sentence. ${"And another. ".repeat(20)}`;
  assert.equal(addStop(long, "https://lab.example.edu/masks/?part=reach"), "stop 2 added");
  const { talk, problems } = read(ownText(), PAGES);
  assert.deepEqual(problems, []);
  assert.deepEqual(
    talk.stops.map(({ title, link }) => [title, link]),
    [
      ["Where it looks", "?model=reader&text=a"],
      ["It has *one* sentence.", "masks?part=reach"],
    ],
  );
  globalThis.localStorage = undefined; // a browser that keeps nothing
  assert.equal(addStop("x", "/masks"), "not kept here");
});

test("a work sheet's rules and hints are lines of their settings, and stay so", () => {
  const text = `# A sheet

- ends: 2026-12-24
- pages: explore, masks

## One

[masks](/masks)

- rule: part = reach, layers >= 3
- rule: open.pattern query="qu'" key=it > 0.9
- hint: look
- hint: look *again*

Do it.

## Two

- write: 200
`;
  const { talk, problems } = read(text, PAGES);
  assert.deepEqual(problems, []);
  assert.deepEqual(talk.settings, { ends: "2026-12-24", pages: "explore, masks" });
  const [{ settings }] = talk.stops;
  assert.equal(settings.rule.split("\n")[1], `open.pattern query="qu'" key=it > 0.9`);
  assert.equal(settings.hint, "look\nlook *again*");
  assert.equal(write(talk), text);
});

test("a place that a press never reaches is told with its line", () => {
  const { talk, problems } = read("# T\n\n## S\n\n[Masks](/masks)\n\n- at: 4, 8, 0, 9\n", PAGES);
  assert.deepEqual(talk.stops[0].at, [4, 8, 9]);
  const text = "at: 0 after 8 is never reached; write the lower place first.";
  assert.deepEqual(problems, [{ line: 7, text }]);
});

test("a page that cannot be presented is refused as a stop of a talk, and not as a task", () => {
  const file = "# T\n\n## S\n\n[Long texts](/documents?head=1)\n";
  const { talk, problems } = read(file, [...PAGES, "documents"]);
  assert.equal(talk.stops[0].link, "");
  assert.match(talk.stops[0].notes, /documents\?head=1/);
  const text = "/documents cannot be presented: link a page whose picture fills the window.";
  assert.deepEqual(problems, [{ line: 3, text }]);
  const task = read(`${file}\n- write: 100\n`, [...PAGES, "documents"]);
  assert.deepEqual([task.problems, task.talk.stops[0].link], [[], "documents?head=1"]);
});

test("of ten thousand stops the first hundred are read, at once, and the rest is told", () => {
  const text = `# T\n\n${"## S\n\n[Masks](/masks)\n\n".repeat(10_204)}`;
  const began = performance.now();
  const { talk, problems } = read(text, PAGES);
  assert.equal(talk.stops.length, MOST_STOPS);
  assert.match(problems[0].text, /^A talk of 10204 stops: at most 100 are read; make it two\.$/);
  assert.ok(performance.now() - began < 2000);
});
