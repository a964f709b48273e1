// Numbers that a reader may change: how they are written, and how far a slider goes.
import { element } from "../dom.ts";
import { addCopying } from "../tables.ts";
import type { NumberOfUnit } from "./programs.ts";

/** Units that are read more easily, by what a number of the report is below. */
const SHOWN: Record<string, [below: number, unit: string, factor: number][]> = {
  s: [[0.5, "ms", 1e3]],
  m: [[0.5, "mm", 1e3]],
  "m/s": [[0.5, "mm/s", 1e3]],
  rad: [[Infinity, "deg", 180 / Math.PI]],
  "rad/s": [[Infinity, "deg/s", 180 / Math.PI]],
};
const PLAIN: Record<string, string> = { "kg*m**2": "kg m²", "N*s/m": "N s/m", "N*m": "N m", "N*m/rad": "N m/rad", "N*m*s/rad": "N m s/rad" };
const NONE = "none"; // in the place of a compensator
const THOUSANDS = /^N/; // units that take a k

export interface ShownUnit {
  unit: string;
  factor: number; // from SI
}

/** Return in which unit a number is shown: that in which its value in the report reads best. */
export function shownUnit({ unit, value }: { unit: string; value: number }): ShownUnit {
  const found = SHOWN[unit]?.find(([below]) => Math.abs(value) < below);
  if (found) return { unit: found[1], factor: found[2] };
  const plain = PLAIN[unit] ?? unit.replace(/\*\*2/g, "²").replace(/\*\*/g, "^").replace(/\*/g, " ");
  return THOUSANDS.test(unit) && Math.abs(value) >= 1e4 ? { unit: `k${plain}`, factor: 1e-3 } : { unit: plain, factor: 1 };
}

const ORDINALS = ["1st", "2nd", "3rd", "4th", "5th", "6th"];
const AXES = "xyz";

/** Return a key as it is read, what it is first and what it is of: approach.closing_speed is "closing speed", "approach". */
export function keyInWords(key: string): [what: string, of: string] {
  const parts = key.split("."), numbers: string[] = [];
  while (parts.length > 1 && /^\d+$/.test(parts.at(-1)!)) numbers.unshift(parts.pop()!);
  const last = parts.pop()!.replaceAll("_", " "), axes = /^(position|velocity|rate|point)$/.test(last) && numbers.length === 1 && Number(numbers[0]) < AXES.length;
  const place = axes ? ` ${AXES[Number(numbers[0])]}` : numbers.length ? `, ${numbers.map((one) => ORDINALS[Number(one)] ?? `no. ${Number(one) + 1}`).join(" ")}` : "";
  const of = parts.map((part) => part.replaceAll("_", " "));
  return [last + place, of.join(" › ")];
}

const PLACE = /\.(axis|about|across|normal|inertia|apex|centre|root|profile|points?|anchors?|(\w+_)?positions?)(\.\d+)+$/;

/** Return whether a number is of a place or a direction: what a tenth more does depends on where axes begin, and says little. */
export function isPlace(key: string): boolean {
  return PLACE.test(key);
}

/** Return whether a number may be that. */
export function isAllowed({ bounds }: Pick<NumberOfUnit, "bounds">, value: number): boolean {
  const { least = -Infinity, above = -Infinity, most = Infinity, below = Infinity } = bounds;
  return Number.isFinite(value) && value >= least && value > above && value <= most && value < below;
}

/** Return the ends of a slider: a tenth to three times the value, within what is allowed; around zero nothing says how far. */
export function sliderSpan(number: Pick<NumberOfUnit, "bounds" | "value">): [number, number] | null {
  if (!number.value) return null;
  const { least, above, most, below } = number.bounds, off = 1e-3 * Math.abs(number.value);
  const low = least ?? (above === undefined ? -Infinity : above + off), high = most ?? (below === undefined ? Infinity : below - off);
  const ends = [0.1 * number.value, 3 * number.value].map((end) => Math.min(Math.max(end, low), high));
  return number.value > 0 ? [ends[0]!, ends[1]!] : [ends[1]!, ends[0]!];
}

/** Return digits that are read: as many as matter. */
export function inBrief(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** Return the same of a bound, on its inner side, so that what is read is allowed: of the `least` or of the most. */
export function boundInBrief(value: number, least: boolean): string {
  if (!value) return "0";
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(value))) - 3), units = value / unit, whole = Math.round(units);
  const inside = Math.abs(units - whole) < 1e-9 * Math.abs(units) ? whole : least ? Math.ceil(units) : Math.floor(units);
  return inBrief(inside * unit);
}

/** Return what has become of a number that was moved. */
export function moveInWords(number: NumberOfUnit, value: number): string {
  if (number.law) return `${number.key} ${number.law} → ${value ? number.law : NONE}`;
  const { unit, factor } = shownUnit(number);
  return `${number.key} ${inBrief(number.value * factor)} → ${inBrief(value * factor)} ${unit}`.trim();
}

/** Return what `--set` takes to give a number this value. */
export function settingsOf(number: NumberOfUnit, value: number): string[] {
  if (number.law) return value ? [] : [`${number.key}=${NONE}`];
  return number.keys.map((key, i) => `${key}=${number.signs[i]! * value}`);
}

/** Return a command with these settings. */
export function withSettings(command: string, settings: string[]): string {
  return [command, ...settings.map((one) => `--set ${/[\s<>]/.test(one) ? `"${one}"` : one}`)].join(" ");
}

/** Say how a command with these settings gives what is shown. */
export function tellCommand(host: HTMLElement, command: string, settings: string[]): void {
  const text = element("code", { class: "command", tabindex: 0 }, withSettings(command, settings));
  host.replaceChildren(element("span", { class: "note" }, "The same on the command line:"), element("div", { class: "line-of-command" }, text));
  addCopying(text);
}
