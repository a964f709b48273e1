// The page of a campaign computes: numbers that are changed run all its cases again, and what the page says of them follows.
import { element } from "../dom.ts";
import { writeNumber } from "../scales.ts";
import { judgeCases, type RequirementOfCases } from "./cases.ts";
import { Distributions } from "./distributions.ts";
import { refusalOf, scaled, type Law } from "./draws.ts";
import { CaseMap, type CaseAxis, type Outcomes } from "./map.ts";
import { isAllowed, keyInWords, moveInWords, settingsOf, shownUnit, tellCommand, withSettings } from "./numbers.ts";
import { amountInWords } from "./judge.ts";
import { tellMisses } from "./misses.ts";
import { Pool } from "./pool.ts";
import { tellRequirements, tellTables, tellTiles, tellVerdict, toldOf, type Told } from "./retold.ts";
import { Runner } from "./runner.ts";
import { giveUp, FINISHED, ShownRun, type Page, type RunShown, type Scripts } from "./shown.ts";
import { shareInWords } from "./shares.ts";
import { Sliders } from "./sliders.ts";
import type { NumberOfUnit } from "./programs.ts";
import { tellAdvice, type AdviceNow } from "./verdict.ts";
import type { Answer } from "./worker.ts";

export interface CampaignData extends RunShown {
  cases: number;
  command: string;
  rerun: string;
  laws: Law[];
  stored: Record<string, number>; // columns of figures, by name
  compared: number; // cases whose figures are there to the last bit
  failed: number[];
  requirements: RequirementOfCases[];
  loads: string[]; // figures in the rows of their table
  named: Record<string, [words: string, unit: string]>;
  peak: string | null;
  captures: boolean;
  rooms: number[]; // m, how deep each contact may be at the start
  worst: number[];
  deciding: string[];
  shown: number; // the case that the report shows in motion
}

const CASE = 2000; // ms, that a case may take
const OFFERED = 6; // numbers to change, unasked
const WITHOUT = new Set(["captured", "outcome_open", "peak_force_known", "end_time_s"]); // figures that are no axis of the map

/** What a number to change is of. */
type Changed = { number: number } | { law: number; field: string } | { requirement: number };

/** What cases came to. */
interface Computed {
  settings: string; // of all that is simulated
  values: Float64Array[]; // of each law's keys, one after the other
  figures: Map<string, Float64Array>;
  failed: Set<number>;
}

export class LiveCampaign {
  private readonly pool: Pool;
  private readonly viewer: Runner;
  private readonly run: ShownRun;
  private readonly numbers: NumberOfUnit[] = []; // that can be moved
  private readonly of: Changed[] = [];
  private readonly values: number[];
  private readonly sliders: Sliders;
  private readonly map: CaseMap;
  private readonly draws: Float64Array[][];
  private readonly keys: string[]; // that were drawn
  private readonly own: Computed;
  private readonly then: Told;
  private readonly said = element("p", { class: "live-said" });
  private readonly problem = element("p", { class: "live-problem", role: "status" });
  private readonly wait = element("div", { class: "live-wait", hidden: true });
  private readonly counts = element("div", { class: "counts" });
  private readonly again = element("div", { class: "live-again", hidden: true });
  private readonly trust = element("p", { class: "note" });
  private readonly distributions: Distributions;
  private now: Computed;
  private told: Told;
  private chosen: number;
  private shown = 0;

