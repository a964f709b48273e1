// How figures of cases are distributed and how estimates settle, drawn again of cases with other numbers as `dockdyn/studies/campaign/plots.py` draws them.
import type { Area, Line, Note, Panel } from "../chart.ts";
import type { Columns } from "../columns.ts";
import type { Figure } from "../figure.ts";
import { writeNumber, type Span } from "../scales.ts";
import { estimated, type RequirementOfCases } from "./cases.ts";
import type { Told } from "./retold.ts";
import { inOrder, percentile, percentileInterval } from "./statistics.ts";

const COLUMNS: Span = [12, 60]; // of the histogram
const FAR = 2.5; // times the usual spread: what lies beyond is not drawn
const POINTS = 300; // of the curve of exceedance
const MARKED = [50, 95, 99]; // percentiles
const BEFORE = { colour: "ink3", dash: [3, 2], name: "", read: false, marker: "", width: 1 }; // the report's own curve

const PLACES = 20; // of columns, that a figure takes at most

type Numbers = ArrayLike<number>;

/** Return edges of the columns of a histogram of values in order. */
export function histogramEdges(values: Float64Array): number[] {
  let low = values[0]!, high = values.at(-1)!;
  const usual = percentile(values, 99), spread = usual - percentile(values, 1);
  if (values.length > 100 && spread > 0 && high > usual + FAR * spread) high = usual + 0.3 * spread;
  if (!(high > low)) {
    const room = 0.05 * Math.abs(low) || 0.5;
    [low, high] = [low - room, high + room];
  }
  const count = Math.floor(Math.min(Math.max(Math.sqrt(values.length), COLUMNS[0]), COLUMNS[1]));
  return Array.from({ length: count + 1 }, (_, i) => low + ((high - low) * i) / count);
}

/** Return the share (%) of values in order in each column between edges; the last one holds its end, too. */
export function sharesBetween(edges: number[], values: Float64Array): number[] {
  const counts = new Array<number>(edges.length - 1).fill(0);
  for (let row = 0, column = 0; row < values.length && values[row]! <= edges.at(-1)!; row++) {
    while (column < counts.length - 1 && values[row]! >= edges[column + 1]!) column++;
    counts[column]! += 1;
  }
  return counts.map((count) => (100 * count) / values.length);
}

/** Return the curve of the share (%) of values in order that lie above. */
function exceedance(values: Float64Array): [x: number[], y: number[]] {
  const n = values.length, points = Math.min(POINTS, n);
  const places = [...new Set(Array.from({ length: points }, (_, i) => Math.round(n ** (i / Math.max(points - 1, 1)))))].reverse();
  const twice = (found: number[]) => found.flatMap((one) => [one, one]);
  return [twice(places.map((place) => values[n - place]!)).slice(1), twice(places.map((place) => (100 * place) / n)).slice(0, -1)];
}

export class Distributions {
  private readonly places: number[];
  private used = 0;
  private readonly shown: { figure: Figure; own: Panel[]; show: (now: Told, panels: Panel[]) => void }[] = [];

  constructor(figures: Figure[], private readonly columns: Columns, then: Told, peak: string | null) {
    const least = then.each.reduce((first, one, i) => (one.share < then.each[first]!.share ? i : first), 0);
    for (const figure of figures) {
      const of = { load: peak, missed: then.requirements[least]?.figure }[figure.node.dataset.name!];
      const show = of ? (now: Told, panels: Panel[]) => this.showLoad(now, of, panels) : figure.node.dataset.name === "convergence" ? (now: Told, panels: Panel[]) => this.showSettling(now, peak, panels) : null;
      if (show) this.shown.push({ figure, own: figure.chart.panels.map((panel) => ({ ...panel })), show });
    }
    this.places = columns.reserve(PLACES * this.shown.length);
  }

  /** Return whether a figure is drawn again. */
  follows(figure: Figure): boolean {
    return this.shown.some((one) => one.figure === figure);
  }

  /** Draw the cases as they are now; null: as reported. */
  show(now: Told | null): void {
    this.used = 0;
    for (const { figure, own, show } of this.shown) {
      figure.chart.panels.forEach((panel, i) => Object.assign(panel, own[i]));
      if (now) show(now, figure.chart.panels);
      figure.drawWhenSeen();
    }
  }

