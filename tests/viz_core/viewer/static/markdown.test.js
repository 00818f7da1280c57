import assert from "node:assert/strict";
import { test } from "node:test";
import { html } from "../../../../viz_core/viewer/static/markdown.js";

test("sentences are HTML, with nothing of theirs taken for a tag", () => {
  const formula = "<span class=latex>x_1 &lt; y</span>";
  const said = `<strong>a</strong> <em>b</em> <code>c&lt;d</code> &amp; ${formula}, 2 * 3<br><br>4`;
  assert.equal(html("**a** *b* `c<d` & $x_1 < y$, 2 \\* 3\n\n4"), said);
});
