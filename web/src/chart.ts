// A chart as `dockdyn/report/charts/live_charts.py` writes it; columns are places in the page's.
import type { ScaleKind, Span } from "./scales.ts";

export interface Line {
  x: number;
  y: number;
  reach: number | null; // the other edge of a filled band
  colour: string;
  name: string;
  width: number; // pt
  dash: number[]; // in widths
  marker: string;
  size: number; // pt
  joined: boolean;
  hollow: boolean;
  read: boolean;
  source?: Source;
}

/** What the numbers of a line are among those that a page computes. */
export interface Source {
  terms: [name: string, component: number, factor: number][]; // summed, over the samples
  size: boolean; // by component, of whose vector it is the size
  since_start: boolean;
  most: boolean; // the largest of the terms, not less than zero, in place of their sum
  contacts: [across: string, up: string] | null; // instead, of each contact
}

export interface Area { x: number; y: number; colour: string; name: string; alpha: number }
export interface Band { start: number; end: number; name: string; colour: string; axis: "x" | "y"; alpha: number; legend: string; at: number }
export interface Level { at: number; axis: "x" | "y"; name: string; colour: string; dash: number[]; width: number; legend: string; share: number }
export interface Note { x: number; y: number; words: string; away: [number, number]; side: "left" | "center" | "right"; small: boolean; level: "top" | "center" | "bottom" }

export interface Panel {
  label: string;
  across: string;
  title: string;
  height: number; // in
  x: [Span, Span]; // on which it opens, and of all
  y: [Span, Span];
  limits: [number | null, number | null]; // of the vertical axis, those that are fixed
  scale: ScaleKind;
  ticks: [number, string][];
  acrossScale: "linear" | "log";
  equal: boolean;
  shape: number | null; // height over width
  bare: boolean;
  areas: Area[];
  lines: Line[];
  bands: Band[];
  levels: Level[];
  notes: Note[];
}

export interface Chart {
  columns: number;
  over: string;
  events: boolean;
  tiles: boolean;
  opens: boolean;
  panels: Panel[];
}

/** Return the words of an axis without its unit, and the unit. */
export function wordsAndUnit(label: string): [string, string] {
  const comma = label.lastIndexOf(", ");
  return comma < 0 ? [label, ""] : [label.slice(0, comma), label.slice(comma + 2)];
}
