// What the page of a campaign says of its cases, told again of cases with other numbers: verdict, tiles, requirements, tables.
import { drawing, element } from "../dom.ts";
import { writeNumber } from "../scales.ts";
import { estimated, type CaseFigures, type Estimated, type JudgedCases, type RequirementOfCases } from "./cases.ts";
import { amountInWords, askedInWords, limitInWords } from "./judge.ts";
import { asReported } from "./kept.ts";
import { showSort, type Sort } from "./verdict.ts";
import { shareInWords, sureInWords, withInterval } from "./shares.ts";
import { inOrder, percentile, percentileInterval } from "./statistics.ts";

export interface Told {
  figures: CaseFigures;
  judged: JudgedCases;
  requirements: RequirementOfCases[];
  all: Estimated | null; // that meet all
  captured: Estimated | null;
  each: Estimated[]; // of the requirements
  count: number;
  failed: number;
}

const MOST = 95; // % of the cases, for which a force is told
const HALF = 0.5; // of the cases: fewer is bad news
const PERCENTILES = ["50", "95", "99"];
const LOW = 0.05; // of the cases that have a smaller margin

/** Return what is to tell of cases. */
export function toldOf(requirements: RequirementOfCases[], figures: CaseFigures, judged: JudgedCases, captures: boolean, failed: number): Told {
  return {
    figures, judged, requirements, failed, count: judged.allMet.length,
    all: requirements.length ? estimated(judged.allMet, judged.allOpen) : null,
    captured: captures ? estimated(judged.captured, judged.undecided) : null,
    each: requirements.map((_, place) => estimated(judged.met[place]!, judged.open[place]!)),
  };
}

const was = (words: string) => element("span", { class: "was" }, `${words} in the report`);
const inUnit = (one: RequirementOfCases, value: number, digits = 3) => amountInWords(one, value, digits);

/** Tell the verdict again; null: as reported. */
export function tellVerdict(now: Told | null, then: Told, force: [figure: string, words: string] | null): void {
  const verdict = document.querySelector<HTMLElement>(".verdict")!, parts = ["headline", "lead"].map((name) => verdict.querySelector<HTMLElement>(`.${name}`));
  for (const part of parts) if (part) asReported(part);
  showSort(now === null ? null : sortOf(now));
  const [headline, lead] = parts;
  if (now === null || !headline) return;
  const main = now.all ?? now.captured, before = then.all ?? then.captured;
  if (main && before) {
    const words = headline.textContent!.replace(/^\S+ /, `${shareInWords(main)} `);
    headline.replaceChildren(words, was(`${shareInWords(before)} %`));
  }
  lead?.replaceChildren(...sentences(now, then, force));
}

function sentences(now: Told, then: Told, force: [figure: string, words: string] | null): (string | Node)[] {
  const said: (string | Node)[] = [];
  const share = (words: string, one: Estimated | null, before: Estimated | null) => {
    if (one && before) said.push(`${words} `, element("b", {}, `${shareInWords(one)} %`), ` (${sureInWords(one)}; `, was(`${shareInWords(before)} %`), "). ");
  };
  share("All requirements are met in", now.all, then.all);
  share("Captured in", now.captured, then.captured);
  const [values, before] = force ? [now, then].map(({ figures }) => inOrder(figures.get(force[0])!)) as [Float64Array, Float64Array] : [];
  if (force && values?.length) {
    const most = withInterval(percentile(values, MOST), percentileInterval(values, MOST / 100), "N");
    said.push(`The ${force[1]} stays below `, element("b", {}, most.split(" (")[0]!), most.includes(" (") ? ` (${most.split(" (")[1]!.replace(")", "; ")}` : " (", was(`${writeNumber(percentile(before!, MOST))} N`), `) in ${MOST} % of ${values.length < now.count ? `the ${values.length} cases that have one` : "the cases"}. `);
  }
  if (now.failed) said.push(element("b", {}, `${now.failed} of ${now.count} cases`), " fail or are refused; they meet no requirement.");
  return said;
}

/** Return whether cases are good news, bad, or to be read with care, as the report does. */
function sortOf({ all, each, failed, judged }: Told): Sort {
  if ((all && all.share < HALF) || each.some(({ share }) => share < HALF)) return "bad";
  return failed || judged.undecided.includes(true) || each.some(({ share }) => share < 1) ? "warn" : "ok";
}

/** Tell the tiles again that are of cases; the others are marked as the report's. */
export function tellTiles(now: Told | null): void {
  for (const tile of document.querySelectorAll<HTMLElement>(".tile")) {
    const of = tile.dataset.cases;
    asReported(tile);
    if (now === null) continue;
    if (!of) {
      tile.classList.add("reported");
      continue;
    }
    const number = tile.querySelector(".v")!.firstChild as Text, note = tile.querySelector<HTMLElement>(".f"), before = number.data;
    const [place, figure] = of.split(" ");
    if (figure) tellForce(tile, now, figure, Number(place), number, note);
    else tellShare(tile, now, of, number, note);
    note?.append(was(`${before} ${tile.querySelector(".v .unit")?.textContent.trim() ?? ""}`));
    tile.classList.add("moved", "retold");
  }
}

