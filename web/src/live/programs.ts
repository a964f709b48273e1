// Programs of WebAssembly in their memory, as `dockdyn/results/browser_unit.py` lays them out: the same as those of the command line.
import { unpack } from "../unpack.ts";
import { moduleOf } from "./module.ts";

export type Place = [address: number, type: "float64" | "int64" | "int32" | "uint32" | "bool", shape: number[]];
export type Call = [argumentPlaces: number[], resultPlaces: number[]];
type Program = (argumentList: number, resultList: number, work: number) => number;

export interface Bounds {
  least?: number;
  above?: number;
  most?: number;
  below?: number;
}

export interface NumberOfUnit {
  key: string;
  keys: string[]; // as `--set` takes them
  signs: number[]; // as many
  unit: string;
  value: number;
  bounds: Bounds;
  places: [address: number, sign: number][];
  law?: string; // of a compensator that the number, 1 or 0, switches on and off
}

export interface PackedPrograms {
  module: string; // in columns, packed
  image: string;
  stack: number; // its end, where the image begins
  end: number;
  work: number;
  calls: Record<string, Call[]>;
  results: Record<string, Place>;
  numbers: NumberOfUnit[];
}

const ROOM = 65536; // of a page of WebAssembly's memory
const align = (address: number) => (address + 15) & ~15;

export class Programs {
  readonly view: DataView;
  private readonly lists = new Map<Call, [number, number]>();
  private readonly work: number;

  private constructor(private readonly packed: PackedPrograms, private readonly memory: WebAssembly.Memory, private readonly exports: Record<string, Program>) {
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

  /** Return the bytes of memory that programs take. */
  static memoryOf(packed: PackedPrograms): number {
    const addresses = Object.values(packed.calls).flat().flat(2).length + 8 * Object.values(packed.calls).flat().length;
    return packed.end + 16 + 4 * addresses + packed.work + 16;
  }

  static async load(packed: PackedPrograms): Promise<Programs> {
    const [columns, image] = await Promise.all([unpack(packed.module), unpack(packed.image)]);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(Programs.memoryOf(packed) / ROOM) });
    const module = await WebAssembly.compile(moduleOf(columns)), env: WebAssembly.ModuleImports = {};
    for (const { name, kind } of WebAssembly.Module.imports(module)) {
      if (kind === "memory") env[name] = memory;
      else if (kind === "global") env[name] = new WebAssembly.Global({ value: "i32", mutable: true }, packed.stack);
      else if (kind === "table") env[name] = new WebAssembly.Table({ initial: 0, element: "anyfunc" });
      else throw new Error(`the program imports the function ${name}`);
    }
    const { exports } = await WebAssembly.instantiate(module, { env });
    new Uint8Array(memory.buffer).set(image, packed.stack);
    return new Programs(packed, memory, exports as unknown as Record<string, Program>);
  }

  /** Put numbers where the programs read them, in the order of `packed.numbers`. */
  set(values: ArrayLike<number>): void {
    this.packed.numbers.forEach(({ places }, index) => {
      for (const [address, sign] of places) this.view.setFloat64(address, sign * values[index]!, true);
    });
  }

  /** Return a copy of an array by its name, row by row. */
  read(name: string): Float64Array {
    const [at, type, shape] = this.packed.results[name]!;
    const count = shape.reduce((a, b) => a * b, 1);
    if (type === "float64") return new Float64Array(this.memory.buffer, at, count).slice();
    const found = new Float64Array(count);
    for (let i = 0; i < count; i++)
      found[i] = type === "int64" ? Number(this.view.getBigInt64(at + 8 * i, true)) : type === "bool" ? this.view.getUint8(at + i) : type === "int32" ? this.view.getInt32(at + 4 * i, true) : this.view.getUint32(at + 4 * i, true);
    return found;
  }

  call(name: string, call: Call): void {
    const [given, found] = this.lists.get(call)!;
    if (!(this.exports[name]!(given, found, this.work) & 1)) throw new Error(`the program ${name} has left`);
  }
}
