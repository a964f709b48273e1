// Judges a contact's loop with other numbers: its matrices by the program of `dockdyn stability`, what follows from them here.
import { criticalDelay, rightmostRoots, rootsOfMap, seenPart, type DelayEquation } from "./delay_equation.ts";
import type { Complex } from "./eigen.ts";
import { Programs, type Call, type PackedPrograms } from "./programs.ts";
import type { Found } from "./unit.ts";

export interface PackedLoop extends PackedPrograms {
  calls: { matrices: [Call] };
  delays: string[]; // keys of what is delayed, the loop's first
  longest: number | null; // s, for which a sampled loop's map has room
  drifts: boolean; // whether there are motions that no delayed force sees
}

const ROOTS = 8; // as many as a report has
const NEARLY = 1e-9; // of the longest delay, which rounding may add
const TRIED = 64; // delays between none and the longest
const CLOSE = 1e-10; // of a delay at which a loop becomes unstable

export class LoopUnit {
  private constructor(private readonly packed: PackedLoop, private readonly programs: Programs) {}

  static async load(packed: PackedLoop): Promise<LoopUnit> {
    return new LoopUnit(packed, await Programs.load(packed));
  }

  /** Judge the loop with these numbers: `first`, its rightmost root (1/s), `delay` (s), `radius` of a cycle and, where they are asked for, which takes longer, `roots` (real and imaginary parts in turn) and `margin`: what may be added to the delay (s), Infinity for anything, NaN where it is not known. */
  run(values: ArrayLike<number>): Found {
    const { roots, radius } = this.judge(values, 1), [first] = roots as [Complex], delay = this.programs.read("delay")[0]!;
    if (Number.isNaN(first.re)) throw new Error("its periods or delays are too long beside its fastest motion");
    const flat = (found: Complex[]) => found.flatMap(({ re, im }) => (Number.isFinite(re) && Number.isFinite(im) ? [re, im] : []));
    const rows: Record<string, () => number[]> = { first: () => [first.re, first.im], roots: () => flat(this.judge(values, ROOTS).roots), delay: () => [delay], radius: () => [radius], margin: () => [this.margin(values, delay, first.re < 0)] };
    return { status: 1, numbers: (name) => Float64Array.from(rows[name]!()) };
  }

  private judge(values: ArrayLike<number>, count: number): { roots: Complex[]; radius: number } {
    const { longest, calls } = this.packed;
    this.programs.set(values);
    this.programs.call("matrices", calls.matrices[0]);
    const delay = this.programs.read("delay")[0]!;
    if (longest !== null && delay > longest * (1 + NEARLY)) throw new Error(`a delay of more than ${longest} s is another program`);
    if (longest === null) return { roots: rightmostRoots(this.equation(), delay, count), radius: NaN };
    return rootsOfMap(this.programs.read("map"), this.programs.read("period")[0]!, count);
  }

  private equation(): DelayEquation {
    const [, size] = this.packed.results.matrices![2] as [number, number, number], both = this.programs.read("matrices");
    const whole = { size, now: both.slice(0, size * size), late: both.slice(size * size) }, seen = this.packed.drifts ? seenPart(whole) : whole;
    if (!seen.size) throw new Error("no motion depends on the contact's force");
    return seen;
  }

  private margin(values: ArrayLike<number>, delay: number, stable: boolean): number {
    const { longest, numbers, delays } = this.packed;
    if (longest === null) return criticalDelay(this.equation(), delay, stable) - delay; // of the numbers that were judged last
    const place = numbers.findIndex(({ key }) => delays.includes(key));
    if (place < 0) return NaN;
    const own = values[place]!, rest = delay - own, end = longest - rest; // of the number that is moved
    const growthAt = (at: number) => this.judge(Array.from(values, (value, i) => (i === place ? at : value)), 1).roots[0]!.re;
    const tried = Array.from({ length: TRIED + 1 }, (_, i) => (end * i) / TRIED).filter((at) => (stable ? at > own : at < own));
    let low = stable ? own : 0;
    if (!stable && !(growthAt(0) < 0)) return -delay;
    for (let high of stable ? tried : [...tried.slice(1), own]) {
      if (growthAt(high) < 0) {
        low = high;
        continue;
      }
      while (high - low > CLOSE * high) {
        const middle = (low + high) / 2;
        if (growthAt(middle) < 0) low = middle;
        else high = middle;
      }
      return high - own;
    }
    return NaN;
  }
}
