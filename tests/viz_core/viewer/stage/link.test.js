import assert from "node:assert/strict";
import { test } from "node:test";
import { hostedBy } from "../../../../viz_core/viewer/browser/page.js";
import { levelOf, linkOf, usualView } from "../../../../viz_core/viewer/stage/view.js";

const USUAL = {
  ...{ view: "grid", stack: "encoder.self", layer: 0, head: 0, heads: [0], show: "pattern", range: "full" },
  ...{ level: "read", sort: "layer", step: 3, query: 2, key: 1, pinned: "none", q0: 0, k0: 0 },
};

test("a link holds the server's part alone where the view is as usual", () => {
  assert.equal(linkOf({}, USUAL, { ...USUAL }).toString(), "");
  assert.equal(
    linkOf({ text: "a b&c", model: "tiny" }, USUAL, { ...USUAL }).toString(),
    "text=a+b%26c&model=tiny",
  );
});

test("what differs from the usual view is added in one order, heads with dots between", () => {
  const view = { ...USUAL, level: "lab", key: 0, view: "lines", layer: 2, head: 1, heads: [1, 3] };
  assert.equal(
    linkOf({ text: "x" }, USUAL, view).toString(),
    "text=x&view=lines&layer=2&head=1&heads=1.3&key=0",
  );
});

test("the open head alone needs no list of heads; a query left open is always named", () => {
  const view = { ...USUAL, level: "lab", head: 2, heads: [2] };
  assert.equal(linkOf({}, { ...USUAL, query: null }, view).toString(), "head=2&query=2");
});

test("a link names its level where it would open on the other one", () => {
  const link = (/** @type {object} */ change) =>
    linkOf({ text: "x" }, USUAL, { ...USUAL, ...change }).toString();
  assert.equal(link({}), "text=x");
  assert.equal(link({ level: "lab" }), "text=x&level=lab");
  assert.equal(link({ level: "lab", head: 2, heads: [2] }), "text=x&head=2");
  assert.equal(link({ query: 0 }), "text=x&query=0&level=read");
});

test("a link opens as it would be written; without a word on it, for reading", () => {
  assert.equal(levelOf({ linked: {}, edits: [] }), "read");
  assert.equal(levelOf({ linked: { head: 2 }, edits: [] }), "lab");
  assert.equal(levelOf({ linked: { head: 2, level: "read" }, edits: [] }), "read");
  assert.equal(levelOf({ linked: {}, edits: ["encoder.0.self heads 1: zero"] }), "lab");
});

test("a link that says nothing opens as the browser was left; not so a stop of a talk", () => {
  Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => "lab" }, configurable: true });
  const nothing = { linked: {}, edits: [] };
  assert.equal(levelOf(nothing), "lab");
  hostedBy({ hides: [] });
  assert.equal(levelOf(nothing), "read");
  hostedBy({ hides: null });
});

test("who reads sees the story, or a picture as one; the lab opens with the model's own view", () => {
  const header = { defaults: { view: "grid", stack: "encoder.self" }, focus: {} };
  assert.equal(usualView(header, undefined, "lab").view, "grid");
  assert.equal(usualView(header, undefined, "read").view, "story");
  assert.equal(usualView({ ...header, pictures: [] }, undefined, "read").view, "picture");
});
