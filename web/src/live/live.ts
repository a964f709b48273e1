// The page computes: numbers that are changed run the scenario again, and all that the page shows of it follows.
import { element } from "../dom.ts";
import { signScrolling } from "../tables.ts";
import { writeNumber } from "../scales.ts";
import { moveInWords, settingsOf, tellCommand } from "./numbers.ts";
import { leastLimit, limitRows, LimitSeeker, tellLimits, unstableInWords, type DelayLimits, type LimitsData } from "./delay_limits.ts";
import type { PackedLoop } from "./loop_unit.ts";
import { Runner, STOPPED } from "./runner.ts";
import { Sliders } from "./sliders.ts";
import { showRequirements, type JudgedRequirement, type RequirementToMeet } from "./judge.ts";
import { captureInWords, classesOf, contactsInWords, energyHeadline, type Effect, type EnergyClass } from "./energy.ts";
import { showTiles } from "./tiles.ts";
import type { Answer } from "./worker.ts";
import { decidingSentence, headlineOf, tellAdvice, tellRun, tellUnstable, type AdviceNow, type RunInWords, type VerdictWords } from "./verdict.ts";
import { FINISHED, giveUp, LONG, ShownRun, SOON, tellSame, SAME, type Outcome, type Page, type RunShown, type Scripts } from "./shown.ts";
import { Tries } from "./tries.ts";

export interface LiveData extends RunShown {
  words: Record<string, [words: string, unit: string, kind: "float" | "int" | "bool"]>; // of figures
  stated: Record<string, number>; // figures of the report
  requirements: RequirementToMeet[];
  verdict: VerdictWords;
  aim: string;
  scattered: string[];
  limits?: LimitsData<PackedLoop>;
  leads?: VerdictWords["headlines"]; // of a rig: what the sentence below the headline says, by its figures
  unsaid?: string; // what the page does not judge of it
  laws?: [without: string, own: string]; // how that begins
  unjudged?: boolean; // whether no figure tells if the loop is stable
  effects?: Effect[]; // of the pairs, where it is told what contacts do to the energy
  settled?: string[]; // what the tuning of a rig has found, which other numbers would change: as `--set` takes it
}

const SETTLED = 250; // ms after the last move
const SLOW = 500; // ms, after which it is said that something is computed
const COMPENSATOR = "loop.compensator."; // before its numbers, which do nothing where it is switched off

export class Live {
  private readonly runner: Runner;
  private readonly run: ShownRun;
  private readonly values: number[];
  private readonly sliders: Sliders;
  private readonly said = element("p", { class: "live-said" });
  private readonly table = element("div", { class: "live-figures scroll", tabindex: 0, role: "region", "aria-label": "Key figures" });
  private readonly same = element("p", { class: "note" }, SAME);
  private readonly trust = element("p", { class: "note" });
  private readonly again = element("div", { class: "live-again", hidden: true });
  private readonly wait = element("div", { class: "live-wait", hidden: true });
  private readonly seeker: LimitSeeker | null;
  private limits: DelayLimits | null = null; // of the numbers as they are
  private ownLimits: DelayLimits | null = null;
  private readonly tries: Tries;
  private last!: Outcome;
  private lastValues: number[] = []; // its numbers
  private shown = 0;

  constructor(private readonly host: HTMLElement, private readonly data: LiveData, page: Page, scripts: Scripts) {
    const { unit, limits } = data;
    this.runner = new Runner(scripts.run!, unit);
    this.seeker = limits ? new LimitSeeker(this.runner, unit, new Runner(scripts.loop!, limits.unit), limits.unit, limits.pairs, limits.most) : null;
    this.values = unit.numbers.map(({ value }) => value);
    this.run = new ShownRun(data, page, page.figures);
    this.sliders = new Sliders(unit.numbers, data.scattered, (place, value) => this.change(place, value));
    this.tries = new Tries(this.runner, unit.numbers, (effects) => this.tellEffects(effects), limits?.pairs ? ["how much delay the contacts bear", () => this.seekLimits(LONG)] : null);
    const reset = element("button", { type: "button", class: "tool", click: () => this.reset() }, "As reported");
    document.getElementById("live-numbers")!.append(this.said, this.sliders.node, this.tries.node, element("div", { class: "live-foot" }, this.wait, reset));
    host.append(this.again, this.same, element("div", { class: "frame panel" }, this.table), this.trust);
    signScrolling(this.table);
  }

