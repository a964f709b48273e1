// A run with other numbers in the curves, the scene and the table of contacts that the report has of its own.
import type { Clock } from "../clock.ts";
import type { Columns } from "../columns.ts";
import type { Line, Panel, Source } from "../chart.ts";
import { element } from "../dom.ts";
import type { Figure } from "../figure.ts";
import { CONTACT, fitUp, type Event } from "../panel.ts";
import { alignNumbers, writeNumber, type Span } from "../scales.ts";
import type { SceneView } from "../scene/scene.ts";
import { contactsOf, type Contact } from "./contacts.ts";
import { withoutRounding } from "./judge.ts";
import { sourceOf, type Series } from "./tiles.ts";
import type { PackedUnit } from "./unit.ts";
import type { Answer } from "./worker.ts";

export interface Page {
  figures: Figure[];
  columns: Columns;
  showEvents(events: Event[]): void;
  scene: SceneView | null;
  clock: Clock;
}

/** The addresses of the scripts of workers: one that runs the scenario, and one that judges its loop. */
export type Scripts = Partial<Record<"run" | "loop", string>>;

/** What of a page's data its curves, scene and contacts follow a run by. */
export interface RunShown {
  unit: PackedUnit;
  contacts: [string, string][];
  azimuths: boolean[]; // of contacts, whether the angle at which one begins has a meaning
  labels: string[]; // of the contacts in the scene
  latch: string; // whose pull the scene shows
  touches?: Source | null; // of a rig, what is not zero while it touches
  forces?: string[]; // of a rig's scene, in the order of its run
}

/** A contact, and where it began, as `dockdyn/docking/data.py` has it. */
export interface PlacedContact extends Contact {
  x: number;
  y: number;
  z: number;
  azimuth: number; // deg
}

/** What a run left, by name. */
export interface Outcome {
  status: number;
  took: number; // ms
  time: Float64Array; // s, of its samples
  contacts: PlacedContact[];
  figures: Map<string, number>;
  variable(name: string): Float64Array;
}

export const FINISHED = 1; // as `dockdyn.integrate.solution.Status`
export const SOON = 2000; // ms, that a run may take unasked
export const LONG = 120_000; // ms, and asked
const GHOST = { colour: "ink3", dash: [3, 2], name: "", read: false, marker: "", width: 1 };
const DELAY = "loop.delay";
const AXES = ["x", "y", "z"] as const;
const ENERGIES = ["friction_loss", "energy", "gain"]; // of a contact
const SHOWN = ["depth", "position", "attitude", "contact_point", "log.contact_point", "azimuth", "log.azimuth", "contact_force", "hold_force", "latch_force", "latch_held", "latch_travel", "scene.position", "scene.attitude", "scene.force"]; // besides curves

export const SAME = "No figure differs from the report: no number has been moved.";

/** Say that no figure differs, where that is so; of numbers that were `moved`, too. */
export function tellSame(node: HTMLElement, differ: number, moved: boolean): void {
  node.textContent = moved ? (differ ? "What differs from the report; all else is as it says." : "No figure differs from the report.") : SAME;
}

/** Say why the page does not compute. */
export function giveUp(why: string): void {
  document.getElementById("live-numbers")!.replaceChildren(element("p", { class: "note" }, `This page does not compute here: ${why}.`));
  document.getElementById("live")!.closest("section")!.hidden = true;
}

export class ShownRun {
  /** The results that are asked of a run to show it. */
  readonly names: string[];
  /** The report's own run, computed here. */
  own: Outcome | null = null;
  private readonly panels: { figure: Figure; panel: Panel; own: Pick<Panel, "lines" | "bands" | "notes" | "x" | "y" | "limits"> }[];

