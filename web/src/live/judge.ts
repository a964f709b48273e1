// Requirements and tiles of a run with other numbers, in the places where the report has its own.
import { writeNumber } from "../scales.ts";

export interface RequirementToMeet {
  name: string;
  figure: string;
  relation: "<" | "<=" | ">" | ">=" | "==";
  limit: number | boolean;
  unit: string; // in which the limit is written
  scale: number; // SI of one such unit
  bounded: boolean; // whether a capture may leave but a lower bound of it
}

export interface JudgedRequirement {
  name: string;
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

/** Return a requirement against figures, as `dockdyn.results.requirements` judges one. */
export function judge(one: RequirementToMeet, figures: ReadonlyMap<string, number>): JudgedRequirement {
  const { name, relation } = one, limit = Number(one.limit);
  const found = [one.figure, `${one.figure}.least`, `${one.figure}.largest`].flatMap((figure) => figures.get(figure) ?? []);
  const marginOf = (value: number) => (relation === "==" ? -Math.abs(value - limit) : relation.startsWith("<") ? limit - value : value - limit);
  const hidden = one.bounded && figures.get(KNOWN) === 0;
  if (!found.length || found.some(Number.isNaN)) return { name, value: NaN, met: hidden ? null : false, margin: NaN, share: null };
  const value = found.reduce((worst, next) => (marginOf(next) < marginOf(worst) ? next : worst));
  if (typeof one.limit === "boolean") return { name, value, met: value === limit, margin: NaN, share: null };
  const open = ["<=", "==", ">"].includes(relation) ? value <= limit : value < limit;
  const share = limit > 0 && value >= 0 ? (relation.startsWith("<") ? value / limit : relation.startsWith(">") && value > 0 ? limit / value : null) : null;
  return { name, value, met: hidden && open ? null : COMPARED[relation](value, limit), margin: hidden && open ? NaN : marginOf(value), share };
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

const kept = new WeakMap<HTMLElement, [className: string, inside: Node[]]>();

function showRequirement(node: HTMLElement, one: RequirementToMeet, judged: JudgedRequirement, moved: boolean): void {
  if (!kept.has(node)) kept.set(node, [node.className, [...node.childNodes].map((child) => child.cloneNode(true))]);
  const [className, inside] = kept.get(node)!;
  node.className = className;
  node.replaceChildren(...inside.map((child) => child.cloneNode(true)));
  if (!moved) return;
  const [sort, mark, words] = MARKS.get(judged.met)!, amount = (value: number) => (Number.isNaN(value) ? "–" : `${writeNumber(value / one.scale)} ${one.unit}`.trim());
  const value = judged.met !== null ? amount(judged.value) : Number.isNaN(judged.value) ? "not known" : `at least ${amount(judged.value)}`;
  node.className = `requirement ${sort}`;
  node.querySelector(".top em")!.textContent = mark;
  node.querySelector(".top b")!.textContent = typeof one.limit === "boolean" ? (Number.isNaN(judged.value) ? "–" : judged.value ? "true" : "false") : value;
  const bar = node.querySelector<HTMLElement>(".bar span");
  if (bar) bar.style.width = `${100 * Math.min(judged.share ?? 0, 1)}%`;
  const used = judged.share === null ? "" : judged.share > 1 ? `, ${writeNumber(100 * (judged.share - 1), 2)} % beyond the limit` : `, ${writeNumber(100 * judged.share, 2)} % used`;
  node.querySelector(".ticks")!.replaceChildren(span(`${words}${used}`), span(`margin ${amount(judged.margin)}`));
}

function span(text: string): HTMLElement {
  const made = document.createElement("span");
  made.textContent = text;
  return made;
}

/** Show the numbers of tiles that are sums of figures; those that are none are marked as the report's. */
export function showTiles(figures: ReadonlyMap<string, number>, moved: boolean): void {
  for (const tile of document.querySelectorAll<HTMLElement>(".tile")) {
    tile.classList.toggle("reported", moved && !tile.dataset.figures);
    if (!tile.dataset.figures) continue;
    const number = tile.querySelector(".v")!.firstChild as Text, note = tile.querySelector(".f");
    tile.dataset.number ??= number.data;
    tile.dataset.note ??= note?.textContent ?? "";
    const terms = JSON.parse(tile.dataset.figures) as [string, number][];
    const value = terms.reduce((sum, [name, factor]) => sum + factor * (figures.get(name) ?? NaN), 0);
    number.data = moved ? writeNumber(value) : tile.dataset.number;
    if (note) note.textContent = moved ? `${tile.dataset.number} in the report` : tile.dataset.note;
    tile.classList.toggle("moved", moved);
  }
}
