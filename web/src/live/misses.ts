// What cases missed, as `dockdyn/studies/campaign/tables.py` says it, in the table that the report has of its own.
import { element } from "../dom.ts";
import { amountInWords, limitInWords } from "./judge.ts";
import type { Told } from "./retold.ts";

const MOST = 12; // cases listed
const NOT_CAPTURED = "not captured";

/** Return how far a case came that was not captured; empty for all others. */
function wayMissed({ captured, figures, judged }: Told, failed: boolean, place: number): string {
  if (!captured || judged.captured[place] || judged.undecided[place] || failed) return "";
  const spare = figures.get("latch.speed_margin_m_s")?.[place], touched = figures.get("contact.count")?.[place] !== 0;
  if (spare !== undefined && Number.isFinite(spare)) return spare < 0 ? "reached the latch too slowly" : "reached the latch fast enough but was held off by other contacts";
  return !touched ? "no contact" : spare === undefined ? NOT_CAPTURED : "did not reach the latch";
}

/** Return what a case missed, what it missed most first by its margins `relative` to limits; empty where that is nothing. */
function missesOf(told: Told, failed: boolean, place: number, relative: number[]): string {
  const { requirements, judged } = told, way = wayMissed(told, failed, place), said = way ? [way === NOT_CAPTURED ? way : `${NOT_CAPTURED}: ${way}`] : [];
  const missed = failed ? [] : requirements.flatMap((_, row) => (judged.met[row]![place] || judged.open[row]![place] ? [] : [row])).sort((a, b) => relative[a]! - relative[b]!);
  for (const row of missed) {
    const one = requirements[row]!, amount = (value: number) => amountInWords(one, value, 3), margin = judged.margin[row]![place]!;
    if (way && one.figure === "captured") continue;
    const value = judged.value[row]![place]!, limit = limitInWords(one);
    if (typeof one.limit === "boolean") said.push(`${one.words}: not ${limit}`);
    else said.push(Number.isFinite(value) && Number.isFinite(margin) ? `${one.words} ${amount(value)}, ${amount(-margin)} beyond its limit` : `${one.words} ${limit}: no value`);
  }
  return said.join("; ");
}

/** Return how many cases miss something, and in how many it is what, in a sentence, the most frequent first. */
function reasonsOf(told: Told, failed: Set<number>, missing: number): string {
  const { requirements, judged, count } = told, places = Array.from({ length: count }, (_, place) => place);
  const ways = places.filter((place) => wayMissed(told, failed.has(place), place)).length, of = requirements.map(({ figure, words }, row): [string, number] => {
    const missed = places.filter((place) => !failed.has(place) && !judged.met[row]![place] && !judged.open[row]![place]).length;
    return [words, ways && figure === "captured" ? 0 : missed];
  });
  const reasons = [[NOT_CAPTURED, ways] as [string, number], ...of].filter(([, cases]) => cases).sort((a, b) => b[1] - a[1]);
  return missing ? `${missing} of ${count} cases miss: ${reasons.map(([words, cases]) => `${words} in ${cases}`).join(", ")}.` : "No case misses anything.";
}

/** Fill the table of cases that miss anew; each is a link to its motion. `order` has those that are decided, worst first. */
export function tellMisses(told: Told, failed: Set<number>, order: number[], relative: (place: number) => number[], show: (place: number) => void): void {
  const table = document.querySelector<HTMLTableElement>("table[data-live=missing]");
  if (!table) return;
  const places = [...new Set([...order, ...Array.from({ length: told.count }, (_, place) => place)])];
  const found = places.map((place) => [place, missesOf(told, failed.has(place), place, relative(place))] as const).filter(([, words]) => words);
  const rows = found.slice(0, MOST).map(([place, words]) => {
    const link = element("a", { href: "#motion", class: "link", title: `Show case ${place} in motion`, click: () => show(place) }, String(place));
    return element("tr", {}, element("td", { class: "worded brief" }, link), element("td", { class: "worded wide" }, words));
  });
  table.tBodies[0]!.replaceChildren(...(rows.length ? rows : [element("tr", {}, element("td", { class: "worded" }, "–"), element("td", { class: "worded" }, "no case misses anything"))]));
  const section = table.closest("section")!, moved = document.documentElement.classList.contains("what-if");
  section.querySelector("p:not(.note)")!.textContent = reasonsOf(told, failed, found.length);
  for (const note of section.querySelectorAll<HTMLElement>(".note:not(.left-out)")) note.hidden = moved; // it is of the report's own cases
  const more = section.querySelector<HTMLElement>(".left-out");
  if (more) more.textContent = found.length > MOST ? `And ${found.length - MOST} more; the result file has them all.` : "";
}
