import assert from "node:assert/strict";
import { test } from "node:test";
import { linkOf } from "../../../../pages/explore/stage/view.js";

const USUAL = {
  ...{ view: "grid", stack: "encoder.self", layer: 0, head: 0, heads: [0], show: "pattern", range: "full" },
  ...{ sort: "layer", step: 3, query: 2, key: 1, pinned: "none", q0: 0, k0: 0 },
};

test("a link holds the server's part alone where the view is as usual", () => {
  assert.equal(linkOf({}, USUAL, { ...USUAL }).toString(), "");
  assert.equal(
    linkOf({ text: "a b&c", model: "tiny" }, USUAL, { ...USUAL }).toString(),
    "text=a+b%26c&model=tiny",
  );
});

test("what differs from the usual view is added in one order, heads with dots between", () => {
  const view = { ...USUAL, key: 0, view: "lines", layer: 2, head: 1, heads: [1, 3] };
  assert.equal(
    linkOf({ text: "x" }, USUAL, view).toString(),
    "text=x&view=lines&layer=2&head=1&heads=1.3&key=0",
  );
});

test("the open head alone needs no list of heads; a query left open is always named", () => {
  const view = { ...USUAL, head: 2, heads: [2] };
  assert.equal(linkOf({}, { ...USUAL, query: null }, view).toString(), "head=2&query=2");
});
