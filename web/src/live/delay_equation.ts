// Roots and critical delay of ẋ(t) = A₀ x(t) + A₁ x(t − h), as `dockdyn/stability` finds them: roots.py, collocation.py, windows.py, linearise.py.
import { divide, eigenvalues, Matrix, solve, type Complex } from "./eigen.ts";

export interface DelayEquation {
  size: number;
  now: Float64Array; // A₀, 1/s, row by row
  late: Float64Array; // A₁
}

const DEGREES = [8, 12, 16, 22, 32, 48, 72, 108, 160];
const SPARE = 2, NEWTON_STEPS = 6, CONVERGED = 1e-6, NEAR = 0.1;
const GRID = 1500, NARROW = 0.2, FINER = 64, HALVINGS = 60, NO_TURN = 1e-12, MARGINAL = 1e-12;
const RANK = 1e-9, ROUNDING = 1e-12;
const largestOf = (values: Iterable<number>) => { let most = 0; for (const one of values) most = Math.max(most, one); return most; };
const modulus = ({ re, im }: Complex) => Math.hypot(re, im);

/** Return |s| h / 2 up to which a degree resolves roots: z where z + 2 ∛z + 4 is the degree. */
function reachOf(degree: number): number {
  let low = 0, high = degree;
  for (let i = 0; i < HALVINGS; i++) {
    const z = (low + high) / 2;
    if (z + 2 * Math.cbrt(z) + 4 < degree) low = z;
    else high = z;
  }
  return low;
}
const REACH = DEGREES.map(reachOf);

/** Return the index of the degree that resolves roots up to a bound (1/s), past the last one if none does. */
function degreeFor(bound: number, delay: number): number {
  const found = REACH.findIndex((reach) => reach >= (bound * delay) / 2);
  return found < 0 ? DEGREES.length : found;
}

/** Return a bound (1/s) on |s| over all roots with at least this real part: the spectral radius of |A₀| + |A₁| exp(−s h). */
function rootBound({ size, now, late }: DelayEquation, delay: number, abscissa: number): number {
  const factor = Math.exp(Math.min(-abscissa * delay, 700));
  return largestOf(eigenvalues(new Matrix(size, now.map((one, at) => Math.abs(one) + factor * Math.abs(late[at]!)))).map(modulus));
}

/** Return `count` rightmost roots (1/s), the rightmost first; NaN where there are fewer. */
export function rightmostRoots(equation: DelayEquation, delay: number, count: number): Complex[] {
  const none = { re: NaN, im: NaN }, filled = (found: Complex[]) => Array.from({ length: count }, (_, i) => found[i] ?? none);
  if (delay === 0) {
    const { size, now, late } = equation;
    return filled(eigenvalues(new Matrix(size, now.map((one, at) => one + late[at]!))).sort((a, b) => b.re - a.re));
  }
  const last = DEGREES.length - 1;
  for (let level = Math.min(degreeFor(rootBound(equation, delay, 0), delay), last); ; ) {
    const { roots, reached } = refineRoots(equation, delay, DEGREES[level]!, REACH[level]!, count);
    let needed = degreeFor(rootBound(equation, delay, reached), delay);
    if (roots.length < count && needed <= level) needed = level + 1;
    if (!(needed > level) || level === last) return filled(roots);
    level = Math.min(needed, last);
  }
}

/** Return the rightmost eigenvalues of a collocation that Newton's method keeps in place, and how far left they reach. */
function refineRoots(equation: DelayEquation, delay: number, degree: number, reach: number, count: number): { roots: Complex[]; reached: number } {
  const start = collocationEigenvalues(equation, delay, degree, reach).slice(0, count + SPARE), furthest = start[Math.min(count, start.length) - 1]!.re;
  const kept = start.flatMap((guess) => {
    const { root, step } = iterateNewton(equation, delay, guess), size = modulus(guess) + 1 / delay;
    return step < CONVERGED * size && Math.hypot(root.re - guess.re, root.im - guess.im) < NEAR * size ? [root] : [];
  }).sort((a, b) => b.re - a.re).slice(0, count);
  return { roots: kept, reached: Math.min(furthest, kept.length < count ? Infinity : kept[count - 1]!.re) };
}

