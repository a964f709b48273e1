// Runs a scenario with other numbers, by the programs of `dockdyn run`.
import { Programs, type Call, type PackedPrograms } from "./programs.ts";

export interface PackedUnit extends PackedPrograms {
  calls: { begin: [Call]; advance: [Call, Call]; observe: [Call, Call]; tell: [Call] };
  until: number;
  status: [number, number];
  interval: number; // s, between samples
}

const RUNNING = 0; // as `dockdyn.integrate.solution.Status`
const SLICE = 2000; // iterations between looks at the clock

/** What was computed, until that is done again. */
export interface Found {
  status: number;
  /** Return a copy of an array by its name, row by row. */
  numbers(name: string): Float64Array;
}

export class Stopped extends Error {}

export class Unit {
  private constructor(readonly packed: PackedUnit, private readonly programs: Programs) {}

  /** The names of what a run leaves. */
  get names(): string[] {
    return Object.keys(this.packed.results);
  }

  static async load(packed: PackedUnit): Promise<Unit> {
    return new Unit(packed, await Programs.load(packed));
  }

  /** Run the scenario with these numbers, in the order of `packed.numbers`; Stopped where it takes longer than `most` (ms). */
  run(values: ArrayLike<number>, most = Infinity): Found {
    const { programs } = this, { calls, until, status } = this.packed;
    programs.set(values);
    const began = performance.now();
    programs.call("begin", calls.begin[0]);
    let now: 0 | 1 = 0, code = RUNNING;
    for (let iterations = SLICE; code === RUNNING; iterations += SLICE) {
      programs.view.setBigInt64(until, BigInt(iterations), true);
      programs.call("advance", calls.advance[now]);
      now = now ? 0 : 1;
      code = Number(programs.view.getBigInt64(status[now], true));
      if (performance.now() - began > most) throw new Stopped(`longer than ${most / 1000} s`);
    }
    programs.call("observe", calls.observe[now]);
    programs.call("tell", calls.tell[0]);
    return { status: code, numbers: (name) => programs.read(name) };
  }
}
