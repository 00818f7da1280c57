/* What the server sends of a board (pages/shared/board/pack.py), and what a panel's module exports. */
import type { Framed } from "../browser/message.js";

export type { Theme } from "../browser/theme.js";
export type { Board } from "./board.js";
export type Colour = string | number;

export interface Scrub {
  field: string;
  label: string;
  values: Framed;
  words: string[];
  speed: number;
  plays: boolean;
}

export interface Spec {
  kind: string;
  title: string;
  role?: string;
  drawn_by?: string;
}

export interface Header {
  board: { rows: Spec[][]; notice: string | string[]; scrub: Scrub | null };
  scrub: { at: number; usual: number } | null;
  part: string;
  moves: number;
  generation: number;
  link: Record<string, string>;
  keep?: boolean;
}

/* The entry of each axis that is pointed at, by the axis's name. */
export type Lit = Record<string, number>;

/* The room that a panel asks for: so many pixels, and so many columns that share the rest of the row. */
export interface Needs {
  fixed: number;
  columns: number;
}

export interface Panel {
  root: Element;
  spec?: any;
  needs?: Needs;
  update(spec: any): void;
  draw(frame: number): void;
  light?(lit: Lit): void;
  fit?(cell: number): void;
}

export interface FactsSpec extends Spec {
  facts: { label: string; values: string | Framed; digits: number; unit: string; colour: Colour | null }[];
}

export interface TableSpec extends Spec {
  columns: string[];
  rows: string[][];
  marked: Framed | null;
}

export interface SignSpec extends Spec {
  text: string;
}

export interface LayersSpec extends Spec {
  tokens: string[];
  links: Framed;
  lit: Framed;
}

export interface Node {
  id: string;
  label: string;
  note: string;
  column: number;
  row: number;
  colour: Colour | null;
  changed: boolean;
  frame: number | null;
}

export interface DiagramSpec extends Spec {
  nodes: Node[];
  edges: [string, string][];
  row_height: number;
  levels: Framed | null;
}

export interface MatrixSpec extends Spec {
  values: Framed;
  rows: string[];
  columns: string[];
  row_axis: string;
  column_axis: string;
  row_heads: number[];
  column_heads: number[];
  scale: "weights" | "signed" | "mask" | "plain";
  reach: number | null;
  digits: number;
  texts: string[][];
  words: string[];
  marked: Framed | null;
  edit: string;
  nan_is_empty: boolean;
}
