/* What the stage keeps of a visit, and what the server sends of a trace (pages/explore/payload.py). */
import type { Framed } from "../browser/message.js";
import type { Area, Exact, Stack } from "./data.js";

export type { Area, Exact, Stack };
export type { Theme } from "../browser/theme.js";
export type { Stage } from "./stage.js";
export type Side = "encoder" | "decoder";

/* The state of the view, as a link names it (state.py). */
export type View = DeclaredView;

/* A state that may leave open what the trace then decides. */
export type Loose = { [Name in keyof View]: View[Name] | (Name extends "step" | "query" | "key" ? null : never) };

/* A number per head, as viz_core declares it; `smallestFirst` where the heads worth seeing have small ones. */
export interface Measure {
  name: string;
  title: string;
  definition: string;
  formula: string;
  source: string;
  smallestFirst: boolean;
  said: string;
  random: boolean;
  paired: boolean;
}

/* What the server computed when it was asked, or the problem that forbids it. */
interface Answer<Asked> {
  asked?: Asked;
  problem?: string;
}

/* Where the heads of a stack lie [layer * heads + head]. */
export interface HeadMap extends Answer<[string]> {
  points?: [number, number][];
  shares?: [number, number];
  queries?: number;
}

/* A word whose own value in a head is like a vector, and the cosine of both. */
export type Near = [word: string, cosine: number];

/* A quantity of a head. */
export interface Further extends Answer<(string | number)[]> {
  values?: number[];
  nearest?: { values: Near[][]; sums: Near[][] };
  shape?: [number, number];
  queries?: [number, number][];
  keys?: [number, number][];
  shares?: [number, number];
}

/* A number per head [layer * heads + head] of the chosen tokens. */
export interface Sums extends Answer<[stack: string, queries: string, keys: string]> {
  values?: number[];
}

export interface Step {
  top: [string, number][];
  chosen: string | null;
}

export interface Picture {
  title: string;
  levels: Framed;
}

/* Whole rows of weights: `weights` holds the mean of a layer's heads, then each of these heads. */
export interface Sight {
  layers: { layer: number; heads: number[]; weights: Framed }[];
  rolled?: Framed; /* absent where layers between do not attend */
}

/* What edits did: KL(before || after) of the outputs, in nats, and the likeliest of them, a position each; what
   became of the answer and how far its outputs moved, in sentences, and the position of which they speak; and how
   far the residual stream moved, [place, position], relative to what it was. */
export interface Change {
  at: number;
  answer: string;
  moved: string;
  kl: number[];
  outputs: [name: string, before: number, after: number][][];
  stream: Partial<Record<Side, Framed>>;
}

/* What is written without the edits and with them. */
export interface Written extends Answer<[]> {
  before?: string;
  after?: string;
}

/* The smallest set of heads of a stack without which something else is written: the edits that switch them
   off, none if none was found among so many tried sets; all sets of up to `whole` heads were tried. */
export interface Smallest extends Answer<[stack: string]> {
  lines?: string[];
  answer?: string;
  tried?: number;
  whole?: number;
  heads?: number;
}

/* What each edit alone does to a number, now `before`: [layer][head] by attention, or [layer][position] by stack,
   with the numbers of these `layers`; and what heads do to it directly, or why that is not known. Or parts that
   sum to it; or the probabilities of outputs before, along a path with feed-forward layers recomputed and frozen,
   and with the whole effect, and KL(before || after) of these three. */
export interface Swept extends Answer<(string | number)[]> {
  title?: string;
  before?: number;
  effects?: Record<string, number[][]>;
  layers?: Record<string, number[]>;
  direct?: Record<string, number[][]>;
  notDirect?: string;
  parts?: [name: string, value: number][];
  outputs?: [name: string, before: number, path: number, direct: number, whole: number][];
  kl?: [path: number, direct: number, whole: number];
}

