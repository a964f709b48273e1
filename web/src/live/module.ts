// A module of WebAssembly from its columns, as `dockdyn/translate/wasm_columns.py` has them.

const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const CODE = 10; // the section with the functions
const GET = 0x20, TEE = 0x22, FIRST_LOAD = 0x28, LAST_STORE = 0x3e, CONSTANT = 0x41, SINGLE = 0x43, DOUBLE = 0x44, LONG = 0xfc, END = 0x0b;
const OPENS = new Set([0x02, 0x03, 0x04]); // block, loop, if
const LISTS = new Map([[0x0e, 1], [0x1c, 0]]); // instructions with a list, and the integers behind it
const FAR = 255; // of places told by one byte; more follows where it is that
const NAMES = ["frame", "codes", "read", "readFar", "written", "writtenFar", "constant", "constantFar", "newLocals", "newConstants", "memory", "doubles", "rest"] as const;
const BEHIND_LONG: Record<number, number> = { 8: 2, 9: 1, 10: 2, 11: 1 }; // of instructions of two parts

/** Return how many integers follow an instruction. */
function countBehind(code: number): number {
  if (code === 0x11) return 2;
  return (code >= 0x02 && code <= 0x04) || (code >= 0x0c && code <= 0x0e) || code === 0x10 || (code >= 0x20 && code <= 0x26) || (code >= 0x3f && code <= 0x42) ? 1 : 0;
}

/** Bytes that are read one after the other. */
class Column {
  at = 0;

  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    return this.bytes[this.at++]!;
  }

  integer(): number {
    let found = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      found += (byte & 127) * scale;
      if (byte < 128) return found;
    }
  }

  /** An integer whose last bit is its sign. */
  signed(): number {
    const found = this.integer();
    return found % 2 ? -(found + 1) / 2 : found / 2;
  }
}

/** Bytes that are written one after the other. */
class Written {
  at = 0;

  constructor(readonly bytes: Uint8Array<ArrayBuffer>) {}

  byte(value: number): void {
    this.bytes[this.at++] = value;
  }

  integer(value: number): void {
    for (; value > 127; value = Math.floor(value / 128)) this.byte((value % 128) | 128);
    this.byte(value);
  }

  /** An integer with a sign, as a complement of two. */
  signed(value: number): void {
    for (; value < -64 || value > 63; value >>= 7) this.byte((value & 127) | 128);
    this.byte(value & 127);
  }

  from(column: Column, count: number): void {
    for (; count > 0; count--) this.byte(column.byte());
  }

  /** Copy an integer as it is. */
  integerFrom(column: Column): void {
    for (let byte = 255; byte > 127; ) this.byte((byte = column.byte()));
  }

  all(bytes: Uint8Array): void {
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }
}

/** What was used, the last one last. */
class Recent {
  private known = new Int32Array(64);
  private count = 0;
  private last = 0; // that was new

  /** Return the next thing that columns tell. */
  next(near: Column, far: Column, fresh: Column): number {
    const rank = near.byte();
    if (!rank) {
      if (this.count === this.known.length) this.grow();
      return (this.known[this.count++] = this.last += fresh.signed());
    }
    const { known, count } = this, place = count - (rank < FAR ? rank : FAR + far.integer()), found = known[place]!;
    known.copyWithin(place, place + 1, count);
    return (known[count - 1] = found);
  }

  private grow(): void {
    const more = new Int32Array(2 * this.count);
    more.set(this.known);
    this.known = more;
  }
}

/** Return the module that is in these columns. */
export function moduleOf(columns: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new Column(columns), size = head.integer(), lengths = NAMES.map(() => head.integer());
  let at = head.at;
  const parts = Object.fromEntries(NAMES.map((name, i) => [name, new Column(columns.subarray(at, (at += lengths[i]!)))])) as Record<(typeof NAMES)[number], Column>;
  const { frame } = parts, made = new Written(new Uint8Array(size)), bodies = new Written(new Uint8Array(size)), body = new Written(new Uint8Array(size));
  made.all(Uint8Array.from(MAGIC));
  while (frame.at < frame.bytes.length) {
    const kind = frame.byte(), count = frame.integer();
    made.byte(kind);
    if (kind !== CODE) {
      made.integer(count);
      made.from(frame, count);
      continue;
    }
    bodies.integer(count);
    for (let left = count; left > 0; left--) {
      body.at = 0;
      writeFunction(body, parts);
      bodies.integer(body.at);
      bodies.all(body.bytes.subarray(0, body.at));
    }
    made.integer(bodies.at);
    made.all(bodies.bytes.subarray(0, bodies.at));
  }
  return made.bytes.slice(0, made.at);
}

function writeFunction(to: Written, { frame, codes, read, readFar, written, writtenFar, constant, constantFar, newLocals, newConstants, memory, doubles, rest }: Record<(typeof NAMES)[number], Column>): void {
  const groups = frame.integer();
  to.integer(groups);
  for (let left = groups; left > 0; left--) {
    to.integer(frame.integer());
    to.byte(frame.byte());
  }
  const locals = new Recent(), constants = new Recent();
  let offset = 0;
  for (let depth = 1; depth > 0; ) {
    const code = codes.byte();
    to.byte(code);
    if (code >= GET && code <= TEE) to.integer(code === GET ? locals.next(read, readFar, newLocals) : locals.next(written, writtenFar, newLocals));
    else if (code === CONSTANT) to.signed(constants.next(constant, constantFar, newConstants));
    else if (code >= FIRST_LOAD && code <= LAST_STORE) {
      to.integer(memory.integer());
      to.integer((offset += memory.signed()));
    } else if (code === DOUBLE) to.from(doubles, 8);
    else if (code === SINGLE) to.from(rest, 4);
    else {
      let count = countBehind(code);
      if (LISTS.has(code) || code === LONG) {
        const first = rest.integer(); // how many, or which
        to.integer(first);
        count = code === LONG ? BEHIND_LONG[first] ?? 0 : first + LISTS.get(code)!;
      }
      for (; count > 0; count--) to.integerFrom(rest);
      depth += OPENS.has(code) ? 1 : code === END ? -1 : 0;
    }
  }
}
