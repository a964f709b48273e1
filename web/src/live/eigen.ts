// Eigenvalues and linear equations of small complex matrices, row by row: real parts and imaginary parts apart.

export interface Complex {
  re: number;
  im: number;
}

/** A square matrix. */
export class Matrix {
  readonly re: Float64Array;
  readonly im: Float64Array;

  constructor(readonly size: number, re?: ArrayLike<number>, im?: ArrayLike<number>) {
    this.re = re ? Float64Array.from(re) : new Float64Array(size * size);
    this.im = im ? Float64Array.from(im) : new Float64Array(size * size);
  }
}

const MOST = 60; // steps for an eigenvalue
const UNUSUAL = 10; // steps after which another shift is tried
const EPSILON = 2 ** -52;

/** Return the eigenvalues: balanced, brought to Hessenberg's form by reflections, then by the shifted QR method with rotations. NaN where it does not converge. Source: Golub and Van Loan 2013, Matrix Computations, 7.3 to 7.5. */
export function eigenvalues(given: Matrix): Complex[] {
  const { size } = given, h = new Matrix(size, given.re, given.im);
  if (h.re.some((one) => !Number.isFinite(one)) || h.im.some((one) => !Number.isFinite(one))) return Array.from({ length: size }, () => ({ re: NaN, im: NaN }));
  balance(h);
  reduceToHessenberg(h);
  return eigenvaluesOfHessenberg(h);
}

/** Scale rows and columns by powers of two until they are alike: eigenvalues keep, rounding matters less. */
function balance({ size, re, im }: Matrix): void {
  for (let again = true, round = 0; again && round < 100; round++) {
    again = false;
    for (let i = 0; i < size; i++) {
      let row = 0, column = 0;
      for (let j = 0; j < size; j++) {
        if (j === i) continue;
        row += Math.abs(re[i * size + j]!) + Math.abs(im[i * size + j]!);
        column += Math.abs(re[j * size + i]!) + Math.abs(im[j * size + i]!);
      }
      if (!(row > 0 && column > 0)) continue;
      const factor = 2 ** Math.round(Math.log2(row / column) / 2);
      if (!(column * factor + row / factor < 0.95 * (column + row))) continue;
      again = true;
      for (let j = 0; j < size; j++) {
        re[i * size + j]! /= factor;
        im[i * size + j]! /= factor;
        re[j * size + i]! *= factor;
        im[j * size + i]! *= factor;
      }
    }
  }
}

/** Make all below the first subdiagonal zero, by reflections from both sides. */
function reduceToHessenberg({ size: n, re, im }: Matrix): void {
  const vr = new Float64Array(n), vi = new Float64Array(n);
  for (let k = 0; k < n - 2; k++) {
    let norm = 0;
    for (let i = k + 1; i < n; i++) norm = Math.hypot(norm, re[i * n + k]!, im[i * n + k]!);
    let below = 0;
    for (let i = k + 2; i < n; i++) below = Math.hypot(below, re[i * n + k]!, im[i * n + k]!);
    if (below === 0) continue;
    for (let i = k + 1; i < n; i++) {
      vr[i] = re[i * n + k]! / norm;
      vi[i] = im[i * n + k]! / norm;
    }
    const first = Math.hypot(vr[k + 1]!, vi[k + 1]!), factor = first ? 1 + 1 / first : 0; // away from cancellation
    if (first) {
      vr[k + 1]! *= factor;
      vi[k + 1]! *= factor;
    } else vr[k + 1] = 1;
    let square = 0;
    for (let i = k + 1; i < n; i++) square += vr[i]! ** 2 + vi[i]! ** 2;
    const scale = 2 / square;
    for (let j = k; j < n; j++) { // from the left: rows minus scale v (v^H column)
      let sr = 0, si = 0;
      for (let i = k + 1; i < n; i++) {
        const at = i * n + j;
        sr += vr[i]! * re[at]! + vi[i]! * im[at]!;
        si += vr[i]! * im[at]! - vi[i]! * re[at]!;
      }
      sr *= scale;
      si *= scale;
      for (let i = k + 1; i < n; i++) {
        const at = i * n + j;
        re[at]! -= vr[i]! * sr - vi[i]! * si;
        im[at]! -= vr[i]! * si + vi[i]! * sr;
      }
    }
    for (let i = 0; i < n; i++) { // from the right: rows minus scale (row v) v^H
      let sr = 0, si = 0;
      for (let j = k + 1; j < n; j++) {
        const at = i * n + j;
        sr += re[at]! * vr[j]! - im[at]! * vi[j]!;
        si += re[at]! * vi[j]! + im[at]! * vr[j]!;
      }
      sr *= scale;
      si *= scale;
      for (let j = k + 1; j < n; j++) {
        const at = i * n + j;
        re[at]! -= sr * vr[j]! + si * vi[j]!;
        im[at]! -= si * vr[j]! - sr * vi[j]!;
      }
    }
    for (let i = k + 2; i < n; i++) re[i * n + k] = im[i * n + k] = 0;
  }
}