  constructor(private readonly data: RunShown, private readonly page: Page, figures: Figure[]) {
    this.panels = figures.flatMap((figure) => figure.chart.panels.map((panel) => ({ figure, panel, own: { lines: panel.lines, bands: panel.bands, notes: panel.notes, x: panel.x, y: panel.y, limits: panel.limits } })));
    const tiles = [...document.querySelectorAll<HTMLElement>(".tile")].map(sourceOf), lines = this.panels.flatMap(({ panel }) => panel.lines.map(({ source }) => source));
    const sources = [...tiles, ...lines, data.touches].flatMap((source) => source?.terms.map(([name]) => name) ?? []);
    const offered = new Set(Object.keys(data.unit.results));
    this.names = [...new Set([...["time", "sampled", "moments", "steps", "interval"].filter((name) => offered.has(name)), ...sources.filter((name) => offered.has(name)), ...[...offered].filter((name) => /^(figure|contact)\./.test(name)), ...SHOWN.filter((name) => offered.has(name))])];
  }

  /** Show a run; null: the report's own. Beside one with other numbers the report's own curves are grey. */
  show(outcome: Outcome | null, beside = true, classes: readonly (string | null)[] | null = null): void {
    this.page.clock.reach((outcome ?? this.own!).time.at(-1)!);
    this.drawCurves(outcome, beside);
    this.moveScene(outcome);
    this.showContacts(outcome, classes);
  }

  /** Return a curve of a tile, of the report's own run and of another one; null where the page does not compute it. */
  seriesBeside(source: Source, outcome: Outcome): { own: Series; now: Series } | null {
    const own = this.seriesOf(source, this.own!), now = this.seriesOf(source, outcome);
    return own && now && { own, now };
  }

  /** Return what an answer to `names`, of a run with these values, says. */
  outcomeOf(answer: Answer, values: readonly number[]): Outcome {
    const { found } = answer, sampled = found.sampled![0]!, end = found.time![0]!, { numbers } = this.data.unit, interval = found.interval?.[0] ?? this.data.unit.interval;
    const time = Float64Array.from({ length: sampled }, (_, i) => Math.min(i * interval, end));
    const figures = new Map(Object.entries(found).filter(([name]) => name.startsWith("figure.")).map(([name, value]) => [name.slice(7), value[0]!]));
    const place = numbers.findIndex(({ key }) => key === DELAY);
    const contacts = contactsOf((name) => found[`contact.${name}`], found.moments![0]! + 1, this.data.contacts.length, place < 0 ? 0 : values[place]!).map((contact) => this.placed(contact, found));
    return { status: answer.status, took: answer.took, time, contacts, figures, variable: (name) => found[name]! };
  }

  private placed(contact: Contact, found: Answer["found"]): PlacedContact {
    const { row, pair } = contact, { contacts, azimuths } = this.data, at = (name: string, part = 0, parts = 1) => (row ? found[`log.${name}`] : found[name])?.[(Math.max(row - 1, 0) * contacts.length + pair) * parts + part] ?? NaN;
    const [x, y, z] = [0, 1, 2].map((axis) => at("contact_point", axis, 3)) as [number, number, number];
    return { ...contact, x, y, z, azimuth: azimuths[pair] ? (((at("azimuth") * 180) / Math.PI) % 360 + 360) % 360 : NaN };
  }

  private seriesOf(source: Source | undefined, outcome: Outcome): Series | null {
    if (!source?.contacts && !source?.terms.length) return null;
    if (source.contacts) {
      const [across, up] = source.contacts as [keyof Contact, keyof Contact];
      const there = outcome.contacts.filter((contact) => Number.isFinite(contact[across]) && Number.isFinite(contact[up]));
      return [Float64Array.from(there, (contact) => contact[across]), Float64Array.from(there, (contact) => contact[up])];
    }
    const rows = outcome.time.length, sums = new Map<number, Float64Array>();
    for (const [name, component, factor] of source.terms) {
      if (!this.names.includes(name)) return null;
      const values = outcome.variable(name), shape = this.data.unit.results[name]![2], width = shape.slice(1).reduce((a, b) => a * b, 1), of = source.size || source.most ? component : 0;
      if (!values.length) return null; // which a rig without its compensator has not
      const sum = sums.get(of) ?? new Float64Array(rows);
      for (let row = 0; row < rows; row++) sum[row] = sum[row]! + factor * values[row * width + component]!;
      sums.set(of, sum);
    }
    const parts = [...sums.values()], sum = source.most ? Float64Array.from({ length: rows }, (_, row) => Math.max(0, ...parts.map((part) => part[row]!))) : source.size ? Float64Array.from({ length: rows }, (_, row) => Math.hypot(...parts.map((part) => part[row]!))) : parts[0]!;
    if (source.since_start) {
      const first = sum[0]!;
      for (let row = 0; row < rows; row++) sum[row] = sum[row]! - first;
    }
    return [outcome.time, sum];
  }