export interface Header {
  generation: number;
  fromBehind: boolean; /* whether a clicker came back from the page after this one */
  viewToken: string;
  focusToken: string;
  link: Record<string, string>;
  linked: Partial<View>;
  defaults: Loose;
  focus: Partial<View>;
  /* The inputs that this is of; absent where nobody answers other ones. */
  asked?: Asked;
  controls?: Declaration;
  abilities?: string[];
  /* By size, how large it is and the values to which it can be turned; and which of them followed the last. */
  sizes?: Record<string, { now: number; stops: number[] }>;
  followed?: string;
  standing?: string; /* of a family's member: how well it does */
  notes?: Noted;
  words?: Answer<[]> & { byLanguage?: Record<string, string[]> };
  random?: boolean; /* whether nothing trained the weights */
  problems?: string[];
  stacks: Stack[];
  measures: Measure[];
  map?: HeadMap;
  further?: Further;
  sums?: Sums;
  repeated?: { stats?: Record<string, Record<string, number[]>>; said?: string; problem?: string };
  tokens: Record<Side, { text: string; mark?: string; typed?: string }[]>;
  special?: Partial<Record<Side, number[]>>;
  specialTokens?: View["special"];
  steps: Step[];
  stepSide: Side;
  stepNote: string;
  swap: { text: string; label: string; other: string };
  /* Whether the head can be opened beside another. */
  beside: boolean;
  caption: Record<string, string>;
  captions?: Record<string, string>;
  translation?: { text: string; strong?: boolean }[];
  typed?: boolean;
  see?: string;
  edits: string[];
  /* By the address of an attention, the heads that edits switch off; null for all. */
  off: Record<string, number[] | null>;
  editable: boolean;
  writes: boolean;
  scored: boolean;
  written?: Written;
  smallest?: Smallest;
  swept?: Swept;
  feeds: boolean;
  before?: Pick<Header, "stacks" | "exact" | "steps">;
  change?: Change;
  taught: { text: string; label: string; model: string };
  terms: Record<string, string>;
  pooled?: string;
  pictures?: Picture[];
  places?: number[][];
  sight?: Sight;
  chart: any;
  asks?: Record<string, { queries: number[]; keys: number[] }>;
  antecedents: { position: number; word: string; probability: number }[] | null;
  exact: (Area & { stack: string; layer: number; heads: number[] })[];
}

/* The weights of a query, the mean over the heads that are shown, from the key k0 on; and where special
   tokens are hidden, how much of the row lies on them, and on
   all others. */
export interface Row {
  weights: Float64Array;
  k0: number;
  heads: number[];
  hidden?: number;
  left?: number;
}

/* What a figure is of (pages/explore/state.py: Inputs). */
export interface Asked {
  model: string;
  text: string;
  settings: Record<string, any>;
  edits: string;
}

/* A setting, and a model's controls (pages/explore/panel.py). */
export interface Declared {
  name: string;
  label: string;
  help?: string;
  control: string;
  options?: { value: any; text: string }[];
  low?: number;
  high?: number;
  of?: string;
  arguments?: Record<string, [example: string, meaning: string]>;
  placeholder?: string;
  usual?: any;
  /** each value opens a model that was trained with it */
  dial?: boolean;
}

export interface Declaration {
  model: string;
  models: { value: string; text: string; memory?: string }[];
  summary: string;
  sizes: string;
  reads: string;
  label: string;
  examples: { text: string; label: string }[];
  knowsWords: boolean;
  settings: Declared[];
  linked: string[];
  mostNew: number;
  opensOthers: boolean;
}

export interface UnknownWord {
  where: string;
  start: number;
  end: number;
  word: string;
  suggestions: string[];
}

/* What is to be said of a text (panel.py: notes). */
export interface Noted {
  widened?: { model: string; title: string; lacking: string[] };
  advice?: { text: string; better: string; setting: string; value: any };
  unknown?: UnknownWord[];
}
