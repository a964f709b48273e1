// Requirements and tiles of a run with other numbers, in the places where the report has its own.
import { writeNumber } from "../scales.ts";
import { asReported } from "./kept.ts";

export interface RequirementToMeet {
  name: string;
  words: string; // of its name
  figure: string;
  relation: "<" | "<=" | ">" | ">=" | "==";
  limit: number | boolean;
  unit: string; // in which the limit is written
  scale: number; // SI of one such unit
  si: string; // the unit of the figure
  bounded: boolean; // whether what acts at an instant may leave it open
  least: boolean; // whether its number is but a lower bound then
}

export interface JudgedRequirement {
  words: string;
  value: number;
  met: boolean | null;
  margin: number;
  share: number | null; // of the limit that is used
}

const KNOWN = "peak_force_known";
const COMPARED = {
  "<": (value: number, limit: number) => value < limit,
  "<=": (value: number, limit: number) => value <= limit,
  ">": (value: number, limit: number) => value > limit,
  ">=": (value: number, limit: number) => value >= limit,
  "==": (value: number, limit: number) => value === limit,
};

const LOADS = "port.", NOISE = 1e-6, AT_PORT = /^body\..+\.port\.[^.]+\.[^.]+$/;

/** Return a number as it is told: 0 where it is but what rounding leaves beside the largest of its kind, as `dockdyn.results.requirements` has it. */
export const withoutRounding = (value: number, largest: number) => (Math.abs(value) < NOISE * largest ? 0 : value);

function largestOfKind(figure: string, figures: ReadonlyMap<string, number>): number {
  if (!figure.startsWith(LOADS) && !AT_PORT.test(figure)) return figure.endsWith("friction_loss_J") ? figures.get("kinetic_energy_start_J") ?? 0 : 0;
  return Math.max(0, ...[...figures].flatMap(([name, value]) => (name.startsWith(LOADS) && value ? [Math.abs(value)] : [])));
}

/** Return a requirement against figures, as `dockdyn.results.requirements` judges one. */
export function judge(one: RequirementToMeet, figures: ReadonlyMap<string, number>): JudgedRequirement {
  const { words, relation } = one, limit = Number(one.limit);
  const found = [one.figure, `${one.figure}.least`, `${one.figure}.largest`].flatMap((figure) => figures.get(figure) ?? []);
  const marginOf = (value: number) => (relation === "==" ? -Math.abs(value - limit) : relation.startsWith("<") ? limit - value : value - limit);
  const hidden = one.bounded && figures.get(KNOWN) === 0;
  if (!found.length || found.some(Number.isNaN)) return { words, value: NaN, met: hidden ? null : false, margin: NaN, share: null };
  const value = found.reduce((worst, next) => (marginOf(next) < marginOf(worst) ? next : worst));
  if (typeof one.limit === "boolean") return { words, value, met: value === limit, margin: NaN, share: null };
  const open = one.least && (["<=", "==", ">"].includes(relation) ? value <= limit : value < limit);
  const share = limit > 0 && value >= 0 ? (relation.startsWith("<") ? value / limit : relation.startsWith(">") && value > 0 ? limit / value : null) : null;
  return { words, value: withoutRounding(value, largestOfKind(one.figure, figures)), met: hidden && open ? null : COMPARED[relation](value, limit), margin: hidden && open ? NaN : marginOf(value), share };
}

/** Return how much a requirement is of concern: those that are not met, not decided, and met by the least margin. */
export function concern({ met, share }: JudgedRequirement): number {
  return (met === false ? 2e9 : met === null ? 1e9 : 0) + (share ?? 0);
}

const MARKS = new Map<boolean | null, [sort: string, mark: string, words: string]>([[true, ["ok", "✓", "met"]], [false, ["bad", "✗", "not met"]], [null, ["open", "?", "not decided"]]]);

/** Show requirements with these figures; what the report had comes back where nothing has `moved`. */
export function showRequirements(requirements: RequirementToMeet[], figures: ReadonlyMap<string, number>, moved: boolean): JudgedRequirement[] {
  return requirements.map((one) => {
    const judged = judge(one, figures);
    for (const node of document.querySelectorAll<HTMLElement>(".requirement")) if (node.dataset.name === one.name) showRequirement(node, one, judged, moved);
    return judged;
  });
}

export interface RequirementWords {
  asked: string;
  sort: string;
  mark: string;
  met: string;
  value: string;
  used: string; // how much of the limit
  margin: string;
}

const PREFIXES: [string, number][] = [["k", 1e3], ["", 1], ["m", 1e-3], ["µ", 1e-6], ["n", 1e-9]];
const PREFIXED = ["N", "N m", "N s", "J", "m", "m/s", "s"], SMALL = 1e-3, SMALLEST = 1e-9;

/** Return an amount in the unit of a limit, or with a prefix of its own where it is far below, as `dockdyn.report.wording.as_stated`. */
export function amountInWords({ si, unit, scale }: RequirementToMeet, value: number, digits = 4): string {
  if (Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  if (PREFIXED.includes(si) && size >= SMALLEST && size < SMALL * scale) {
    const [prefix, one] = PREFIXES.find(([, least]) => size >= least)!;
    return `${writeNumber(value / one, digits)} ${prefix}${si}`;
  }
  return `${writeNumber(value / scale, digits)} ${unit}`.trim();
}

/** Return the limit of a requirement as it is written. */
export function limitInWords({ relation, limit, scale, unit }: RequirementToMeet): string {
  return typeof limit === "boolean" ? String(limit) : `${relation} ${Number((limit / scale).toPrecision(6))} ${unit}`.trim();
}

/** Return what is required: a figure and its limit. */
export function askedInWords(one: RequirementToMeet): string {
  return `${one.words} ${typeof one.limit === "boolean" ? "= " : ""}${limitInWords(one)}`;
}

/** Return a requirement as judged, in words. */
export function inWords(one: RequirementToMeet, judged: JudgedRequirement): RequirementWords {
  const [sort, mark, met] = MARKS.get(judged.met)!, { limit } = one, { share } = judged;
  const amount = (value: number) => amountInWords(one, value);
  const known = judged.met !== null ? amount(judged.value) : Number.isNaN(judged.value) ? "not known" : `at least ${amount(judged.value)}`;
  return {
    sort, mark, met,
    asked: askedInWords(one),
    value: typeof limit === "boolean" ? (Number.isNaN(judged.value) ? "–" : judged.value ? "true" : "false") : known,
    used: share === null ? "" : share > 1 ? `${writeNumber(100 * (share - 1), 2)} % beyond the limit` : share < 0.01 ? "under 1 % used" : `${writeNumber(100 * share, 2)} % used`,
    margin: amount(judged.margin),
  };
}

function showRequirement(node: HTMLElement, one: RequirementToMeet, judged: JudgedRequirement, moved: boolean): void {
  asReported(node);
  if (!moved) return;
  const { sort, mark, met, value, used, margin } = inWords(one, judged);
  node.className = `requirement ${sort}`;
  node.querySelector(".top em")!.textContent = mark;
  node.querySelector(".top b")!.textContent = value;
  const bar = node.querySelector<HTMLElement>(".bar span");
  if (bar) bar.style.width = `${100 * Math.min(judged.share ?? 0, 1)}%`;
  node.querySelector(".ticks")!.replaceChildren(span(`${met}${used && `, ${used}`}`), span(margin === "–" ? "" : `margin ${margin}`));
}

function span(text: string): HTMLElement {
  const made = document.createElement("span");
  made.textContent = text;
  return made;
}
