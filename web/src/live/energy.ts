// What contacts did to the energy, by number and in words, as `dockdyn/results/energy_class.py` and `dockdyn/report/contact_tables.py` have it.
import { writeNumber } from "../scales.ts";
import type { Contact } from "./contacts.ts";
import type { Outcome } from "./shown.ts";

/** What a contact's laws and the delay say that it does to the energy; open: the run has to say. */
export type Effect = "lossless" | "passive" | "open";
export type EnergyClass = "lossless" | "passive" | "active" | "unresolved";

const WORDS: [EnergyClass, string][] = [["passive", "energy lost"], ["lossless", "energy kept"], ["active", "energy gained"], ["unresolved", "it changed the energy by less than this run resolves"]];
const ROOM = 60; // letters of a list of contacts

/** Return the class of each contact of a run by the effects of pairs; null while it is not over. */
export function classesOf({ contacts, figures }: Outcome, effects: readonly Effect[]): (EnergyClass | null)[] {
  const number = (name: string) => figures.get(name) || 0, start = number("kinetic_energy_start_J");
  const resolved = Math.max(2 * number("steps") * number("step_error"), number("work_energy_error"));
  return contacts.map(({ gain, energy, pair }) => {
    if (!Number.isFinite(gain) || !Number.isFinite(energy)) return null;
    const effect = effects[pair]!, scale = Math.max(start, start + energy), share = scale > 0 ? gain / scale : gain;
    if (effect !== "open") return effect;
    return Math.abs(share) <= resolved ? "unresolved" : share < 0 ? "passive" : "active";
  });
}

/** Return contacts by number, "Q1–Q3, Q5", or their count where that is long. */
function listContacts(numbers: number[]): string {
  const runs: number[][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last && number === last.at(-1)! + 1) last.push(number);
    else runs.push([number]);
  }
  const words = runs.map((run) => (run.length > 2 ? `Q${run[0]}–Q${run.at(-1)}` : run.map((one) => `Q${one}`).join(", "))).join(", ");
  return words.length <= ROOM ? words : `${numbers.length} contacts`;
}

/** Return how much energy active contacts have gained, and which most; of some that overlap in time only the most. */
function energyFed(contacts: Contact[], numbers: number[]): string {
  const gain = (number: number) => contacts[number - 1]!.gain, most = numbers.reduce((best, one) => (gain(one) > gain(best) ? one : best));
  if (numbers.length === 1) return `: ${writeNumber(gain(most))} J fed in`;
  const over = (one: Contact) => (Number.isFinite(one.release) ? one.settled : Infinity);
  const overlaps = numbers.some((one) => contacts.some((other, place) => place !== one - 1 && other.onset < over(contacts[one - 1]!) && contacts[one - 1]!.onset < over(other)));
  if (overlaps) return `: up to ${writeNumber(gain(most))} J fed in, Q${most}`;
  return `: ${writeNumber(numbers.reduce((sum, one) => sum + gain(one), 0))} J fed in, most in Q${most}`;
}

/** Return what came of the latches, `at` before each moment, written with so many digits; empty where there is none. */
export function captureInWords(figures: ReadonlyMap<string, number>, at: string, digits: number): string {
  const caught = figures.get("captured") ?? NaN, released = figures.get("release_time_s") ?? NaN, moment = (time: number) => `at ${at}${writeNumber(time, digits)} s`;
  if (!caught || Number.isNaN(caught)) return caught === 0 ? "not captured" : "";
  const first = `captured ${moment(figures.get("capture_time_s")!)}`;
  if (Number.isNaN(released)) return first;
  return `${first}, released ${moment(released)}${figures.get("held_at_end") ? " and captured again" : ""}`;
}

/** Return how many contacts there were, how hard, and what they did to the energy, a sentence each. */
export function contactsInWords(contacts: Contact[], classes: (EnergyClass | null)[]): string[] {
  const count = contacts.length;
  if (!count) return ["There was no contact."];
  const peak = contacts.reduce((best, one, place) => (one.peak_force > contacts[best]!.peak_force ? place : best), 0), words = [`${count} contact${count > 1 ? "s" : ""}; largest normal force ${writeNumber(contacts[peak]!.peak_force)} N in Q${peak + 1}.`];
  const of = (sort: EnergyClass | null) => classes.flatMap((one, place) => (one === sort ? [place + 1] : []));
  const subject = (numbers: number[]) => (numbers.length === count && count > 1 ? "All were" : `${listContacts(numbers)} ${numbers.length > 1 ? "were" : "was"}`);
  for (const [name, effect] of WORDS) {
    const numbers = of(name);
    if (numbers.length) words.push(`${subject(numbers)} ${name} (${effect}${name === "active" ? energyFed(contacts, numbers) : ""}).`);
  }
  const open = of(null);
  if (open.length) words.push(`${subject(open)} not over when the run ended.`);
  return words;
}

/** Return what contacts did to the energy in a few words. */
export function energyHeadline(classes: (EnergyClass | null)[]): string {
  const count = classes.length, active = classes.filter((one) => one === "active").length;
  if (active) return count > 1 ? `${active === count ? "All" : active} of ${count} contacts gain energy` : "The contact gains energy";
  if (count && classes.every((one) => one === "passive")) return count > 1 ? "Every contact takes energy" : "The contact takes energy";
  return `${count || "No"} contact${count === 1 ? "" : "s"}`;
}
