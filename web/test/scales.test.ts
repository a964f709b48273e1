import assert from "node:assert/strict";
import { test } from "node:test";
import { keyInWords } from "../src/live/numbers.ts";
import { bend, lastNotBeyond, linearTicks, logTicks, unbend, writeNumber, writeNumbers } from "../src/scales.ts";

test("numbers on an axis are plain decimals, all with as many; very small and large ones with their power of ten", () => {
  for (const [given, words] of [
    [[0, 0.0005, 0.001], ["0", "0.0005", "0.0010"]],
    [[-0.05, 0, 0.05], ["−0.05", "0", "0.05"]],
    [[0, 20, 40], ["0", "20", "40"]],
    [[2.5e-7, 5e-7], ["2.5×10⁻⁷", "5.0×10⁻⁷"]],
    [[0, 200_000], ["0", "2×10⁵"]],
    [[0.1 + 0.2], ["0.3"]],
  ] as [number[], string[]][]) assert.deepEqual(writeNumbers(given), words);
});

test("a logarithmic axis has as many numbers as fit", () => {
  for (const [low, high, most, ticks] of [
    [0.8, 12, 8, [1, 2, 5, 10]],
    [5000, 80_000, 8, [5000, 10_000, 20_000, 50_000]],
    [1e-18, 1e-9, 5, [1e-18, 1e-16, 1e-14, 1e-12, 1e-10]],
    [0.5, 2, 4, [0.5, 1, 2]],
    [20_100, 24_100, 5, [21_000, 22_000, 23_000, 24_000]], // zoomed in
  ] as [number, number, number, number[]][]) assert.deepEqual(logTicks([low, high], most), ticks);
  assert.deepEqual(logTicks([0, 5], 4), []);
});

test("a linear axis has round numbers within its span", () => {
  assert.deepEqual(linearTicks([-0.013, 0.031], 5), [-0.01, 0, 0.01, 0.02, 0.03]);
  assert.deepEqual(linearTicks([0, 30], 6), [0, 5, 10, 15, 20, 25, 30]);
  assert.deepEqual(linearTicks([1, 1], 6), []);
});

test("at least two numbers stand on every axis", () => {
  for (const [low, high] of [[-0.0013, 0.0042], [-0.97, 0.99], [-3e-9, 4.9e-9], [-0.999, 0.049], [1.01, 1.99], [-49, 9.9]] as [number, number][]) {
    for (let most = 1; most <= 14; most++) assert.ok(linearTicks([low, high], most).length > 1, `${low} to ${high}, ${most}`);
  }
  for (const [low, high] of [[0.11, 0.9], [2e-9, 3e7], [1.1e-3, 0.9e3], [20, 900]] as [number, number][]) {
    for (let most = 1; most <= 14; most++) assert.ok(logTicks([low, high], most).length > 1, `${low} to ${high}, ${most}`);
  }
});

test("one number has the digits it is asked for", () => {
  for (const [value, words] of [[0, "0"], [69.984, "69.98"], [-0.00042841, "−0.0004284"], [1.5e-15, "1.500×10⁻¹⁵"], [9.99996, "10.00"], [NaN, "–"]] as [number, string][]) assert.equal(writeNumber(value), words);
});

test("every scale goes there and back", () => {
  for (const kind of ["linear", "log", { threshold: 0.01, linear: 0.5 }] as const) {
    for (const value of [1e-3, 0.01, 0.2, 7e4]) assert.ok(Math.abs(unbend(kind)(bend(kind)(value)) / value - 1) < 1e-12);
  }
  assert.equal(bend({ threshold: 0.01, linear: 0.5 })(-0.1), -1.5);
  assert.ok(Number.isNaN(bend("log")(-1)));
});

test("the last value that is not beyond another", () => {
  const values = Float64Array.of(0, 1, 1, 4);
  assert.deepEqual([-1, 0, 1, 3.9, 9].map((at) => lastNotBeyond(values, at)), [-1, 0, 2, 2, 3]);
});

test("keys are read as words", () => {
  for (const [key, words] of [["approach.closing_speed", ["closing speed", "approach"]], ["contact.probe.normal.stiffness", ["stiffness", "contact › probe › normal"]], ["body.chaser.feature.probe.position.0", ["position x", "body › chaser › feature › probe"]], ["approach.lateral_offset.1", ["lateral offset, 2nd", "approach"]], ["duration", ["duration", ""]]] as [string, string[]][]) assert.deepEqual(keyInWords(key), words);
});
