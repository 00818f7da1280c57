import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { Fitting } from "../../../../viz_core/viewer/board/fitting.js";
import { hostedBy } from "../../../../viz_core/viewer/browser/page.js";

/* An element as far as a board's layout asks: its children, classes and style. */
class Element {
  children = [];
  parentElement = null;
  style = { setProperty: (name, value) => (this.style[name] = value) };
  classes = new Set();
  classList = { toggle: (name, on) => (on ? this.classes.add(name) : this.classes.delete(name)) };
  clientWidth = 1000;
  scrollWidth = 1000;

  constructor(...children) {
    this.append(...children);
  }

  append(...children) {
    for (const child of children) {
      const from = child.parentElement?.children;
      from?.splice(from.indexOf(child), 1);
      child.parentElement = this;
      this.children.push(child);
    }
  }

  contains() {
    return false;
  }

  getRootNode() {
    return { activeElement: null };
  }
}

/* A board of rows that are as high as they are told, up to their own most. */
function board(rows, height) {
  const heights = new Map();
  const panels = rows.map((most) => {
    const root = new Element();
    root.querySelector = () => ({
      getBoundingClientRect: () => ({ width: 500, height: heights.get(root) }),
    });
    new Element(root);
    return [{ root, most }];
  });
  const stacks = [new Element(...panels.map(([{ root }]) => root.parentElement)), new Element()];
  const place = new Element(new Element(), ...stacks);
  place.clientHeight = height;
  const over = (stack) => stack.children.reduce((sum, line) => sum + heights.get(line.children[0]), 0);
  Object.defineProperty(place, "scrollHeight", { get: () => Math.max(...stacks.map(over)) });
  const tried = [];
  const sizeAll = (most) => {
    tried.push(most);
    for (const [panel] of panels) heights.set(panel.root, Math.min(panel.most ?? most, most));
  };
  const fitting = new Fitting(new Element(), new Element(), place);
  const choose = (key) => fitting.choose(key, panels, sizeAll, 0);
  return { fitting, place, panels, stacks, choose, tried };
}

const lines = ({ stacks }) => stacks.map(({ children }) => children.length);

test("what fits in one stack, large enough to be comfortable, stands there", () => {
  const shown = board([null, 40], 600);
  assert.equal(shown.choose("a"), 510); // the largest of the heights that leaves room for the 40
  assert.deepEqual(lines(shown), [2, 0]);
  assert.ok(shown.stacks[1].classes.has("absent"));
});

test("rows that would be low below each other stand beside each other", () => {
  const shown = board([null, null, null, null], 400);
  const most = shown.choose("a");
  assert.deepEqual(lines(shown), [2, 2]);
  assert.ok(most <= 200 && most > 150);
  assert.equal(shown.place.style.gridTemplateColumns, "minmax(0, 0.5fr) minmax(0, 0.5fr)");
  assert.ok(!shown.stacks[1].classes.has("absent"));
});

test("a row may keep the whole width above those that stand beside each other", () => {
  const { fitting, panels, place, stacks } = board([null, null, null], 400);
  fitting.across = 1;
  fitting.arrange(panels, { first: 2, share: 0.3 });
  assert.deepEqual(
    [place.children[0], ...stacks].map(({ children }) => children.length),
    [1, 1, 1],
  );
});

test("the same content keeps its arrangement while that fits; other content gets its own", () => {
  const shown = board([null, null, null, null], 400);
  shown.choose("a");
  shown.place.clientHeight = 480; // one stack would still be low, but the half must not be looked for again
  shown.tried.length = 0;
  shown.choose("a");
  assert.ok(shown.tried.length < 10, "nothing is arranged anew");
  assert.deepEqual(lines(shown), [2, 2]);
  shown.place.clientHeight = 3000;
  shown.choose("a");
  assert.deepEqual(lines(shown), [4, 0]);
  shown.place.clientHeight = 400;
  shown.choose("b");
  assert.deepEqual(lines(shown), [2, 2]);
});

test("where nothing fits, the lowest heights are taken, and the least is scrolled", () => {
  assert.ok(board([null, null], 20).choose("a") < 50);
  const shown = board([30, 30, 30, 30, 30, 30], 10);
  shown.choose("a");
  assert.deepEqual(lines(shown), [3, 3]);
});

