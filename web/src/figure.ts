// A figure of a report: its panels, what they say at the pointer or at the time, its window, its legend.
import { wordsAndUnit, type Chart, type Level, type Line, type Panel } from "./chart.ts";
import type { Clock } from "./clock.ts";
import type { Columns } from "./columns.ts";
import { drawing, element } from "./dom.ts";
import { axesOf, drawPanel, fitUp, isOrdered, leftRoom, markOf, type Axes } from "./panel.ts";
import { lastNotBeyond, writeNumber, writeNumbers, type Span } from "./scales.ts";

const NARROW = 560; // px of a figure below which its panels stand below each other
const ROUNDING = 1e-9; // of what an axis shows: a smaller value beside it reads as 0
const PICTURE = 220; // px that a small picture has at least, which else stands beside others
const GUTTER = 190; // px beside curves, for names and values
const LEAST = 150; // px that a panel has at least beside the words at its left, where it is not alone
const EVEN = 880; // px that a figure with one scale on both axes has at most, so that it is seen whole
const REACH = 14; // px within which a point is meant
const MOVED = 4; // px from which a press is a drag
const PAPER = 669; // px within a figure on A4, as the style has its edges

/** The window that figures over the same axis share: null where each opens as it is given. */
export class Window {
  span: Span | null = null;
  whole = false;
  hover: number | null = null;
  readonly figures: Figure[] = [];

  show(span: Span | null, whole = false): void {
    this.span = span;
    this.whole = whole;
    for (const figure of this.figures) figure.draw();
  }

  read(at: number | null): void {
    this.hover = at;
    for (const figure of this.figures) figure.tell();
  }
}

interface Cell {
  panel: Panel;
  axes: Axes;
  plot: HTMLElement;
  now: HTMLElement;
  values: [Line, HTMLElement][];
}

export class Figure {
  private cells: Cell[] = [];
  private readonly hidden = new Set<string>();
  private width = 0;
  private readonly timed: boolean;

  constructor(
    readonly node: HTMLElement,
    readonly chart: Chart,
    private readonly number: number,
    private readonly columns: Columns,
    readonly window: Window,
    private readonly clock: Clock,
  ) {
    this.timed = chart.events && chart.over !== "";
    window.figures.push(this);
    clock.subscribe(() => this.tell());
    new ResizeObserver(() => this.place.clientWidth !== this.width && this.draw()).observe(this.place);
    new IntersectionObserver((seen) => {
      this.near = seen.at(-1)!.isIntersecting;
      if (this.near && this.due) this.draw();
    }, { rootMargin: "400px" }).observe(this.place);
    addEventListener("beforeprint", () => this.draw(PAPER));
    addEventListener("afterprint", () => this.draw());
  }

  private near = false; // whether it is seen, or soon
  private due = false;

  /** Draw it now where it is seen, else when it comes to be. */
  drawWhenSeen(): void {
    this.due = true;
    if (this.near) this.draw();
  }

  get place(): HTMLElement {
    return this.node.querySelector(".chart")!;
  }

  /** The horizontal span of a panel as it is shown. */
  private across(panel: Panel): Span {
    return this.window.span ?? panel.x[this.window.whole ? 1 : 0];
  }

  private up(panel: Panel): Span {
    return this.window.span && !panel.equal ? fitUp(panel, this.columns, this.window.span) : panel.y[this.window.whole ? 1 : 0];
  }