  constructor(private readonly host: HTMLElement, private readonly data: CampaignData, private readonly page: Page, scripts: Scripts) {
    const { unit, laws, requirements, stored, cases } = data, bits = page.columns;
    this.pool = new Pool(scripts.run!, unit, cases);
    this.viewer = new Runner(scripts.run!, unit);
    this.run = new ShownRun(data, page, page.figures.filter(({ chart }) => chart.events && chart.over));
    this.draws = laws.map((law) => law.draws.map((place) => bits.at(place)));
    this.keys = laws.flatMap(({ keys }) => keys);
    const drawn = new Set(laws.flatMap(({ places }) => places));
    unit.numbers.forEach((number, place) => drawn.has(place) || this.offer(number, { number: place }));
    laws.forEach((law, place) => Object.entries(law.fields).forEach(([field, value]) => this.offer(fieldAsNumber(law, field, value, unit.numbers[law.places[0]!]!), { law: place, field })));
    requirements.forEach(({ name, limit, si }, requirement) => typeof limit === "number" && this.offer(asNumber(`requirements.${name}`, si, limit), { requirement }));
    this.values = this.numbers.map(({ value }) => value);
    this.own = { settings: this.settings(), values: this.drawnValues(), figures: new Map(Object.entries(stored).map(([name, place]) => [name, bits.at(place)])), failed: new Set(data.failed) };
    this.now = this.own;
    this.then = this.told = this.toldOf(this.own, requirements);
    this.distributions = new Distributions(page.figures, bits, this.then, data.peak);
    this.chosen = data.shown;
    this.sliders = new Sliders(this.numbers, this.firstKeys(), (place, value) => this.change(place, value), OFFERED);
    const reset = element("button", { type: "button", class: "tool", click: () => this.reset() }, "As reported");
    document.getElementById("live-numbers")!.append(this.said, this.problem, this.sliders.node, this.counts, element("div", { class: "live-foot" }, this.wait, reset));
    host.append(this.again, this.trust);
    const up = data.peak ?? requirements.find(({ limit }) => typeof limit === "number")?.figure, [first, second] = data.deciding;
    this.map = new CaseMap(document.getElementById("live-map")!, [up && stored[up] !== undefined ? up : second ?? first!, first!], (place) => void this.choose(place));
    this.map.show(this.axes(), this.outcomes());
    this.map.choose(this.chosen);
    this.tellCounts();
    this.tellMisses();
    this.said.replaceChildren(`Move a number: all ${cases} cases are computed again in this page.`);
  }

  private offer(number: NumberOfUnit, of: Changed): void {
    this.numbers.push(number);
    this.of.push(of);
  }

  /** Return the keys of the numbers that are offered first: those of what decides most, limits, then what is usual. */
  private firstKeys(): string[] {
    const { laws, deciding } = this.data, first = laws.find(({ keys, law }) => law && keys.includes(deciding[0]!));
    return [...Object.keys(first?.fields ?? {}).map((field) => `${first!.table}.${field}`), ...this.numbers.map(({ key }) => key).filter((key) => key.startsWith("requirements.")).slice(0, 1)];
  }

  /** Run the report's own numbers again, and the case that is shown; say how near the report that comes. */
  async begin(): Promise<void> {
    await this.choose(this.chosen);
    const count = Math.min(this.data.cases, this.data.compared), began = performance.now();
    const found = await this.compute(count);
    if (!found) return;
    if (!("figures" in found)) return giveUp(found.error);
    this.trust.textContent = this.difference(found, count, performance.now() - began);
    this.host.dataset.ready = "";
  }

  private difference(found: Computed, count: number, took: number): string {
    let largest = 0, where = "";
    for (const [name, values] of found.figures) {
      for (let row = 0; row < count; row++) {
        const here = values[row]!, there = this.own.figures.get(name)![row]!;
        if (Object.is(here, there)) continue;
        const off = Number.isNaN(here) || Number.isNaN(there) ? Infinity : Math.abs(here - there) / (Math.abs(there) || 1);
        if (off > largest) [largest, where] = [off, `${name} of case ${row}`];
      }
    }
    Object.assign(this.host.dataset, { difference: String(largest), took: took.toFixed(0), compared: String(count) });
    const all = count === this.data.cases ? `All ${count} cases` : `The first ${count} of ${this.data.cases} cases`;
    const said = largest ? `the largest difference from the report’s ${found.figures.size} figures of each is ${writeNumber(largest, 2)} of ${where}` : `all ${found.figures.size} figures of each are equal to the report’s to the last bit`;
    return `${all}, computed here in ${(took / 1000).toFixed(1)} s by ${this.pool.workers} worker${this.pool.workers > 1 ? "s" : ""}: ${said}.`;
  }

  // ── numbers ──

  private fieldsOf(law: number): Record<string, number> {
    return Object.fromEntries(this.of.flatMap((one, place) => ("law" in one && one.law === law ? [[one.field, this.values[place]!]] : [])));
  }

