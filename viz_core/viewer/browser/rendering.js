/* How every kind of view meets its host: contract.d.ts. */

/** @import { Act, Model, Render, State } from "../contract" */
/** @typedef {(act: Act) => void} Send asks the host for something */
/** @typedef {(state: State) => void} Tell says what is selected */
/** @typedef {{
     receive(bytes: Uint8Array, send: Send, tell: Tell): void, select?(state: State): void, leave(): void,
     inform?(words: {problem?: string, progress?: string, isStopped?: boolean}): void,
     wait?(awaits: boolean): void,
   }} View what it is told of the answer that is awaited is said beside what is shown */

/** The `render` of a kind of view: it makes one, hands it each message and each choice that the host makes,
   and lets it leave in the end.
   @param {new (host: HTMLElement) => View} Kind @returns {Render} */
export function rendering(Kind) {
  return ({ model, el }) => {
    const view = new Kind(el);
    Object.assign(el, { attentionLab: view }); // where tests and measurements look into it
    let known = ""; // what is selected, as it was told or heard last
    const tell = (/** @type {State} */ state) => {
      const now = JSON.stringify(state);
      if (now === known) return;
      known = now;
      model.set("state", state);
      model.save_changes();
    };
    const receive = () => view.receive(bytesOf(model.get("message")), (act) => model.send(act), tell);
    const select = () => {
      const state = model.get("state");
      if (!state || JSON.stringify(state) === known) return;
      known = JSON.stringify(state);
      view.select?.(state);
    };
    const inform = () =>
      view.inform?.({
        problem: model.get("problem"),
        progress: model.get("progress"),
        isStopped: model.get("isStopped"),
      });
    const wait = () => view.wait?.(model.get("awaits"));
    const heard = /** @type {const} */ ([
      ["change:awaits", wait],
      ["change:message", receive],
      ["change:state", select],
      ["change:problem", inform],
      ["change:progress", inform],
    ]);
    for (const [change, hear] of heard) model.on(change, hear);
    const chosen = model.get("state"); // by Python, or as the notebook was saved
    receive();
    inform();
    if (chosen && model.get("state") !== chosen) {
      model.set("state", chosen); // in the place of what the view begins with
      model.save_changes();
    }
    select();
    return () => {
      for (const [change, hear] of heard) model.off(change, hear);
      view.leave();
    };
  };
}

/** @param {Uint8Array | DataView | ArrayBuffer} data */
function bytesOf(data) {
  if (data instanceof Uint8Array) return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