  /** Run the report's own numbers, say how near that comes, and what each number does. */
  async begin(): Promise<void> {
    const { numbers } = this.data.unit, stated = numbers.map(({ value }) => value);
    const answer = await this.waitFor(this.runner.askLater(stated, this.run.names, LONG), "Computing the run …");
    if (!answer) return;
    if (answer.error === STOPPED) {
      this.said.replaceChildren("The report’s own run, which others are set beside, was stopped. ", element("button", { type: "button", class: "tool", click: () => void this.begin() }, "Compute it"));
      return;
    }
    const own = answer.error ? null : this.run.outcomeOf(answer, stated);
    if (own?.status !== FINISHED) return giveUp(answer.error ?? "its own run does not finish");
    this.run.own = own;
    this.host.dataset.took = answer.took.toFixed(1);
    this.trust.textContent = this.ownDifference();
    this.lastValues = stated;
    this.tellFigures(own);
    this.said.replaceChildren("Move a number: the run is computed again, and curves, tables and requirements follow.");
    this.host.dataset.ready = "";
    if (this.changed().length) return this.compute(); // moved meanwhile
    await this.settle();
  }

  /** Return an answer; where it is long in coming, say so, with a button that stops it. */
  private async waitFor(answer: Promise<Answer | null>, words: string): Promise<Answer | null> {
    const waiting = setTimeout(() => {
      this.wait.hidden = false;
      this.wait.replaceChildren(`${words} `, element("button", { type: "button", class: "tool", click: () => this.runner.stop() }, "Stop"));
    }, SLOW);
    const found = await answer;
    clearTimeout(waiting);
    if (found) this.wait.hidden = true; // else a newer wish waits
    return found;
  }

  /** Say how far the report's own numbers, computed here, are from what the report says. */
  private ownDifference(): string {
    let largest = 0, where = "", count = 0;
    for (const [name, value] of Object.entries(this.data.stated)) {
      const here = this.run.own!.figures.get(name);
      if (here === undefined || !Number.isFinite(here)) continue;
      count += 1;
      const off = Math.abs(here - value) / (Math.abs(value) || 1);
      if (off > largest) [largest, where] = [off, name];
    }
    this.host.dataset.difference = String(largest);
    const found = largest ? `the largest difference of ${count} figures is ${writeNumber(largest, 2)} of ${where}` : `all ${count} figures are equal to the last digit`;
    return `The report’s own numbers, computed here in ${this.run.own!.took.toFixed(0)} ms: ${found}.`;
  }

  // ── numbers ──

  private change(place: number, value: number): void {
    this.values[place] = value;
    void this.compute();
  }

  private reset(): void {
    this.data.unit.numbers.forEach(({ value }, place) => (this.values[place] = value));
    this.sliders.show(this.values);
    void this.compute();
  }

  private async compute(most = SOON): Promise<void> {
    if (!this.run.own) return; // which comes first
    const wanted = [...this.values], began = performance.now();
    const answer = await this.waitFor(this.runner.ask(wanted, this.run.names, most), "Computing …");
    if (!answer) return;
    if (answer.error) return this.refuse(answer.error, most);
    const outcome = this.run.outcomeOf(answer, wanted);
    this.lastValues = wanted;
    this.show(outcome);
    this.host.dataset.took = answer.took.toFixed(1);
    this.host.dataset.drawn = (performance.now() - began).toFixed(1);
    this.host.dataset.shown = String((this.shown += 1));
    clearTimeout(this.settling);
    this.settling = setTimeout(() => void this.settle(), SETTLED);
  }

  private refuse(why: string, most: number): void {
    this.said.replaceChildren(element("b", { class: "bad" }, `Not computed: ${why}.`), " What is shown is of the numbers before.");
    if (most === SOON && /longer/.test(why)) this.said.append(" ", element("button", { type: "button", class: "tool", click: () => void this.compute(LONG) }, "Run it all the same"));
    this.host.dataset.shown = String((this.shown += 1));
  }

