// What a tenth more of each number does to the figure that matters: tried unasked where runs are short, else by a button.
import { element } from "../dom.ts";
import { writeNumber } from "../scales.ts";
import { isAllowed } from "./numbers.ts";
import type { NumberOfUnit } from "./programs.ts";
import { STOPPED, type Runner } from "./runner.ts";
import { FINISHED, LONG, SOON } from "./shown.ts";

const TENTH = 0.1;
const PATIENCE = 8000; // ms, for all numbers unasked

/** The run whose numbers are tried. */
export interface Tried {
  values: readonly number[];
  figure: string; // that matters
  before: number; // what it is in that run
  took: number; // ms
}

const inSeconds = (ms: number) => `${writeNumber(ms / 1000, 2)} s`;

export class Tries {
  readonly node = element("div", { class: "live-tries note", role: "status", hidden: true });
  private of!: Tried;
  private left: number[] = [];
  private all = 0;
  private readonly effects = new Map<number, number>();

  /** `tell` says what has been found; `also` is what else the button seeks, in words, and how. */
  constructor(private readonly runner: Runner, private readonly numbers: readonly NumberOfUnit[], private readonly tell: (effects: ReadonlyMap<number, number>) => void, private readonly also: [words: string, seek: () => Promise<boolean>] | null) {}

  /** Try numbers, the first of an order before the others; nothing where one run takes too long for that, which is said. */
  async begin(of: Tried, order: readonly number[]): Promise<void> {
    const { values, took } = of;
    this.of = of;
    this.effects.clear();
    this.left = order.filter((place) => values[place] && isAllowed(this.numbers[place]!, this.more(place)));
    this.all = this.left.length;
    this.node.hidden = true;
    if (took <= SOON) return this.goOn(PATIENCE, SOON);
    this.tell(this.effects);
    const also = this.also ? `; nor is ${this.also[0]}` : "";
    this.offer(`What each number does is not tried${also}: a run takes ${inSeconds(took)} here, the ${this.all} numbers about ${inSeconds(this.all * took)}.`, "Try them all the same");
  }

  private more(place: number): number {
    return this.of.values[place]! * (1 + TENTH);
  }

  private offer(words: string, act: string): void {
    this.node.hidden = false;
    this.node.replaceChildren(words, " ", element("button", { type: "button", class: "tool", click: () => void this.tryAll() }, act));
  }

  /** Try what is left, however long that takes, and seek what else there is. */
  private async tryAll(): Promise<void> {
    const { of, also } = this;
    await this.goOn(Infinity, LONG);
    if (this.left.length || !also || of.took <= SOON || this.of !== of) return;
    if (!(await also[1]()) && this.of === of) this.offer(`It is not known ${also[0]}: that was stopped.`, "Seek it");
  }

  /** Show how far something is that a reader asked for, who may stop it; no words: it is over. */
  progress(words: string, done: number, all: number): void {
    this.node.hidden = !words;
    this.node.replaceChildren(`${words} `, element("progress", { max: all, value: done, "aria-label": words }), element("button", { type: "button", class: "tool", click: () => this.runner.stop() }, "Stop"));
  }

  private async goOn(patience: number, most: number): Promise<void> {
    const { of, all } = this, { values, figure, before, took } = of, name = `figure.${figure}`, began = performance.now();
    while (this.left.length) {
      const done = all - this.left.length, place = this.left[0]!;
      if (performance.now() - began > patience) {
        this.offer(`${done} of ${all} numbers are tried; a run takes ${inSeconds(took)} here, the others about ${inSeconds(this.left.length * took)}.`, "Try the others");
        break;
      }
      if (patience === Infinity) this.progress(`Trying what each number does, ${done} of ${all} …`, done, all);
      const answer = await this.runner.askLater(values.map((one, i) => (i === place ? this.more(place) : one)), [name], most);
      if (this.of !== of) return; // all is tried of another run
      if (!answer) return this.progress("", 0, 1); // another wish, after which it will be
      if (answer.error === STOPPED) {
        this.offer(`${done} of ${all} numbers are tried, then it was stopped.`, "Try the others");
        break;
      }
      this.left.shift();
      const change = answer.status === FINISHED ? answer.found[name]![0]! - before : NaN;
      if (Number.isFinite(change)) this.effects.set(place, change);
    }
    if (!this.left.length) this.node.hidden = true;
    this.tell(this.effects);
  }
}
