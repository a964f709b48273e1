import assert from "node:assert/strict";
import { test } from "node:test";
import { Vector3 } from "three";
import { Columns } from "../src/columns.ts";
import type { BeamData, SceneData } from "../src/scene/data.ts";
import { quantity, roundBelow } from "../src/scene/dom.ts";
import { takeUp } from "../src/scene/other_run.ts";
import { arrowLength, sectionPlaces } from "../src/scene/things.ts";
import { Tracks } from "../src/scene/tracks.ts";
import { onsets } from "../src/scene/transport.ts";

const columnsOf = (...found: number[][]) => ({ at: (place: number) => Float64Array.from(found[place]!) }) as unknown as Columns;
const half = Math.SQRT1_2;

// the first body turns by 90° about z in 2 s, the second goes along x from it; what the first has come so far is along y
const columns = columnsOf([0, 2], [0, 0], [1, 1], [1, half], [0, half], [1, 3], [0, 4], [0, 100]);
const scene = {
  time: 0,
  motions: [{ p: [1, 1, 1], q: [3, 1, 1, 4] }, { p: [5, 1, 1], q: [2, 1, 1, 1] }],
  origin: [1, 6, 1],
  bodies: { first: 0, second: 1 },
  forces: [{ name: "push", kind: "contact", motion: -1, place: [1, 1, 1], vector: [1, 1, 7] }],
} as unknown as SceneData;
const near = (found: Vector3, ...wanted: number[]) => found.toArray().forEach((one, i) => assert.ok(Math.abs(one - wanted[i]!) < 1e-12, `${found.toArray()} is not ${wanted}`));

test("a body is seen in the axes of another, on great circles and straight lines between samples", () => {
  const tracks = new Tracks(scene, columns, 0);
  tracks.go(1); // 45°, 2 m away
  near(tracks.place(1, new Vector3()), Math.SQRT2, -Math.SQRT2, 0);
  near(tracks.place(0, new Vector3(1, 2, 3)), 1, 2, 3);
  near(tracks.turn(new Vector3(0, 0, 5)), 0, 0, 5);
  near(tracks.turn(new Vector3(1, 0, 0)), half, -half, 0);
});

test("from outside, bodies are where the run has them", () => {
  const tracks = new Tracks(scene, columns, -1);
  tracks.go(2);
  near(tracks.place(1, new Vector3()), 3, 4, 0);
  near(tracks.place(0, new Vector3(1, 0, 0)), 0, 5, 0);
});

test("arrows are as long as forces are large, up to the largest that is drawn", () => {
  assert.equal(arrowLength(10, { metres: 0.02, cut: null }), 0.2);
  assert.equal(arrowLength(70, { metres: 0.02, cut: 20 }), 0.4);
});

test("a beam bends by its modes and shortens by half of its bow", () => {
  const beam = { place: [[2, 0, 0]], shift: [[[0, 1, 0], [0, 0, 2]]], bow: [[[4, 1], [1, 0]]], along: [1, 0, 0] } as unknown as BeamData;
  const [found] = sectionPlaces(beam, [0.1, 0.5]);
  near(found!, 2 - 0.5 * (4 * 0.01 + 2 * 0.05), 0.1, 1);
});

test("forces begin where they rise from nothing", () => {
  const twice = { ...scene, time: 0 } as SceneData;
  assert.deepEqual(onsets(twice, columnsOf([0, 1, 2, 3], [0, 0, 0, 0], [], [], [], [], [], [0, 5, 0, 3])), [1, 3]);
});

test("numbers have three digits, prefixes from ten thousand on, and steps of bars are round", () => {
  assert.equal(quantity(1615.3, "N"), "1620\u202fN");
  assert.equal(quantity(-12500, "N"), "−12.5\u202fkN");
  assert.equal(quantity(0.0123, "m"), "12.3\u202fmm");
  assert.deepEqual([0.19, 4.9, 5, 730].map(roundBelow), [0.1, 2, 5, 500]);
});

test("another run has its bodies where it has them, and its latches as they are in it", () => {
  const found = new Columns([]), still = found.add(Float64Array.of(0, 0));
  const place = [still, still, still], turned = [still, still, still, still];
  const other = {
    time: still, origin: place, bodies: { chaser: 0, target: 1 }, seen_from: "target", forces: [],
    motions: [{ p: place, q: turned }, { p: place, q: turned }, { p: place, q: turned, aside: { motion: 1, out: [1, 0, 0], slope: 0.5, length: 0.02, latch: 1 } }],
    ties: [{ name: "hook", latch: 1, shown: still }],
  } as unknown as SceneData;
  // the target stands, turned by 90° about z; the ramp is gone up by 10 mm, then by more than its length while the latch holds
  takeUp(other, found, {
    time: Float64Array.of(0, 1, 2), position: Float64Array.of(1, 2, 3, 7, 8, 9, 4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8, 9),
    attitude: Float64Array.of(1, 0, 0, 0, half, 0, 0, half, 1, 0, 0, 0, half, 0, 0, half, 1, 0, 0, 0, half, 0, 0, half),
    forces: new Map(), held: Float64Array.of(0, 0, 0, 0, 1, 1), travel: Float64Array.of(0.01, 0.03, 0.03),
  });
  const tooth = new Tracks(other, found, -1), at = (time: number) => { tooth.go(time); return tooth.place(2, new Vector3()); };
  near(at(0), 0, 0.005, 0); // along y of the scene, which begins where the target is
  near(at(1), 0, 0.01, 0);
  near(at(2), 0, 0, 0);
  near(tooth.place(0, new Vector3()), -3, -3, -3);
  assert.deepEqual([...found.at(other.ties[0]!.shown!)], [0, 0, 1]);
});
