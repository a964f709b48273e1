// Runs a rig with other numbers, with its compensator or without, by the programs of `dockdyn run`.
import { Programs, type Call, type PackedPrograms } from "./programs.ts";
import { Stopped, type Found } from "./unit.ts";

export interface PackedRig extends PackedPrograms {
  calls: Record<string, [Call]>;
}

const PARTS = ["ideal", "run", "tell", "show"]; // programs, in their order
const OFF = "bare."; // before what is of the rig without its compensator, as `dockdyn/rig/browser_unit.py` has it
const FINISHED = 1; // as `dockdyn.integrate.solution.Status`

export class RigUnit {
  private constructor(private readonly packed: PackedRig, private readonly programs: Programs) {}

  /** The names of what a run leaves. */
  get names(): string[] {
    return Object.keys(this.packed.results).filter((name) => !name.startsWith(OFF));
  }

  static async load(packed: PackedRig): Promise<RigUnit> {
    return new RigUnit(packed, await Programs.load(packed));
  }

  /** Run the rig with these numbers, in the order of `packed.numbers`, of which a switch may be one. */
  run(values: ArrayLike<number>, most = Infinity): Found {
    const { packed, programs } = this, began = performance.now();
    const before = packed.numbers.some(({ law }, place) => law !== undefined && !values[place]) ? OFF : "";
    programs.set(values);
    for (const part of PARTS) {
      programs.call(before + part, packed.calls[before + part]![0]);
      if (performance.now() - began > most) throw new Stopped(`longer than ${most / 1000} s`);
    }
    return { status: FINISHED, numbers: (name) => (before + name in packed.results ? programs.read(before + name) : new Float64Array(0)) };
  }
}