test("matrices without signs between them may stand in two lines, where a board has a height", () => {
  const { fitting, panels } = board([null], 600);
  const line = new Element();
  const four = Array.from({ length: 4 }, () => ({ needs: { fixed: 0, columns: 4 } }));
  fitting.arrange(panels, { first: 1, share: 1, lines: 2 });
  assert.equal(fitting.breakIn(four, line, true), 2);
  assert.deepEqual([line.classes.has("broken"), line.style["--across"]], [true, "2"]);
  assert.equal(fitting.breakIn(four, line, false), 1);
  assert.ok(!line.classes.has("broken"));
  assert.equal(fitting.breakIn([...four, { needs: { fixed: 20, columns: 0 } }], line, true), 1);
  assert.equal(fitting.breakIn(four.slice(0, 2), line, true), 1);
  fitting.arrange(panels, { first: 1, share: 1 });
  assert.equal(fitting.breakIn(four, line, true), 1);
});

let observed = null;

beforeEach(() => {
  observed = null;
  globalThis.document = { documentElement: { scrollTop: 0 }, querySelector: () => "page" };
  globalThis.ResizeObserver = class {
    constructor(callback) {
      observed = { callback, of: null };
    }

    observe(element) {
      observed.of = element;
    }

    disconnect() {
      observed = null;
    }
  };
});

function inWindow(innerWidth, innerHeight, top) {
  globalThis.window = { innerWidth, innerHeight };
  const outer = new Element();
  const root = new Element();
  Object.assign(outer, {
    top,
    closest: () => null,
    getBoundingClientRect: () => ({ top: outer.top }),
    clientWidth: 960,
  });
  return { outer, root, fitting: new Fitting(outer, root, new Element()) };
}

test("a board takes what its window leaves below it, and is drawn larger on a large one", () => {
  const { outer, root, fitting } = inWindow(1366, 768, 130);
  assert.equal(fitting.takeRoom(), true);
  assert.deepEqual([outer.style.height, root.style.height, root.style.transform], ["630px", "630px", ""]);
  const large = inWindow(1920, 1080, 130);
  assert.equal(large.fitting.takeRoom(), true);
  assert.equal(large.outer.style.height, "942px");
  assert.deepEqual([large.root.style.transform, large.root.style.width], ["scale(1.2)", "800px"]);
  assert.equal(large.root.style.height, "785px");
});

test("in a small window a board is as high as it is", () => {
  for (const size of [
    [1000, 768],
    [1366, 500],
  ]) {
    const { outer, root, fitting } = inWindow(...size, 130);
    assert.equal(fitting.takeRoom(), false);
    assert.deepEqual([outer.style.height, root.style.height, root.style.transform], ["", "", ""]);
  }
});

test("what stands above a board and becomes lower leaves it more room, which it is told", () => {
  hostedBy({ above: "main" });
  const { outer, fitting } = inWindow(1366, 768, 150);
  const stop = new AbortController();
  let told = 0;
  fitting.watch(() => told++, stop.signal);
  assert.equal(observed.of, "page");
  observed.callback(); // before it has taken any room
  fitting.takeRoom();
  observed.callback();
  assert.equal(told, 0);
  outer.top = 130;
  observed.callback();
  assert.equal(told, 1);
  stop.abort();
  assert.equal(observed, null);
});

test("matrices that share the names at their left count a quarter where their row wraps", () => {
  const { fitting } = board([null], 600);
  const at = (offsetTop) => {
    const root = { offsetTop, offsetHeight: 80 };
    return {
      needs: { columns: 4 },
      root: { ...root, querySelector: () => ({ getBoundingClientRect: () => BOX }) },
    };
  };
  const BOX = { width: 10, height: 10 };
  assert.equal(fitting.drawnArea([[at(0), at(20)]]), 200);
  assert.equal(fitting.drawnArea([[at(0), at(86)]]), 50);
  fitting.lines = 2;
  assert.equal(fitting.drawnArea([[at(0), at(86)]]), 200);
});
