// Columns of numbers as `dockdyn/report/columns.py` packs them.
import { unpack } from "./unpack.ts";

export interface PackedColumns {
  columns: ([kind: "even", length: number, first: number, last: number] | [kind: "grid", length: number, first: number, step: number] | [kind: "steps", length: number, low: number, high: number] | [kind: "single" | "double", length: number])[];
  data: string; // packed
}

const STEPS = 65534; // of a column's range; one more stands for a gap
const GAP = 65535;

export class Columns {
  private own: number;

  constructor(private readonly found: Float64Array[]) {
    this.own = found.length;
  }

  /** Add a column beside those of the page and return its place. */
  add(values: Float64Array): number {
    return this.found.push(values) - 1;
  }

  /** Return places of columns that are not forgotten, before others are added: what is in them is `put`. */
  reserve(count: number): number[] {
    const places = Array.from({ length: count }, () => this.found.push(new Float64Array()) - 1);
    this.own = this.found.length;
    return places;
  }

  put(place: number, values: Float64Array): void {
    this.found[place] = values;
  }

  /** Forget the columns that were added. */
  forgetMore(): void {
    this.found.length = this.own;
  }

  /** Return a column by its place; gaps are NaN. */
  at(place: number): Float64Array {
    const column = this.found[place];
    if (!column) throw new RangeError(`there is no column ${place}`);
    return column;
  }
}

export async function unpackColumns(packed: PackedColumns): Promise<Columns> {
  const bytes = await unpack(packed.data);
  let at = 0;
  const found = packed.columns.map((column) => {
    const length = column[1], values = new Float64Array(length);
    if (column[0] === "even") {
      for (let i = 0; i < length; i++) values[i] = length > 1 ? column[2] + ((column[3] - column[2]) * i) / (length - 1) : column[2];
    } else if (column[0] === "grid") { // first differences, all low bytes before all high ones
      for (let i = 0, row = 0; i < length; i++) values[i] = column[2] + column[3] * (row += bytes[at + i]! + (bytes[at + length + i]! << 8));
      at += 2 * length;
    } else if (column[0] === "steps") { // second differences, all low bytes before all high ones
      const step = (column[3] - column[2]) / STEPS;
      let slope = 0, level = 0;
      for (let i = 0; i < length; i++) {
        slope = (slope + bytes[at + i]! + (bytes[at + length + i]! << 8)) & 65535;
        level = (level + slope) & 65535;
        values[i] = level === GAP ? NaN : column[2] + level * step;
      }
      at += 2 * length;
    } else { // single or double precision, its first bytes before its second ones
      const size = column[0] === "single" ? 4 : 8, word = new DataView(new ArrayBuffer(size));
      for (let i = 0; i < length; i++) {
        for (let byte = 0; byte < size; byte++) word.setUint8(byte, bytes[at + byte * length + i]!);
        values[i] = size === 4 ? word.getFloat32(0, true) : word.getFloat64(0, true);
      }
      at += size * length;
    }
    return values;
  });
  return new Columns(found);
}
