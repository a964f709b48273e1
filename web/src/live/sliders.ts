// Numbers to change: those that matter as sliders, any other by its name.
import { element } from "../dom.ts";
import { writeNumber } from "../scales.ts";
import { boundInBrief, inBrief, isAllowed, isPlace, keyInWords, shownUnit, sliderSpan } from "./numbers.ts";
import type { NumberOfUnit } from "./programs.ts";

const FIRST = 4; // that are offered unasked, where nothing else is said
const USUAL = [/^loop\.delay$/, /closing_speed$/, /^contact\..*normal\.(stiffness|damping|restitution)$/, /friction\.coefficient$/, /impact\.restitution$/, /velocity/, /mass$/];
const ROUNDING = 1e-9; // of the largest effect that is shown: less is none
const PARTS = 1000; // of a slider
const INTO = 1.4; // times where something fails, that a slider goes to
const NEAR = 0.012; // of its length, within which it snaps to the report's value

interface Row {
  node: HTMLElement;
  range: HTMLInputElement | null;
  field: HTMLInputElement;
  effect: HTMLElement;
  factor: number;
  span: [number, number] | null;
}

export class Sliders {
  readonly node = element("div", { class: "sliders" });
  private readonly rows = new Map<number, Row>();
  private readonly list = element("div");
  private readonly problem = element("p", { class: "live-problem", role: "status" });
  private touched = false;
  private readonly most = Number(document.getElementById("live-numbers")!.dataset.most); // with those that do most

  constructor(private readonly numbers: NumberOfUnit[], scattered: string[], private readonly changed: (place: number, value: number) => void, count = FIRST) {
    const first = [...numbers.flatMap(({ law }, place) => (law ? [place] : [])), ...scattered.map((key) => numbers.findIndex((one) => one.key === key)), ...USUAL.flatMap((usual) => numbers.flatMap(({ key }, place) => (usual.test(key) ? [place] : [])))];
    for (const place of [...new Set(first)].filter((place) => place >= 0 && numbers[place]!.value !== 0).slice(0, count)) this.offer(place);
    const names = element("datalist", { id: "live-keys" }, ...numbers.filter(({ law }) => !law).map(({ key }) => element("option", { value: key })));
    const search = element("input", { type: "search", list: "live-keys", placeholder: "another number, by its name", "aria-label": "Another number, by its name", class: "live-search", change: () => {
      const place = numbers.findIndex(({ key }) => key === search.value.trim());
      this.problem.textContent = place < 0 && search.value ? `There is no number ${search.value}; one of ${numbers.length} names that the list offers.` : "";
      if (place < 0) return;
      search.value = "";
      this.offer(place).field.focus();
    } });
    this.node.append(this.list, search, names, this.problem);
  }

  /** The places of the numbers that are offered. */
  get chosen(): number[] {
    return [...this.rows.keys()];
  }

  private offer(place: number): Row {
    const there = this.rows.get(place);
    if (there) return there;
    const number = this.numbers[place]!, { unit, factor } = shownUnit(number), span = sliderSpan(number), name = `live-${place}`;
    if (number.law) return this.offerSwitch(place, number.law, name);
    const set = (value: number, from: EventTarget | null) => {
      this.touched = true;
      const allowed = isAllowed(number, value);
      if (allowed) field.removeAttribute("aria-invalid");
      else field.setAttribute("aria-invalid", "true");
      this.problem.textContent = allowed ? "" : `${number.key} = ${inBrief(value * factor)} ${unit}: must be ${boundsInWords(number, factor, unit)}; what is shown stays as it was`;
      if (!allowed) return row.node.after(this.problem);
      this.write(place, value, from);
      this.changed(place, value);
    };
    const field = element("input", { type: "number", step: "any", id: name, change: () => set(field.valueAsNumber === Number(inBrief(number.value * factor)) ? number.value : field.valueAsNumber / factor, field) });
    const range = span && element("input", { type: "range", min: 0, max: PARTS, step: 1, "aria-label": number.key, input: () => {
      const share = range!.valueAsNumber / PARTS, own = (number.value - span[0]) / (span[1] - span[0]);
      const value = span[0] + share * (span[1] - span[0]), rounded = Number(value.toPrecision(3));
      set(Math.abs(share - own) < NEAR ? number.value : isAllowed(number, rounded) ? rounded : value, range);
    } });
    const effect = element("span", { class: "effect" });
    const row: Row = { node: element("div", { class: "slider", "data-key": number.key }, element("label", { for: name }, keyInWords(number.key)[0], element("span", { class: "of" }, keyInWords(number.key)[1])), element("span", { class: "field" }, field, element("span", { class: "unit" }, unit)), range, effect), range, field, effect, factor, span };
    this.rows.set(place, row);
    this.list.append(row.node);
    this.write(place, number.value, null);
    return row;
  }