function tellShare(tile: HTMLElement, now: Told, of: string, number: Text, note: HTMLElement | null): void {
  const at = now.requirements.findIndex(({ name }) => name === of), one = of === "captured" ? now.captured : now.each[at];
  if (!one) return;
  if (of !== "captured") tile.querySelector(".k")!.textContent = askedInWords(now.requirements[at]!);
  number.data = shareInWords(one);
  note!.replaceChildren(`${one.held} of ${now.count}; ${sureInWords(one)}`);
  tile.classList.toggle("bad", one.share < HALF);
  fillSquares(tile.querySelector("svg")!, one.share);
}

/** Fill as many of the squares of a tile as a share says. */
function fillSquares(svg: SVGElement, share: number): void {
  const paths = [...svg.querySelectorAll("path")], squares = paths.flatMap((path) => path.getAttribute("d")!.split(/(?=M)/));
  const filled = Math.round(share * squares.length);
  svg.replaceChildren(...([[squares.slice(0, filled), "var(--ok)"], [squares.slice(filled), "var(--line2)"]] as const).map(([some, fill]) => drawing("path", { d: some.join(""), fill })));
}

function tellForce(tile: HTMLElement, now: Told, figure: string, place: number, number: Text, note: HTMLElement | null): void {
  const values = inOrder(now.figures.get(figure)!), force = percentile(values, place);
  const limit = now.requirements.find((one) => one.relation.startsWith("<") && [figure, figure.replace(/\.(least|largest)$/, "")].includes(one.figure));
  const largest = `largest ${writeNumber(values.at(-1) ?? NaN)} N`, over = limit && force > Number(limit.limit);
  number.data = writeNumber(force);
  note?.replaceChildren(limit ? `${writeNumber(Math.abs(force - Number(limit.limit)), 3)} N ${over ? "over" : "under"} the limit; ${largest}` : largest);
  tile.classList.toggle("bad", Boolean(over));
  if (values.length) drawHistogram(tile.querySelector("svg")!, values, limit ? Number(limit.limit) : null);
}

const BINS = 24, WIDE = 240, HIGH = 80; // of the picture, as `dockdyn/report/tile_pictures.py` draws it

/** Draw how values in order are distributed, those above a limit in the colour of a miss. */
function drawHistogram(svg: SVGElement, values: Float64Array, limit: number | null): void {
  const low = values[0]!, high = values.at(-1)!, span = high - low || 1, inside = limit !== null && limit > low && limit < high;
  const edges = Array.from({ length: BINS + 1 }, (_, i) => low + (span * i) / BINS);
  if (inside) edges[1 + edges.slice(1, -1).reduce((best, edge, i, all) => (Math.abs(edge - limit) < Math.abs(all[best]! - limit) ? i : best), 0)] = limit;
  const counts = new Array<number>(BINS).fill(0);
  for (let place = 0, bin = 0; place < values.length; place++) {
    while (bin < BINS - 1 && values[place]! >= edges[bin + 1]!) bin++;
    counts[bin]! += 1;
  }
  const heights = counts.map((count, i) => count / (edges[i + 1]! - edges[i]!)), tallest = Math.max(...heights), x = (value: number) => (WIDE * (value - low)) / span;
  const path = (missed: boolean) => heights.map((height, i) => (height && (limit !== null && (edges[i]! + edges[i + 1]!) / 2 > limit) === missed ? `M${x(edges[i]!).toFixed(1)} ${HIGH}V${(HIGH * (1 - height / tallest)).toFixed(1)}H${Math.max(x(edges[i + 1]!) - 1, x(edges[i]!)).toFixed(1)}V${HIGH}z` : "")).join("");
  svg.replaceChildren(drawing("path", { d: path(false), fill: limit === null ? "var(--blue)" : "var(--ok)" }), drawing("path", { d: path(true), fill: "var(--orange)" }));
  if (inside) svg.append(drawing("path", { d: `M${x(limit).toFixed(1)} 0V${HIGH}`, stroke: "var(--ink)", "vector-effect": "non-scaling-stroke" }));
}

/** Return the value of a requirement that is nearest to missing it, or furthest beyond, and the case it is of. */
function worstOf({ judged, requirements }: Told, at: number): [value: number, place: number] {
  const one = requirements[at]!, values = judged.value[at]!;
  if (typeof one.limit === "boolean") return [NaN, -1];
  const limit = one.limit, beyond = (value: number) => (one.relation === "==" ? Math.abs(value - limit) : one.relation.startsWith(">") ? -value : value);
  const place = values.reduce((worst, value, row) => (Number.isFinite(value) && (worst < 0 || beyond(value) > beyond(values[worst]!)) ? row : worst), -1);
  return [place < 0 ? NaN : values[place]!, place];
}

