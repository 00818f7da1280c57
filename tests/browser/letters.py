"""How large the letters are that are seen on a stop of a talk."""

import time

from playwright.sync_api import Page

HEAR_CANVASES = """
for (const name of ["fillText", "clearRect"]) {
  const own = CanvasRenderingContext2D.prototype[name];
  CanvasRenderingContext2D.prototype[name] = function (...given) {
    if (name === "clearRect") this.canvas.written = [];
    else {
      const { b, d } = this.getTransform();
      const [, size] = this.font.match(/([0-9.]+)px/);
      (this.canvas.written ??= []).push([size * Math.hypot(b, d), given[0]]);
    }
    return own.apply(this, given);
  };
}
"""
"""An init script: a canvas remembers what is written into it, in its own pixels."""
_SMALLEST = """
() => {
  const seen = [];
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const above = (element) => element.parentElement ?? element.getRootNode().host;
  const presented = (root) => {
    for (const each of root.querySelectorAll("*")) {
      const inside = each.matches(".presented") ? each : each.shadowRoot && presented(each.shadowRoot);
      if (inside) return inside;
    }
  };
  const scaleOf = (element) => {
    if (element.ownerSVGElement) {
      const { b, d } = element.getScreenCTM();
      return Math.hypot(b, d);
    }
    let scale = 1;
    for (let each = element; each; each = above(each)) {
      const { c, d } = new DOMMatrix(getComputedStyle(each).transform);
      scale *= Math.hypot(c, d);
    }
    return scale;
  };
  const root = presented(document) ?? document.body;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (node.written && isSeen(node))
      for (const [size, text] of node.written)
        seen.push([(size * node.getBoundingClientRect().height) / node.height, text]);
    if (node.nodeType !== Node.TEXT_NODE || !node.data.trim() || !isSeen(element)) continue;
    if (element.closest("style, script, title, option, .heard, .asleep .actions")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { width, height } = range.getBoundingClientRect();
    if (width < 1 || height < 1) continue;
    seen.push([parseFloat(getComputedStyle(element).fontSize) * scaleOf(element), node.data.trim()]);
  }
  return seen.sort(([one], [other]) => one - other).slice(0, 5);
}
"""
SETTLED_SECONDS = 10.0


def check_letters(page: Page, width: int) -> None:
    """That a window so wide, of 16 to 9, shows no letter below 20 pixels of 768, once it is laid out."""
    page.set_viewport_size({"width": width, "height": round(width * 768 / 1366)})
    end = time.monotonic() + SETTLED_SECONDS
    while True:
        frame = page.locator(".frames iframe:not(.behind)")
        inside = frame.element_handle().content_frame() if frame.count() else None
        seen = [each for of in (page, inside) if of for each in of.evaluate(_SMALLEST)]
        small = [(round(size, 1), text) for size, text in seen if size < 20 / 1366 * width - 0.1]
        if not small:
            return
        assert time.monotonic() < end, small
        page.wait_for_timeout(100)
