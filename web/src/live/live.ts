// The page computes: numbers that are changed run the scenario again, and all that the page shows of it follows.
import type { Columns } from "../columns.ts";
import type { Line, Panel } from "../chart.ts";
import { element } from "../dom.ts";
import type { Figure } from "../figure.ts";
import { copyCommand } from "../tables.ts";
import { CONTACT, fitUp, type Event } from "../panel.ts";
import { writeNumber, type Span } from "../scales.ts";
import { contactsOf, type Contact } from "./contacts.ts";
import { inBrief, isAllowed, shownUnit } from "./numbers.ts";
import { Runner } from "./runner.ts";
import { Sliders } from "./sliders.ts";
import { showRequirements, showTiles, type JudgedRequirement, type RequirementToMeet } from "./judge.ts";
import type { SceneView } from "../scene/scene.ts";
import type { PackedUnit } from "./unit.ts";
import type { Answer } from "./worker.ts";

export interface LiveData {
  unit: PackedUnit;
  words: Record<string, [words: string, unit: string, kind: "float" | "int" | "bool"]>; // of figures
  stated: Record<string, number>; // figures of the report
  requirements: RequirementToMeet[];
  contacts: [string, string][];
  labels: string[]; // of the contacts in the scene
  latch: string; // whose pull the scene shows
  aim: string;
  scattered: string[];
}

export interface Page {
  figures: Figure[];
  columns: Columns;
  showEvents(events: Event[]): void;
  scene: SceneView | null;
}

const FINISHED = 1; // as `dockdyn.integrate.solution.Status`
const SOON = 2000; // ms, that a run may take unasked
const LONG = 120_000; // ms, and asked
const SETTLED = 250; // ms after the last move
const TRIED = 0.1; // of a number, to see what it does
const PATIENCE = 8000; // ms for that, in all
const GHOST = { colour: "ink3", dash: [3, 2], name: "", read: false, marker: "", width: 1 };
const DELAY = "loop.delay";
const SHOWN = ["depth", "position", "attitude", "contact_point", "contact_force", "hold_force", "latch_force"]; // besides curves

/** What a run left, by name. */
export interface Outcome {
  status: number;
  took: number; // ms
  time: Float64Array; // s, of its samples
  contacts: Contact[];
  figures: Map<string, number>;
  variable(name: string): Float64Array;
}

/** Say why the page does not compute. */
export function giveUp(why: string): void {
  document.getElementById("live-numbers")!.replaceChildren(element("p", { class: "note" }, `This page does not compute here: ${why}.`));
  document.getElementById("live")!.closest("section")!.hidden = true;
}

export class Live {
  private readonly runner: Runner;
  private readonly names: string[];
  private readonly panels: { figure: Figure; panel: Panel; own: Pick<Panel, "lines" | "bands" | "notes" | "x" | "y" | "limits"> }[];
  private readonly values: number[];
  private readonly sliders: Sliders;
  private readonly said = element("p", { class: "live-said" });
  private readonly table = element("div", { class: "panel live-figures scroll", tabindex: 0, role: "region", "aria-label": "Key figures" });
  private readonly trust = element("p", { class: "note" });
  private readonly again = element("div", { class: "live-again", hidden: true });
  private readonly wait = element("div", { class: "live-wait", hidden: true });
  private own: Outcome | null = null;
  private shown = 0;

  constructor(private readonly host: HTMLElement, private readonly data: LiveData, private readonly page: Page, script: string) {
    const { unit } = data;
    this.runner = new Runner(script, unit);
    this.values = unit.numbers.map(({ value }) => value);
    this.panels = page.figures.flatMap((figure) => figure.chart.panels.map((panel) => ({ figure, panel, own: { lines: panel.lines, bands: panel.bands, notes: panel.notes, x: panel.x, y: panel.y, limits: panel.limits } })));
    const sources = this.panels.flatMap(({ panel }) => panel.lines.flatMap((line) => line.source?.terms.map(([name]) => name) ?? []));
    const offered = new Set(Object.keys(unit.results));
    this.names = [...new Set(["time", "sampled", "moments", ...sources.filter((name) => offered.has(name)), ...[...offered].filter((name) => /^(figure|contact)\./.test(name)), ...SHOWN.filter((name) => offered.has(name))])];
    this.sliders = new Sliders(unit.numbers, data.scattered, (place, value) => this.change(place, value));
    const reset = element("button", { type: "button", class: "tool", click: () => this.reset() }, "As reported");
    document.getElementById("live-numbers")!.append(this.said, this.wait, this.sliders.node, element("div", { class: "live-foot" }, reset));
    host.append(this.again, this.table, this.trust);
  }

