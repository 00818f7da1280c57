/* What all components of ours do alike. */

import { el } from "./dom.js";

/** @typedef {(action: object) => void} Send asks the server for something */
/** @typedef {{receive(bytes: Uint8Array, send: Send): void, leave(): void}} View */
/** @typedef {HTMLElement & {attentionLab?: View | null}} Host */
/** @typedef {(name: string, value: object) => void} Trigger */

/**
 * The `mount` of a component: it makes a view once, hands it each message, and lets it leave in the end.
 * @param {new (host: HTMLElement) => View} Kind
 */
export function mounting(Kind) {
  /** @param {{parentElement: Host, data: Uint8Array, setTriggerValue: Trigger}} given */
  return ({ parentElement, data, setTriggerValue }) => {
    const view = (parentElement.attentionLab ||= new Kind(parentElement));
    view.receive(data, (action) => setTriggerValue("act", action));
    return () => {
      view.leave();
      parentElement.attentionLab = null;
    };
  };
}

/** A button that copies the address of what is shown. @param {() => void} write brings it up to date */
export function copyButton(write) {
  const button = el("button", { type: "button", text: "copy link", onclick: () => copy() });
  /** @param {string} text */
  const say = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "copy link"), 1600);
  };
  const refused = () => say("copy it from the address bar");
  const copy = () => {
    write();
    if (!navigator.clipboard) refused();
    else navigator.clipboard.writeText(window.location.href).then(() => say("link copied"), refused);
  };
  return button;
}

/** Tells tests and measurements what was drawn. @param {HTMLElement} root @param {object} detail */
export function announce(root, detail) {
  const event = { bubbles: true, composed: true, detail };
  root.dispatchEvent(new CustomEvent("attention-lab:painted", event));
}