  private drawCurves(outcome: Outcome | null, beside: boolean): void {
    const { columns } = this.page, drawn = new Set<Figure>(), spans = this.spansOf(outcome ?? this.own!);
    columns.forgetMore();
    for (const { figure, panel, own } of this.panels) {
      Object.assign(panel, own);
      drawn.add(figure);
      if (!outcome) continue;
      const ghosts: Line[] = [], lines: Line[] = [];
      for (const line of own.lines) {
        const series = this.seriesOf(line.source, outcome);
        if (!series) continue;
        if (line.joined && beside) ghosts.push({ ...line, ...GHOST });
        lines.push({ ...line, x: columns.add(series[0]), y: columns.add(series[1]) });
      }
      const whole = lines.length === own.lines.length && lines.length > 0;
      figure.node.classList.toggle("reported", !whole);
      if (!whole) continue;
      const kept = own.bands.filter(({ name }) => !CONTACT.test(name)), like = own.bands.find(({ name }) => CONTACT.test(name));
      Object.assign(panel, { lines: [...ghosts, ...lines], notes: [], bands: [...kept, ...spans.map((span) => ({ colour: "contact", axis: "x", alpha: 1, legend: "", ...like, ...span }))] });
      panel.limits = [own.limits[0], null];
      const all: Span = [own.x[1][0], Math.max(own.x[1][1], outcome.time.at(-1)!)];
      panel.x = [this.windowOf(own.x[0], all, spans), all];
      panel.y = [fitUp(panel, columns, panel.x[0]), fitUp(panel, columns, panel.x[1])];
    }
    if (!outcome) for (const figure of drawn) figure.node.classList.remove("reported");
    for (const figure of drawn) figure.drawWhenSeen();
    this.page.showEvents(spans);
  }

  /** Return when contacts last: by the log, of a rig by its samples, as `dockdyn/rig/measures.py` has them. */
  private spansOf(outcome: Outcome): Event[] {
    const { time, contacts } = outcome, last = time.at(-1)!, found = contacts.map(({ onset, release, peak_time: peak }): Omit<Event, "name"> => {
      const start = onset, end = Number.isFinite(release) ? release : last;
      return { start, end, at: Number.isFinite(peak) ? peak : (start + end) / 2 };
    });
    const force = (this.data.touches && this.seriesOf(this.data.touches, outcome)?.[1]) || [];
    for (let row = 0; row < force.length; row++) {
      if (!force[row]) continue;
      const first = row;
      let most = row;
      for (; row < force.length && force[row]; row++) if (Math.abs(force[row]!) > Math.abs(force[most]!)) most = row;
      found.push({ start: time[first]!, end: time[Math.min(row, time.length - 1)]!, at: time[most]! });
    }
    return found.map((one, i) => ({ name: `Q${i + 1}`, ...one }));
  }

  /** Return the window on which a curve opens: that of the report, so wide that it holds these contacts, too. */
  private windowOf([start, end]: Span, [first, last]: Span, spans: Event[]): Span {
    if (!spans.length) return [start, end];
    const from = spans[0]!.start, to = Math.max(...spans.map((one) => one.end));
    const room = 0.05 * (to - from);
    return [Math.max(Math.min(start, from - room), first), Math.min(Math.max(end, to + room), last)];
  }