/** Return the eigenvalues (1/s) of Chebyshev's collocation of the history on [−h, 0]: those that are resolved first, by falling real part. */
function collocationEigenvalues({ size: n, now, late }: DelayEquation, delay: number, degree: number, reach: number): Complex[] {
  const order = n * (degree + 1), whole = new Matrix(order);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      whole.re[i * order + j]! += delay * now[i * n + j]!;
      whole.re[i * order + degree * n + j]! += delay * late[i * n + j]!;
    }
  const angle = (i: number) => (Math.PI * i) / degree, weight = (i: number) => (i % 2 ? -1 : 1) * (i === 0 || i === degree ? 0.5 : 1);
  for (let i = 1; i <= degree; i++) {
    let sum = 0;
    for (let j = 0; j <= degree; j++) {
      if (j === i) continue;
      const gap = -Math.sin((angle(i) + angle(j)) / 2) * Math.sin((angle(i) - angle(j)) / 2), slope = weight(j) / weight(i) / gap;
      sum += slope;
      for (let k = 0; k < n; k++) whole.re[(i * n + k) * order + j * n + k] = slope;
    }
    for (let k = 0; k < n; k++) whole.re[(i * n + k) * order + i * n + k] = -sum;
  }
  const found = eigenvalues(whole), rank = (one: Complex) => (modulus(one) / 2 <= reach ? -one.re : Infinity);
  return found.sort((a, b) => { const [p, q] = [rank(a), rank(b)]; return p === q ? 0 : p - q; }).map(({ re, im }) => ({ re: re / delay, im: im / delay }));
}

/** Return a root near a guess by Newton's method on det Δ(s), Δ(s) = s I − A₀ − A₁ exp(−s h), and the size of the last step (1/s). */
function iterateNewton({ size: n, now, late }: DelayEquation, delay: number, guess: Complex): { root: Complex; step: number } {
  let root = guess, step = Infinity;
  for (let i = 0; i < NEWTON_STEPS; i++) {
    const size = Math.exp(-root.re * delay), factor = { re: size * Math.cos(root.im * delay), im: -size * Math.sin(root.im * delay) };
    const whole = new Matrix(n), slope = new Matrix(n);
    for (let at = 0; at < n * n; at++) {
      const diagonal = at % (n + 1) === 0 ? 1 : 0;
      whole.re[at] = diagonal * root.re - now[at]! - factor.re * late[at]!;
      whole.im[at] = diagonal * root.im - factor.im * late[at]!;
      slope.re[at] = diagonal + delay * factor.re * late[at]!;
      slope.im[at] = delay * factor.im * late[at]!;
    }
    const quotient = solve(whole, slope), trace = { re: 0, im: 0 };
    for (let k = 0; quotient && k < n; k++) {
      trace.re += quotient.re[k * n + k]!;
      trace.im += quotient.im[k * n + k]!;
    }
    const change = quotient && Number.isFinite(trace.re) && Number.isFinite(trace.im) ? divide({ re: -1, im: 0 }, trace) : { re: 0, im: 0 };
    root = { re: root.re + change.re, im: root.im + change.im };
    step = modulus(change);
  }
  return { root, step };
}

/** Return the delay (s) that ends the stability of a stable loop with this delay, or, of an unstable one, up to which the shortest delays are stable, at most its own; Infinity for none. */
export function criticalDelay(equation: DelayEquation, delay: number, stable: boolean): number {
  const crossings = delaysOfCrossings(equation, stable ? delay : 0);
  if (stable) return crossings;
  const bound = rootBound(equation, 0, 0), shortest = Number.isFinite(crossings) ? crossings / 2 : 1 / bound;
  if (!(bound > 0 && rightmostRoots(equation, shortest, 1)[0]!.re < -MARGINAL * bound)) return 0;
  return Math.min(crossings, delay);
}

