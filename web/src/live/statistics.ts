// What cases say of what they were drawn from, as `dockdyn/studies/cases/statistics.py` has it.

export type Interval = [low: number, high: number];

const Z2 = 3.8414588206941236; // square of the normal deviate that 95 % of all lie within
const TAIL = 0.025; // of what is 95 % sure, on either side

/** Return both ends of the interval of a share (Wilson): so many of so many runs, more than none. */
export function wilsonInterval(successes: number, runs: number): Interval {
  const share = successes / runs, middle = (share + Z2 / (2 * runs)) / (1 + Z2 / runs);
  const half = Math.sqrt((Z2 * (share * (1 - share) + Z2 / (4 * runs))) / runs) / (1 + Z2 / runs);
  return [share === 0 ? 0 : middle - half, share === 1 ? 1 : middle + half];
}

/** Return the percentile (0 … 100) of values in order, between its neighbours as NumPy has it; NaN of none. */
export function percentile(values: ArrayLike<number>, place: number): number {
  const at = (values.length - 1) * (place / 100), below = Math.floor(at), share = at - below;
  const low = values[below] ?? NaN, high = values[Math.min(below + 1, values.length - 1)] ?? NaN, apart = high - low;
  return share >= 0.5 ? high - apart * (1 - share) : low + apart * share;
}

/** Return both ends of the interval of the percentile that a `share` (0 … 1) lie below; null is one that so few values do not give. */
export function percentileInterval(values: ArrayLike<number>, share: number): [low: number | null, high: number | null] {
  const low = binomialQuantile(TAIL, values.length, share), high = binomialQuantile(1 - TAIL, values.length, share);
  return [low > 0 ? values[low - 1]! : null, high < values.length ? values[high]! : null];
}

/** Return the least number of successes that so many trials do not exceed with a probability of `level`. */
function binomialQuantile(level: number, trials: number, share: number): number {
  const likely = Math.min(Math.floor((trials + 1) * share), trials), odds = share / (1 - share), weights = new Float64Array(trials + 1);
  weights[likely] = 1; // of the most probable number, to which the others are compared
  for (let k = likely; k > 0; k--) weights[k - 1] = (weights[k]! * k) / ((trials - k + 1) * odds);
  for (let k = likely; k < trials; k++) weights[k + 1] = (weights[k]! * (trials - k) * odds) / (k + 1);
  const whole = level * weights.reduce((sum, one) => sum + one, 0);
  let sum = 0;
  for (let k = 0; k < trials; k++) if ((sum += weights[k]!) >= whole) return k;
  return trials;
}

/** Return the values that there are, in order. */
export function inOrder(values: Float64Array): Float64Array {
  return values.filter(Number.isFinite).sort();
}
