// Axes: from values to shares of their length, their ticks, and numbers as they are read.

export type Span = [number, number];
export type ScaleKind = "linear" | "log" | { threshold: number; linear: number };

/** Return how a value is drawn out: a logarithmic scale by its logarithm, a symmetric one linear below its threshold. */
export function bend(kind: ScaleKind): (value: number) => number {
  if (kind === "linear") return (value) => value;
  if (kind === "log") return (value) => (value > 0 ? Math.log10(value) : NaN);
  const { threshold, linear } = kind;
  return (value) => {
    const size = Math.abs(value);
    return size <= threshold ? (linear * value) / threshold : Math.sign(value) * (linear + Math.log10(size / threshold));
  };
}

/** Return the value that is drawn at a bent place. */
export function unbend(kind: ScaleKind): (place: number) => number {
  if (kind === "linear") return (place) => place;
  if (kind === "log") return (place) => 10 ** place;
  const { threshold, linear } = kind;
  return (place) => {
    const size = Math.abs(place);
    return size <= linear ? (threshold * place) / linear : Math.sign(place) * threshold * 10 ** (size - linear);
  };
}

/** Return round numbers within a span, about as many as asked for, and at least two. */
export function linearTicks(span: Span, most: number): number[] {
  const fitting = Array.from({ length: FINER }, (_, more) => roundNumbers(span, most + more));
  return fitting.find((ticks) => ticks.length > 1) ?? fitting[0]!;
}

const FINER = 8; // numbers more than fit, that are tried until two are within a span

function roundNumbers([low, high]: Span, most: number): number[] {
  const least = (high - low) / Math.max(most, 1);
  if (!(least > 0) || !Number.isFinite(least)) return [];
  const decade = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((digit) => digit * decade).find((one) => (high - low) / one <= most) ?? 10 * decade;
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

const OF_DECADE = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 5], [1, 3], [1]];

/** Return ticks of a logarithmic axis, as many as fit: some of each decade, some decades; on a short stretch round numbers. */
export function logTicks([low, high]: Span, most: number): number[] {
  if (!(low > 0) || !(high > low)) return [];
  const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  const decades = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const within = (ticks: number[]) => ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
  const fitting = OF_DECADE.map((digits) => within(decades.flatMap((decade) => digits.map((digit) => Number(`${digit}e${decade}`))))).find((ticks) => ticks.length <= most);
  if (!fitting) {
    const every = (step: number) => within(decades.filter((decade) => decade % step === 0).map((decade) => Number(`1e${decade}`)));
    const steps = Array.from({ length: Math.ceil(decades.length / most) }, (_, i) => Math.ceil(decades.length / most) - i);
    return steps.map(every).find((ticks) => ticks.length > 1) ?? every(1);
  }
  return fitting.length > 2 ? fitting : linearTicks([low, high], most);
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raised = (power: number) => String(power).replace("-", "⁻").replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)]!);

/** Return numbers as they are written together: with as many decimals as they need, very large and small ones as 2.5×10⁻⁷. */
export function writeNumbers(values: number[]): string[] {
  const largest = Math.max(0, ...values.map(Math.abs)), power = Math.floor(Math.log10(largest) + 1e-9);
  const scaled = largest > 0 && (largest < 1e-4 || largest >= 1e5);
  const shown = scaled ? values.map((value) => value / 10 ** power) : values;
  const near = 1e-6 * Math.max(0, ...shown.map(Math.abs));
  let decimals = 0;
  while (decimals < 12 && shown.some((value) => Math.abs(value - Number(value.toFixed(decimals))) > near)) decimals += 1;
  return shown.map((value) => {
    const digits = value.toFixed(decimals);
    return Number(digits) === 0 ? "0" : `${digits}${scaled ? `×10${raised(power)}` : ""}`.replace("-", "−");
  });
}

/** Return one number with so many significant digits, trailing zeros kept. */
export function writeNumber(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits)))));
  if (power >= -4 && power < 5) return value.toFixed(Math.max(digits - 1 - power, 0)).replace("-", "−");
  return `${(value / 10 ** power).toFixed(digits - 1)}×10${raised(power)}`.replace("-", "−");
}

/** Return numbers of one kind with the same decimals, so that the largest has so many significant digits. */
export function alignNumbers(values: readonly number[], digits: number): string[] {
  const largest = Math.max(0, ...values.filter(Number.isFinite).map(Math.abs));
  if (!(largest >= 1e-4 && largest < 1e5)) return values.map((value) => writeNumber(value, digits));
  const decimals = Math.max(digits - 1 - Math.floor(Math.log10(largest)), 0);
  return values.map((value) => {
    const shown = value.toFixed(decimals);
    return !Number.isFinite(value) ? "–" : Number(shown) === 0 ? shown.replace("-", "") : shown.replace("-", "−");
  });
}

/** Return the place of the last of increasing values that is not beyond `wanted`, -1 where all are. */
export function lastNotBeyond(values: Float64Array, wanted: number): number {
  let low = -1, high = values.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (values[middle]! <= wanted) low = middle;
    else high = middle;
  }
  return low;
}