  /** Run the report's own numbers, say how near that comes, and what each number does. */
  async begin(): Promise<void> {
    const answer = await this.runner.askLater(this.values, this.names, LONG);
    if (!answer) return;
    this.own = answer.error ? null : this.outcomeOf(answer);
    if (!this.own || this.own.status !== FINISHED) {
      return giveUp(answer.error ?? "its own run does not finish");
    }
    this.host.dataset.took = answer.took.toFixed(1);
    this.trust.textContent = this.ownDifference();
    this.tellFigures(this.own);
    this.said.replaceChildren("Move a number: the run is computed again, and curves, tables and requirements follow.");
    this.host.dataset.ready = "";
    await this.tryNumbers();
  }

  private outcomeOf(answer: Answer, values: readonly number[] = this.values): Outcome {
    const { found } = answer, sampled = found.sampled![0]!, end = found.time![0]!, { interval, numbers } = this.data.unit;
    const time = Float64Array.from({ length: sampled }, (_, i) => Math.min(i * interval, end));
    const figures = new Map(Object.entries(found).filter(([name]) => name.startsWith("figure.")).map(([name, value]) => [name.slice(7), value[0]!]));
    const place = numbers.findIndex(({ key }) => key === DELAY);
    const contacts = contactsOf((name) => found[`contact.${name}`]!, found.moments![0]! + 1, this.data.contacts.length, place < 0 ? 0 : values[place]!);
    return { status: answer.status, took: answer.took, time, contacts, figures, variable: (name) => found[name]! };
  }

  /** Say how far the report's own numbers, computed here, are from what the report says. */
  private ownDifference(): string {
    let largest = 0, where = "", count = 0;
    for (const [name, value] of Object.entries(this.data.stated)) {
      const here = this.own!.figures.get(name);
      if (here === undefined || !Number.isFinite(here)) continue;
      count += 1;
      const off = Math.abs(here - value) / (Math.abs(value) || 1);
      if (off > largest) [largest, where] = [off, name];
    }
    this.host.dataset.difference = String(largest);
    const found = largest ? `the largest difference of ${count} figures is ${writeNumber(largest, 2)} of ${where}` : `all ${count} figures are equal to the last digit`;
    return `The report’s own numbers, computed here in ${this.own!.took.toFixed(0)} ms: ${found}.`;
  }

  // ── numbers ──

  private change(place: number, value: number): void {
    this.values[place] = value;
    void this.run();
  }

  private reset(): void {
    this.data.unit.numbers.forEach(({ value }, place) => (this.values[place] = value));
    this.sliders.show(this.values);
    void this.run();
  }

  private async run(most = SOON): Promise<void> {
    const wanted = [...this.values], waiting = setTimeout(() => this.showWait(), 500);
    const began = performance.now();
    const answer = await this.runner.ask(wanted, this.names, most);
    clearTimeout(waiting);
    if (!answer) return;
    this.wait.hidden = true;
    if (answer.error) return this.refuse(answer.error, most);
    const outcome = this.outcomeOf(answer, wanted);
    this.show(outcome);
    this.host.dataset.took = answer.took.toFixed(1);
    this.host.dataset.drawn = (performance.now() - began).toFixed(1);
    this.host.dataset.shown = String((this.shown += 1));
    clearTimeout(this.trying);
    this.trying = setTimeout(() => void this.tryNumbers(), SETTLED);
  }

  private showWait(): void {
    this.wait.hidden = false;
    this.wait.replaceChildren("Computing … ", element("button", { type: "button", class: "tool", click: () => this.runner.stop() }, "Stop"));
  }

  private refuse(why: string, most: number): void {
    this.said.replaceChildren(element("b", { class: "bad" }, `Not computed: ${why}.`), " What is shown is of the numbers before.");
    if (most === SOON && /longer/.test(why)) this.said.append(" ", element("button", { type: "button", class: "tool", click: () => void this.run(LONG) }, "Run it all the same"));
    this.host.dataset.shown = String((this.shown += 1));
  }

