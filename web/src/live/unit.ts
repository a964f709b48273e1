// Runs a scenario: its programs as `dockdyn/results/browser_unit.py` lays them out, the same as those of `dockdyn run`.
import { gunzip } from "../columns.ts";

type Place = [address: number, type: "float64" | "int64" | "int32" | "uint32" | "bool", shape: number[]];
type Call = [argumentPlaces: number[], resultPlaces: number[]];
type Program = (argumentList: number, resultList: number, work: number) => number;

export interface Bounds {
  least?: number;
  above?: number;
  most?: number;
  below?: number;
}

export interface NumberOfUnit {
  key: string;
  unit: string;
  value: number;
  bounds: Bounds;
  places: [address: number, sign: number][];
}

export interface PackedUnit {
  module: string; // base64 of gzip
  image: string;
  stack: number; // its end, where the image begins
  end: number;
  work: number;
  calls: { begin: [Call]; advance: [Call, Call]; observe: [Call, Call]; tell: [Call] };
  results: Record<string, Place>;
  numbers: NumberOfUnit[];
  until: number;
  status: [number, number];
  interval: number; // s, between samples
}

const RUNNING = 0; // as `dockdyn.integrate.solution.Status`
const SLICE = 2000; // iterations between looks at the clock
const ROOM = 65536; // of a page of WebAssembly's memory
const align = (address: number) => (address + 15) & ~15;

/** What a run has left, until the unit runs again. */
export interface Found {
  status: number;
  /** Return a copy of an array by its name, row by row. */
  numbers(name: string): Float64Array;
}

export class Stopped extends Error {}

export class Unit {
  private readonly programs: Record<"begin" | "advance" | "observe" | "tell", Program>;
  private readonly lists = new Map<Call, [number, number]>();
  private readonly view: DataView;
  private readonly work: number;

  private constructor(readonly packed: PackedUnit, private readonly memory: WebAssembly.Memory, exports: WebAssembly.Exports) {
    this.programs = exports as unknown as Unit["programs"];
    this.view = new DataView(memory.buffer);
    let end = align(packed.end);
    const list = (addresses: number[]) => {
      const at = end;
      addresses.forEach((address, place) => this.view.setUint32(at + 4 * place, address, true));
      end = align(at + 4 * addresses.length);
      return at;
    };
    for (const call of Object.values(packed.calls).flat()) this.lists.set(call, [list(call[0]), list(call[1])]);
    this.work = end;
  }

  /** The names of what a run leaves. */
  get names(): string[] {
    return Object.keys(this.packed.results);
  }

  /** Return the bytes of memory that a unit takes. */
  static memoryOf(packed: PackedUnit): number {
    const addresses = Object.values(packed.calls).flat().flat(2).length + 8 * Object.values(packed.calls).flat().length;
    return packed.end + 16 + 4 * addresses + packed.work + 16;
  }

  static async load(packed: PackedUnit): Promise<Unit> {
    const [code, image] = await Promise.all([gunzip(packed.module), gunzip(packed.image)]);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(Unit.memoryOf(packed) / ROOM) });
    const module = await WebAssembly.compile(code as BufferSource), env: WebAssembly.ModuleImports = {};
    for (const { name, kind } of WebAssembly.Module.imports(module)) {
      if (kind === "memory") env[name] = memory;
      else if (kind === "global") env[name] = new WebAssembly.Global({ value: "i32", mutable: true }, packed.stack);
      else if (kind === "table") env[name] = new WebAssembly.Table({ initial: 0, element: "anyfunc" });
      else throw new Error(`the program imports the function ${name}`);
    }
    const { exports } = await WebAssembly.instantiate(module, { env });
    new Uint8Array(memory.buffer).set(image, packed.stack);
    return new Unit(packed, memory, exports);
  }

  /** Run the scenario with these numbers, in the order of `packed.numbers`; Stopped where it takes longer than `most` (ms). */
  run(values: ArrayLike<number>, most = Infinity): Found {
    const { calls, numbers, until, status } = this.packed;
    numbers.forEach(({ places }, index) => {
      for (const [address, sign] of places) this.view.setFloat64(address, sign * values[index]!, true);
    });
    const began = performance.now();
    this.call("begin", calls.begin[0]);
    let now: 0 | 1 = 0, code = RUNNING;
    for (let iterations = SLICE; code === RUNNING; iterations += SLICE) {
      this.view.setBigInt64(until, BigInt(iterations), true);
      this.call("advance", calls.advance[now]);
      now = now ? 0 : 1;
      code = Number(this.view.getBigInt64(status[now], true));
      if (performance.now() - began > most) throw new Stopped(`longer than ${most} ms`);
    }
    this.call("observe", calls.observe[now]);
    this.call("tell", calls.tell[0]);
    return { status: code, numbers: (name) => this.read(name) };
  }

  private read(name: string): Float64Array {
    const [at, type, shape] = this.packed.results[name]!;
    const count = shape.reduce((a, b) => a * b, 1);
    if (type === "float64") return new Float64Array(this.memory.buffer, at, count).slice();
    const found = new Float64Array(count);
    for (let i = 0; i < count; i++)
      found[i] = type === "int64" ? Number(this.view.getBigInt64(at + 8 * i, true)) : type === "bool" ? this.view.getUint8(at + i) : type === "int32" ? this.view.getInt32(at + 4 * i, true) : this.view.getUint32(at + 4 * i, true);
    return found;
  }

  private call(name: keyof Unit["programs"], call: Call): void {
    const [given, found] = this.lists.get(call)!;
    if (!(this.programs[name](given, found, this.work) & 1)) throw new Error(`the program ${name} has left`);
  }
}
