import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering } from "../../../../viz_core/viewer/browser/rendering.js";

const place = {}; // an element

/* A model as a notebook has it, and a view that notes what it is given. */
const shown = () => {
  const [values, heard, acts, calls] = [{}, new Map(), [], []];
  const model = {
    get: (name) => values[name],
    set: (name, value) => Object.assign(values, { [name]: value }),
    save_changes: () => calls.push("saved"),
    on: (event, hear) => heard.set(event, hear),
    off: (event, hear) => heard.get(event) === hear && heard.delete(event),
    send: (act) => acts.push(act),
  };
  class Kind {
    constructor(el) {
      calls.push(el);
    }
    receive(bytes, send, tell) {
      calls.push([...bytes]);
      Object.assign(this, { send, tell });
      views.push(this);
    }
    select(state) {
      calls.push(state);
    }
    leave() {
      calls.push("left");
    }
  }
  const views = [];
  return { values, heard, acts, calls, views, model, Kind };
};

test("a view is made once, gets each message, and leaves nothing behind", () => {
  const { values, heard, acts, calls, views, model, Kind } = shown();
  values.message = new DataView(Uint8Array.of(0, 7, 8).buffer, 1); // as a notebook's kernel sends bytes
  const leave = rendering(Kind)({ model, el: place });
  values.message = Uint8Array.of(9).buffer;
  heard.get("change:message")();
  views[0].send({ type: "go", by: 1 });
  leave();
  assert.deepEqual(calls, [place, [7, 8], [9], "left"]);
  assert.deepEqual(acts, [{ type: "go", by: 1 }]);
  assert.equal(heard.size, 0);
});

test("what is selected is told once, and what the host selects is heard once", () => {
  const { values, heard, calls, views, model, Kind } = shown();
  Object.assign(values, { message: new Uint8Array(), state: { head: 3 } });
  rendering(Kind)({ model, el: place });
  assert.deepEqual(calls.slice(2), [{ head: 3 }]); // a saved notebook opens where it was left
  views[0].tell({ head: 3 });
  views[0].tell({ head: 4 });
  heard.get("change:state")(); // its own words come back
  values.state = { head: 5 };
  heard.get("change:state")();
  assert.deepEqual(calls.slice(3), ["saved", { head: 5 }]);
});