/** Tell the requirements again. */
export function tellRequirements(now: Told | null, then: Told): void {
  const sorts = [["ok", "✓"], ["warn", "!"], ["bad", "✗"]] as const;
  for (const node of document.querySelectorAll<HTMLElement>(".requirement")) {
    asReported(node);
    const at = then.requirements.findIndex(({ name }) => name === node.dataset.name);
    if (now === null || at < 0) continue;
    const one = now.each[at]!, [sort, mark] = sorts[one.share === 1 ? 0 : one.share < HALF ? 2 : 1], [low, high] = one.interval;
    const [worst, place] = worstOf(now, at), open = now.judged.open[at]!.filter(Boolean).length;
    node.className = `requirement ${sort}`;
    node.querySelector(".top em")!.textContent = mark;
    node.querySelector(".n")!.textContent = askedInWords(now.requirements[at]!);
    node.querySelector(".top b")!.replaceChildren(`${shareInWords(one)} %`, was(`${shareInWords(then.each[at]!)} %`));
    node.querySelector<HTMLElement>(".bar span")!.style.width = `${100 * one.share}%`;
    node.querySelector<HTMLElement>(".bar b")!.setAttribute("style", `left:${100 * low}%;width:${100 * (high - low)}%`);
    node.querySelector(".ticks")!.replaceChildren(
      element("span", {}, `met in ${one.held} of ${now.count} cases, 95 % sure: ${sureInWords(one)}${open ? `; ${open} not decided` : ""}`),
      element("span", {}, place < 0 ? "" : `worst ${inUnit(now.requirements[at]!, worst)}, case ${place}`),
    );
  }
}

/** Tell the tables again that are of percentiles and of requirements; those of what came of the cases otherwise are the report's. */
export function tellTables(now: Told | null, loads: string[]): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("table[data-live]")) {
    const of = table.dataset.live, body = table.tBodies[0]!;
    if (of === "outcomes") table.closest(".frame")!.classList.toggle("reported", now !== null);
    if (of !== "loads" && of !== "requirements") continue;
    asReported(body);
    if (now === null) continue;
    const keys = table.dataset.columns!.split(" ");
    [...body.rows].forEach((row, at) => {
      const cells = of === "loads" ? loadCells(loads[at]!, now.figures) : requirementCells(now, at);
      if (of === "requirements") row.cells[1]!.textContent = limitInWords(now.requirements[at]!);
      keys.forEach((key, place) => {
        const cell = row.cells[place];
        if (key === "-" || !cell) return;
        const before = cell.textContent!, words = cells[key] ?? "–";
        if (before !== words) cell.replaceChildren(words, element("span", { class: "was" }, before));
      });
    });
  }
}

function loadCells(name: string, figures: CaseFigures): Record<string, string> {
  const known = inOrder(figures.get(name)!), whole = name.endsWith("count");
  const found: Record<string, string> = { cases: String(known.length), largest: whole ? String(known.at(-1)) : writeNumber(known.at(-1) ?? NaN) };
  for (const place of PERCENTILES) {
    const value = percentile(known, Number(place));
    found[place] = !known.length ? "–" : whole ? String(value) : withInterval(value, percentileInterval(known, Number(place) / 100));
  }
  return found;
}

function requirementCells(now: Told, at: number): Record<string, string> {
  const one = now.requirements[at]!, share = now.each[at]!, decided = (_: number, row: number) => !now.judged.open[at]![row];
  const met = `${shareInWords(share)} % (${sureInWords(share)})`;
  if (typeof one.limit === "boolean") return { met };
  const margins = now.judged.margin[at]!.filter(decided), there = margins.filter(Number.isFinite), [worst] = worstOf(now, at);
  return {
    met,
    median: inUnit(one, percentile(inOrder(now.judged.value[at]!), 50)),
    worst: inUnit(one, worst),
    mean: there.length ? inUnit(one, there.reduce((sum, value) => sum + value, 0) / there.length) + (there.length < margins.length ? ` (of ${there.length} cases)` : "") : "–",
    low: lowMargin(one, margins, there.length),
    first: "–",
  };
}

/** Return the margin that a share of the cases falls short of; those without the figure have less than any. */
function lowMargin(one: RequirementOfCases, margins: Float64Array, having: number): string {
  const known = margins.map((margin) => (Number.isNaN(margin) ? -Infinity : margin)).sort(), place = LOW * (known.length - 1), low = known[Math.floor(place)] ?? -Infinity;
  if (!Number.isFinite(low)) return having ? `none: ${margins.length - having} cases without the figure` : "–";
  const next = known[Math.min(Math.floor(place) + 1, known.length - 1)]!;
  return inUnit(one, low + (place - Math.floor(place)) * (next - low));
}
