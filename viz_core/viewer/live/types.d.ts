/* A shipped model as a browser runs it (pages/explore/live.py writes it), and what parts hand each other. */
import type { Framed } from "../browser/message.js";
import type { Grammar, Pair } from "./links.js";
import type { Tokenizer, Unknown } from "./tokens.js";

export type Side = "encoder" | "decoder";

export interface Example {
  text: string;
  see: string;
  opens?: Record<string, number>;
}

export interface Model {
  name: string;
  title: string;
  wider: string; /* the model that reads what this one has no words for; "" where there is none */
  text: string; /* that it opens with */
  reads: string; /* which of the readers reads its texts */
  tokenizer: Tokenizer;
  names: string[]; /* of the outputs */
  family?: { alone: boolean; first: Header; members: Record<string, Header> }; /* of trained models: the dials
    of the first, whether one is turned at a time, and by their files the dials of which members differ */
  dials?: Header; /* those of this member that differ from the first */
  sizes?: Record<string, number>; /* of a model of transformers: its files and their bytes; then, of its
    tokenizer: */
  ends?: number[]; /* tokens that end what it writes */
  pieces: string[]; /* the name of each token */
  left?: Set<number>; /* tokens that are no words, and never rare */
  length: number;
  maxLen: number;
  abilities: string[];
  pronouns: string[];
  nouns: string[];
  asked: boolean; /* whether it is asked for the nouns that pronouns mean */
  rarity: [token: string, count: number | null][] | null; /* null of a token that is never rare */
  labels: Record<string, string>; /* what heads are called by their largest measure */
  measures: (Record<string, unknown> & { name: string; random: boolean })[]; /* all that there are */
  moved: string; /* the measure that only edits have */
  said: { named: string; aligned: string };
  budget: Record<"exact" | "thumbs" | "least" | "most" | "window" | "top" | "changed" | Side, number>;
  examples: Example[];
  swaps: Record<string, string>;
  usual: Record<string, string>; /* the settings that a link leaves out */
  turns: string[]; /* settings whose other values start from what was written */
  isDefault: boolean;
  standing: boolean; /* whether its link always has the text */
  template: Record<string, any>; /* the entries of the header that follow from the model alone */
  words: Record<"en" | "fr", string[]>;
  counts: Record<"en" | "fr", number[]>;
  grammar?: Grammar;
  byHand?: [english: string, french: string, links: Pair[]][];
  first: boolean; /* whether the answer is read at [CLS] */
  modulus: number;
  numbers: number;
  people: string[];
  refusal: string; /* of the text §, or of a part of it */
}

export interface Advice {
  setting: string;
  value: string;
  because: string;
}

export interface Reading {
  inputs: Record<string, number[]>;
  tokens: Record<string, string[]>;
  text: string;
  unknown: Unknown[];
  answer: string;
  following: string | null;
  forced: boolean;
  advice: Advice | null;
}

export interface Settings {
  direction?: string;
  target?: string;
  padding?: number;
  beam?: number;
}

/* The logits [position, output] of inputs. */
export type Run = (inputs: Record<string, number[]>) => Promise<ArrayLike<number>>;

export interface Opened {
  stack: string;
  layer: number;
  head: number;
  q0: number;
  k0: number;
  special: string;
}

export interface Tensor {
  data: Float32Array;
  dims: readonly number[];
}

/* All that a pass computed, by address. */
export type Trace = Record<string, Tensor>;
export type Header = Record<string, any>;
export type { Framed };

export interface Asked {
  text: string;
  settings: Record<string, any>;
  edits: string[];
}

export interface Antecedent {
  position: number;
  word: string;
  probability: number;
  antecedent: number | null;
}

export interface Stack {
  id: string;
  querySide: string;
  keySide: string;
  nQuery: number;
  nKey: number;
  heads: number;
  dHead: number;
  layers: number[];
}

/* An attention of a pass. */
export interface Layer {
  stack: Stack;
  layer: number;
  address: string;
}
