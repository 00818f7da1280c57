/* What the server sends of a board (viz_core/viewer/message.py), and what a panel's module exports. What the
   dataclasses of viz_core/boards declare is written to .types by tools/javascript.py. */
import type * as Sent from "../../../.types/boards";

export type * from "../../../.types/boards";
export type { Theme } from "../browser/theme.js";
export type { Board } from "./board.js";
export type Colour = string | number;

/* A trace, an axis or a shape as Plotly takes it, but for what is left open. */
export type Described = Record<string, any>;

export interface Axis extends Described {
  names?: string[];
  title?: { text: string };
}

export interface Spec {
  kind: string;
  title: string;
  role?: Sent.Matrix["role"];
  drawn_by?: string;
  main?: boolean; // in sight before a person asks for more
}

export interface Header {
  board: { rows: Spec[][]; notice: string | string[]; scrub: Sent.Scrub | null; across: number };
  scrub: { at: number; usual: number } | null;
  /* Of the lab; others have none. */
  page?: string;
  part: string;
  moves: number;
  generation: number;
  link: Record<string, string>;
  /* What else is selected, which only the host can set. */
  chosen?: import("../contract").State;
  keep?: boolean;
  stale?: boolean; // of inputs before those that are refused
  /* Whether it fills what the window leaves. */
  fits?: boolean;
  /* So many rows, from the first, can be presented; all of one that fits. */
  presents?: number;
  /* What is read above it while it is presented. */
  claim?: string;
  /* Page and part, and the stop of a part that is gone through, for whoever presents. */
  where?: string;
  /* The question whose answer the headline gives away. */
  spoiler?: import("../browser/present.js").Spoilt | null;
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
  /* What it shows at a frame, in rows. */
  read(frame: number): import("../browser/reading.js").Reading[];
  fit?(cell: number): void;
  size?(): { width: number; height: number };
  written?: boolean;
  /* Pixels above the first row of a table, and how it is put further down. */
  above?: number;
  lower?(above: number): void;
}

/* The entries of a panel that Plotly draws; axis and labels are those of bars, x_label that of curves. */
export interface ChartSpec extends Spec {
  chart: Sent.Chart;
  x_label?: string;
  axis?: string;
  labels?: string[];
}

export type FactsSpec = Sent.Facts & Spec;
export type TableSpec = Sent.Table & Spec;
export type SignSpec = Sent.Sign & Spec;
export type DiagramSpec = Sent.Diagram & Spec;
export type MatrixSpec = Sent.Matrix & Spec;
export type PictureSpec = MatrixSpec & { chart: Sent.Chart };
export type PlotSpec = ChartSpec & Partial<PictureSpec>;