/** Return the shortest delay (s) beyond `from` at which a root jω is on the imaginary axis; Infinity for none. */
function delaysOfCrossings(equation: DelayEquation, from: number): number {
  let least = Infinity;
  for (const { w, angle } of unitGains(equation)) {
    let turns = Math.max(0, Math.ceil((from * w - angle) / (2 * Math.PI)));
    for (; ; turns++) {
      const at = (angle + 2 * Math.PI * turns) / w;
      if (at * w > NO_TURN && at > from) {
        least = Math.min(least, at);
        break;
      }
    }
  }
  return least;
}

/** Return the frequencies (rad/s) at which an eigenvalue of (jω I − A₀)⁻¹ A₁ has modulus one, and its argument (rad, 0 to 2π). */
function unitGains(equation: DelayEquation): { w: number; angle: number }[] {
  const { size: n, now, late } = equation, top = rootBound(equation, 0, 0) * (1 + 1e-9), put = new Matrix(n, late);
  if (!(top > 0) || !late.some(Boolean)) return [];
  const gains = (w: number): Complex[] => {
    const free = new Matrix(n, now.map((one) => -one));
    for (let k = 0; k < n; k++) free.im[k * n + k] = w;
    const found = solve(free, put);
    return found ? eigenvalues(found).sort((a, b) => modulus(b) - modulus(a)) : Array.from({ length: n }, () => ({ re: Infinity, im: 0 }));
  };
  const levels = (w: number) => gains(w).map((one) => Math.log(Math.max(modulus(one), 1e-300)));
  let grid = [...Array.from({ length: GRID }, (_, i) => top * 1e-7 ** (1 - i / (GRID - 1))), ...Array.from({ length: GRID }, (_, i) => (top * (i + 1)) / GRID)].sort((a, b) => a - b);
  let level = grid.map(levels);
  // two crossings may hide between neighbours where a curve turns back near zero
  const more = grid.flatMap((_, i) => {
    const [a, b, c] = [level[i - 1], level[i], level[i + 1]];
    if (!a || !b || !c || !b.some((one, k) => (one - a[k]!) * (c[k]! - one) < 0 && Math.abs(one) < NARROW)) return [];
    return Array.from({ length: FINER }, (_, k) => grid[i - 1]! + ((grid[i + 1]! - grid[i - 1]!) * k) / (FINER - 1));
  });
  if (more.length) {
    grid = [...new Set([...grid, ...more])].sort((a, b) => a - b);
    level = grid.map(levels);
  }
  return grid.slice(1).flatMap((end, i) => level[i]!.flatMap((here, which) => {
    if (!(here * level[i + 1]![which]! < 0)) return [];
    let low = grid[i]!, high = end;
    for (let k = 0; k < HALVINGS; k++) {
      const middle = (low + high) / 2;
      if (levels(middle)[which]! > 0 === here > 0) low = middle;
      else high = middle;
    }
    const w = (low + high) / 2, { re, im } = gains(w)[which]!, angle = Math.atan2(im, re);
    return [{ w, angle: angle < 0 ? angle + 2 * Math.PI : angle }];
  }));
}

// ── what the delayed terms see ──