  /** Return a line with these numbers, which stay until the cases are drawn again. */
  private line(like: Partial<Line>, x: Numbers, y: Numbers, reach: Numbers | null = null): Line {
    const put = (values: Numbers) => {
      const place = this.places[this.used++]!;
      this.columns.put(place, Float64Array.from(values));
      return place;
    };
    return { width: 1.2, dash: [], size: 6, joined: true, hollow: false, read: true, colour: "blue", name: "", marker: "", ...like, x: put(x), y: put(y), reach: reach && put(reach) };
  }

  private showLoad(now: Told, name: string, [histogram, above]: Panel[]): void {
    const values = inOrder(now.figures.get(name) ?? new Float64Array());
    if (values.length < 2 || !histogram || !above) return;
    const edges = histogramEdges(values), shares = sharesBetween(edges, values), area = histogram.areas[0]!;
    const limits = now.requirements.filter((one: RequirementOfCases) => one.figure === name && typeof one.limit === "number").map(({ limit }) => Number(limit));
    const [a, b] = histogram.x[1], x: Span = [Math.min(a, edges[0]!, ...limits), Math.max(b, edges.at(-1)!, ...limits)];
    const place = this.line({}, [...edges.flatMap((edge) => [edge, edge]), edges[0]!], [0, ...shares.flatMap((share) => [share, share]), 0, 0]);
    const drawn: Area = { ...area, x: place.x, y: place.y }, tallest = Math.max(histogram.limits[1] ?? 0, 1.05 * Math.max(...shares)), y: Span = [0, tallest];
    const levels = limits.map((at) => ({ ...(histogram.levels[0] ?? { name: "", axis: "x" as const, colour: "orange", dash: [4, 3], width: 1.2, legend: "required", share: 1 }), at }));
    Object.assign(histogram, { areas: [{ ...area, colour: "ink3", alpha: 0.25 }, drawn], notes: [], levels, x: [x, x], y: [y, y], limits: y });
    const unit = above.across.split(", ")[1] ?? "", notes: Note[] = [], lines = [{ ...above.lines[0]!, ...BEFORE }, this.line({ name: "cases above" }, ...exceedance(values))];
    for (const share of MARKED.filter((one) => 100 / values.length <= 100 - one)) {
      const at = percentile(values, share), [low, high] = percentileInterval(values, share / 100), ends = [low ?? values[0]!, high ?? values.at(-1)!];
      lines.push(this.line({ colour: "ink", name: "percentile, 95 % sure", width: 1.6 }, ends, [100 - share, 100 - share]), this.line({ colour: "ink", marker: "o", joined: false }, [at], [100 - share]));
      const left = Math.min(ends[0]!, at) > x[0] + 0.2 * (x[1] - x[0]);
      notes.push({ x: left ? Math.min(ends[0]!, at) : Math.max(ends[1]!, at), y: 100 - share, words: `${share} %: ${writeNumber(at, 3)} ${unit}`.trim(), away: left ? [-5, -2] : [5, 2], side: left ? "right" : "left", small: false, level: "bottom" });
    }
    Object.assign(above, { lines, notes, levels, x: [x, x] });
  }

  /** Draw estimates of the first cases, over how many they are. */
  private showSettling(now: Told, peak: string | null, panels: Panel[]): void {
    const { captured, undecided, allMet, allOpen } = now.judged;
    const share = (holds: boolean[], open: boolean[]) => (count: number) => {
      const found = estimated(holds.slice(0, count), open.slice(0, count));
      return [found.share, ...found.interval].map((one) => 100 * one);
    };
    const force = peak && now.figures.get(peak), most = (count: number) => {
      const known = inOrder((force as Float64Array).subarray(0, count)), [low, high] = percentileInterval(known, 0.95);
      return [percentile(known, 95), low ?? NaN, high ?? NaN];
    };
    const of = [...(now.captured ? [share(captured, undecided)] : []), ...(now.all ? [share(allMet, allOpen)] : []), ...(force ? [most] : [])];
    panels.forEach((panel, i) => {
      const [band, estimate] = panel.lines, runs = Array.from(this.columns.at(estimate!.x), Math.round), found = runs.map(of[i]!);
      const [values, low, high] = [0, 1, 2].map((part) => found.map((one) => one[part]!)) as [number[], number[], number[]];
      const all = [...values, ...low, ...high, ...panel.y[1]].filter(Number.isFinite), y: Span = [Math.min(...all), Math.max(...all)];
      Object.assign(panel, { lines: [{ ...estimate!, ...BEFORE }, this.line({ ...band }, runs, low, high), this.line({ ...estimate }, runs, values)], levels: panel.levels.map((level) => ({ ...level, at: values.at(-1)! })), y: [y, y] });
    });
  }
}
