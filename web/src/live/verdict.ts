// The verdict of a report, told again by the words that `dockdyn/report/verdict.py` has for it.
import { writeNumber } from "../scales.ts";
import { inWords, type JudgedRequirement, type RequirementToMeet } from "./judge.ts";
import { asReported } from "./kept.ts";

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
function headlineOf(headlines: VerdictWords["headlines"], figures: ReadonlyMap<string, number>): string {
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

/** Tell the verdict of a run with these figures again; where it `stops` early (s), that. What else the report says is marked as its own. */
export function tellRun(words: VerdictWords, requirements: RequirementToMeet[], judged: JudgedRequirement[], figures: ReadonlyMap<string, number>, stops: number | null, moved: boolean): void {
  const verdict = document.querySelector<HTMLElement>(".verdict")!, [headline, lead, sentence, guide] = ["headline", "lead", "judgement", "guide"].map((name) => verdict.querySelector<HTMLElement>(`.${name}`));
  for (const node of [headline, lead, sentence, guide]) if (node) asReported(node);
  if (!moved) return showSort(null);
  const met = judged.map((one) => one.met);
  showSort(stops !== null || met.includes(false) ? "bad" : words.warned || met.includes(null) ? "warn" : "ok");
  const said = stops === null ? headlineOf(words.headlines, figures) : `Stops at ${writeNumber(stops)} s`;
  if (said) headline!.textContent = said;
  headline!.classList.toggle("reported", !said);
  for (const node of [lead, guide]) node?.classList.add("reported");
  if (!sentence || !judged.length) return;
  sentence.textContent = judgement(words, judged);
  sentence.classList.toggle("active", met.some((one) => one !== true));
  tellDeciding(guide, requirements, judged);
}

/** Tell again which requirement decides: that which is not met, not decided, or met by the least margin. */
function tellDeciding(guide: HTMLElement | null | undefined, requirements: RequirementToMeet[], judged: JudgedRequirement[]): void {
  const [word, sentence] = [guide?.querySelector("dt"), guide?.querySelector("dd")];
  if (word?.textContent !== "Decides" || !sentence) return;
  const concern = ({ met, share }: JudgedRequirement) => (met === false ? 2e9 : met === null ? 1e9 : 0) + (share ?? 0);
  const worst = judged.reduce((most, one, place) => (concern(one) > concern(judged[most]!) ? place : most), 0), { asked, met, value, used } = inWords(requirements[worst]!, judged[worst]!);
  sentence.textContent = `${asked}: ${met}, ${value}${used ? `, ${used}` : ""}.`;
  guide!.classList.remove("reported");
  [...guide!.children].slice(2).forEach((node) => node.classList.add("reported"));
}
