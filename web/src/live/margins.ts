// The page of margins judges its loop again with other numbers: roots, growth, the delay it tolerates and the verdict follow.
import type { Line, Panel } from "../chart.ts";
import { element } from "../dom.ts";
import type { Figure } from "../figure.ts";
import { writeNumber, type Span } from "../scales.ts";
import { asReported, tellOwn } from "./kept.ts";
import type { PackedLoop } from "./loop_unit.ts";
import { limitRows, LimitSeeker, type DelayLimits, type LimitsData } from "./delay_limits.ts";
import { isAllowed, moveInWords, settingsOf, tellCommand } from "./numbers.ts";
import { Runner } from "./runner.ts";
import { giveUp, tellSame, SAME, type Page, type Scripts } from "./shown.ts";
import { Sliders } from "./sliders.ts";
import { showTiles } from "./tiles.ts";
import type { PackedUnit } from "./unit.ts";
import { showSort, tellAdvice } from "./verdict.ts";
import { signScrolling } from "../tables.ts";
import type { Answer } from "./worker.ts";

export interface MarginsData {
  unit: PackedLoop;
  loop: { growth_rate_1_s: number; critical_delay_s: number | null; delay_s: number; spectral_radius: number | null; roots: [number, number][] };
  of: "delay_margin_s" | "growth_rate_1_s"; // the measure by which the report says what matters most
  headlines: Record<"edge" | "late" | "grows" | "unstable" | "spare" | "whatever" | "stable", string>;
  limits?: LimitsData<PackedUnit>;
}

interface Told {
  first: [number, number]; // the rightmost root, 1/s
  delay: number; // s
  margin: number; // s, Infinity for any delay, NaN where it is not known
  radius: number; // of a sampled loop's cycle, else NaN
  roots: [number, number][]; // none where only the first is known yet
}

const FIRST = ["first", "delay", "radius"], ALL = [...FIRST, "margin", "roots"]; // what is asked of the loop, at once and after it
const LONG = 60_000; // ms
const TENTH = 0.1; // of a number: by how much more its effect is told
const TRIED = 1e-4; // of a number, over which its slope is taken
const SETTLED = 250; // ms after the last move
const EDGE = 1e-9; // of the size of the rightmost root
const ROOM = 0.12; // of an axis, around what is drawn

