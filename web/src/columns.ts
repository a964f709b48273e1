// Columns of numbers as `dockdyn/report/columns.py` packs them.
import { unpack } from "./unpack.ts";

export interface PackedColumns {
  columns: ([kind: "even", length: number, first: number, last: number] | [kind: "grid", length: number, first: number, step: number] | [kind: "steps", length: number, low: number, high: number, order: number] | [kind: "single", length: number, order: number] | [kind: "double" | "roots", length: number] | [kind: "mixed", length: number, exact: number] | [kind: "circle", length: number, beside: number])[];
  data: string; // packed
}

const STEPS = 65534; // of a column's range; one more stands for a gap
const GAP = 65535;
const ALL_BUT_SIGN = 0x7fffffff;
const CELLS = 2 ** 32; // from 0 to 1, in the middles of which squares are

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
  const found: Float64Array[] = [], word = new DataView(new ArrayBuffer(8));
  /** Put numbers of so many bytes, of which all first ones stand before the second ones, where they are read from. */
  const planes = (count: number, size: number, take: (i: number) => void): void => {
    for (let i = 0; i < count; i++) {
      for (let byte = 0; byte < size; byte++) word.setUint8(byte, bytes[at + byte * count + i]!);
      take(i);
    }
    at += count * size;
  };
  /** Return integers of so many bytes of which there are differences of an order, the signs in their last bits. */
  const differences = (count: number, size: 2 | 4, order: number): Int32Array => {
    const found = new Int32Array(count);
    planes(count, size, (i) => {
      const told = size === 2 ? word.getUint16(0, true) : word.getUint32(0, true);
      found[i] = (told >>> 1) ^ -(told & 1);
    });
    for (let left = order; left > 0; left--) for (let i = 1; i < count; i++) found[i] = found[i]! + found[i - 1]!;
    return found;
  };
  for (const column of packed.columns) {
    const length = column[1], values = new Float64Array(length);
    if (column[0] === "even") {
      for (let i = 0; i < length; i++) values[i] = length > 1 ? column[2] + ((column[3] - column[2]) * i) / (length - 1) : column[2];
    } else if (column[0] === "grid") { // first differences, all low bytes before all high ones
      for (let i = 0, row = 0; i < length; i++) values[i] = column[2] + column[3] * (row += bytes[at + i]! + (bytes[at + length + i]! << 8));
      at += 2 * length;
    } else if (column[0] === "steps") {
      const step = (column[3] - column[2]) / STEPS;
      differences(length, 2, column[4]).forEach((told, i) => (values[i] = (told & 65535) === GAP ? NaN : column[2] + (told & 65535) * step));
    } else if (column[0] === "single") {
      differences(length, 4, column[2]).forEach((told, i) => {
        word.setInt32(0, told ^ ((told >> 31) & ALL_BUT_SIGN), true);
        values[i] = word.getFloat32(0, true);
      });
    } else if (column[0] === "roots") planes(length, 4, (i) => (values[i] = Math.sqrt((word.getUint32(0, true) + 0.5) / CELLS)));
    else if (column[0] === "circle") { // the second coordinate by the first: the sign, and how many numbers it is off
      const beside = found[column[2]]!, signs = at;
      at += length;
      planes(length, 8, (i) => {
        const told = word.getBigUint64(0, true), off = (told >> 1n) ^ -(told & 1n);
        word.setFloat64(0, Math.sqrt(1 - beside[i]! * beside[i]!), true);
        word.setBigInt64(0, word.getBigInt64(0, true) + off, true);
        values[i] = bytes[signs + i] ? -word.getFloat64(0, true) : word.getFloat64(0, true);
      });
    } else {
      const exact = column[0] === "mixed" ? column[2] : column[0] === "double" ? length : 0;
      planes(exact, 8, (i) => (values[i] = word.getFloat64(0, true)));
      planes(length - exact, 4, (i) => (values[exact + i] = word.getFloat32(0, true)));
    }
    found.push(values);
  }
  return new Columns(found);
}
