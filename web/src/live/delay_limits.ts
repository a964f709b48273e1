// How much delay a run bears: up to which each of its contacts takes energy, and its loop is stable.
import { element } from "../dom.ts";
import { writeNumber } from "../scales.ts";
import { contactsOf, type Contact } from "./contacts.ts";
import { asReported } from "./kept.ts";
import type { PackedLoop } from "./loop_unit.ts";
import type { Runner } from "./runner.ts";
import { FINISHED, SOON } from "./shown.ts";
import type { PackedUnit } from "./unit.ts";

export const DELAY = "loop.delay";

/** What a page has to seek limits by, beside its own program: the other one. */
export interface LimitsData<Packed> {
  unit: Packed;
  pairs: number; // that may touch
  most: number; // contacts whose limits are sought
}

export interface DelayLimits {
  key: string; // of the delay
  delay: number; // s
  loop: number; // s; Infinity: any delay, or none up to `far`, NaN: not known
  far: number; // s, as far as was looked for that of the loop; 0: everywhere
  contacts: number[]; // s, of each contact in its order; Infinity: none up to `reach`
  reach: number; // s, as far as was looked
}

const WIDER = 3, BEYOND = 1.5; // times the delay and the loop's limit, up to which is looked
const TRIED = 24; // delays, between which limits are then closed in on
const CLOSE = 1e-4; // of a limit
const RESOLVED = 1e-9; // of the kinetic energy: a smaller gain is rounding

export class LimitSeeker {
  constructor(private readonly run: Runner, private readonly unit: PackedUnit, private readonly loop: Runner, private readonly judged: PackedLoop, private readonly pairs: number, private readonly most: number) {}

  /** Return the limits of a delay with these numbers, by their keys, sought by runs of no more than `most` ms, of the loop alone where that is nothing; null where another wish came, or runs take too long. `tell` is told how far it is. */
  async seek(values: ReadonlyMap<string, number>, most = SOON, tell: (words: string, done: number, all: number) => void = () => undefined): Promise<DelayLimits | null> {
    const { judged, unit } = this, of = (numbers: { key: string; value: number }[]) => numbers.map(({ key, value }) => values.get(key) ?? value);
    const key = judged.numbers.find((one) => judged.delays.includes(one.key))?.key ?? "", delay = values.get(key);
    if (delay === undefined || !unit.numbers.some((one) => one.key === key)) return null;
    const margin = await this.loop.askLater(of(judged.numbers), ["margin", "delay"], Infinity);
    if (!margin) return null;
    const found = margin.error ? NaN : delay + margin.found.margin![0]!, beyond = !margin.error && Number.isNaN(found) && judged.longest !== null;
    const [loop, far] = beyond ? [Infinity, judged.longest! - margin.found.delay![0]! + delay] : [found, 0];
    const reach = Math.max(WIDER * delay, Number.isFinite(loop) ? BEYOND * loop : 0), own = of(unit.numbers);
    if (!most || !this.pairs) return { key, delay, loop, far, contacts: [], reach };
    const gains = (at: number) => this.gains(own.map((value, place) => (unit.numbers[place]!.key === key ? at : value)), at, most);
    const count = (await gains(delay))?.length, tried: [number, boolean[]][] = [];
    for (let i = 1; i <= TRIED; i++) {
      tell(`Seeking how much delay the contacts bear: ${i} of ${TRIED} delays …`, i, TRIED);
      const at = (reach * i) / TRIED, found = await gains(at);
      if (!found || count === undefined) return null;
      tried.push([at, found]);
    }
    const contacts: number[] = [];
    for (let contact = 0; contact < Math.min(count!, this.most); contact++) {
      tell(`Closing in on the delay that Q${contact + 1} bears …`, contact, count!);
      const first = tried.findIndex(([, found]) => found[contact]);
      let low = first > 0 ? tried[first - 1]![0] : 0, high = first < 0 ? Infinity : tried[first]![0];
      while (Number.isFinite(high) && high - low > CLOSE * high && high > CLOSE * reach) {
        const middle = (low + high) / 2, found = await gains(middle);
        if (!found) return null;
        if (found[contact]) high = middle;
        else low = middle;
      }
      contacts.push(high > CLOSE * reach ? (low + high) / 2 : 0);
    }
    return { key, delay, loop, far, contacts, reach };
  }