/** Return the part of an equation that its delayed terms can see: the rows of A₁, A₁ A₀, A₁ A₀² … span it; a free body's drift is not in it. */
export function seenPart({ size: n, now, late }: DelayEquation): DelayEquation {
  const d = balancingScales(n, now.map((one, at) => Math.abs(one) + Math.abs(late[at]!)));
  const scaled = (part: Float64Array) => part.map((one, at) => (one * d[at % n]!) / d[Math.floor(at / n)]!);
  const [a, b] = [scaled(now), scaled(late)], rowsOf = (part: Float64Array) => Array.from({ length: n }, (_, i) => part.slice(i * n, i * n + n));
  const basis = independentRows(rowsOf(b), [], null);
  for (let begun = 0; begun < basis.length && basis.length < n; ) {
    const image = basis.map((row) => timesMatrix(row, a, n));
    begun = basis.length;
    basis.push(...independentRows(image, basis, RANK * Math.max(largestOf(image.map(norm)), 1e-300)));
    if (basis.length === begun) break;
  }
  const within = (part: Float64Array) => Float64Array.from(basis.flatMap((row) => { const image = timesMatrix(row, part, n); return basis.map((other) => dot(image, other)); }));
  return { size: basis.length, now: within(a), late: within(b) };
}

const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, one, i) => sum + one * b[i]!, 0);
const norm = (row: Float64Array) => Math.sqrt(dot(row, row));
const timesMatrix = (row: Float64Array, matrix: Float64Array, n: number) => Float64Array.from({ length: n }, (_, j) => row.reduce((sum, one, i) => sum + one * matrix[i * n + j]!, 0));

/** Return orthonormal rows that span `rows` beside a `basis`, the largest rest first, without what is smaller than `least`, by default RANK of the largest. */
function independentRows(rows: Float64Array[], basis: Float64Array[], least: number | null): Float64Array[] {
  const found: Float64Array[] = [], rest = rows.map((row) => row.slice());
  const clean = (row: Float64Array) => { for (const one of [...basis, ...found]) { const part = dot(row, one); row.forEach((_, i) => (row[i]! -= part * one[i]!)); } };
  for (let twice = 0; twice < 2; twice++) rest.forEach(clean);
  let limit = least;
  while (rest.length) {
    const sizes = rest.map(norm), place = sizes.indexOf(Math.max(...sizes)), size = sizes[place]!;
    limit ??= RANK * size + 1e-300;
    if (!(size > limit)) break;
    const row = rest.splice(place, 1)[0]!.map((one) => one / size);
    clean(row);
    const length = norm(row);
    found.push(row.map((one) => one / length));
    rest.forEach(clean);
  }
  return found;
}

/** Return powers of two d that make rows and columns of |aᵢⱼ| dⱼ / dᵢ alike. */
function balancingScales(n: number, given: Float64Array): Float64Array {
  const most = largestOf(given), sizes = given.map((one) => (one > ROUNDING * most ? one : 0)), d = new Float64Array(n).fill(1);
  for (let round = 0; round < 20; round++) {
    const row = new Float64Array(n), column = new Float64Array(n);
    for (let i = 0; i < n; i++)
      for (let j = 0; j < n; j++) {
        if (i === j) continue;
        const off = (sizes[i * n + j]! * d[j]!) / d[i]!;
        row[i]! += off;
        column[j]! += off;
      }
    const steps = d.map((_, i) => (row[i]! > 0 && column[i]! > 0 ? 2 ** Math.round(Math.log2(row[i]! / column[i]!) / 4) : 1));
    if (steps.every((one) => one === 1)) break;
    steps.forEach((one, i) => (d[i]! *= one));
  }
  return d;
}

/** Return the equivalent roots (1/s) of a sampled loop's map over a cycle (s): ln λ / cycle, the largest modulus first. */
export function rootsOfMap(map: Float64Array, period: number, count: number): { roots: Complex[]; radius: number } {
  const factors = eigenvalues(new Matrix(Math.sqrt(map.length), map)).sort((a, b) => modulus(b) - modulus(a));
  const rootOf = (factor: Complex) => (modulus(factor) ? { re: Math.log(modulus(factor)) / period, im: Math.atan2(factor.im, factor.re) / period } : { re: -Infinity, im: 0 });
  return { roots: factors.slice(0, count).map(rootOf), radius: modulus(factors[0]!) };
}