  /** Return the values of the keys that are drawn, over the cases. */
  private drawnValues(): Float64Array[] {
    return this.data.laws.flatMap((law, place) => {
      const found = scaled(law, this.fieldsOf(place), this.draws[place]!);
      return law.keys.map((_, key) => found[key % found.length]!);
    });
  }

  private requirements(): RequirementOfCases[] {
    return this.data.requirements.map((one, requirement) => {
      const place = this.of.findIndex((other) => "requirement" in other && other.requirement === requirement);
      return place < 0 ? one : { ...one, limit: this.values[place]! };
    });
  }

  /** Return the values of a case, in the order of the numbers of the unit. */
  private valuesOf(row: number, drawn: Float64Array[]): number[] {
    const values = this.data.unit.numbers.map(({ value }) => value);
    this.of.forEach((one, place) => "number" in one && (values[one.number] = this.values[place]!));
    this.data.laws.flatMap(({ places }) => places).forEach((place, key) => (values[place] = drawn[key]![row]!));
    return values;
  }

  private change(place: number, value: number): void {
    this.values[place] = value;
    void this.follow();
  }

  private reset(): void {
    this.numbers.forEach(({ value }, place) => (this.values[place] = value));
    this.sliders.show(this.values);
    void this.follow();
  }

  /** Return what all that is simulated is set to: limits are not. */
  private settings(): string {
    return this.values.filter((_, place) => !("requirement" in this.of[place]!)).join(" ");
  }

  private changed(): number[] {
    return this.numbers.flatMap(({ value }, place) => (this.values[place] === value ? [] : [place]));
  }

  /** Compute what has changed and show it. */
  private async follow(): Promise<void> {
    const { laws } = this.data;
    this.problem.textContent = laws.map((law, place) => refusalOf(law, this.fieldsOf(place))).find(Boolean) ?? "";
    if (this.problem.textContent) return;
    const changed = this.changed(), began = performance.now(), there = [this.own, this.now].find(({ settings }) => settings === this.settings());
    if (there) this.stop();
    const found = there ?? await this.compute(this.data.cases);
    if (!found) return;
    if (!("figures" in found)) {
      this.problem.textContent = `Not computed: ${found.error}. What is shown is of the numbers before.`;
    } else {
      this.now = found;
      this.show(changed);
      this.host.dataset.took = (performance.now() - began).toFixed(0);
    }
    this.host.dataset.shown = String((this.shown += 1));
  }

  /** Run the first cases with the numbers as they are; null where another wish came or it was stopped. */
  private async compute(count: number): Promise<Computed | { error: string } | null> {
    const { unit, stored, rooms } = this.data, drawn = this.drawnValues(), names = Object.keys(stored), settings = this.settings();
    const asked = ["status", ...names.map((name) => `figure.${name}`), ...("depth" in unit.results ? ["depth"] : [])];
    const figures = new Map(names.map((name) => [name, new Float64Array(count).fill(NaN)])), failed = new Set<number>();
    let done = 0, error = "";
    const told = setTimeout(() => this.tellProgress(0, count), 300);
    const tell = (row: number, answer: Answer) => {
      done += 1;
      if (!this.wait.hidden) this.tellProgress(done, count);
      const refused = !this.allowed(drawn, row) || answer.found.depth?.subarray(0, rooms.length).some((depth, contact) => depth > rooms[contact]!);
      if (answer.error && !/longer/.test(answer.error)) error = answer.error;
      if (answer.error || answer.status !== FINISHED || refused) failed.add(row);
      else for (const [name, values] of figures) values[row] = answer.found[`figure.${name}`]![0]!;
    };
    const all = await this.pool.run(count, (row) => this.valuesOf(row, drawn), asked, CASE, tell);
    clearTimeout(told);
    if (!all) return null;
    this.wait.hidden = true;
    return error ? { error } : { settings, values: drawn, figures, failed };
  }

  /** Return whether all numbers of a case that were drawn are ones that their keys allow. */
  private allowed(drawn: Float64Array[], row: number): boolean {
    return this.data.laws.flatMap(({ places }) => places).every((place, key) => isAllowed(this.data.unit.numbers[place]!, drawn[key]![row]!));
  }

