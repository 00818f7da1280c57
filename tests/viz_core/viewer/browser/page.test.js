import assert from "node:assert/strict";
import { test } from "node:test";
import { inLanguage } from "../../../../viz_core/viewer/browser/page.js";

test("an address of ours keeps the language that this page's link names, and no other", () => {
  const documentElement = { lang: "fr", dataset: {} };
  globalThis.document = { documentElement, baseURI: "http://lab.example/app/talk/?lang=fr#own" };
  assert.equal(inLanguage("../masks?part=late"), "../masks?part=late");
  documentElement.dataset.chosen = "";
  assert.equal(inLanguage("../masks?part=late"), "http://lab.example/app/masks?part=late&lang=fr");
  assert.equal(inLanguage("?speaker=1"), "http://lab.example/app/talk/?speaker=1&lang=fr");
  assert.equal(inLanguage("../class/?lang=de#s"), "http://lab.example/app/class/?lang=fr#s");
});