  // ── what each number does, and how much delay is borne ──

  private settling: ReturnType<typeof setTimeout> | undefined;

  private async settle(): Promise<void> {
    const figure = this.aim(), { numbers } = this.data.unit, { took, status, figures } = this.last;
    if (status !== FINISHED) return;
    await this.tries.begin({ values: this.lastValues, figure, before: figures.get(figure)!, took }, [...new Set([...this.sliders.chosen, ...numbers.keys()])]);
    await this.seekLimits(took > SOON ? 0 : SOON);
  }

  /** Say what more of each number does to the figure that matters. */
  private tellEffects(effects: ReadonlyMap<number, number>): void {
    const name = this.aim(), [words, unit] = this.data.words[name] ?? [name, ""];
    this.sliders.tellEffects(effects, "", words, unit);
    this.host.dataset.tried = "";
  }

  /** Seek how much delay is borne and return whether that is known, by runs that take no longer than `most` (ms); by the loop alone where they may not run. */
  private async seekLimits(most: number): Promise<boolean> {
    const asked = (words: string, done: number, all: number) => most === LONG && this.tries.progress(words, done, all);
    if (this.off()) return false; // of a rig without its compensator it is not known
    const { numbers } = this.data.unit, limits = await this.seeker?.seek(new Map(numbers.map(({ key }, place) => [key, this.lastValues[place]!])), most, asked);
    asked("", 0, 1);
    if (!limits) return false;
    this.limits = limits;
    if (numbers.every(({ value }, place) => this.lastValues[place] === value)) this.ownLimits = limits;
    Object.assign(this.host, { limits }); // for scripts
    tellLimits(limits, this.changed().length > 0);
    this.tellStability(limits);
    this.sliders.hatch(limits.key, leastLimit(limits), limits.delay);
    this.tellFigures(this.last);
    this.host.dataset.limited = "";
    return true;
  }

  private tellStability(limits: DelayLimits | null): void {
    const sentence = limits ? unstableInWords(limits) : "";
    if (sentence) tellUnstable(sentence, Boolean(this.data.unjudged) && this.changed().length > 0);
  }

  private aim(): string {
    return this.run.own!.figures.has(this.data.aim) ? this.data.aim : "kinetic_energy_end_J";
  }

  // ── what follows ──

  private changed(): number[] {
    return this.data.unit.numbers.flatMap(({ value }, place) => (this.values[place] === value ? [] : [place]));
  }

  private show(outcome: Outcome): void {
    Object.assign(this.host, { outcome }); // for scripts
    this.limits = null;
    const changed = this.changed(), moved = changed.length > 0;
    document.documentElement.classList.toggle("what-if", moved);
    const classes = this.classesOf(outcome, changed);
    this.run.show(moved ? outcome : null, true, classes);
    tellTablesOwn(moved);
    const judged = showRequirements(this.data.requirements, outcome.figures, moved);
    showTiles(outcome, judged, moved, (source) => this.run.seriesBeside(source, outcome));
    tellLimits(moved ? null : this.ownLimits, moved);
    const { verdict, unjudged } = this.data;
    tellRun({ ...verdict, warned: verdict.warned || Boolean(unjudged) }, judged, outcome.figures, outcome.status === FINISHED ? null : outcome.time.at(-1)!, moved, classes ? this.tellEnergy(outcome, classes) : this.tellRig(outcome));
    tellAdvice(moved ? this.adviceOf(changed, judged) : null);
    this.tellStability(moved ? null : this.ownLimits);
    this.tellFigures(outcome);
    this.sayOutcome(outcome, changed, judged);
    this.tellAgain(changed);
  }

  /** Return what each contact did to the energy; null where that is not known: a law that takes none, or takes some, is another one. */
  private classesOf(outcome: Outcome, changed: number[]): (EnergyClass | null)[] | null {
    const { effects, unit } = this.data, open = effects?.every((one) => one === "open");
    if (!effects || (!open && changed.some((place) => !this.values[place] !== !unit.numbers[place]!.value))) return null;
    return classesOf(outcome, effects);
  }

