// Play, step, speed and time of a scene, by buttons and keys.
import type { Clock } from "../clock.ts";
import type { Columns } from "../columns.ts";
import type { SceneData } from "./data.ts";
import { element, roundBelow } from "./dom.ts";

const STEPS = 600; // in a run
const SPEEDS = [0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10, 50];
const PLAYS = 20; // s, about how long a run takes to play

/** Return times at which a force begins to act (s). */
export function onsets(scene: SceneData, columns: Columns): number[] {
  const time = columns.at(scene.time), found: number[] = [];
  const size = (force: SceneData["forces"][number], row: number) => Math.hypot(...force.vector.map((place) => columns.at(place)[row]!));
  for (const force of scene.forces) {
    let largest = 0;
    for (let row = 0; row < time.length; row++) largest = Math.max(largest, size(force, row));
    for (let row = 1; row < time.length; row++) if (size(force, row) > 1e-3 * largest && size(force, row - 1) <= 1e-3 * largest) found.push(time[row]!);
  }
  return found.sort((a, b) => a - b);
}

/** Return the bar; keys pressed in `root` work, too. */
export function transport(clock: Clock, scene: SceneData, columns: Columns, root: HTMLElement): HTMLElement {
  const { start, end } = clock.span, step = (end - start) / STEPS, begins = onsets(scene, columns);
  const by = (time: number) => { clock.pause(); clock.seek(clock.time + time); };
  const next = (way: number) => {
    clock.pause();
    const found = way > 0 ? begins.find((one) => one > clock.time + 1e-9) : [...begins].reverse().find((one) => one < clock.time - 1e-9);
    clock.seek(found ?? (way > 0 ? end : start));
  };
  const toggle = () => (clock.playing ? clock.pause() : clock.play());
  const button = (words: string, title: string, click: () => void, wide = false) => element("button", { type: "button", title, "aria-label": title, click, ...(wide ? { class: "dds-wide" } : {}) }, words);
  const play = button("▶", "Play (space)", toggle);
  const line = element("input", { type: "range", min: String(start), max: String(end), step: "any", "aria-label": "Time", input: () => { clock.pause(); clock.seek(Number(line.value)); } });
  const usual = roundBelow(Math.max((end - start) / PLAYS, 1e-9)), speeds = [...new Set([...SPEEDS, usual])].sort((a, b) => a - b);
  clock.speed = (end - start) / PLAYS > 1.5 || (end - start) < 2 ? usual : 1;
  const speed = element("select", { "aria-label": "Speed", title: "Seconds of the run in a second", change: () => { clock.speed = Number(speed.value); } });
  speed.append(...speeds.map((one) => element("option", { value: String(one), selected: one === clock.speed }, `${one}×`)));
  const told = element("output");
  clock.subscribe((now) => {
    play.textContent = now.playing ? "❚❚" : "▶";
    line.value = String(now.time);
    told.replaceChildren(element("b", {}, now.time.toFixed(end < 1 ? 4 : 2)), ` / ${Number(end.toPrecision(4))}\u202fs`);
  });
  root.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const does = ({
      " ": () => { if (!(event.target instanceof HTMLButtonElement) && !(event.target instanceof HTMLInputElement && event.target.type === "checkbox")) toggle(); else return false; },
      ArrowRight: () => (event.shiftKey ? next(1) : by(step)),
      ArrowLeft: () => (event.shiftKey ? next(-1) : by(-step)),
      Home: () => by(start - clock.time),
      End: () => by(end - clock.time),
    } as Record<string, () => void | boolean>)[event.key];
    if (does && does() !== false) event.preventDefault();
  });
  return element("div", { class: "dds-bar" }, play,
    button("‹", "Step back (left)", () => by(-step), true), button("›", "Step on (right)", () => by(step), true),
    ...(begins.length ? [button("next contact", "To the next contact (shift and right)", () => next(1), true)] : []),
    speed, line, told);
}
