// Tiles of a run with other numbers: their numbers, curves and bars in the places where the report has its own.
import { drawing, element } from "../dom.ts";
import { writeNumber } from "../scales.ts";
import type { Source } from "../chart.ts";
import { asReported } from "./kept.ts";
import { concern, type JudgedRequirement } from "./judge.ts";
import type { Outcome } from "./shown.ts";

const WIDE = 240, HIGH = 58; // of a curve, in its own units, as `dockdyn/report/tile.py` draws it
const POINTS = 240;
const SHORT = 9; // letters that stand before a bar; longer words above it
const BARS = 6;
const LARGE = 8; // letters of a number that is written large
const LITTLE = 0.01; // share of a limit that is told as less than this

type Shown = Pick<Outcome, "figures" | "contacts">;

/** A curve over time. */
export type Series = [time: Float64Array, values: Float64Array];

export const sourceOf = ({ dataset }: HTMLElement): Source | null => (dataset.source ? (JSON.parse(dataset.source) as Source) : null);

/** Show tiles of an outcome, each with a word of what the report has; one that nothing is known of is marked as the report's. */
export function showTiles(outcome: Shown, judged: JudgedRequirement[], moved: boolean, seriesOf: (source: Source) => { own: Series; now: Series } | null): void {
  for (const tile of document.querySelectorAll<HTMLElement>(".tile:not([data-limits])")) {
    asReported(tile);
    if (!moved) continue;
    const source = sourceOf(tile), series = source ? seriesOf(source) : null, value = numberOf(tile, outcome, judged, series);
    if (value === null || (tile.querySelector(".spark") && !series)) {
      tile.classList.add("reported");
      continue;
    }
    const number = tile.querySelector(".v")!.firstChild as Text, note = tile.querySelector(".f"), before = number.data;
    number.data = value;
    tile.querySelector(".v")!.classList.toggle("long", value.length > LARGE);
    const old = tile.querySelector(".place, svg:not(.spark)") !== null;
    note?.replaceChildren(`${before}${tile.querySelector(".v .unit")?.textContent ?? ""} in the report${old ? ", as its picture" : ""}`);
    if (series) drawCurve(tile.querySelector(".spark")!, series.own, series.now);
    showBars(tile, outcome, judged);
    tile.classList.add("moved");
    tile.classList.toggle("pictured", old);
    if (tile.dataset.retold === "limits") tile.classList.toggle("bad", judged.some(({ share }) => (share ?? 0) > 1));
  }
}

function numberOf({ dataset }: HTMLElement, { figures, contacts }: Shown, judged: JudgedRequirement[], series: { now: Series } | null): string | null {
  if (dataset.figures) return writeNumber((JSON.parse(dataset.figures) as [string, number][]).reduce((sum, [name, factor]) => sum + factor * (figures.get(name) ?? NaN), 0));
  if (dataset.retold === "largest" && series) return writeNumber(series.now[1].reduce((most, one) => Math.max(most, one), 0));
  if (dataset.retold === "limits" && judged.some(({ share }) => share !== null)) return (100 * used(judged)[0]!.share!).toFixed(0);
  if (dataset.retold === "approach" && contacts.length) return writeNumber(1e3 * Math.max(...contacts.map((one) => one.approach_speed)));
  return null;
}

const used = (judged: JudgedRequirement[]) => judged.filter(({ share }) => share !== null).sort((a, b) => concern(b) - concern(a));

function showBars(tile: HTMLElement, { contacts }: Shown, judged: JudgedRequirement[]): void {
  const { retold } = tile.dataset, bars = tile.querySelector(".bars"), speeds = contacts.map((one) => 1e3 * one.approach_speed), largest = Math.max(...speeds) || 1;
  if (!bars || (retold !== "limits" && retold !== "approach")) return;
  const rows: [words: string, share: number, number: string][] = retold === "limits" ? used(judged).map(({ words, share }) => [words, share!, share! > 0 && share! < LITTLE ? "< 1 %" : `${(100 * share!).toFixed(0)} %`]) : speeds.map((speed, place) => [`Q${place + 1}`, speed / largest, writeNumber(speed, 3)]);
  const shown = rows.slice(0, BARS), above = shown.some(([words]) => words.length > SHORT);
  bars.classList.toggle("above", above);
  bars.replaceChildren(...shown.flatMap(([words, share, number]) => {
    const bar = element("div", { class: "bar" }, element("span", { style: `width:${(100 * Math.min(Math.max(share, 0), 1)).toFixed(1)}%` })), told = element("b", {}, number);
    return [element("span", {}, words), ...(above ? [told, bar] : [bar, told])];
  }));
}

/** Draw the curve of other numbers, and that of the report grey behind it, on one scale. */
function drawCurve(svg: Element, own: Series, now: Series): void {
  const all = [own, now].flatMap(([, values]) => [...values].filter(Number.isFinite)), low = Math.min(0, ...all), high = Math.max(0, ...all);
  const first = Math.min(own[0][0]!, now[0][0]!), last = Math.max(own[0].at(-1)!, now[0].at(-1)!), band = svg.classList.contains("band"), colour = svg.lastElementChild!.getAttribute(band ? "fill" : "stroke")!;
  const y = (value: number) => HIGH - 2 - ((HIGH - 4) * (value - low)) / (high - low || 1), x = (time: number) => (WIDE * (time - first)) / (last - first || 1);
  const points = (series: Series) => thinned(series).map(([time, value]) => [x(time), y(value)] as const);
  const area = (of: Series, fill: string, more = {}) => {
    const all = points(of), cells = all.flatMap((_, i) => (i % 2 ? [] : [all.slice(i, i + 4)])), mean = (cell: typeof all) => (cell.reduce((sum, [at]) => sum + at, 0) / cell.length).toFixed(1);
    const edge = (pick: (...of: number[]) => number) => cells.map((cell) => `${mean(cell)} ${pick(...cell.map(([, at]) => at)).toFixed(1)}`);
    return drawing("path", { d: `M${[...edge(Math.min), ...edge(Math.max).reverse()].join("L")}Z`, fill, opacity: 0.45, ...more });
  };
  const line = (of: Series, stroke: string, more = {}) => band ? area(of, stroke, more) : drawing("path", { d: `M${points(of).map((at) => at.map((one) => one.toFixed(1)).join(" ")).join("L")}`, stroke, "stroke-width": 1.7, "stroke-linejoin": "round", "vector-effect": "non-scaling-stroke", fill: "none", ...more });
  const ground = y(0).toFixed(1);
  svg.replaceChildren(drawing("path", { d: `M0 ${ground}H${WIDE}`, stroke: "var(--line2)", "vector-effect": "non-scaling-stroke", fill: "none" }), line(own, "var(--ink3)", { class: "own", "stroke-dasharray": "3 2", "stroke-width": 1 }), line(now, colour, { class: "now-curve" }));
}

/** Return the least and the largest of each of so many stretches of a curve, in their order. */
function thinned([time, values]: Series): [number, number][] {
  const count = values.length, each = Math.max(1, (2 * count) / POINTS), found: [number, number][] = [];
  for (let from = 0; from < count; from += each) {
    const rows = Array.from({ length: Math.floor(Math.min(from + each, count)) - Math.floor(from) }, (_, i) => Math.floor(from) + i);
    if (!rows.length) continue;
    const by = (better: (a: number, b: number) => boolean) => rows.reduce((best, row) => (better(values[row]!, values[best]!) ? row : best));
    for (const row of [...new Set([by((a, b) => a < b), by((a, b) => a > b)])].sort((a, b) => a - b)) found.push([time[row]!, values[row] || 0]);
  }
  return found;
}