  /** Return whether each contact of a run with these values gains energy; null where the run does not come to its end. */
  private async gains(values: number[], delay: number, most: number): Promise<boolean[] | null> {
    const start = "figure.kinetic_energy_start_J", names = ["moments", start, ...Object.keys(this.unit.results).filter((name) => name.startsWith("contact."))];
    const answer = await this.run.askLater(values, names, most);
    if (!answer || answer.error || answer.status !== FINISHED) return null;
    const { found } = answer, kinetic = found[start]![0]!;
    const contacts = contactsOf((name) => found[`contact.${name}`], found.moments![0]! + 1, this.pairs, delay);
    return contacts.map(({ gain, energy }: Contact) => gain > RESOLVED * Math.max(kinetic, kinetic + energy));
  }
}

const inMs = (limit: number, reach: number) => (limit <= 0 ? "none" : Number.isFinite(limit) ? `${writeNumber(1e3 * limit, 3)}` : Number.isNaN(limit) ? "–" : reach ? `> ${writeNumber(1e3 * reach, 3)}` : "any");

/** Return limits as rows of a table: what they are of, and how long a delay may be (ms). */
export function limitRows({ key, loop, far, contacts, reach }: DelayLimits): [words: string, limit: string][] {
  return [[`${key === DELAY ? "delay" : key} up to which the loop is stable`, inMs(loop, far)], ...contacts.map((limit, i): [string, string] => [`delay up to which contact Q${i + 1} takes energy`, inMs(limit, reach)])];
}

/** Return the least delay with which something gains energy. */
export function leastLimit({ loop, contacts }: DelayLimits): number {
  return Math.min(...[loop, ...contacts].filter((limit) => !Number.isNaN(limit)));
}

function loopInWords({ key, delay, loop, far }: DelayLimits, named: boolean): string {
  if (Number.isNaN(loop)) return "of the loop it is not known";
  if (loop <= 0 || (loop === Infinity && !far)) return `loop ${loop > 0 ? "stable" : "unstable"} at any delay`;
  const limit = `${inMs(loop, far)}\u00a0ms`;
  return named ? `loop stable for ${key} up to ${limit} (now ${writeNumber(1e3 * delay, 3)})` : `loop stable up to ${limit}`;
}

/** Return what is to be said of a loop that is unstable with its delay; empty of one that is not, or that no delay makes stable, or where that is not known. */
export function unstableInWords({ delay, loop, far }: DelayLimits): string {
  return loop > 0 && delay >= loop && !far ? `The loop is unstable at ${writeNumber(1e3 * delay, 3)}\u00a0ms, stable up to ${inMs(loop, far)}\u00a0ms; see how:` : "";
}

/** Put the limits into the tile of the delay; null: they are not known. */
export function tellLimits(limits: DelayLimits | null, moved: boolean): void {
  const tile = document.querySelector<HTMLElement>(".tile[data-limits]");
  if (!tile) return;
  asReported(tile);
  tile.classList.toggle("reported", moved && (limits === null || tile.dataset.limits !== ""));
  if (!limits) return;
  const { delay, loop, far, contacts, reach } = limits, note = tile.querySelector(".f")!;
  tile.classList.toggle("bad", delay >= leastLimit(limits));
  if (tile.dataset.limits) {
    note.append(`; ${loopInWords(limits, true)}`);
    return;
  }
  const least = contacts.reduce((first, limit, i) => (limit < contacts[first]! ? i : first), 0);
  tile.querySelector(".v")!.firstChild!.textContent = writeNumber(1e3 * delay, 3);
  tile.querySelector(".v .unit")!.textContent = " ms";
  note.textContent = `${contacts.length ? `contacts take energy up to ${inMs(contacts[least]!, reach)}\u00a0ms; ` : ""}${loopInWords(limits, false)}`;
  const rows = [["loop", loop, far] as const, ...contacts.map((limit, i) => [`Q${i + 1}`, limit, reach] as const)].slice(0, 5);
  const bars = rows.flatMap(([words, limit, far]) => [element("span", {}, words), element("div", { class: "bar" }, element("span", { style: `width:${100 * Math.min(delay / (limit || Infinity) || 0, 1)}%` })), element("b", {}, inMs(limit, far))]);
  tile.querySelector(".bars")!.replaceWith(element("div", { class: "bars" }, ...bars));
  tile.classList.toggle("moved", moved);
}
