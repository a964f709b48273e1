// Bytes as `dockdyn/packing.py` packs them into a page: by LZMA, which browsers do not unpack by themselves, or by gzip.

export async function unpack(base64: string): Promise<Uint8Array> {
  const bytes = bytesOf(base64);
  return bytes[0] === 0x1f ? gunzipped(bytes) : unpackLzma(bytes); // LZMA begins with a zero
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

async function gunzipped(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

// Where probabilities are, of 11 bits each: by the state (12), by the slot of a distance, of lengths after the first of both kinds.
const MATCH = 0, AGAIN = 12, FIRST = 24, SECOND = 36, THIRD = 48, SHORT = 60, SLOT = 72, FAR = 328, ALIGN = 456, LENGTH = 472, OLD_LENGTH = 746, LITERAL = 1020;
const CONTEXT = 3; // bits of the byte before, by which a literal is told
const NO_MATCH = 7; // the first state after something else than a literal

/** Return what was packed by LZMA with lc = 3, lp = 0, pb = 0; its length is in the last four bytes. */
function unpackLzma(bytes: Uint8Array<ArrayBuffer>): Uint8Array {
  const size = new DataView(bytes.buffer).getUint32(bytes.length - 4, true), found = new Uint8Array(size);
  const chance = new Uint16Array(LITERAL + (0x300 << CONTEXT)).fill(1024), before = [0, 0, 0, 0]; // distances, the last one first
  let range = 0xffffffff, code = new DataView(bytes.buffer).getUint32(1), at = 5, state = 0, done = 0;

  const bit = (place: number): 0 | 1 => {
    const p = chance[place]!, bound = (range >>> 11) * p, one = code >= bound;
    if (one) {
      range -= bound;
      code -= bound;
      chance[place] = p - (p >>> 5);
    } else {
      range = bound;
      chance[place] = p + ((2048 - p) >>> 5);
    }
    if (range < 0x1000000) shift();
    return one ? 1 : 0;
  };
  const shift = (): void => {
    range = (range << 8) >>> 0;
    code = ((code << 8) | bytes[at++]!) >>> 0;
  };
  const even = (count: number): number => {
    let value = 0;
    for (; count > 0; count--) {
      range >>>= 1;
      const one = code >= range;
      if (one) code -= range;
      value = (value << 1) | (one ? 1 : 0);
      if (range < 0x1000000) shift();
    }
    return value;
  };
  const tree = (place: number, bits: number): number => {
    let value = 1;
    for (let i = 0; i < bits; i++) value = (value << 1) | bit(place + value);
    return value - (1 << bits);
  };
  const backwards = (place: number, bits: number): number => {
    let value = 0;
    for (let i = 0, node = 1; i < bits; i++) {
      const one = bit(place + node);
      node = (node << 1) | one;
      value |= one << i;
    }
    return value;
  };
  const length = (place: number): number => (!bit(place) ? tree(place + 2, 3) : !bit(place + 1) ? 8 + tree(place + 10, 3) : 16 + tree(place + 18, 8));
  const distance = (long: number): number => {
    const slot = tree(SLOT + (Math.min(long, 3) << 6), 6), bits = (slot >>> 1) - 1;
    if (slot < 4) return slot;
    const base = (2 | (slot & 1)) << bits;
    return slot < 14 ? base + backwards(FAR + base - slot, bits) : base + (even(bits - 4) << 4) + backwards(ALIGN, 4);
  };

  while (done < size) {
    if (!bit(MATCH + state)) {
      const place = LITERAL + 0x300 * ((done ? found[done - 1]! : 0) >>> (8 - CONTEXT));
      let value = 1;
      if (state >= NO_MATCH) { // told by the byte there would be
        let like = found[done - before[0]! - 1]!;
        while (value < 0x100) {
          const want = (like >>> 7) & 1, one = bit(place + ((1 + want) << 8) + value);
          like <<= 1;
          value = (value << 1) | one;
          if (want !== one) break;
        }
      }
      while (value < 0x100) value = (value << 1) | bit(place + value);
      found[done++] = value & 0xff;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let long: number;
    if (!bit(AGAIN + state)) {
      long = length(LENGTH);
      before.unshift(distance(long));
      before.pop();
      state = state < NO_MATCH ? 7 : 10;
    } else {
      const which = !bit(FIRST + state) ? 0 : !bit(SECOND + state) ? 1 : bit(THIRD + state) ? 3 : 2;
      if (!which && !bit(SHORT + state)) {
        state = state < NO_MATCH ? 9 : 11;
        found[done] = found[done - before[0]! - 1]!;
        done++;
        continue;
      }
      before.unshift(...before.splice(which, 1));
      long = length(OLD_LENGTH);
      state = state < NO_MATCH ? 8 : 11;
    }
    for (let left = Math.min(long + 2, size - done); left > 0; left--, done++) found[done] = found[done - before[0]! - 1]!;
  }
  return found;
}