  // ── what each number does ──

  private trying: ReturnType<typeof setTimeout> | undefined;

  /** See what a tenth more of each number does to the figure that matters: those that do most come first. */
  private async tryNumbers(): Promise<void> {
    const { numbers } = this.data.unit, base = [...this.values], name = this.aim();
    const answers = await this.runner.askLater(base, [`figure.${name}`], SOON);
    if (!answers || answers.error || answers.status !== FINISHED) return;
    const before = answers.found[`figure.${name}`]![0]!, effects = new Map<number, number>();
    const until = performance.now() + PATIENCE, order = this.sliders.chosen.concat(numbers.map((_, place) => place).filter((place) => !this.sliders.chosen.includes(place)));
    for (const place of order) {
      const value = base[place]! * (1 + TRIED);
      if (!base[place] || !isAllowed(numbers[place]!, value) || performance.now() > until) continue;
      const answer = await this.runner.askLater(base.map((one, i) => (i === place ? value : one)), [`figure.${name}`], SOON);
      if (!answer) return;
      const change = answer.status === FINISHED ? answer.found[`figure.${name}`]![0]! - before : NaN;
      if (Number.isFinite(change)) effects.set(place, change);
    }
    const [words, unit] = this.data.words[name] ?? [name, "", "float"];
    this.sliders.tellEffects(effects, words, unit);
    this.host.dataset.tried = "";
  }

  private aim(): string {
    return this.own!.figures.has(this.data.aim) ? this.data.aim : "kinetic_energy_end_J";
  }

  // ── what follows ──

  private changed(): number[] {
    return this.data.unit.numbers.flatMap(({ value }, place) => (this.values[place] === value ? [] : [place]));
  }

  private show(outcome: Outcome): void {
    Object.assign(this.host, { outcome }); // for scripts
    const changed = this.changed(), moved = changed.length > 0;
    document.documentElement.classList.toggle("what-if", moved);
    this.drawCurves(moved ? outcome : null);
    this.moveScene(moved ? outcome : null);
    const judged = showRequirements(this.data.requirements, outcome.figures, moved);
    showTiles(outcome.figures, moved);
    this.showContacts(moved ? outcome : null);
    this.tellFigures(outcome);
    this.sayOutcome(outcome, changed, judged);
    this.tellAgain(changed);
  }

  private sayOutcome(outcome: Outcome, changed: number[], judged: JudgedRequirement[]): void {
    const { numbers } = this.data.unit;
    if (!changed.length) {
      this.said.replaceChildren("As reported.");
      return;
    }
    const moves = changed.map((place) => {
      const { unit, factor } = shownUnit(numbers[place]!), number = numbers[place]!;
      return `${number.key} ${inBrief(number.value * factor)} → ${inBrief(this.values[place]! * factor)} ${unit}`.trim();
    });
    const figures = outcome.figures, own = this.own!, parts: string[] = [];
    if (outcome.status !== FINISHED) parts.push(`the run stops at ${writeNumber(outcome.time.at(-1)!, 4)} s`);
    const overlaps = this.overlapAtStart(outcome);
    if (overlaps) parts.push(overlaps);
    const caught = figures.get("captured");
    if (caught !== undefined && Number.isFinite(caught)) parts.push(caught ? `captured at ${writeNumber(figures.get("capture_time_s")!, 4)} s` : "not captured");
    parts.push(`${outcome.contacts.length} contact${outcome.contacts.length === 1 ? "" : "s"} (${own.contacts.length} reported)`);
    const missed = judged.filter(({ met }) => met !== true);
    if (judged.length) parts.push(missed.length ? `${missed.length} of ${judged.length} requirements not met: ${missed.map(({ name }) => name).join(", ")}` : `all ${judged.length} requirements met`);
    this.said.replaceChildren(element("b", {}, moves.join("; ")), `: ${parts.join("; ")}.`);
    this.said.classList.toggle("bad", missed.length > 0 || overlaps !== "");
  }