  private tellProgress(done: number, count: number): void {
    this.wait.hidden = false;
    const stop = element("button", { type: "button", class: "tool", click: () => this.tellStopped() }, "Stop");
    this.wait.replaceChildren(`${done} of ${count} cases `, element("progress", { max: count, value: done, "aria-label": "Cases computed" }), stop);
  }

  private stop(): void {
    this.pool.stop();
    this.wait.hidden = true;
  }

  private tellStopped(): void {
    this.stop();
    this.said.replaceChildren(element("b", { class: "bad" }, "Stopped."), " What is shown is of the numbers before.");
    this.host.dataset.shown = String((this.shown += 1));
  }

  // ── what follows ──

  private toldOf({ figures, failed }: Computed, requirements: RequirementOfCases[]): Told {
    return toldOf(requirements, figures, judgeCases(requirements, figures, this.data.cases), this.data.captures, failed.size);
  }

  private show(changed: number[]): void {
    const moved = changed.length > 0, { page, then } = this;
    document.documentElement.classList.toggle("what-if", moved);
    this.told = moved ? this.toldOf(this.now, this.requirements()) : then;
    Object.assign(this.host, { computed: this.now, told: this.told, page }); // for scripts
    const now = moved ? this.told : null;
    tellVerdict(now, then, this.data.peak ? [this.data.peak, this.data.named[this.data.peak]![0]] : null);
    tellTiles(now);
    tellRequirements(now, then);
    tellTables(now, this.data.loads);
    this.distributions.show(now);
    for (const figure of page.figures) if (!(figure.chart.events && figure.chart.over) && !this.distributions.follows(figure)) figure.node.classList.toggle("reported", moved);
    for (const node of document.querySelectorAll("#key-figures .pairs")) node.classList.toggle("reported", moved);
    tellAdvice(moved ? { settings: null, worst: this.worstAdvice() } : null);
    this.map.show(this.axes(), this.outcomes());
    this.tellCounts();
    this.tellMisses();
    this.tellMoves(changed);
    this.again.hidden = !moved;
    tellCommand(this.again, this.data.command, changed.flatMap((place) => this.settingsOf(place)));
    void this.choose(this.chosen);
  }

  /** Return the advice to see the worst case of the numbers as they are; nothing where all are as they must be. */
  private worstAdvice(): AdviceNow["worst"] {
    const { told } = this, [worst] = this.worstFirst();
    if (worst === undefined || told.all?.share === 1) return undefined;
    const margins = relativeMargins(told, worst), row = margins.indexOf(Math.min(...margins)), missed = row >= 0 && !told.judged.met[row]![worst];
    return { sentence: `See the worst case, ${worst}${missed ? ` (${told.requirements[row]!.words} missed)` : ""}, move:`, command: withSettings("dockdyn run scenario.toml", this.settingsOfCase(worst)) };
  }

  /** Return what `--set` takes to give a number that was moved. */
  private settingsOf(place: number): string[] {
    const of = this.of[place]!, value = this.values[place]!;
    if (!("requirement" in of)) return settingsOf(this.numbers[place]!, value);
    const { name, relation, si } = this.data.requirements[of.requirement]!;
    return [`requirements.${name}=${`${relation} ${value} ${si}`.trim()}`];
  }

  private tellMoves(changed: number[]): void {
    if (!changed.length) return this.said.replaceChildren("As reported.");
    const { then, told } = this, parts: (string | Node)[] = [];
    for (const [words, now, before] of [["all met", told.all, then.all], ["captured", told.captured, then.captured]] as const) {
      if (now && before) parts.push(parts.length ? ", " : "", `${words} in `, element("b", {}, `${shareInWords(now)} %`), element("span", { class: "was" }, `${shareInWords(before)} %`));
    }
    this.said.replaceChildren(`${changed.map((place) => moveInWords(this.numbers[place]!, this.values[place]!)).join("; ")}: `, ...parts, ".");
  }

