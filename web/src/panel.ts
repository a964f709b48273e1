// Draws a panel of a chart as SVG. Colours are the page's by name, so that they follow light, dark and paper.
import type { Chart, Line, Panel } from "./chart.ts";
import type { Columns } from "./columns.ts";
import { drawing } from "./dom.ts";
import { bend, lastNotBeyond, linearTicks, logTicks, unbend, writeNumbers, type Span } from "./scales.ts";

const POINT = 1.33; // px
const LETTER = 6.3; // px, of a number on an axis
const FLAT = 1e-10; // of the unit of an axis: a curve that varies by less is rounding, as `dockdyn/report/charts/chart.py` has it

export interface Frame {
  width: number; // px, of all
  height: number; // of the axes
  left: number;
  right: number;
  top: number;
  foot: number; // below the axes
}

export interface Axes {
  frame: Frame;
  x: Span;
  y: Span;
  toX(value: number): number; // px
  toY(value: number): number;
  fromX(place: number): number;
  fromY(place: number): number;
}

/** Return the way from values to pixels; one scale on both axes where the panel asks for it. */
export function axesOf(panel: Panel, frame: Frame, x: Span, y: Span): Axes {
  const across = bend(panel.acrossScale), up = bend(panel.scale);
  const width = frame.width - frame.left - frame.right;
  let [left, right] = [across(x[0]), across(x[1])], [low, high] = [up(y[0]), up(y[1])];
  if (panel.equal) {
    const scale = Math.max((right - left) / width, (high - low) / frame.height);
    [left, right] = [(left + right - scale * width) / 2, (left + right + scale * width) / 2];
    [low, high] = [(low + high - scale * frame.height) / 2, (low + high + scale * frame.height) / 2];
  }
  const backAcross = unbend(panel.acrossScale), backUp = unbend(panel.scale);
  return {
    frame,
    x: [backAcross(left), backAcross(right)],
    y: [backUp(low), backUp(high)],
    toX: (value) => frame.left + ((across(value) - left) / (right - left)) * width,
    toY: (value) => frame.top + (1 - (up(value) - low) / (high - low)) * frame.height,
    fromX: (place) => backAcross(left + ((place - frame.left) / width) * (right - left)),
    fromY: (place) => backUp(low + (1 - (place - frame.top) / frame.height) * (high - low)),
  };
}

/** Return the vertical span that holds what is drawn within a horizontal one, with the panel's own limits where it has any. */
export function fitUp(panel: Panel, columns: Columns, x: Span): Span {
  let low = Infinity, high = -Infinity;
  const add = (value: number) => {
    if (!Number.isFinite(value) || (panel.scale === "log" && value <= 0)) return;
    low = Math.min(low, value);
    high = Math.max(high, value);
  };
  for (const line of panel.lines) {
    const across = columns.at(line.x), up = columns.at(line.y), reach = line.reach === null ? null : columns.at(line.reach);
    for (let i = 0; i < across.length; i++) {
      const inside = across[i]! >= x[0] && across[i]! <= x[1];
      const beside = line.joined && ((across[i - 1]! < x[1] && across[i]! > x[1]) || (across[i]! < x[0] && across[i + 1]! > x[0]));
      if (!inside && !beside) continue;
      add(up[i]!);
      if (reach) add(reach[i]!);
    }
  }
  if (low > high) return panel.y[1];
  for (const level of panel.levels) if (level.axis === "y") add(level.at);
  if (panel.scale === "log") {
    const room = high > low ? (high / low) ** 0.05 : 2;
    [low, high] = [low / room, high * room];
  } else {
    const room = [high - low, Math.abs(high)].filter((one) => one > FLAT).map((one) => 0.05 * one)[0] ?? 1;
    [low, high] = [low - room, high + room];
  }
  return [panel.limits[0] ?? low, panel.limits[1] ?? high];
}

const digits = (place: number) => place.toFixed(1);

/** Return whether values increase or stay: so lines over time do. */
export function isOrdered(values: Float64Array): boolean {
  for (let i = 1; i < values.length; i++) if (!(values[i]! >= values[i - 1]!)) return false;
  return true;
}