  /** Draw it as wide (px) as its place is, or as is given. */
  draw(given = this.place.clientWidth): void {
    this.due = false;
    this.width = given;
    const { chart, place } = this;
    if (!given) return;
    const width = chart.panels.some((panel) => panel.equal) ? Math.min(given, EVEN) : given;
    const narrow = width < NARROW, edge = Math.max(...chart.panels.map((panel) => leftRoom(panel, narrow)));
    let columns = narrow && !(chart.tiles && width >= PICTURE * chart.columns) ? 1 : chart.columns;
    while (!chart.tiles && columns > 1 && width / columns - edge < LEAST) columns -= 1;
    const panels = chart.panels.filter((panel) => columns > 1 || panel.lines.length || !panel.bare);
    const beside = this.timed && columns === 1 && !narrow ? GUTTER : 0;
    const gap = 12, room = (width - beside - gap * (columns - 1)) / columns;
    const left = Math.max(...panels.map((panel) => leftRoom(panel, narrow)));
    this.cells = [];
    const rows = panels.map((panel, i) => {
      const below = panels[i + columns];
      const last = !below || below.across !== panel.across || String(below.x[1]) !== String(panel.x[1]);
      const edge = panel.bare ? 4 : left;
      const height = panel.shape && panel.equal ? Math.round(panel.shape * (room - edge - 12)) : Math.round((this.timed ? 74 : 96) * panel.height * (narrow ? 0.95 : 1));
      const foot = panel.bare ? 4 : !last ? 6 : this.timed && wordsAndUnit(panel.across)[0] === "time" ? 22 : 40;
      const frame = { width: Math.floor(room), height: Math.max(height, 60), left: edge, right: panel.bare ? 4 : 12, top: i < columns ? 18 : 8, foot };
      const axes = axesOf(panel, frame, this.across(panel), this.up(panel));
      const { svg } = drawPanel(panel, chart, this.columns, axes, this.hidden, last, i < columns, `clip-${this.number}-${i}`);
      const now = element("i", { class: "now", hidden: !chart.events });
      const plot = element("div", { class: "plot", "data-shown": [...axes.x, ...axes.y].join(" ") }, svg, now);
      const cell: Cell = { panel, axes, plot, now, values: [] };
      this.cells.push(cell);
      this.listen(cell);
      return element("div", { class: beside ? "curve" : "tile-panel" }, this.gutter(cell), plot);
    });
    const legend = this.timed ? null : this.legend(panels);
    place.replaceChildren(...(legend ? [legend] : []), element("div", { class: "panels", style: `grid-template-columns: repeat(${columns}, minmax(0, 1fr))` }, ...rows));
    this.node.dataset.drawn = "";
    this.tell();
  }

  /** What stands beside or above a panel: its name and, of curves over time, its lines with their values. */
  private gutter(cell: Cell): HTMLElement {
    const { panel } = cell, [words, unit] = wordsAndUnit(panel.label);
    const title = [panel.title, words || (panel.title ? unit : "")].filter(Boolean).join(": ");
    const host = element("div", { class: "gutter" }, element("p", { class: "curve-name" }, title, unit && words ? element("span", { class: "unit" }, unit) : null));
    if (!this.timed) return host;
    for (const line of panel.lines) {
      if (!line.read) continue;
      const value = element("b"), name = line.name || words || title, told = name === words || name === title; // above
      const shown = !this.hidden.has(line.name);
      const toggle = line.name ? () => this.toggle(line.name) : null;
      cell.values.push([line, value]);
      host.append(element("button", { type: "button", class: "series", "aria-pressed": String(shown), disabled: !line.name, title: line.name ? `Show or hide ${name}` : name, ...(toggle && { click: toggle }) }, swatch(line), told ? null : element("span", {}, name), value));
    }
    return host;
  }

  private legend(panels: Panel[]): HTMLElement | null {
    const named = new Map<string, Element>();
    for (const panel of panels) {
      for (const line of panel.lines) if (line.name && !named.has(line.name)) named.set(line.name, swatch(line));
      for (const area of panel.areas) if (area.name && !named.has(area.name)) named.set(area.name, block(area.colour));
      for (const one of [...panel.bands, ...panel.levels]) if (one.legend && !named.has(one.legend)) named.set(one.legend, "dash" in one ? swatch(one) : block(one.colour));
    }
    if (named.size < 2) return null;
    return element("div", { class: "legend" }, ...[...named].map(([name, mark]) =>
      element("button", { type: "button", class: "series", "aria-pressed": String(!this.hidden.has(name)), title: `Show or hide ${name}`, click: () => this.toggle(name) }, mark, element("span", {}, name))));
  }

  private toggle(name: string): void {
    if (!this.hidden.delete(name)) this.hidden.add(name);
    this.draw();
  }

