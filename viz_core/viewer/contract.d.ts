/* What a host and the viewer agree on; README.md says it in words. */

/** What is shown, as anywidget's model has it. A host may be one (a notebook) or make one (a page). */
export interface Model {
  /** A message of viz_core/viewer/message.py, or for a table its JSON, as bytes. */
  get(name: "message"): Uint8Array | DataView | ArrayBuffer;
  /** What is selected: null until a view has told it, then what `set` was given last. */
  get(name: "state"): State | null | undefined;
  /** Of the last question: the sentence that refuses it, how much of its answer is done, whether a person
      stopped it. */
  get(name: "problem" | "progress" | "isStopped" | "awaits"): any;
  set(name: "state", value: State): void;
  save_changes(): void;
  on(event: Change, callback: () => void): void;
  off(event: Change, callback: () => void): void;
  /** An act of a person that the host has to answer, by a new message or not at all. */
  send(act: Act): void;
}

export type Change = "change:message" | "change:state" | "change:problem" | "change:progress" | "change:awaits";
export type Act = { type: string } & Record<string, unknown>;
/** Of Explore's stage the fields of its view (stage/view.toml), of a board its frame, of the others nothing. */
export type State = Record<string, unknown>;

/** Shows a model in an element; what it returns takes everything away again. */
export type Render = (given: { model: Model; el: HTMLElement }) => () => void;

/** What is around the views: one for all of a document, said once by `hostedBy`. */
export interface Page {
  /** What the address says. */
  params(): URLSearchParams;
  /** Writes the address, if it is a link to what is shown; isNew: whether the browser's Back leads back. */
  write: ((params: URLSearchParams, isNew?: boolean) => void) | null;
  /** Runs Plotly's code, where a host has it otherwise than at the address that its program names. */
  plotly: (() => Promise<void>) | null;
  /** Whether the host computes a board anew from what is typed, painted or pressed in its cells; and, for
      Explore, other edits than heads switched off, sweeps, maps and further quantities. */
  computes: boolean;
  /** Whether there is a dialog that gives what is shown as files. */
  takesAway: boolean;
  /** Saves parts of the page as a picture; null where it is not offered. */
  savePicture: ((kind: "svg" | "png", parts: HTMLElement[], title: string) => Promise<void>) | null;
  /** Whether a view may fill the whole window. */
  presents: boolean;
  /** Whether a view that fills the window asks for the whole screen. */
  fillsScreen: boolean;
  /** Of a stop of a talk: what is hidden until it is uncovered, "headline" or the titles of panels. Elsewhere
      null: then a question hides its answer. */
  hides: string[] | null;
  /** Whether a question is asked around the page, and its own is not. */
  isAsked: boolean;
  /** Of a stop of a talk: the places of what is gone through at which it halts; it begins at the first.
      Elsewhere null: then a film begins anew where a view comes to fill the window. */
  halts: number[] | null;
  /** Whether a view may take the height that the window leaves, where its message says so. */
  fits: boolean;
  /** The height in pixels of what fills the screen: this window, or the show that it is a frame of. */
  height(): number;
  /** Whether what an act of the types "go" and "skip" leads to is on its way. */
  isGoing(): boolean;
  /** Where keys are heard: a page that is one view hears them everywhere, others only inside it. */
  keys(root: HTMLElement): EventTarget;
  /** Whether the page shows this theme by now, after the system has changed. */
  hasFollowed(theme: "dark" | "light"): boolean;
  /** What scrolls the page. */
  scrolled: string;
  /** What has another size whenever something above a view comes or goes; and parts of it. */
  above: string;
  beside: string;
  /** What is there while a figure is computed. */
  computing: string;
  /** The chosen one of a row of parts, which a phone scrolls. */
  parts: string;
  /** The drawer of questions; what holds the text that is read; its field. */
  questions: string;
  text: string;
  field: string;
}