  /** Return what came of a run in words, beside what the report says. */
  private tellEnergy({ figures, contacts, time }: Outcome, classes: (EnergyClass | null)[]): RunInWords {
    const own = this.run.own!, most = (of: Outcome) => Math.max(0, ...of.contacts.map((one) => one.peak_force));
    const capture = captureInWords(figures, "t = ", 6);
    const words = [...(capture ? [`${capture[0]!.toUpperCase()}${capture.slice(1)}.`] : []), ...contactsInWords(contacts, classes), `Ends at t = ${writeNumber(time.at(-1)!)} s.`].join(" ");
    const before = `${own.contacts.length} contact${own.contacts.length === 1 ? "" : "s"}, ${writeNumber(most(own))} N in the report`;
    return { headline: energyHeadline(classes), lead: [words, element("span", { class: "was" }, ` ${before}`)], gains: classes.includes("active") };
  }

  /** Return how far a rig is from what there is without it, in words; null for all else, and where there is nothing to compare. */
  private tellRig({ figures }: Outcome): RunInWords | null {
    const { leads = [], laws, unsaid } = this.data, told = headlineOf(leads, figures), off = this.off();
    return told ? { headline: "", lead: [`${laws![off ? 0 : 1]!} ${told}.${unsaid && !off ? ` ${unsaid}` : ""}`], gains: false } : null;
  }

  /** Return what the report advises, by the numbers as they are: none of them may scatter any more where it advises a campaign. */
  private adviceOf(changed: number[], judged: JudgedRequirement[]): AdviceNow {
    const { unit, requirements, scattered } = this.data, fixed = changed.some((place) => scattered.includes(unit.numbers[place]!.key));
    return { settings: fixed ? null : this.settingsOf(changed), requirements: judged.length ? decidingSentence(requirements, judged) : undefined };
  }

  /** Return whether a compensator is switched off. */
  private off(): boolean {
    return this.data.unit.numbers.some(({ law }, place) => law && !this.values[place]);
  }

  private settingsOf(changed: number[]): string[] {
    const { numbers } = this.data.unit, own = (one: string) => one.startsWith(COMPENSATOR);
    const settings = [...(this.data.settled ?? []), ...changed.flatMap((place) => settingsOf(numbers[place]!, this.values[place]!))];
    return this.off() ? settings.filter((one) => !own(one)) : settings;
  }

  private sayOutcome(outcome: Outcome, changed: number[], judged: JudgedRequirement[]): void {
    const { numbers } = this.data.unit;
    if (!changed.length) {
      this.said.replaceChildren("As reported.");
      return;
    }
    const moves = changed.map((place) => moveInWords(numbers[place]!, this.values[place]!));
    const figures = outcome.figures, own = this.run.own!, parts: string[] = [];
    if (outcome.status !== FINISHED) parts.push(`the run stops at ${writeNumber(outcome.time.at(-1)!, 4)} s`);
    const overlaps = this.overlapAtStart(outcome);
    if (overlaps) parts.push(overlaps);
    const capture = captureInWords(figures, "", 4);
    if (capture) parts.push(capture);
    if (!this.data.contacts.length) parts.push(...this.aimInWords(outcome));
    else parts.push(`${outcome.contacts.length} contact${outcome.contacts.length === 1 ? "" : "s"} (${own.contacts.length} reported)`);
    const missed = judged.filter(({ met }) => met !== true);
    if (judged.length) parts.push(missed.length ? `${missed.length} of ${judged.length} requirements not met: ${missed.map(({ words }) => words).join(", ")}` : judged.length > 1 ? `all ${judged.length} requirements met` : "the requirement is met");
    this.said.replaceChildren(element("b", {}, moves.join("; ")), parts.length ? `: ${parts.join("; ")}.` : ".");
    this.said.classList.toggle("bad", missed.length > 0 || overlaps !== "");
  }