  private outcomes(): Outcomes[] {
    const { told, now, data } = this, places = Array.from({ length: data.cases }, (_, place) => place), rest = new Set(places);
    const take = (words: string, colour: string, marker: string, holds: (place: number) => boolean | undefined): Outcomes => {
      const cases = [...rest].filter(holds);
      cases.forEach((place) => rest.delete(place));
      return { words, colour, marker, cases };
    };
    const { allMet, allOpen, captured, undecided } = told.judged, judged = data.requirements.length > 0;
    return [
      take("failed", "ink", "X", (place) => now.failed.has(place)),
      ...(judged ? [take("all met", "green", "o", (place) => allMet[place])] : []),
      take("not decided", "sky", ".", (place) => (judged ? allOpen[place] : undecided[place])),
      ...(data.captures ? [take("not captured", "purple", "x", (place) => !captured[place])] : []),
      judged ? take(data.captures ? "captured, not all met" : "not all met", "orange", "^", () => true) : take(data.captures ? "captured" : "cases", "green", "o", () => true),
    ];
  }

  /** Say how many cases there are of each outcome, as a bar and in words: beside the numbers, and under the verdict. */
  private tellCounts(): void {
    const there = this.outcomes().filter(({ cases }) => cases.length), strip = document.querySelector(".strip");
    const bar = () => element("div", { class: "shares" }, ...there.map(({ colour, cases }) => element("span", { style: `flex:${cases.length} 1 0;background:var(--${colour})` })));
    const mark = (colour: string) => element("span", { class: "swatch block", style: `background: var(--${colour})` });
    this.counts.replaceChildren(bar(), ...there.map(({ words, colour, cases }) => element("p", {}, mark(colour), words, element("b", {}, String(cases.length)))));
    strip?.replaceChildren(bar(), element("p", {}, ...there.map(({ words, colour, cases }) => element("span", {}, mark(colour), `${cases.length} ${words}`))));
  }

  private tellMisses(): void {
    tellMisses(this.told, this.now.failed, this.worstFirst(), (place) => relativeMargins(this.told, place), (place) => void this.choose(place));
  }

  private axes(): CaseAxis[] {
    const { data, now } = this, limits = (figure: string) => this.told.requirements.flatMap((one) => (one.figure === figure && typeof one.limit === "number" ? [one.limit] : []));
    const figures = [...now.figures].filter(([name]) => !WITHOUT.has(name)).map(([name, values]): CaseAxis => ({ name, words: data.named[name]![0], unit: data.named[name]![1], values, limits: limits(name) }));
    const drawn = this.keys.map((key, place): CaseAxis => ({ name: key, words: key.replace(/^approach\./, "").replaceAll("_", " "), unit: unitOf(data, key), values: now.values[place]!, limits: [] }));
    return [...figures, ...drawn];
  }

  // ── one case ──

  /** Run a case and show it in curves and scene, and say what makes it. */
  private async choose(place: number): Promise<void> {
    this.chosen = place;
    this.map.choose(place);
    this.tellCase(place);
    const values = this.valuesOf(place, this.now.values), answer = await this.viewer.ask(values, this.run.names, CASE);
    if (!answer || answer.error) return;
    const outcome = this.run.outcomeOf(answer, values), own = place === this.data.shown, moved = this.changed().length > 0;
    if (!this.run.own) this.run.own = outcome; // the first that is run is the report's own
    this.run.show(own && !moved ? null : outcome, own);
    Object.assign(this.host, { outcome });
    this.host.dataset.case = String(place);
  }

