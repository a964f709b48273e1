// The verdict of a report, told again by the words that `dockdyn/report/verdict.py` has for it.
import { writeNumber } from "../scales.ts";
import { withSettings } from "./numbers.ts";
import { concern, inWords, type JudgedRequirement, type RequirementToMeet } from "./judge.ts";
import { asReported, tellOwn } from "./kept.ts";

export interface VerdictWords {
  headlines: [holds: Record<string, boolean | null>, words: string][];
  unmet: [met: boolean | null, mark: string, what: string][];
  missed: string;
  met: [one: string, all: string];
  warned: boolean;
}

export type Sort = "ok" | "bad" | "warn";

const SORTS: Sort[] = ["ok", "bad", "warn"];
const fill = (words: string, parts: Record<string, string | number>) => words.replace(/\{(\w+)\}/g, (_, name: string) => String(parts[name] ?? "–"));

/** Show whether a verdict is good news, bad, or to be read with care; null: as reported. */
export function showSort(sort: Sort | null): void {
  const verdict = document.querySelector<HTMLElement>(".verdict")!, sign = verdict.querySelector<HTMLElement>(".sign")!;
  sign.dataset.sort ??= SORTS.find((one) => verdict.classList.contains(one)) ?? "";
  const shown = sort ?? sign.dataset.sort!;
  for (const one of SORTS) verdict.classList.toggle(one, one === shown);
  verdict.classList.toggle("retold", sort !== null);
  sign.querySelector("path")!.setAttribute("d", (JSON.parse(sign.dataset.signs!) as Record<string, string>)[shown]!);
}

/** Return the headline of a run by its figures; empty where nothing is said of them. */
export function headlineOf(headlines: VerdictWords["headlines"], figures: ReadonlyMap<string, number>): string {
  const holds = (name: string, value: boolean | null) => !Number.isNaN(figures.get(name) ?? NaN) && (value === null || figures.get(name) === Number(value));
  const words = headlines.find(([given]) => Object.entries(given).every(([name, value]) => holds(name, value)))?.[1] ?? "";
  return fill(words, Object.fromEntries([...figures].map(([name, value]) => [name, writeNumber(value)])));
}

/** Return whether a run meets its requirements, in a sentence. */
function judgement({ unmet, missed, met }: VerdictWords, judged: JudgedRequirement[]): string {
  const all = judged.length, said = unmet.flatMap(([sort, mark, what]) => {
    const names = judged.filter((one) => one.met === sort).map(({ words }) => words);
    return names.length ? [fill(missed, { mark, count: names.length, all, what, names: names.join(", ") })] : [];
  });
  return said.join(" ") || fill(met[all > 1 ? 1 : 0], { all });
}

/** What contacts did to the energy, where that is known. */
export interface RunInWords {
  headline: string;
  lead: (string | Node)[];
  gains: boolean; // whether one of them gains some
}

/** Tell the verdict of a run with these figures again; where it `stops` early (s), that. What else the report says is marked as its own. */
export function tellRun(words: VerdictWords, judged: JudgedRequirement[], figures: ReadonlyMap<string, number>, stops: number | null, moved: boolean, told: RunInWords | null): void {
  const verdict = document.querySelector<HTMLElement>(".verdict")!, [headline, lead, sentence] = ["headline", "lead", "judgement"].map((name) => verdict.querySelector<HTMLElement>(`.${name}`));
  for (const node of [headline, lead, sentence]) if (node) asReported(node);
  if (!moved) return showSort(null);
  const met = judged.map((one) => one.met), said = stops === null ? headlineOf(words.headlines, figures) || (told?.headline ?? "") : `Stops at ${writeNumber(stops)} s`;
  const unjudged = !judged.length && !said; // what the report judges by is not told again
  showSort(stops !== null || met.includes(false) ? "bad" : words.warned || told?.gains || met.includes(null) || unjudged ? "warn" : "ok");
  if (said) headline!.textContent = said;
  else tellOwn(headline!);
  if (lead && told) lead.replaceChildren(...told.lead);
  else if (lead) tellOwn(lead);
  if (!sentence || !judged.length) return;
  sentence.textContent = judgement(words, judged);
  sentence.classList.toggle("active", met.some((one) => one !== true));
}

/** What advice is by other numbers, by what it follows; what is not there is not known. */
export interface AdviceNow {
  settings: string[] | null; // that its command takes
  requirements?: string;
  worst?: { sentence: string; command: string };
}

/** Tell what decides and what to do next again; what is not known by other numbers is marked as the report's own. null: as reported. */
export function tellAdvice(now: AdviceNow | null): void {
  for (const node of document.querySelectorAll<HTMLElement>(".guide dd")) {
    asReported(node);
    const of = node.dataset.follows, command = node.querySelector("code.command");
    if (!now || of === "nothing") continue;
    if (of === "requirements" && now.requirements) node.textContent = now.requirements;
    else if (of === "settings" && now.settings && command) command.textContent = withSettings(command.textContent!, now.settings);
    else if (of === "worst" && now.worst && command) {
      command.textContent = now.worst.command;
      node.replaceChildren(now.worst.sentence, command.parentElement!);
    } else tellOwn(node);
  }
}

const UNSTABLE = "The loop is unstable";

/** Say of a loop that is unstable so where the advice on it stands, and in the headline where that `judges` the run: else what is good news is to be read with care. */
export function tellUnstable(sentence: string, judges: boolean): void {
  const headline = document.querySelector<HTMLElement>(".verdict .headline")!, words = headline.textContent!;
  if (judges) {
    showSort("bad");
    if (!words.startsWith(UNSTABLE)) headline.textContent = `${UNSTABLE}; ${words[0]!.toLowerCase()}${words.slice(1)}`;
  } else if (document.querySelector(".verdict.ok")) showSort("warn");
  for (const node of document.querySelectorAll<HTMLElement>(".guide dd")) {
    const command = node.querySelector(".line-of-command");
    if (!command?.textContent!.startsWith("dockdyn stability")) continue;
    asReported(node); // keeps it, if it was not
    node.replaceChildren(sentence, command);
  }
}

/** Return what decides whether a run meets its requirements: that which is not met, not decided, or met by the least margin. */
export function decidingSentence(requirements: RequirementToMeet[], judged: JudgedRequirement[]): string {
  const worst = judged.reduce((most, one, place) => (concern(one) > concern(judged[most]!) ? place : most), 0), { asked, met, value, used } = inWords(requirements[worst]!, judged[worst]!);
  return `${asked}: ${(typeof requirements[worst]!.limit === "boolean" ? [met] : [met, value, used]).filter(Boolean).join(", ")}.`;
}