/** Return the path of a line; of one with more points than pixels the least and the largest in each pixel, which looks alike. */
export function pathOf(x: Float64Array, y: Float64Array, axes: Axes): string {
  const { frame } = axes, ordered = isOrdered(x);
  const first = ordered ? Math.max(lastNotBeyond(x, axes.x[0]), 0) : 0;
  const last = ordered ? Math.min(lastNotBeyond(x, axes.x[1]) + 1, x.length - 1) : x.length - 1;
  const dense = ordered && last - first > 4 * frame.width;
  const keep = 4 * frame.height; // what is further away would only make long numbers
  let path = "", down = false, pixel = -Infinity, least = 0, most = 0, ends = 0;
  const point = (px: number, py: number) => {
    path += `${down ? "L" : "M"}${digits(px)} ${digits(Math.min(Math.max(py, -keep), 2 * keep))}`;
    down = true;
  };
  const flush = () => {
    if (pixel === -Infinity) return;
    for (const py of least === most ? [most] : ends === most ? [least, most] : [most, least]) point(pixel, py);
    pixel = -Infinity;
  };
  for (let i = first; i <= last; i++) {
    const px = axes.toX(x[i]!), py = axes.toY(y[i]!);
    if (!Number.isFinite(px) || !Number.isFinite(py)) {
      flush();
      down = false;
    } else if (!dense) point(px, py);
    else {
      if (Math.round(px) !== pixel) {
        flush();
        pixel = Math.round(px);
        least = most = py;
      }
      least = Math.min(least, py);
      most = Math.max(most, py);
      ends = py;
    }
  }
  flush();
  return path;
}

function fillPath(x: Float64Array, low: Float64Array, high: Float64Array, axes: Axes): string {
  let path = "", run: number[] = [];
  const close = () => {
    if (run.length > 1) {
      const there = run.map((i) => `${digits(axes.toX(x[i]!))} ${digits(axes.toY(high[i]!))}`);
      const back = run.reverse().map((i) => `${digits(axes.toX(x[i]!))} ${digits(axes.toY(low[i]!))}`);
      path += `M${[...there, ...back].join("L")}Z`;
    }
    run = [];
  };
  for (let i = 0; i < x.length; i++) {
    if (Number.isFinite(axes.toY(low[i]!) + axes.toY(high[i]!) + x[i]!)) run.push(i);
    else close();
  }
  close();
  return path;
}