  /** Say what has become of the figure that matters. */
  private aimInWords(outcome: Outcome): string[] {
    const name = this.aim(), [words, unit] = this.data.words[name] ?? [name, ""], [then, now] = [this.run.own!, outcome].map(({ figures }) => figures.get(name));
    return then === undefined || now === undefined ? [] : [`${words} ${writeNumber(then)} → ${writeNumber(now)} ${unit}`.trim()];
  }

  /** Say that bodies overlap at the start where they did not in the report, which a run would refuse; empty where not. */
  private overlapAtStart(outcome: Outcome): string {
    const pairs = this.data.contacts.length;
    if (!pairs || !this.run.names.includes("depth")) return "";
    const now = outcome.variable("depth").subarray(0, pairs), then = this.run.own!.variable("depth").subarray(0, pairs);
    const found = this.data.contacts.filter((_, pair) => now[pair]! > 0 && !(then[pair]! > 0));
    return found.length ? `${found.map((both) => both.join("–")).join(", ")} overlap${found.length > 1 ? "" : "s"} at the start, which dockdyn run may refuse` : "";
  }

  private tellFigures(outcome: Outcome): void {
    this.last = outcome;
    const own = this.run.own!, rows = Object.entries(this.data.words).flatMap(([name, [words, unit, kind]]) => {
      const then = own.figures.get(name), now = outcome.figures.get(name);
      if (then === undefined || now === undefined || Object.is(now, then)) return [];
      const write = (value: number) => (!Number.isFinite(value) ? "–" : kind === "bool" ? (value ? "yes" : "no") : kind === "int" ? String(value) : writeNumber(value));
      const change = kind === "bool" || !Number.isFinite(now - then) ? "" : changeInWords(then, now);
      return [element("tr", { class: "changed", "data-figure": name }, element("td", { class: "worded" }, words, unit ? element("span", { class: "unit" }, unit) : null), element("td", {}, write(then)), element("td", {}, element("b", {}, write(now))), element("td", {}, change))];
    });
    tellSame(this.same, rows.length, this.changed().length > 0);
    const [then, now] = [this.ownLimits, this.limits].map((limits) => (limits ? limitRows(limits) : [])) as [[string, string][], [string, string][]];
    rows.unshift(...(then.length < now.length ? now : then).map(([words], place) => {
      const [before = "–", after = now.length || this.off() ? "–" : "…"] = [then, now].map((one) => one[place]?.[1]);
      return element("tr", { class: after === before ? null : "changed" }, element("td", { class: "worded" }, words, element("span", { class: "unit" }, "ms")), element("td", {}, before), element("td", {}, element("b", {}, after)), element("td"));
    }));
    const head = element("thead", {}, element("tr", {}, ...["figure", "in the report", "now", "change"].map((words, place) => element("th", { scope: "col", class: place ? null : "worded" }, words))));
    this.table.replaceChildren(...(rows.length || this.seeker ? [element("table", { class: "dense" }, head, element("tbody", {}, ...rows))] : []));
    this.table.parentElement!.hidden = !rows.length && !this.seeker;
  }

  /** Say how the command line gives what is shown. */
  private tellAgain(changed: number[]): void {
    this.again.hidden = !changed.length;
    tellCommand(this.again, "dockdyn run scenario.toml", this.settingsOf(changed));
  }
}

const OWN = "main section:not(#what-if, #inputs, #provenance) > :is(.frame, .pairs):not(:has([data-live]))"; // what follows no number

/** Say of the tables that are not told again that they are of the report's own numbers. */
function tellTablesOwn(moved: boolean): void {
  for (const node of document.querySelectorAll(OWN)) node.classList.toggle("reported", moved);
}

const MANY = 10; // times as much, which is read more easily than in per cent

/** Return how a figure has changed. */
function changeInWords(then: number, now: number): string {
  if (then && now / then >= MANY) return `× ${writeNumber(now / then, 3)}`;
  const share = Math.abs((now - then) / then), change = share <= MANY ? `${writeNumber((100 * (now - then)) / Math.abs(then), 3)} %` : writeNumber(now - then, 3);
  return `${now > then ? "+" : ""}${change}`;
}