  private tellCase(place: number): void {
    const { data, now, told, keys } = this, host = document.getElementById("live-case")!, title = document.querySelector("#motion h2")!;
    const order = this.worstFirst(), at = order.indexOf(place), failed = now.failed.has(place);
    const go = (by: number, words: string) => element("button", { type: "button", class: "tool", disabled: !(order[at + by] !== undefined), click: () => void this.choose(order[at + by]!) }, words);
    title.textContent = `Case ${place}${at === 0 ? ": the worst" : ""}`;
    const numbers = data.deciding.slice(0, 6).map((key) => {
      const values = now.values[keys.indexOf(key)]!, value = values[place]!, { unit, factor } = shownUnit({ unit: unitOf(data, key), value: Math.max(...values.map(Math.abs)) });
      const below = values.filter((one) => one < value).length / values.length;
      return element("div", { class: "drawn" }, element("span", { title: key }, keyInWords(key)[0]), element("b", {}, writeNumber(value * factor), element("span", { class: "unit" }, unit)), element("div", { class: "bar" }, element("i", { style: `left:${100 * below}%` })), element("span", { class: "note" }, `more than in ${Math.round(100 * below)} % of cases`));
    });
    const met = told.requirements.map((one, row) => {
      const value = told.judged.value[row]![place]!, open = told.judged.open[row]![place], holds = told.judged.met[row]![place];
      const words = typeof one.limit === "boolean" ? (Number.isNaN(value) ? "–" : value ? "true" : "false") : amountInWords(one, value);
      return element("p", { class: `met ${open ? "open" : holds ? "ok" : "bad"}` }, element("em", {}, open ? "?" : holds ? "✓" : "✗"), one.words, element("b", {}, words));
    });
    const command = element("div"), moved = this.changed().length > 0;
    tellCommand(command, moved ? "dockdyn run scenario.toml" : `${data.rerun} ${place}`, moved ? this.settingsOfCase(place) : []);
    host.replaceChildren(element("h2", {}, "What makes this case"), element("div", { class: "live-foot steps" }, go(-1, "‹ harder"), go(1, "softer ›")), failed ? element("p", { class: "live-problem" }, "It fails or is refused with these numbers.") : "", ...met, ...numbers, command);
  }

  private settingsOfCase(place: number): string[] {
    const moved = this.changed().filter((at) => "number" in this.of[at]!).flatMap((at) => this.settingsOf(at));
    return [...this.keys.map((key, at) => `${key}=${this.now.values[at]![place]!}`), ...moved];
  }

  /** Return the cases in the order of their concern: by the least margin relative to its limit, then by the largest force. */
  private worstFirst(): number[] {
    const { told, now, data } = this, force = (data.peak && now.figures.get(data.peak)) || new Float64Array(data.cases);
    if (!this.changed().length && data.worst.length) {
      const rest = order(told, force, now.failed).filter((place) => !data.worst.includes(place));
      return [...data.worst, ...rest];
    }
    return order(told, force, now.failed);
  }
}

/** Return the margins of a case to its requirements, relative to their limits: infinite where that is not decided. */
function relativeMargins({ judged, requirements }: Told, place: number): number[] {
  return requirements.map(({ limit }, row) => {
    const margin = judged.margin[row]![place]!;
    if (judged.open[row]![place]) return Infinity;
    return Number.isFinite(margin) ? margin / (Math.abs(Number(limit)) || 1) : judged.met[row]![place] ? 1 : -1;
  });
}

function order(told: Told, force: Float64Array, failed: Set<number>): number[] {
  const { judged, count } = told, relative = (place: number) => Math.min(Infinity, ...relativeMargins(told, place));
  const places = Array.from({ length: count }, (_, place) => place).filter((place) => !failed.has(place) && !judged.allOpen[place]);
  const least = new Map(places.map((place) => [place, relative(place)]));
  return places.sort((a, b) => least.get(a)! - least.get(b)! || (force[b] || 0) - (force[a] || 0) || a - b);
}

const unitOf = ({ laws, unit }: CampaignData, key: string) => laws.flatMap(({ keys, places }) => keys.flatMap((one, at) => (one === key ? [unit.numbers[places[at]!]!.unit] : [])))[0] ?? "";

function asNumber(key: string, unit: string, value: number, bounds: NumberOfUnit["bounds"] = {}): NumberOfUnit {
  return { key, keys: [key], unit, value, bounds, places: [[0, 1]], signs: [1] };
}

/** Return a number of a distribution as one that can be moved: a spread is above zero, others are what its key may be. */
function fieldAsNumber({ table, unit }: Law, field: string, value: number, of: NumberOfUnit): NumberOfUnit {
  return asNumber(`${table}.${field}`, unit, value, /^(std|radius|median)$/.test(field) ? { above: 0 } : of.bounds);
}
