import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { criticalDelay, rightmostRoots, rootsOfMap, seenPart } from "../src/live/delay_equation.ts";
import { eigenvalues, Matrix, solve, type Complex } from "../src/live/eigen.ts";

// matrices and equations, with what NumPy and dockdyn say of them: tests/report/test_roots_in_page.py writes both
const file = process.env.ROOTS_CASES;
const cases = file ? JSON.parse(readFileSync(file, "utf8")) : null;

/** Require that every expected number is found once, within so much of the largest; of a pair that is cut, either. */
function sameSet(found: Complex[], expected: [number, number][], within: number, pairs = false): void {
  const left = found.map(({ re, im }) => ({ re, im: pairs ? Math.abs(im) : im })), size = Math.max(...expected.map(([re, im]) => Math.hypot(re, im)));
  for (const [re, signed] of expected) {
    const im = pairs ? Math.abs(signed) : signed, off = left.map((one) => Math.hypot(one.re - re, one.im - im)), nearest = off.indexOf(Math.min(...off));
    assert.ok(off[nearest]! <= within * size, `${re} + ${im} j is off by ${off[nearest]! / size}`);
    left.splice(nearest, 1);
  }
}

test("eigenvalues are those of NumPy", { skip: !file }, () => {
  for (const { size, re, im, values } of cases.eigen) {
    const found = eigenvalues(new Matrix(size, re, im));
    assert.equal(found.length, size);
    sameSet(found, values, 1e-10);
  }
});

test("equations are solved", { skip: !file }, () => {
  for (const { size, re, im } of cases.eigen) {
    const a = new Matrix(size, re, im), b = new Matrix(size, Array.from({ length: size * size }, (_, at) => Math.sin(at + 1))), x = solve(a, b)!;
    for (let at = 0; at < size * size; at++) {
      const [i, j] = [Math.floor(at / size), at % size];
      let left = 0, side = 0, sizes = 0;
      for (let k = 0; k < size; k++) {
        const [p, q] = [i * size + k, k * size + j];
        left += a.re[p]! * x.re[q]! - a.im[p]! * x.im[q]!;
        side += a.re[p]! * x.im[q]! + a.im[p]! * x.re[q]!;
        sizes += Math.hypot(a.re[p]!, a.im[p]!) * Math.hypot(x.re[q]!, x.im[q]!);
      }
      assert.ok(Math.hypot(left - b.re[at]!, side) <= 1e-12 * (sizes + 1));
    }
  }
  assert.equal(solve(new Matrix(2, [1, 2, 2, 4]), new Matrix(2, [1, 0, 0, 1])), null);
});

test("roots and critical delays are those of dockdyn", { skip: !file }, () => {
  for (const { size, now, late, delay, roots, critical, stable } of cases.delays) {
    const equation = { size, now: Float64Array.from(now), late: Float64Array.from(late) };
    const found = rightmostRoots(equation, delay, roots.length);
    assert.ok(Math.abs(found[0]!.re - roots[0][0]) < 1e-9 * Math.max(1, Math.hypot(...(roots[0] as [number, number]))), `${found[0]!.re} for ${roots[0][0]}`);
    sameSet(found, roots, 1e-9, true);
    const edge = criticalDelay(equation, delay, stable);
    assert.ok(critical === null ? edge > 1e6 : Math.abs(edge - critical) <= 1e-9 * critical, `${edge} for ${critical}`);
  }
});

test("drift is set aside", { skip: !file }, () => {
  for (const { size, now, late, delay, seen, roots } of cases.drifting) {
    const found = seenPart({ size, now: Float64Array.from(now), late: Float64Array.from(late) });
    assert.equal(found.size, seen);
    sameSet(rightmostRoots(found, delay, roots.length), roots, 1e-9, true);
  }
});

test("roots of a map are logarithms over the cycle", () => {
  const { roots, radius } = rootsOfMap(Float64Array.from([0, -0.25, 1, 0]), 0.5, 2);
  assert.ok(Math.abs(radius - 0.5) < 1e-15);
  sameSet(roots, [[2 * Math.log(0.5), Math.PI], [2 * Math.log(0.5), -Math.PI]], 1e-14);
});