  /** Offer to switch the compensator off, and on again. */
  private offerSwitch(place: number, law: string, name: string): Row {
    const number = this.numbers[place]!, field = element("input", { type: "checkbox", id: name, change: () => {
      this.touched = true;
      this.write(place, Number(field.checked), field);
      this.changed(place, Number(field.checked));
    } });
    const node = element("div", { class: "slider switch", "data-key": number.key }, field, element("label", { for: name }, "with the compensator ", element("b", {}, law)));
    const row: Row = { node, range: null, field, effect: element("span"), factor: 1, span: null };
    this.rows.set(place, row);
    this.list.append(node);
    this.write(place, number.value, null);
    return row;
  }

  private write(place: number, value: number, from: EventTarget | null): void {
    const row = this.rows.get(place), number = this.numbers[place]!;
    if (!row) return;
    const { range, field, factor, span } = row;
    field.removeAttribute("aria-invalid");
    if (number.law) field.checked = value === 1;
    else if (field !== from) field.value = inBrief(value * factor);
    if (range && span && range !== from) range.value = String(Math.round((PARTS * (value - span[0])) / (span[1] - span[0])));
    row.node.classList.toggle("moved", value !== number.value);
    if (!number.law) row.node.querySelector("label")!.title = `${number.key}, ${inBrief(number.value * factor)} in the report`;
  }

  show(values: readonly number[]): void {
    for (const place of this.rows.keys()) this.write(place, values[place]!, null);
    this.problem.textContent = "";
  }

  /** Hatch the stretch of a slider, now at `value`, from a value on, where what it is of fails; it goes some way into that. */
  hatch(key: string, from: number, value: number): void {
    for (const [place, { node, span }] of this.rows) {
      if (this.numbers[place]!.key !== key || !span) continue;
      if (Number.isFinite(from) && isAllowed(this.numbers[place]!, INTO * from)) span[1] = Math.max(span[1], INTO * from);
      this.write(place, value, null);
      const share = Math.min(Math.max((from - span[0]) / (span[1] - span[0]), 0), 1);
      node.classList.toggle("fails", share < 1);
      node.style.setProperty("--from", String(share));
    }
  }

  /** Say what a tenth more of each number does to a figure, and `how` that is known; until a reader has moved one, those that do most are offered, too. */
  tellEffects(effects: ReadonlyMap<number, number>, how: string, words: string, unit: string): void {
    if (!this.touched) {
      const most = [...effects].filter(([place]) => !isPlace(this.numbers[place]!.key)).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
      for (const [place] of most) if (this.rows.size < this.most) this.offer(place);
    }
    const largest = Math.max(...this.chosen.map((place) => Math.abs(effects.get(place) ?? 0)).filter(Number.isFinite), 0);
    for (const [place, { effect }] of this.rows) {
      const change = effects.get(place);
      const told = change !== undefined && Math.abs(change) < ROUNDING * largest ? 0 : change;
      effect.textContent = told === undefined ? "" : `+10 % ${how}→ ${words} ${told > 0 ? "+" : ""}${writeNumber(told, 2)} ${unit}`.trim();
      effect.style.setProperty("--share", String(change && largest ? Math.abs(change) / largest : 0));
    }
  }
}

function boundsInWords({ bounds }: NumberOfUnit, factor: number, unit: string): string {
  const { least, above, most, below } = bounds, said: string[] = [];
  const amount = (value: number, lower: boolean) => `${boundInBrief(value * factor, lower)} ${unit}`.trim();
  if (above !== undefined && above > (least ?? -Infinity)) said.push(`above ${amount(above, true)}`);
  else if (least !== undefined) said.push(`at least ${amount(least, true)}`);
  if (below !== undefined && below < (most ?? Infinity)) said.push(`below ${amount(below, false)}`);
  else if (most !== undefined) said.push(`at most ${amount(most, false)}`);
  return said.join(" and ") || "a number";
}