function eigenvaluesOfHessenberg({ size: n, re, im }: Matrix): Complex[] {
  const found: Complex[] = [], size = (at: number) => Math.abs(re[at]!) + Math.abs(im[at]!);
  let largest = 0;
  for (let at = 0; at < n * n; at++) largest = Math.max(largest, size(at));
  let last = n - 1, steps = 0;
  while (last >= 0) {
    let first = last;
    for (; first > 0; first--) {
      const beside = size(first * n + first) + size((first - 1) * n + first - 1) || largest;
      if (size(first * n + first - 1) <= EPSILON * beside) break;
    }
    if (first === last || steps > MOST) {
      found.push(steps > MOST ? { re: NaN, im: NaN } : { re: re[last * n + last]!, im: im[last * n + last]! });
      last -= 1;
      steps = 0;
      continue;
    }
    steps += 1;
    const here = last * n + last, shift = steps % UNUSUAL === 0 ? { re: re[here]! + size(here - 1), im: im[here]! } : shiftOf({ size: n, re, im }, last);
    step({ size: n, re, im }, first, last, shift);
  }
  return found;
}

/** Return the eigenvalue of the last two rows and columns that is nearer to the last number. */
function shiftOf({ size: n, re, im }: Matrix, last: number): Complex {
  const a = (last - 1) * n + last - 1, b = a + 1, c = last * n + last - 1, d = c + 1;
  const half = { re: (re[a]! - re[d]!) / 2, im: (im[a]! - im[d]!) / 2 };
  const product = multiply({ re: re[b]!, im: im[b]! }, { re: re[c]!, im: im[c]! });
  const square = multiply(half, half), root = squareRoot({ re: square.re + product.re, im: square.im + product.im });
  const sign = half.re * root.re + half.im * root.im < 0 ? -1 : 1, sum = { re: half.re + sign * root.re, im: half.im + sign * root.im };
  if (sum.re === 0 && sum.im === 0) return { re: re[d]!, im: im[d]! };
  const off = divide(product, sum);
  return { re: re[d]! - off.re, im: im[d]! - off.im };
}