  /** Say that bodies overlap at the start where they did not in the report, which a run would refuse; empty where not. */
  private overlapAtStart(outcome: Outcome): string {
    const pairs = this.data.contacts.length;
    if (!pairs || !this.names.includes("depth")) return "";
    const now = outcome.variable("depth").subarray(0, pairs), then = this.own!.variable("depth").subarray(0, pairs);
    const found = this.data.contacts.filter((_, pair) => now[pair]! > 0 && !(then[pair]! > 0));
    return found.length ? `${found.map((both) => both.join("–")).join(", ")} overlap${found.length > 1 ? "" : "s"} at the start, which dockdyn run may refuse` : "";
  }

  private seriesOf(line: Line, outcome: Outcome): [Float64Array, Float64Array] | null {
    const { source } = line;
    if (!source) return null;
    if (source.contacts) {
      const [across, up] = source.contacts as [keyof Contact, keyof Contact];
      const there = outcome.contacts.filter((contact) => Number.isFinite(contact[across]) && Number.isFinite(contact[up]));
      return [Float64Array.from(there, (contact) => contact[across]), Float64Array.from(there, (contact) => contact[up])];
    }
    const rows = outcome.time.length, sum = new Float64Array(rows);
    for (const [name, component, factor] of source.terms) {
      if (!this.names.includes(name)) return null;
      const values = outcome.variable(name), shape = this.data.unit.results[name]![2], width = shape.slice(1).reduce((a, b) => a * b, 1);
      for (let row = 0; row < rows; row++) sum[row] = sum[row]! + factor * values[row * width + component]!;
    }
    if (source.since_start) {
      const first = sum[0]!;
      for (let row = 0; row < rows; row++) sum[row] = sum[row]! - first;
    }
    return [outcome.time, sum];
  }

  private drawCurves(outcome: Outcome | null): void {
    const { columns } = this.page, drawn = new Set<Figure>();
    columns.forgetMore();
    for (const { figure, panel, own } of this.panels) {
      Object.assign(panel, own);
      drawn.add(figure);
      if (!outcome) continue;
      const ghosts: Line[] = [], lines: Line[] = [];
      for (const line of own.lines) {
        const series = this.seriesOf(line, outcome);
        if (!series) continue;
        if (line.joined) ghosts.push({ ...line, ...GHOST });
        lines.push({ ...line, x: columns.add(series[0]), y: columns.add(series[1]) });
      }
      const whole = lines.length === own.lines.length && lines.length > 0;
      figure.node.classList.toggle("reported", !whole);
      if (!whole) continue;
      const spans = outcome.contacts.map(({ onset, release }, i) => ({ start: onset, end: Number.isFinite(release) ? release : outcome.time.at(-1)! , name: `Q${i + 1}` }));
      const kept = own.bands.filter(({ name }) => !CONTACT.test(name)), like = own.bands.find(({ name }) => CONTACT.test(name));
      Object.assign(panel, { lines: [...ghosts, ...lines], notes: [], bands: [...kept, ...spans.map((span) => ({ colour: "contact", axis: "x", alpha: 1, legend: "", ...like, ...span }))] });
      panel.limits = [own.limits[0], null];
      panel.x = [this.windowOf(own.x[0], own.x[1], outcome), own.x[1]];
      panel.y = [fitUp(panel, columns, panel.x[0]), fitUp(panel, columns, panel.x[1])];
    }
    if (!outcome) for (const figure of drawn) figure.node.classList.remove("reported");
    for (const figure of drawn) figure.drawWhenSeen();
    const found = (outcome ?? this.own!).contacts.map(({ onset, release }, i) => ({ name: `Q${i + 1}`, start: onset, end: Number.isFinite(release) ? release : this.own!.time.at(-1)! }));
    this.page.showEvents(found);
  }

  /** Return the window on which a curve opens: that of the report, so wide that it holds these contacts, too. */
  private windowOf([start, end]: Span, [first, last]: Span, { contacts, time }: Outcome): Span {
    if (!contacts.length) return [start, end];
    const from = contacts[0]!.onset, to = Math.max(...contacts.map(({ release }) => (Number.isFinite(release) ? release : time.at(-1)!)));
    const room = 0.05 * (to - from);
    return [Math.max(Math.min(start, from - room), first), Math.min(Math.max(end, to + room), last)];
  }

