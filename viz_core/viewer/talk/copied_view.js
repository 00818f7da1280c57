/* A view that another window controls: one kind of it, as a module that copies.js fetches. */

import { el } from "../browser/dom.js";
import { Held } from "../browser/model.js";
import { hostedBy } from "../browser/page.js";
import { Ink } from "./ink.js";

/** @import { Model, Render } from "../contract" */
/** @import { Extras } from "./copies.js" */

/** Shows a message and all that follows; what it returns takes them, and takes everything away.
   @param {Render} render @param {HTMLElement} place @param {boolean} fills the window, as on a projector
   @param {Uint8Array} message @param {Record<string, unknown> | null} state */
export function mirrored(render, place, fills, message, state) {
  const params = () => new URLSearchParams(fills ? { present: "1" } : {});
  hostedBy({ params, fillsScreen: false, presents: fills, hides: [], keys: (root) => root });
  const model = new Held();
  const view = () => /** @type {any} */ (place).attentionLab;
  model.set("message", message);
  model.set("state", state);
  const leave = render({ model: /** @type {Model} */ (/** @type {any} */ (model)), el: place });
  // Who follows sees what the lecturer does, and tries in the app itself.
  const still = "a, input, select, button:not([aria-haspopup]) { pointer-events: none; }";
  const small = ".foot > .actions:first-child, [data-drawer] { display: none !important; }";
  place.append(el("style", {}, [fills ? still : still + small]));
  const ink = new Ink(place);
  let hidden = "";
  return {
    ink,
    /** @param {Uint8Array | null} bytes @param {Record<string, unknown> | null} state
       @param {Extras} extras */
    follow(bytes, state, { pointer = null, lines = [], hides = [] }) {
      if (bytes) model.set("message", bytes);
      model.set("state", state);
      if (hidden !== JSON.stringify(hides)) {
        hidden = JSON.stringify(hides);
        hostedBy({ hides });
        view().present?.coverHeadline();
        view().redraw?.();
      }
      ink.show(pointer, lines);
    },
    leave() {
      ink.leave();
      leave();
    },
  };
}