export class LiveMargins {
  private readonly runner: Runner;
  private readonly values: number[];
  private readonly sliders: Sliders;
  private readonly said = element("p", { class: "live-said" });
  private readonly again = element("div", { class: "live-again", hidden: true });
  private readonly table = element("div", { class: "live-figures scroll", tabindex: 0, role: "region", "aria-label": "Margins" });
  private readonly same = element("p", { class: "note" }, SAME);
  private readonly trust = element("p", { class: "note" });
  private readonly seeker: LimitSeeker | null;
  private ownLimits: DelayLimits | null = null;
  private readonly panels: { figure: Figure; panel: Panel; own: Pick<Panel, "lines" | "bands" | "notes" | "x" | "y" | "limits"> }[];
  private own!: Told;
  private last!: Told;
  private shown = 0;
  private trying: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly host: HTMLElement, private readonly data: MarginsData, private readonly page: Page, scripts: Scripts) {
    const { unit, limits } = data;
    this.runner = new Runner(scripts.loop!, unit);
    this.seeker = limits ? new LimitSeeker(new Runner(scripts.run!, limits.unit), limits.unit, this.runner, unit, limits.pairs, limits.most) : null;
    this.values = unit.numbers.map(({ value }) => value);
    const roots = page.figures.filter(({ node }) => node.dataset.name === "roots");
    this.panels = roots.flatMap((figure) => figure.chart.panels.map((panel) => ({ figure, panel, own: { lines: panel.lines, bands: panel.bands, notes: panel.notes, x: panel.x, y: panel.y, limits: panel.limits } })));
    this.sliders = new Sliders(unit.numbers, unit.delays, (place, value) => this.change(place, value));
    const reset = element("button", { type: "button", class: "tool", click: () => this.reset() }, "As reported");
    document.getElementById("live-numbers")!.append(this.said, this.sliders.node, element("div", { class: "live-foot" }, reset));
    host.append(this.again, this.same, element("div", { class: "frame panel" }, this.table), this.trust);
    signScrolling(this.table);
  }

  /** Judge the report's own numbers, say how near that comes, and what each number does. */
  async begin(): Promise<void> {
    const answer = await this.runner.askLater(this.values, ALL, LONG);
    if (!answer) return;
    if (answer.error) return giveUp(answer.error);
    this.own = told(answer);
    this.trust.textContent = this.ownDifference(answer.took);
    this.tellTable(this.own);
    this.said.replaceChildren("Move a number: the loop is judged again where its contact is in the report, as a sweep does, and roots, growth and delay follow.");
    this.host.dataset.ready = "";
    await this.settle();
  }

  private ownDifference(took: number): string {
    const { growth_rate_1_s: growth, critical_delay_s: critical, delay_s: delay } = this.data.loop;
    const off: [string, number][] = [["the growth rate", Math.abs(this.own.first[0] - growth) / (Math.hypot(...this.own.first) || 1)]];
    if (critical !== null && Number.isFinite(this.own.margin)) off.push(["the critical delay", Math.abs(this.own.margin + delay - critical) / (critical || 1)]);
    const [where, most] = off.reduce((a, b) => (b[1] > a[1] ? b : a));
    this.host.dataset.difference = String(most);
    return `The report’s own numbers, judged here in ${took.toFixed(0)} ms: ${most ? `the largest difference is ${writeNumber(most, 2)} of ${where}` : "equal to the last digit"}.`;
  }

  private change(place: number, value: number): void {
    this.values[place] = value;
    void this.compute();
  }

  private reset(): void {
    this.data.unit.numbers.forEach(({ value }, place) => (this.values[place] = value));
    this.sliders.show(this.values);
    void this.compute();
  }

  private async compute(): Promise<void> {
    const wanted = [...this.values], began = performance.now();
    const answer = await this.runner.ask(wanted, FIRST, LONG);
    if (!answer) return;
    if (answer.error) {
      this.said.replaceChildren(element("b", { class: "bad" }, `Not judged: ${answer.error}.`), " What is shown is of the numbers before.");
      this.host.dataset.shown = String((this.shown += 1));
      return;
    }
    this.show(told(answer));
    this.host.dataset.took = answer.took.toFixed(1);
    this.host.dataset.drawn = (performance.now() - began).toFixed(1);
    const whole = await this.runner.askLater(wanted, ALL, LONG);
    if (!whole || whole.error) return;
    this.show(told(whole));
    this.host.dataset.shown = String((this.shown += 1));
    clearTimeout(this.trying);
    this.trying = setTimeout(() => void this.settle(), SETTLED);
  }

  private async settle(): Promise<void> {
    await this.tryNumbers();
    const limits = await this.seeker?.seek(new Map(this.data.unit.numbers.map(({ key }, place) => [key, this.values[place]!])));
    if (!limits) return;
    this.ownLimits ??= limits;
    Object.assign(this.host, { limits }); // for scripts
    this.tellTable(this.last, limits);
    this.host.dataset.limited = "";
  }

  /** See what a tenth more of each number does, by the slope as the report has it, to what that measures by: the delay margin, or the growth rate where there is none. */
  private async tryNumbers(): Promise<void> {
    const { unit: { numbers }, of } = this.data, base = [...this.values];
    const ofMargin = of === "delay_margin_s" && Number.isFinite(this.last.margin), [name, scale] = ofMargin ? ["margin", 1e3] : ["first", 1];
    const before = await this.runner.askLater(base, [name], LONG);
    if (!before || before.error) return;
    const effects = new Map<number, number>();
    for (const [place, number] of numbers.entries()) {
      const value = base[place]! * (1 + TRIED);
      if (!base[place] || !isAllowed(number, value)) continue;
      const answer = await this.runner.askLater(base.map((one, i) => (i === place ? value : one)), [name], LONG);
      if (!answer) return;
      const change = answer.error ? NaN : (TENTH / TRIED) * scale * (answer.found[name]![0]! - before.found[name]![0]!);
      if (Number.isFinite(change)) effects.set(place, change);
    }
    this.sliders.tellEffects(effects, "by the slope ", ofMargin ? "delay margin" : "growth rate", ofMargin ? "ms" : "1/s");
    this.host.dataset.tried = "";
  }

  // ── what follows ──

  private show(now: Told): void {
    const changed = this.data.unit.numbers.flatMap(({ value }, place) => (this.values[place] === value ? [] : [place])), moved = changed.length > 0;
    Object.assign(this.host, { told: now }); // for scripts
    document.documentElement.classList.toggle("what-if", moved);
    showTiles({ figures: new Map([["growth_rate_1_s", now.first[0]], ["delay_margin_s", now.margin]]), contacts: [] }, [], moved, () => null);
    this.tellVerdict(moved ? now : null);
    if (now.roots.length || !moved) this.drawRoots(moved ? now : null);
    for (const node of document.querySelectorAll("section:not(#what-if):not(#inputs):not(#provenance) .frame, section .figures > figure, #key-figures .pairs")) node.classList.toggle("reported", moved);
    this.tellTable(now);
    this.said.replaceChildren(...(moved ? [element("b", {}, changed.map((place) => moveInWords(this.data.unit.numbers[place]!, this.values[place]!)).join("; ")), `: ${this.headline(now)}.`] : ["As reported."]));
    this.again.hidden = !moved;
    tellCommand(this.again, "dockdyn stability scenario.toml", this.settings());
  }

  private headline({ first, delay, margin }: Told): string {
    const { headlines } = this.data, [growth] = first, fill = (words: string, time: number) => words.replace(/\{\w+\}/, durationInWords(time));
    if (Math.abs(growth) <= EDGE * Math.hypot(...first)) return headlines.edge;
    if (growth > 0) return margin + delay > 0 ? fill(headlines.late, margin + delay) : fill(headlines.grows, Math.LN2 / growth);
    return margin === Infinity ? headlines.whatever : Number.isNaN(margin) ? headlines.stable : fill(headlines.spare, margin);
  }

  /** Return what `--set` takes to give the numbers that were moved. */
  private settings(): string[] {
    return this.data.unit.numbers.flatMap((number, place) => (this.values[place] === number.value ? [] : settingsOf(number, this.values[place]!)));
  }

  private tellVerdict(now: Told | null): void {
    const verdict = document.querySelector<HTMLElement>(".verdict")!, [headline, lead] = ["headline", "lead"].map((name) => verdict.querySelector<HTMLElement>(`.${name}`));
    for (const node of [headline, lead]) if (node) asReported(node);
    showSort(now && (now.first[0] < 0 ? "ok" : "bad"));
    tellAdvice(now && { settings: this.settings() });
    if (!now) return;
    headline!.textContent = this.headline(now);
    if (lead) tellOwn(lead);
  }

  private tellTable(now: Told, limits: DelayLimits | null = null): void {
    this.last = now;
    const there = limits ? limitRows(limits) : [];
    const { own } = this, inMs = (value: number) => (Number.isFinite(value) ? writeNumber(1e3 * value, 6) : value === Infinity ? "any" : "–");
    const figures: [string, string, string, string][] = [
      ["growth rate", "1/s", writeNumber(own.first[0], 6), writeNumber(now.first[0], 6)],
      ["critical delay of the loop", "ms", inMs(own.margin + own.delay), inMs(now.margin + now.delay)],
      ["delay to spare", "ms", inMs(own.margin), inMs(now.margin)],
      ...(Number.isNaN(now.radius) ? [] : [["spectral radius of a cycle", "", writeNumber(own.radius, 8), writeNumber(now.radius, 8)] as [string, string, string, string]]),
      ["frequency of the rightmost root", "rad/s", writeNumber(Math.abs(own.first[1]), 6), writeNumber(Math.abs(now.first[1]), 6)],
    ];
    const differ = figures.filter(([, , then, here]) => then !== here), moved = this.data.unit.numbers.some(({ value }, place) => this.values[place] !== value);
    tellSame(this.same, differ.length, moved);
    const limited = (this.ownLimits ? limitRows(this.ownLimits) : []).slice(1).map(([words, then], place): [string, string, string, string] => [`${words}, in the run`, "ms", then, there[place + 1]?.[1] ?? (there.length ? "–" : "…")]), rows = [...differ, ...limited];
    this.table.parentElement!.hidden = !rows.length && !this.seeker;
    if (!rows.length && !this.seeker) return;
    const head = element("thead", {}, element("tr", {}, ...["figure", "in the report", "now"].map((words, place) => element("th", { scope: "col", class: place ? null : "worded" }, words))));
    this.table.replaceChildren(element("table", { class: "dense" }, head, element("tbody", {}, ...rows.map(([words, unit, then, here]) => element("tr", { class: then === here ? null : "changed" }, element("td", { class: "worded" }, words, unit ? element("span", { class: "unit" }, unit) : null), element("td", {}, then), element("td", {}, element("b", {}, here)))))));
  }

  /** Draw the roots, those of the report hollow and grey beside them. */
  private drawRoots(now: Told | null): void {
    const { columns } = this.page;
    columns.forgetMore();
    for (const { panel, own } of this.panels) {
      Object.assign(panel, own);
      if (now) {
        const all = now.roots.flatMap(([re, im]): [number, number][] => (im ? [[re, im], [re, -im]] : [[re, im]]));
        const [[left, right], [low, high]] = [own.x[0], own.y[0]], last = this.panels.at(-1)!.panel === panel;
        const reach = Math.hypot(...now.first) + Math.max(right - left, high - low) / 2;
        const there = last ? all : all.filter(([re, im]) => Math.hypot(re, im) <= reach), like = own.lines[0]!;
        const line = (found: [number, number][], more: Partial<Line>): Line => ({ ...like, x: columns.add(Float64Array.from(found, ([re]) => re)), y: columns.add(Float64Array.from(found, ([, im]) => im)), ...more });
        const ghosts = own.lines.map((one) => ({ ...one, colour: "ink3", hollow: true, name: "", read: false }));
        const [decaying, growing] = [there.filter(([re]) => re < 0), there.filter(([re]) => re >= 0)];
        const lines = [...(decaying.length ? [line(decaying, { colour: "blue", marker: "o", name: "a root that decays" })] : []), ...(growing.length ? [line(growing, { colour: "orange", marker: "s", name: "a root that grows" })] : [])];
        const x = around([left, right], there.map(([re]) => re)), y = around([low, high], there.map(([, im]) => im));
        Object.assign(panel, { lines: [...ghosts, ...lines], notes: [], x: [x, x], y: [y, y], limits: y, bands: own.bands.map((band) => ({ ...band, start: Math.min(band.start, x[0]) })) });
      }
    }
    for (const figure of new Set(this.panels.map((one) => one.figure))) figure.drawWhenSeen();
  }
}

function told({ found }: Answer): Told {
  const flat = found.roots ?? [], roots = Array.from({ length: flat.length / 2 }, (_, i): [number, number] => [flat[2 * i]!, flat[2 * i + 1]!]);
  return { first: [found.first![0]!, found.first![1]!], delay: found.delay![0]!, margin: found.margin?.[0] ?? NaN, radius: found.radius![0]!, roots };
}

/** Return a span that holds these numbers, too, with room beside those that were outside. */
function around([start, end]: Span, values: number[]): Span {
  const [low, high] = [Math.min(...values), Math.max(...values)], room = ROOM * Math.max(end - start, high - low);
  return [low < start ? low - room : start, high > end ? high + room : end];
}

function durationInWords(value: number): string {
  return Math.abs(value) < 1 ? `${writeNumber(1e3 * value, 3)} ms` : `${writeNumber(value, 3)} s`;
}
