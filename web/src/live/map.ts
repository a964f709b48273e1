// Every case by its outcome, over any two of the numbers that cases have: what was drawn, and what came of it.
import type { Chart, Level, Line, Panel } from "../chart.ts";
import { Clock } from "../clock.ts";
import { Columns } from "../columns.ts";
import { element } from "../dom.ts";
import { Figure, Window } from "../figure.ts";
import { addSaving } from "../save.ts";
import type { Span } from "../scales.ts";
import { shownUnit } from "./numbers.ts";

export interface CaseAxis {
  name: string;
  words: string;
  unit: string;
  values: Float64Array; // over the cases
  limits: number[]; // that are required
}

export interface Outcomes {
  words: string;
  colour: string;
  marker: string;
  cases: number[];
}

const HEIGHT = 5.2, ROOM = 0.04; // in; of the axes, around what is drawn
const LINE = { reach: null, width: 1, dash: [], size: 6, joined: false, hollow: false, read: true };
const PANEL: Omit<Panel, "label" | "across" | "x" | "y" | "lines" | "levels"> = {
  title: "", height: HEIGHT, limits: [null, null], scale: "linear", ticks: [], acrossScale: "linear", equal: false, shape: null, bare: false, areas: [], bands: [], notes: [],
};

export class CaseMap {
  private readonly columns = new Columns([]);
  private readonly chart: Chart = { columns: 1, over: "", events: false, tiles: false, opens: false, panels: [] };
  private readonly figure: Figure;
  private readonly up = element("select", { "aria-label": "Vertical axis", change: () => this.draw() });
  private readonly across = element("select", { "aria-label": "Horizontal axis", change: () => this.draw() });
  private axes: CaseAxis[] = [];
  private outcomes: Outcomes[] = [];
  private chosen = -1;
  private readonly cases = new Map<Line, number[]>(); // of its points

  constructor(host: HTMLElement, private readonly first: [up: string, across: string], choose: (place: number) => void) {
    host.querySelector(".axes")!.append(this.up, " over ", this.across);
    this.figure = new Figure(host, this.chart, 1000, this.columns, new Window(), new Clock({ start: 0, end: 1 }));
    this.figure.place.addEventListener("click", (event) => {
      const found = this.figure.pointAt(event);
      if (found) choose(this.cases.get(found[0])![found[1]]!);
    });
    addSaving(host);
  }

  show(axes: CaseAxis[], outcomes: Outcomes[]): void {
    if (!this.axes.length) {
      for (const [list, chosen] of [[this.up, this.first[0]], [this.across, this.first[1]]] as const) {
        list.append(...axes.map(({ name, words }) => element("option", { value: name, selected: name === chosen }, words)));
      }
    }
    Object.assign(this, { axes, outcomes });
    this.draw();
  }

  /** Ring a case. */
  choose(place: number): void {
    this.chosen = place;
    this.draw();
  }

  private draw(): void {
    const [up, across] = [this.up, this.across].map(({ value }) => this.axes.find(({ name }) => name === value)!) as [CaseAxis, CaseAxis];
    if (!up || !across) return;
    this.columns.forgetMore();
    this.cases.clear();
    const shown = [up, across].map(({ values, unit }) => shownUnit({ unit, value: values.reduce((most, one) => Math.max(most, Math.abs(one) || 0), 0) }));
    const of = ({ values }: CaseAxis, axis: number, cases: number[]) => this.columns.add(Float64Array.from(cases, (place) => values[place]! * shown[axis]!.factor));
    const lineOf = (cases: number[], look: Pick<Line, "colour" | "marker" | "name"> & Partial<Line>): Line => {
      const line = { ...LINE, ...look, x: of(across, 1, cases), y: of(up, 0, cases) };
      this.cases.set(line, cases);
      return line;
    };
    const lines = this.outcomes.filter(({ cases }) => cases.length).map(({ words, colour, marker, cases }) => lineOf(cases, { name: words, colour, marker }));
    if (this.chosen >= 0) lines.push(lineOf([this.chosen], { name: "", colour: "ink", marker: "o", size: 13, hollow: true, read: false }));
    const ring = lines.at(-1)!;
    if (!ring.read) lines.unshift(lines.pop()!); // below the mark
    const levels = ([[up, "y", 0], [across, "x", 1]] as const).flatMap(([axis, side, place]) => axis.limits.map((limit): Level => ({ at: limit * shown[place]!.factor, axis: side, name: "", colour: "orange", dash: [4, 3], width: 1.2, legend: "required", share: 1 })));
    const [y, x] = [up, across].map((axis, place) => spanOf(axis, shown[place]!.factor)) as [Span, Span];
    const label = (axis: CaseAxis, place: number) => (shown[place]!.unit ? `${axis.words}, ${shown[place]!.unit}` : axis.words);
    this.chart.panels = [{ ...PANEL, label: label(up, 0), across: label(across, 1), x: [x, x], y: [y, y], lines, levels }];
    this.figure.draw();
  }
}

/** Return what an axis spans: what cases have, and limits that are not far from that. */
function spanOf({ values, limits }: CaseAxis, factor: number): Span {
  const known = values.filter(Number.isFinite);
  let low = known.length ? known.reduce((a, b) => Math.min(a, b)) : 0, high = known.length ? known.reduce((a, b) => Math.max(a, b)) : 1;
  const near = limits.filter((limit) => limit > low - (high - low) && limit < high + (high - low));
  [low, high] = [Math.min(low, ...near), Math.max(high, ...near)];
  const room = (high - low) * ROOM || Math.abs(high) * 0.05 || 0.5;
  return [(low - room) * factor, (high + room) * factor];
}