  private moveScene(outcome: Outcome | null): void {
    const { scene } = this.page, host = document.getElementById("scene")?.closest(".stage"), { forces: acting } = this.data;
    if (!scene?.retakes || !this.names.includes(acting ? "scene.attitude" : "attitude")) {
      host?.classList.toggle("reported", outcome !== null);
      return;
    }
    if (!outcome) return scene.retake(null);
    const rows = outcome.time.length, parts = (name: string) => (this.names.includes(name) ? outcome.variable(name) : null);
    const column = (values: Float64Array, index: number, count: number) => Float64Array.from({ length: 3 * rows }, (_, i) => values[(Math.floor(i / 3) * count + index) * 3 + (i % 3)]!);
    if (acting) {
      const acts = new Map(acting.map((name, index) => [name, { place: null, vector: column(parts("scene.force")!, index, acting.length) }]));
      return scene.retake({ time: outcome.time, position: parts("scene.position")!, attitude: parts("scene.attitude")!, forces: acts, held: null, travel: null });
    }
    const { labels } = this.data, of = (values: Float64Array, index: number) => column(values, index, labels.length);
    const cut = (name: string) => parts(name)?.subarray(0, rows * this.data.unit.results[name]![2].slice(1).reduce((a, b) => a * b, 1)) ?? null;
    const [point, force, held, caught] = ["contact_point", "log.contact_point", "azimuth", "log.azimuth", "contact_force", "hold_force", "latch_force"].map(parts);
    const forces = new Map(labels.map((label, index) => [label, { place: of(point!, index), vector: of(force!, index) as Float64Array }] as [string, { place: Float64Array | null; vector: Float64Array }]));
    const pulls = this.data.latch;
    if (pulls && held && caught) forces.set(pulls, { place: null, vector: held.map((one, i) => one + caught[i]!) });
    scene.retake({ time: outcome.time, position: parts("position")!, attitude: parts("attitude")!, forces, held: cut("latch_held"), travel: cut("latch_travel") });
  }

  /** The rows of the contacts as the report had them. */
  private rows: HTMLTableRowElement[] | null = null;

  private showContacts(outcome: Outcome | null, classes: readonly (string | null)[] | null): void {
    const table = document.querySelector<HTMLTableElement>("table[data-live=contacts]"), body = table?.tBodies[0];
    if (!table || !body) return;
    this.rows ??= [...body.rows];
    if (!outcome) {
      body.replaceChildren(...this.rows);
      return;
    }
    const keys = table.dataset.columns!.split(" "), heads = table.tHead!.rows[table.tHead!.rows.length - 1]!.cells;
    const column = (key: keyof PlacedContact) => outcome.contacts.map((contact) => contact[key]);
    const places = alignNumbers(AXES.flatMap(column), 5), count = outcome.contacts.length;
    const aligned: Record<string, string[]> = Object.fromEntries([...(["onset", "release", "peak_time"] as const).map((key) => [key, alignNumbers(column(key), 6)]), ...AXES.map((axis, place) => [axis, places.slice(place * count, (place + 1) * count)]), ["azimuth", alignNumbers(column("azimuth"), 5)]]);
    body.replaceChildren(...outcome.contacts.map((contact, i) => {
      const names = this.data.contacts[contact.pair] ?? ["", ""];
      const text = (key: string): string => {
        if (key === "number") return `Q${i + 1}`;
        if (key === "feature" || key === "surface") return names[key === "feature" ? 0 : 1]!;
        if (key === "release" && !Number.isFinite(contact.release)) return "still touching";
        if (key === "class") return classes?.[i] ?? "–";
        const value = contact[key as keyof Contact];
        return aligned[key]?.[i] ?? writeNumber(ENERGIES.includes(key) ? withoutRounding(value, outcome.figures.get("kinetic_energy_start_J") ?? 0) : value);
      };
      return element("tr", {}, ...keys.map((key, place) => element("td", { class: (heads[place]?.classList.contains("worded") ? (place ? "worded" : "worded brief") : "") + (text(key) === "active" ? " active" : "") + (heads[place]?.classList.contains("first") ? " first" : "") || null, title: text(key) === "–" ? whyNot(key, classes !== null) : null }, text(key))));
    }));
  }
}

/** Return why a contact has nothing in a column. */
function whyNot(key: string, classed: boolean): string {
  if (key === "azimuth") return "Only a single member on a cone has one.";
  return key === "class" && !classed ? "This page does not know whether the laws with these numbers take energy; dockdyn run does." : "The contact was not over when the run ended.";
}