const MARKS: Record<string, (r: number) => string> = {
  o: (r) => `m${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  s: (r) => `m${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  "^": (r) => `m0 ${-1.1 * r}l${r} ${1.9 * r}h${-2 * r}z`,
  x: (r) => `m${-r} ${-r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`,
};
MARKS["."] = (r) => MARKS["o"]!(0.6 * r);
MARKS["X"] = MARKS["x"]!;

/** Return marks of a line: `path` has a place for each, "M0 0" of one there; `r` is half their size (px). */
export function markOf(line: Line, path: string, r: number): SVGElement {
  const open = line.marker === "x" || line.marker === "X", colour = `var(--${line.colour})`;
  return drawing("path", { d: path.replace(/M[^M]+/g, (place) => place + MARKS[line.marker]!(r)), fill: open ? "none" : line.hollow ? "var(--panel)" : colour, stroke: line.marker === "." ? "none" : colour, "stroke-width": line.marker === "X" ? 3 : 1.4 });
}

function markPlaces(line: Line, columns: Columns, axes: Axes): string {
  const x = columns.at(line.x), y = columns.at(line.y);
  let path = "";
  for (let i = 0; i < x.length; i++) {
    const px = axes.toX(x[i]!), py = axes.toY(y[i]!);
    if (px >= -9 && px <= axes.frame.width + 9 && Number.isFinite(py)) path += `M${digits(px)} ${digits(py)}`;
  }
  return path;
}

const dashes = (one: { dash: number[]; width: number }) => (one.dash.length ? one.dash.map((part) => digits(part * POINT * one.width)).join(" ") : null);

function lineParts(line: Line, columns: Columns, axes: Axes): SVGElement[] {
  const x = columns.at(line.x), y = columns.at(line.y), colour = `var(--${line.colour})`;
  if (line.reach !== null) return [drawing("path", { d: fillPath(x, y, columns.at(line.reach), axes), fill: colour, opacity: 0.25 })];
  const parts: SVGElement[] = [];
  if (line.joined) {
    parts.push(drawing("path", { d: pathOf(x, y, axes), fill: "none", stroke: colour, "stroke-width": POINT * line.width, "stroke-dasharray": dashes(line), "stroke-linejoin": "round" }));
  }
  if (line.marker) parts.push(markOf(line, markPlaces(line, columns, axes), (POINT * line.size) / 2));
  return parts;
}

function areaPath(x: Float64Array, y: Float64Array, axes: Axes): string {
  return `${pathOf(x, y, axes).replace(/M/g, "ZM").replace(/^Z/, "")}Z`;
}

const text = (words: string, x: number, y: number, more: Record<string, string | number | null> = {}) =>
  drawing("text", { x: digits(x), y: digits(y), fill: "var(--ink2)", "font-size": 11.5, ...more }, words);

/** Return the ticks of both axes with their words. */
function ticksOf(panel: Panel, axes: Axes): { across: [number, string][]; up: [number, string][] } {
  const { frame } = axes, fit = Math.max(2, Math.min(14, Math.floor((frame.width - frame.left - frame.right) / 64)));
  const each = (ticks: number[]): [number, string][] => ticks.map((tick) => [tick, writeNumbers([tick])[0]!.replace(/^1×/, "")]);
  const all = (ticks: number[]): [number, string][] => { const words = writeNumbers(ticks); return ticks.map((tick, i) => [tick, words[i]!]); };
  const across = panel.acrossScale === "log" ? each(logTicks(axes.x, fit)) : all(linearTicks(axes.x, fit));
  const rows = Math.max(2, Math.floor(frame.height / 30));
  const up = panel.ticks.length ? panel.ticks.filter(([at]) => at >= axes.y[0] && at <= axes.y[1]) : panel.scale === "log" ? each(logTicks(axes.y, rows)) : all(linearTicks(axes.y, rows));
  return { across, up };
}

/** Return the room that the names of ticks need on the left (px). */
export function leftRoom(panel: Panel, narrow: boolean): number {
  const longest = Math.max(0, ...panel.ticks.map(([, words]) => words.length));
  return panel.bare ? 4 : Math.min(Math.max(60, longest * LETTER + 14), narrow ? 150 : 320);
}

export interface Drawn { svg: SVGSVGElement; axes: Axes }

/** Draw a panel; `hidden` are names of the legend that are not shown, `last` says whether the horizontal axis is named. */
export function drawPanel(panel: Panel, chart: Chart, columns: Columns, axes: Axes, hidden: Set<string>, last: boolean, named: boolean, clip: string): Drawn {
  const { frame } = axes, right = frame.width - frame.right, bottom = frame.top + frame.height;
  const box = { x: frame.left, y: frame.top, width: right - frame.left, height: frame.height };
  const svg = drawing("svg", { viewBox: `0 0 ${frame.width} ${bottom + frame.foot}`, width: frame.width, height: bottom + frame.foot, role: "presentation", class: "panel-drawing" });
  svg.append(drawing("clipPath", { id: clip }, drawing("rect", { ...box })));
  const inside = drawing("g", { "clip-path": `url(#${clip})` });
  for (const area of panel.areas) {
    if (!hidden.has(area.name)) inside.append(drawing("path", { d: areaPath(columns.at(area.x), columns.at(area.y), axes), fill: `var(--${area.colour})`, "fill-opacity": area.alpha, "fill-rule": "evenodd" }));
  }
  for (const band of panel.bands) {
    if (hidden.has(band.legend)) continue;
    const [a, b] = band.axis === "x" ? [axes.toX(band.start), axes.toX(band.end)] : [axes.toY(band.end), axes.toY(band.start)];
    const place = band.axis === "x" ? { x: a, width: Math.max(b - a, 1), y: box.y, height: box.height } : { y: a, height: Math.max(b - a, 1), x: box.x, width: box.width };
    inside.append(drawing("rect", { ...place, fill: `var(--${band.colour})`, "fill-opacity": band.alpha }));
  }
  if (!panel.bare) {
    const { across, up } = ticksOf(panel, axes);
    for (const [at, words] of across) {
      const x = axes.toX(at);
      inside.append(drawing("path", { d: `M${digits(x)} ${box.y}V${bottom}`, stroke: "var(--line)" }));
      if (last) svg.append(text(frame.foot < 30 && at === across.at(-1)?.[0] ? `${words} s` : words, Math.min(x, frame.width - (LETTER * (words.length + (frame.foot < 30 ? 2 : 0))) / 2), bottom + 16, { "text-anchor": "middle" }));
    }
    for (const [at, words] of up) {
      const y = axes.toY(at);
      if (!panel.ticks.length || typeof panel.scale === "object") inside.append(drawing("path", { d: `M${frame.left} ${digits(y)}H${right}`, stroke: "var(--line)" }));
      const room = Math.floor((frame.left - 10) / LETTER);
      svg.append(text(words.length > room ? `…${words.slice(1 - room)}` : words, frame.left - 8, y + 4, { "text-anchor": "end" }));
    }
    if (last && frame.foot > 24) svg.append(text(panel.across, (frame.left + right) / 2, bottom + 33, { "text-anchor": "middle" }));
  }
  for (const level of panel.levels) {
    if (hidden.has(level.legend)) continue;
    const d = level.axis === "y" ? `M${frame.left} ${digits(axes.toY(level.at))}H${right}` : `M${digits(axes.toX(level.at))} ${bottom}V${digits(bottom - level.share * frame.height)}`;
    inside.append(drawing("path", { d, stroke: `var(--${level.colour})`, "stroke-width": POINT * level.width, "stroke-dasharray": dashes(level) }));
  }
  for (const line of panel.lines) if (!hidden.has(line.name)) inside.append(...lineParts(line, columns, axes));
  svg.append(inside);
  for (const note of panel.notes) {
    const x = axes.toX(note.x), y = axes.toY(note.y);
    if (!(x >= frame.left - 1 && x <= right + 1 && y >= frame.top - 1 && y <= bottom + 1)) continue;
    const anchor = { left: "start", center: "middle", right: "end" }[note.side];
    const down = { top: 9, center: 4, bottom: 0 }[note.level];
    svg.append(text(note.words, x + POINT * note.away[0], Math.max(y - POINT * note.away[1] + down, 9), { "text-anchor": anchor, fill: note.small ? "var(--ink2)" : "var(--ink)", "font-size": note.small ? 10.5 : 11.5, stroke: "var(--panel)", "stroke-width": 3, "paint-order": "stroke" }));
  }
  if (named) nameEvents(svg, panel, axes);
  if (chart.tiles && panel.bare) svg.classList.add("bare");
  return { svg, axes };
}

export const CONTACT = /^Q\d+$/; // the name of one

export interface Event { name: string; start: number; end: number; at: number } // its name is `at` an instant

/** Return what happened, by name, in its order: contacts, and instants as those of phases. */
export function eventsOf(panel: Panel): Event[] {
  const spans = panel.bands.filter((band) => band.axis === "x").map(({ name, start, end, at }) => ({ name, start, end, at }));
  const instants = panel.levels.filter((level) => level.axis === "x").map(({ name, at }) => ({ name, start: at, end: at, at }));
  return [...spans, ...instants].filter((one) => one.name).sort((a, b) => a.start - b.start);
}

function nameEvents(svg: SVGSVGElement, panel: Panel, axes: Axes): void {
  const { left, width, top } = axes.frame;
  for (const [words, x] of placedNames(eventsOf(panel), axes.toX, LETTER, [left, width])) {
    svg.append(text(words, x, top - 5, { "text-anchor": "middle", "font-size": 10.5 }));
  }
}

/** Return names of events and where their middles are (px) within a span, of so many px a `letter`: contacts too close for two share one, others leave theirs out. */
export function placedNames(events: readonly Event[], toX: (at: number) => number, letter: number, [least, most]: Span): [words: string, x: number][] {
  const found: { names: string[]; from: number; to: number }[] = [];
  const wordsOf = (names: string[]) => (names.length < 3 ? names.join(", ") : `${names[0]}–${names.at(-1)}`);
  const halfOf = (words: string) => (letter * words.length) / 2;
  for (const { name, at } of [...events].sort((a, b) => a.at - b.at)) {
    const x = toX(at), half = halfOf(name), last = found.at(-1);
    if (!(x - half >= least && x + half <= most)) continue;
    if (!last || x - half >= (last.from + last.to) / 2 + halfOf(wordsOf(last.names)) + 5) found.push({ names: [name], from: x, to: x });
    else if (CONTACT.test(name) && CONTACT.test(last.names[0]!)) {
      last.names.push(name);
      last.names.sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
      last.to = x;
    }
  }
  return found.map(({ names, from, to }) => [wordsOf(names), (from + to) / 2]);
}
