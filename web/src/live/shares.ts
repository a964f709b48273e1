// Shares and percentiles in words, with as many digits as their intervals leave, as `dockdyn/studies/campaign/wording.py` has them.
import { writeNumber } from "../scales.ts";
import type { Interval } from "./statistics.ts";

export interface Share {
  share: number;
  interval: Interval;
}

function digitsLeft([low, high]: Interval): number {
  return Math.min(Math.max(1 - Math.floor(Math.log10(Math.max(100 * high - 100 * low, 1e-9))), 0), 4);
}

const percents = (value: number, digits: number) => (value === 0 || value === 100 ? value.toFixed(0) : value.toFixed(digits));

/** Return a share in percent, without the sign. */
export function shareInWords({ share, interval }: Share): string {
  return percents(100 * share, digitsLeft(interval));
}

/** Return what a share is sure to lie between. */
export function sureInWords({ interval }: Pick<Share, "interval">): string {
  const [low, high] = interval.map((end) => percents(100 * end, digitsLeft(interval)));
  return `${low} to ${high} %`;
}

/** Return a number with what it is sure to lie between. */
export function withInterval(value: number, [low, high]: [number | null, number | null], unit = ""): string {
  const narrow = low !== null && high !== null && high - low < 0.01 * Math.abs(value), digits = narrow ? 4 : 3;
  const said = writeNumber(value, digits), tail = unit ? ` ${unit}` : "";
  if (!Number.isFinite(value) || (low === null && high === null)) return said + tail;
  if (high === null) return `${said}${tail} (at least ${writeNumber(low!, digits)}${tail})`;
  if (low === null) return `${said}${tail} (at most ${writeNumber(high, digits)}${tail})`;
  const ends = [low, high].map((end) => writeNumber(end, digits));
  return ends.every((end) => end === said) ? `${said}${tail} (alike to these digits)` : `${said}${tail} (${ends[0]} to ${ends[1]}${tail})`;
}
