import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { packMessage } from "../../../viz_core/viewer/browser/message.js";

const nothing = () => {};
Object.assign(globalThis, {
  ...{ window: globalThis, parent: globalThis, name: "", addEventListener: nothing },
  location: new URL("http://localhost/"),
  document: { body: { addEventListener: nothing }, documentElement: { dataset: {} }, baseURI: "" },
  history: { pushState: nothing, replaceState: nothing },
});
const { Asking } = await import("../../../pages/explore/asking.js");

const shown = { model: "untrained", text: "a b", settings: { seed: 0 }, edits: "" };
/** @type {{question: any, answer: (header?: object) => void, refuse: (problem: string) => void}[]} */
let asked;
/** @type {InstanceType<typeof Asking>} */
let model;

const come = () => new Promise((done) => setTimeout(done));
const messageOf = (/** @type {object} */ header) =>
  packMessage({ asked: shown, viewToken: "untrained.0", ...header });

beforeEach(() => {
  asked = [];
  globalThis.fetch = (_address, { body, signal } = /** @type {any} */ ({})) =>
    new Promise((resolve, reject) => {
      const question = JSON.parse(body);
      const { model, text, settings, edits, turned } = question;
      const now = { model, text, settings: { ...settings, ...turned }, edits };
      asked.push({
        question,
        answer: (header = {}) => resolve(new Response(messageOf({ asked: now, ...header }))),
        refuse: (problem) => resolve(Response.json({ problem }, { status: 422 })),
      });
      signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    });
  model = new Asking();
  model.receive(messageOf({ has: "untrained", controls: { models: [] } }));
});
afterEach(() => model.send({ type: "stop" }));

test("what the stage asks for as it gets a message of the page is asked of that message", async () => {
  model.on("change:message", () => model.send({ type: "open", stack: "encoder.self", layer: 1, head: 0 }));
  model.receive(messageOf({ viewToken: "untrained.5" }));
  assert.equal(asked[0].question.anew, 5); // else the answer would be of a view before this one
});

test("of what was turned while an answer is awaited, the newest alone is asked", async () => {
  for (const seed of [1, 2, 3]) model.send({ type: "ask", turned: { seed } });
  assert.deepEqual(
    asked.map(({ question }) => question.turned),
    [{ seed: 1 }],
  );
  asked[0].answer();
  await come();
  assert.deepEqual(
    asked.map(({ question }) => question.turned),
    [{ seed: 1 }, { seed: 3 }],
  );
  asked[1].answer();
  await come();
  assert.equal(model.asked.settings.seed, 3);
  assert.equal(asked.length, 2);
});

test("presses of heads all count, each on the answer to the one before", async () => {
  for (const head of [0, 1, 2]) model.send({ type: "edit", line: `encoder.0.self heads ${head}: off` });
  asked[0].answer({ asked: { ...shown, edits: "encoder.0.self heads 0: off" } });
  await come();
  assert.equal(asked[1].question.edits, "encoder.0.self heads 0: off");
  assert.equal(asked[1].question.press.line, "encoder.0.self heads 1: off");
  asked[1].answer();
  await come();
  assert.equal(asked[2].question.press.line, "encoder.0.self heads 2: off");
});

test("what is stopped says so, changes nothing and is computed after all", async () => {
  model.send({ type: "ask", text: "a much longer text" });
  model.send({ type: "stop" });
  await come();
  assert.match(model.get("problem"), /^The figure was stopped/);
  assert.equal(model.get("isStopped"), true);
  assert.deepEqual(model.asked, shown);
  model.send({ type: "again" });
  assert.equal(asked[1].question.text, "a much longer text");
  asked[1].answer();
  await come();
  assert.equal(model.get("problem"), "");
  assert.equal(model.get("isStopped"), false);
  assert.equal(model.asked.text, "a much longer text");
  model.send({ type: "again" }); // nothing is left to compute
  assert.equal(asked.length, 2);
});

test("a refusal stays as it is said until another answer comes, and what is shown stays", async () => {
  model.send({ type: "ask", turned: { seed: -1 } });
  asked[0].refuse("seed=-1 is below 0");
  await come();
  assert.equal(model.get("problem"), "seed=-1 is below 0");
  assert.deepEqual(model.asked, shown);
  model.send({ type: "ask", turned: { seed: 1 } });
  asked[1].answer();
  await come();
  assert.equal(model.get("problem"), "");
});

test("a server that went away is asked again, with the newest", async () => {
  const { fetch } = globalThis;
  globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
  model.send({ type: "ask", turned: { seed: 1 } });
  await come();
  assert.match(model.get("problem"), /^The server does not answer/);
  globalThis.fetch = fetch;
  model.send({ type: "ask", turned: { seed: 2 } });
  await new Promise((done) => setTimeout(done, 1_100));
  assert.deepEqual(
    asked.map(({ question }) => question.turned),
    [{ seed: 2 }],
  );
  asked[0].answer();
  await come();
  assert.equal(model.get("problem"), "");
  assert.equal(model.asked.settings.seed, 2);
});

test("a server that went away is asked again for what it did not hear", async () => {
  const { fetch } = globalThis;
  globalThis.fetch = () => Promise.reject(new TypeError("Failed to fetch"));
  model.send({ type: "ask", turned: { seed: 1 } });
  await come();
  globalThis.fetch = fetch;
  await new Promise((done) => setTimeout(done, 1_100));
  assert.deepEqual(
    asked.map(({ question }) => question.turned),
    [{ seed: 1 }],
  );
});

test("a run of the page that hands over what it began with changes nothing", async () => {
  const first = /** @type {Uint8Array} */ (model.get("message"));
  model.send({ type: "ask", turned: { seed: 1 } });
  asked[0].answer();
  await come();
  model.receive(first.slice());
  assert.equal(model.asked.settings.seed, 1);
});

test("a model that a text was passed on to is not taken for the first one by other answers", async () => {
  const wide = { ...shown, model: "everyday", text: "my name" };
  model.send({ type: "ask", text: "my name" });
  assert.equal(asked[0].question.widens, "untrained");
  asked[0].answer({ asked: wide, notes: { widened: { model: "untrained" } } });
  await come();
  model.send({ type: "open", stack: "encoder.self", layer: 1, head: 0 });
  asked[1].answer({ asked: wide }); // says nothing of the text
  await come();
  model.send({ type: "text", text: "a b" });
  assert.equal(asked[2].question.widens, "untrained");
});

test("what is asked after a later arrival belongs to it, so that the view of its link stays", () => {
  model.receive(messageOf({ viewToken: "untrained.3" }));
  model.send({ type: "open", head: 1 });
  assert.equal(asked.at(-1)?.question.anew, 3);
});