  /** Show the time, or the place of the pointer, and the values there. */
  tell(): void {
    if (!this.chart.events) return;
    const time = this.window.hover ?? this.clock.time;
    for (const { axes, now, values, panel } of this.cells) {
      if (wordsAndUnit(panel.across)[0] !== "time") {
        now.hidden = true;
        continue;
      }
      const x = axes.toX(time), { left, right, width, top, height } = axes.frame;
      now.hidden = !(x >= left - 1 && x <= width - right + 1);
      now.classList.toggle("reading", this.window.hover !== null);
      if (!now.hidden) now.setAttribute("style", `transform: translateX(${(x - 0.75).toFixed(1)}px); top: ${top}px; height: ${height}px`);
      for (const [line, value] of values) value.textContent = this.valueAt(line, line.joined ? time : axes.fromX(x + 1), panel); // a mark within a pixel is there
    }
  }

  /** Return what a line says at a time; of marks that of the contact there, else the last one before. */
  private valueAt(line: Line, at: number, { scale, y: [, [low, high]], bands }: Panel): string {
    const x = this.columns.at(line.x), y = this.columns.at(line.y);
    const write = (value: number) => writeNumber(scale === "linear" && Math.abs(value) < ROUNDING * (high - low) ? 0 : value);
    const within = line.joined ? undefined : bands.find((band) => band.axis === "x" && band.start <= at && at <= band.end);
    const i = lastNotBeyond(x, within?.end ?? at);
    if (!line.joined) return i < 0 || (within && x[i]! < within.start) ? "–" : write(y[i]!);
    if (i < 0 || (i === x.length - 1 && at > x[i]!)) return "–";
    if (i === x.length - 1) return write(y[i]!);
    const share = (at - x[i]!) / (x[i + 1]! - x[i]! || 1);
    return write(y[i]! + share * (y[i + 1]! - y[i]!));
  }

  // ── pointer ──