/** Make one QR step of the rows and columns from the first to the last. */
function step({ size: n, re, im }: Matrix, first: number, last: number, shift: Complex): void {
  for (let i = first; i <= last; i++) {
    re[i * n + i]! -= shift.re;
    im[i * n + i]! -= shift.im;
  }
  const ar = new Float64Array(last), ai = new Float64Array(last), br = new Float64Array(last), bi = new Float64Array(last);
  for (let k = first; k < last; k++) {
    const top = k * n + k, under = top + n, length = Math.hypot(re[top]!, im[top]!, re[under]!, im[under]!);
    if (length === 0) {
      ar[k] = 1;
      continue;
    }
    [ar[k], ai[k], br[k], bi[k]] = [re[top]! / length, im[top]! / length, re[under]! / length, im[under]! / length];
    for (let j = k; j <= last; j++) {
      const p = k * n + j, q = p + n, [pr, pi, qr, qi] = [re[p]!, im[p]!, re[q]!, im[q]!];
      re[p] = ar[k]! * pr + ai[k]! * pi + br[k]! * qr + bi[k]! * qi;
      im[p] = ar[k]! * pi - ai[k]! * pr + br[k]! * qi - bi[k]! * qr;
      re[q] = ar[k]! * qr - ai[k]! * qi - br[k]! * pr + bi[k]! * pi;
      im[q] = ar[k]! * qi + ai[k]! * qr - br[k]! * pi - bi[k]! * pr;
    }
  }
  for (let k = first; k < last; k++) {
    for (let i = first; i <= Math.min(k + 1, last); i++) {
      const p = i * n + k, q = p + 1, [pr, pi, qr, qi] = [re[p]!, im[p]!, re[q]!, im[q]!];
      re[p] = pr * ar[k]! - pi * ai[k]! + qr * br[k]! - qi * bi[k]!;
      im[p] = pr * ai[k]! + pi * ar[k]! + qr * bi[k]! + qi * br[k]!;
      re[q] = -pr * br[k]! - pi * bi[k]! + qr * ar[k]! + qi * ai[k]!;
      im[q] = pr * bi[k]! - pi * br[k]! - qr * ai[k]! + qi * ar[k]!;
    }
  }
  for (let i = first; i <= last; i++) {
    re[i * n + i]! += shift.re;
    im[i * n + i]! += shift.im;
  }
}

/** Return the solution of A X = B, by elimination with the largest pivot; null where A is singular to the last bit. */
export function solve(a: Matrix, b: Matrix): Matrix | null {
  const n = a.size, left = new Matrix(n, a.re, a.im), right = new Matrix(n, b.re, b.im);
  const value = (m: Matrix, at: number): Complex => ({ re: m.re[at]!, im: m.im[at]! });
  const subtract = (m: Matrix, row: number, from: number, factor: Complex, start: number) => {
    for (let j = start; j < n; j++) {
      const p = row * n + j, q = from * n + j;
      m.re[p]! -= factor.re * m.re[q]! - factor.im * m.im[q]!;
      m.im[p]! -= factor.re * m.im[q]! + factor.im * m.re[q]!;
    }
  };
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.hypot(left.re[i * n + k]!, left.im[i * n + k]!) > Math.hypot(left.re[pivot * n + k]!, left.im[pivot * n + k]!)) pivot = i;
    if (left.re[pivot * n + k] === 0 && left.im[pivot * n + k] === 0) return null;
    for (const part of pivot === k ? [] : [left.re, left.im, right.re, right.im]) {
      const row = part.slice(k * n, k * n + n);
      part.copyWithin(k * n, pivot * n, pivot * n + n);
      part.set(row, pivot * n);
    }
    for (let i = k + 1; i < n; i++) {
      const factor = divide(value(left, i * n + k), value(left, k * n + k));
      subtract(left, i, k, factor, k);
      subtract(right, i, k, factor, 0);
    }
  }
  for (let k = n - 1; k >= 0; k--) {
    for (let i = k + 1; i < n; i++) subtract(right, k, i, value(left, k * n + i), 0);
    for (let j = 0; j < n; j++) ({ re: right.re[k * n + j], im: right.im[k * n + j] } = divide(value(right, k * n + j), value(left, k * n + k)));
  }
  return right;
}

const multiply = (a: Complex, b: Complex): Complex => ({ re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re });

export function divide(a: Complex, b: Complex): Complex {
  const size = Math.max(Math.abs(b.re), Math.abs(b.im)), br = b.re / size, bi = b.im / size, square = (br * br + bi * bi) * size;
  return { re: (a.re * br + a.im * bi) / square, im: (a.im * br - a.re * bi) / square };
}

function squareRoot({ re, im }: Complex): Complex {
  const size = Math.sqrt((Math.hypot(re, im) + Math.abs(re)) / 2);
  if (size === 0) return { re: 0, im: 0 };
  return re >= 0 ? { re: size, im: im / (2 * size) } : { re: Math.abs(im) / (2 * size), im: im < 0 ? -size : size };
}
