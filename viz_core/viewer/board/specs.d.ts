/* What the server sends of a board (viz_core/viewer/message.py), and what a panel's module exports. */
import type { Framed } from "../browser/message.js";

export type { Theme } from "../browser/theme.js";
export type { Board } from "./board.js";
export type Colour = string | number;

/* What a chart's description leaves open (viz_core/boards/chart.py). */
export interface Moving {
  kind: "Moving";
  values: Framed;
}

export interface Paint {
  kind: "Paint";
  name: Colour;
  alpha: number;
}

export interface Worded {
  kind: "Worded";
  rows: string[][];
  at: Framed;
}

export interface Written {
  kind: "Written";
  values: Framed | Moving;
  digits: number | null;
  nan_is_empty: boolean;
}

/* A trace, an axis or a shape as Plotly takes it, but for what is left open. */
export type Described = Record<string, any>;

export interface Axis extends Described {
  names?: string[];
  title?: { text: string };
}

export interface Scrub {
  field: string;
  label: string;
  values: Framed;
  words: string[];
  speed: number;
  plays: boolean;
  film: boolean;
}

export interface Spec {
  kind: string;
  title: string;
  role?: string;
  drawn_by?: string;
}

export interface Header {
  board: { rows: Spec[][]; notice: string | string[]; scrub: Scrub | null; across: number };
  scrub: { at: number; usual: number } | null;
  /* Of the lab; others have none. */
  page?: string;
  part: string;
  moves: number;
  generation: number;
  link: Record<string, string>;
  keep?: boolean;
  /* Whether it fills what the window leaves. */
  fits?: boolean;
  /* So many rows, from the first, can be presented; all of one that fits. */
  presents?: number;
  /* What is read above it while it is presented. */
  claim?: string;
  /* Page and part, and the stop of a part that is gone through, for whoever presents. */
  where?: string;
  /* The question whose answer the headline gives away. */
  spoils?: import("../browser/present.js").Spoilt | null;
  /* The names of the page's parts, in their order. */
  parts?: string[];
  /* What the terms on it mean, by their forms in lower case. */
  terms?: Record<string, string>;
}

/* The entry of each axis that is pointed at, by the axis's name. */
export type Lit = Record<string, number>;

/* The room that a panel asks for: so many pixels, and so many columns that share the rest of the row. */
export interface Needs {
  fixed: number;
  columns: number;
  /* Pixels of a cell, for what is written in it. */
  least?: number;
}

export interface Panel {
  root: Element;
  spec?: any;
  needs?: Needs;
  update(spec: any): void;
  draw(frame: number): void;
  light?(lit: Lit): void;
  fit?(cell: number): void;
  size?(): { width: number; height: number };
  written?: boolean;
  /* Pixels above the first row of a table, and how it is put further down. */
  above?: number;
  lower?(above: number): void;
}

export interface Chart {
  traces: Described[];
  x: Axis;
  y: Axis;
  form: "wide" | "square" | "cells";
  under: Paint | null;
  shapes: Described[];
}

/* The entries of a panel that Plotly draws; axis and labels are those of bars, x_label that of curves. */
export interface ChartSpec extends Spec {
  chart: Chart;
  x_label?: string;
  axis?: string;
  labels?: string[];
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
  quantity: string;
  reach: number | null;
  digits: number;
  texts: string[][];
  words: string[];
  marked: Framed | null;
  edit: string;
  choose: string | null;
  nan_is_empty: boolean;
  gap: string;
  together: string;
  frame: number | null;
}

/* A matrix without numbers in its cells. */
export interface PictureSpec extends MatrixSpec {
  chart: Chart;
  picture: boolean;
  sums: boolean;
  named: boolean;
  small: boolean;
  large: boolean;
}

export type PlotSpec = ChartSpec & Partial<PictureSpec>;

/* An axis of parallel coordinates. Heights are shares of it: 0 at its lower and 1 at its upper end. */
export interface Upright {
  name: string;
  /* What is chosen on it; null for all. */
  range: [number, number] | null;
  /* The heights where an end of a range may be put by key; of choices their edges. */
  stops: number[];
  /* What stands at each of them; of choices, between two of them. */
  said: string[];
}

export interface ParallelSpec extends ChartSpec {
  uprights: Upright[];
}