  private listen(cell: Cell): void {
    const { plot, axes, panel } = cell;
    if (panel.bare) return;
    const placeOf = (event: PointerEvent | MouseEvent): [number, number] => {
      const box = plot.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const timed = this.timed && wordsAndUnit(panel.across)[0] === "time";
    let from: number | null = null;
    let box: HTMLElement | null = null;
    plot.addEventListener("pointermove", (event) => {
      const [x, y] = placeOf(event);
      if (from !== null && timed && !event.shiftKey && !box) this.clock.seek(axes.fromX(x));
      else if (from !== null && Math.abs(x - from) > MOVED) {
        box ??= plot.appendChild(element("i", { class: "zoom-box" }));
        box.setAttribute("style", `left: ${Math.min(x, from)}px; width: ${Math.abs(x - from)}px; top: ${axes.frame.top}px; height: ${axes.frame.height}px`);
      } else if (timed) this.window.read(event.pointerType === "mouse" && x >= axes.frame.left ? axes.fromX(x) : null);
      else this.readAt(cell, x, y);
    });
    plot.addEventListener("pointerdown", (event) => {
      const [x, y] = placeOf(event);
      if (event.button !== 0 || x < axes.frame.left) return;
      if (event.pointerType === "touch") {
        if (timed) this.clock.seek(axes.fromX(x));
        else this.readAt(cell, x, y);
        return; // the finger scrolls the page
      }
      from = x;
      plot.setPointerCapture(event.pointerId);
      if (timed && !event.shiftKey) {
        this.clock.pause();
        this.window.read(null);
        this.clock.seek(axes.fromX(x));
      } else if (timed || !panel.equal) box = plot.appendChild(element("i", { class: "zoom-box" }));
      else from = null;
    });
    plot.addEventListener("pointerup", (event) => {
      const [x] = placeOf(event);
      if (box && from !== null && Math.abs(x - from) > MOVED) {
        this.window.show([axes.fromX(Math.max(Math.min(x, from), axes.frame.left)), axes.fromX(Math.min(Math.max(x, from), axes.frame.width - axes.frame.right))]);
      }
      box?.remove();
      box = from = null;
    });
    plot.addEventListener("pointerleave", (event) => {
      if (event.pointerType !== "mouse") return;
      this.window.read(null);
      this.unread();
    });
    plot.addEventListener("dblclick", () => this.window.show(null));
    plot.addEventListener("wheel", (event) => {
      if (!event.ctrlKey || panel.equal) return;
      event.preventDefault();
      const at = axes.fromX(placeOf(event)[0]), grow = event.deltaY > 0 ? 1.25 : 0.8, [low, high] = axes.x;
      if (panel.acrossScale === "linear") this.window.show([at - (at - low) * grow, at + (high - at) * grow]);
      else this.window.show([at * (low / at) ** grow, at * (high / at) ** grow]);
    }, { passive: false });
  }

  /** Return which point of a line is nearest to a place (px), and how far that is (px²); -1 where none is near. */
  private nearest(line: Line, axes: Axes, px: number, py: number): [point: number, far: number] {
    const x = this.columns.at(line.x), y = this.columns.at(line.y), ordered = line.joined && isOrdered(x);
    let found = -1, least = line.joined ? 900 : REACH ** 2;
    for (let i = 0; i < x.length; i++) {
      const dx = axes.toX(x[i]!) - px, dy = ordered ? 0 : axes.toY(y[i]!) - py, far = dx * dx + dy * dy;
      if (far < least) [least, found] = [far, i];
    }
    return [found, least];
  }

  /** Return the line and the point of it that an event is at; null where it is at none. */
  pointAt(event: MouseEvent): [Line, number] | null {
    let found: [Line, number] | null = null, least = Infinity;
    for (const { plot, axes, panel } of this.cells) {
      const box = plot.getBoundingClientRect();
      for (const line of panel.lines) {
        if (!line.read || this.hidden.has(line.name)) continue;
        const [point, far] = this.nearest(line, axes, event.clientX - box.left, event.clientY - box.top);
        if (point >= 0 && far < least) [least, found] = [far, [line, point]];
      }
    }
    return found;
  }

  /** Say what the lines of a panel are at a place (px). */
  private readAt(cell: Cell, px: number, py: number): void {
    this.unread();
    const { axes, panel, plot } = cell, [across, unitAcross] = wordsAndUnit(panel.across), [words, unit] = wordsAndUnit(panel.label);
    if (px < axes.frame.left || py < 0 || py > axes.frame.top + axes.frame.height) return;
    const rows: HTMLElement[] = [];
    for (const line of panel.lines) {
      if (!line.read || this.hidden.has(line.name)) continue;
      const x = this.columns.at(line.x), y = this.columns.at(line.y), [found] = this.nearest(line, axes, px, py);
      if (found < 0) continue;
      const value = `${writeNumbers([Number(x[found]!.toPrecision(5))])[0]} ${unitAcross}: ${writeNumbers([Number(y[found]!.toPrecision(5))])[0]} ${unit}`;
      rows.push(element("span", {}, swatch(line), line.name || words, element("em", {}, value)));
    }
    if (!rows.length) return;
    const told = element("div", { class: "readout" }, element("b", {}, across), ...rows);
    plot.append(told);
    told.style.left = `${Math.max(0, Math.min(px + 14 + told.offsetWidth > axes.frame.width ? px - told.offsetWidth - 14 : px + 14, axes.frame.width - told.offsetWidth))}px`;
    told.style.top = `${Math.max(0, py - told.offsetHeight - 10)}px`;
  }

  unread(): void {
    for (const told of this.place.querySelectorAll(".readout")) told.remove();
  }
}

/** Return what stands for a line, or a level, in words about it: a stretch of it, or its mark. */
function swatch(line: Line | Level): Element {
  if ("marker" in line && line.marker && !line.joined) return drawing("svg", { class: "swatch mark", width: 14, height: 12, viewBox: "-7 -6 14 12", "aria-hidden": "true" }, markOf(line, "M0 0", 4));
  return element("i", { class: "swatch", style: `border-color: var(--${line.colour}); border-top-style: ${line.dash.length ? "dashed" : "solid"}` });
}

function block(colour: string): HTMLElement {
  return element("i", { class: "swatch block", style: `background: var(--${colour})` });
}