  private moveScene(outcome: Outcome | null): void {
    const { scene } = this.page, host = document.getElementById("scene")?.closest(".stage");
    if (!scene?.retakes) {
      host?.classList.toggle("reported", outcome !== null);
      return;
    }
    if (!outcome) return scene.retake(null);
    const { labels } = this.data, count = labels.length, rows = outcome.time.length, parts = (name: string) => (this.names.includes(name) ? outcome.variable(name) : null);
    const of = (values: Float64Array, index: number) => Float64Array.from({ length: 3 * rows }, (_, i) => values[(Math.floor(i / 3) * count + index) * 3 + (i % 3)]!);
    const [point, force, held, caught] = ["contact_point", "contact_force", "hold_force", "latch_force"].map(parts);
    const forces = new Map(labels.map((label, index) => [label, { place: of(point!, index), vector: of(force!, index) as Float64Array }] as [string, { place: Float64Array | null; vector: Float64Array }]));
    const pulls = this.data.latch;
    if (pulls && held && caught) forces.set(pulls, { place: null, vector: held.map((one, i) => one + caught[i]!) });
    scene.retake({ time: outcome.time, position: parts("position")!, attitude: parts("attitude")!, forces });
  }

  /** The rows of the contacts as the report had them. */
  private rows: HTMLTableRowElement[] | null = null;

  private showContacts(outcome: Outcome | null): void {
    const table = document.querySelector<HTMLTableElement>("table[data-live=contacts]"), body = table?.tBodies[0];
    if (!table || !body) return;
    this.rows ??= [...body.rows];
    if (!outcome) {
      body.replaceChildren(...this.rows);
      return;
    }
    const keys = table.dataset.columns!.split(" "), heads = table.tHead!.rows[table.tHead!.rows.length - 1]!.cells;
    body.replaceChildren(...outcome.contacts.map((contact, i) => {
      const names = this.data.contacts[contact.pair] ?? ["", ""];
      const text = (key: string): string => {
        if (key === "number") return `Q${i + 1}`;
        if (key === "feature" || key === "surface") return names[key === "feature" ? 0 : 1]!;
        if (key === "release" && !Number.isFinite(contact.release)) return "still touching";
        if (key === "-") return "–";
        return writeNumber(contact[key as keyof Contact], /onset|release|time/.test(key) ? 6 : 4);
      };
      return element("tr", {}, ...keys.map((key, place) => element("td", { class: heads[place]?.classList.contains("worded") ? "worded" : null }, text(key))));
    }));
  }

  private tellFigures(outcome: Outcome): void {
    const own = this.own!, rows = Object.entries(this.data.words).flatMap(([name, [words, unit, kind]]) => {
      const then = own.figures.get(name), now = outcome.figures.get(name);
      if (then === undefined || now === undefined || (!Number.isFinite(then) && !Number.isFinite(now))) return [];
      const write = (value: number) => (!Number.isFinite(value) ? "–" : kind === "bool" ? (value ? "yes" : "no") : kind === "int" ? String(value) : writeNumber(value));
      const change = now === then || kind === "bool" ? "" : Number.isFinite(now - then) ? `${now > then ? "+" : ""}${then ? `${writeNumber((100 * (now - then)) / Math.abs(then), 3)} %` : writeNumber(now - then, 3)}` : "";
      return [element("tr", { class: now === then ? null : "changed", "data-figure": name }, element("td", { class: "worded" }, words, unit ? element("span", { class: "unit" }, unit) : null), element("td", {}, write(then)), element("td", {}, element("b", {}, write(now))), element("td", {}, change))];
    });
    const head = element("thead", {}, element("tr", {}, ...["figure", "in the report", "now", "change"].map((words, place) => element("th", { scope: "col", class: place ? null : "worded" }, words))));
    this.table.replaceChildren(element("table", { class: "dense" }, head, element("tbody", {}, ...rows)));
  }

  /** Say how the command line gives what is shown. */
  private tellAgain(changed: number[]): void {
    this.again.hidden = !changed.length;
    const set = changed.flatMap((place) => this.data.unit.numbers[place]!.places.map(([, sign], i) => `--set ${this.data.unit.numbers[place]!.keys[i]}=${sign * this.values[place]!}`));
    const command = element("code", { class: "command", tabindex: 0 }, `dockdyn run scenario.toml ${set.join(" ")}`);
    this.again.replaceChildren(element("span", { class: "note" }, "The same on the command line:"), element("div", { class: "line-of-command" }, command));
    copyCommand(command);
  }
}
