// Makes a report alive: curves, scene and tables with one time, and what computes where it does. What is read is in the page without it.
import type { Chart } from "./chart.ts";
import { Clock } from "./clock.ts";
import { unpackColumns, type PackedColumns } from "./columns.ts";
import { unpack } from "./unpack.ts";
import { element } from "./dom.ts";
import { Figure, Window } from "./figure.ts";
import { giveUp, type Page, type Scripts } from "./live/shown.ts";
import { CONTACT, eventsOf, type Event } from "./panel.ts";
import { addSaving } from "./save.ts";
import type { mountScene, SceneData } from "./scene/scene.ts";
import { addCopying, linkRows, signScrolling, startCopying } from "./tables.ts";
import { startTheme } from "./theme.ts";
import { Transport } from "./transport.ts";

interface PageData {
  columns: PackedColumns;
  charts: Chart[];
  span: [number, number] | null; // of the run, s
  at: number | null; // s, what the page opens on
  scene: SceneData | null;
}

declare const dockdynScene: { mountScene: typeof mountScene };

/** Unpack the scene's script and run it: the page's policy allows it by its hash. */
async function loadScene(): Promise<typeof dockdynScene> {
  const code = await unpack(document.getElementById("scene-script")!.textContent!);
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(code);
  document.head.append(script);
  return dockdynScene;
}

const all = <E extends HTMLElement>(selector: string) => [...document.querySelectorAll<E>(selector)];

function addWindowTools(figure: Figure): void {
  const { chart, window } = figure;
  if (chart.panels.every((panel) => panel.equal || panel.bare)) return;
  const button = (words: string, title: string, act: () => void) => element("button", { type: "button", class: "tool", title, click: act }, words);
  const tools = [button("Reset", "What was shown at first; shift and drag zooms, as the wheel does while Ctrl is held", () => window.show(null))];
  if (chart.opens) tools.push(button("Whole run", "All of the run", () => window.show(null, true)));
  figure.node.querySelector(".tools")!.prepend(...tools);
}

function makeFigures(data: PageData, columns: Awaited<ReturnType<typeof unpackColumns>>, clock: Clock): { windows: Map<string, Window>; figures: Figure[] } {
  const figures: Figure[] = [];
  const windows = new Map<string, Window>();
  for (const node of all("figure[data-chart]")) {
    const number = Number(node.dataset.chart), chart = data.charts[number]!;
    const window = windows.get(chart.over) ?? new Window();
    if (chart.over) windows.set(chart.over, window);
    const figure = new Figure(node, chart, number, columns, window, clock);
    addWindowTools(figure);
    figure.draw();
    figures.push(figure);
  }
  return { windows, figures };
}

/** What of a page computes: made of its place, its data and the addresses of the scripts of workers. */
export type MakeLive = new (host: HTMLElement, data: never, page: Page, scripts: Scripts) => { begin(): Promise<void> };

/** Let the page compute, where it carries the programs for that. */
async function startLive(page: Page, Live: MakeLive): Promise<void> {
  const host = document.getElementById("live"), text = document.getElementById("live-data")?.textContent;
  if (!host || !text) return;
  const scripts: Scripts = {};
  try {
    for (const name of ["run", "loop"] as const) {
      const script = document.getElementById(`${name}-script`)?.textContent;
      if (script) scripts[name] = URL.createObjectURL(new Blob([(await unpack(script)) as BlobPart], { type: "text/javascript" }));
    }
    await new Live(host, JSON.parse(text) as never, page, scripts).begin();
  } catch (error) {
    giveUp(error instanceof Error ? error.message : String(error));
  }
}

export async function start(Live: MakeLive | null): Promise<void> {
  startTheme(document.querySelector(".page-tools"));
  const data: PageData = JSON.parse(document.getElementById("page-data")!.textContent!);
  const columns = await unpackColumns(data.columns);
  const [begin, end] = data.span ?? [0, 0], clock = new Clock({ start: begin, end });
  const { windows, figures } = makeFigures(data, columns, clock);
  const panel = data.charts.find((chart) => chart.events && chart.over)?.panels[0];
  const events: Event[] = panel ? eventsOf(panel) : [];
  const goes = new Map(events.map((event): [string, () => void] => [event.name, () => {
    const room = Math.max((event.end - event.start) * 0.4, (end - begin) * 0.002);
    windows.get("time")?.show([Math.max(begin, event.start - room), Math.min(end, event.end + room)]);
    clock.pause();
    clock.seek(event.at);
  }]));
  const bar = document.querySelector<HTMLElement>(".transport");
  const transport = bar && end > begin ? new Transport(bar, clock, events) : null;
  if (bar && !transport) bar.hidden = true;
  clock.seek(data.at ?? begin);
  all(".scroll").forEach(signScrolling);
  if (events.length) all<HTMLTableElement>("table").forEach((table) => linkRows(table, goes));
  all("code.command").forEach(addCopying);
  startCopying();
  all("figure:not(#live-map)").forEach(addSaving);
  document.addEventListener("pointerdown", ({ target }) => {
    if (!(target as Element).closest(".plot")) for (const told of all(".readout")) told.remove();
  });
  document.documentElement.dataset.ready = "";
  const page: Page = { figures, columns, clock, scene: null, showEvents: (found: Event[]) => transport?.show([...found, ...events.filter(({ name }) => !CONTACT.test(name))]) };
  const live = Live ? startLive(page, Live) : null, host = document.getElementById("scene");
  if (data.scene && host) page.scene = (await loadScene()).mountScene(host, data.scene, columns, clock);
  await live;
  document.documentElement.dataset.settled = ""; // nothing arrives any more that moves what is read
}
