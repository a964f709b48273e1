// Another run of the mechanism that a scene shows: bodies, forces, and what latches and their ramps do.
import { Quaternion, Vector3 } from "three";
import type { Columns } from "../columns.ts";
import type { SceneData, Triple } from "./data.ts";

/** Another run, row by row: of every body position and attitude, of every force by its name where it acts and what it is. */
export interface OtherRun {
  time: Float64Array;
  position: Float64Array;
  attitude: Float64Array;
  forces: Map<string, { place: Float64Array | null; vector: Float64Array }>;
  held: Float64Array | null; // of every latch, whether it holds
  travel: Float64Array | null; // m, on the ramp of a latch
}

/** Put another run into a scene, as more columns of the page: positions from that of the body in whose axes it is seen. */
export function takeUp(scene: SceneData, columns: Columns, run: OtherRun): void {
  const rows = run.time.length, bodies = Object.values(scene.bodies), count = bodies.length, base = Object.keys(scene.bodies).indexOf(scene.seen_from);
  const column = (of: (row: number) => number) => columns.add(Float64Array.from({ length: rows }, (_, row) => of(row)));
  const origin = (row: number, axis: number) => (base < 0 ? 0 : run.position[(row * count + base) * 3 + axis]!);
  const axes = [0, 1, 2] as const;
  scene.time = columns.add(run.time);
  scene.origin = axes.map((axis) => column((row) => origin(row, axis) - origin(0, axis))) as Triple;
  bodies.forEach((motion, body) => {
    const found = scene.motions[motion]!;
    found.p = axes.map((axis) => column((row) => run.position[(row * count + body) * 3 + axis]! - origin(row, axis))) as Triple;
    found.q = [0, 1, 2, 3].map((part) => column((row) => run.attitude[(row * count + body) * 4 + part]!)) as typeof found.q;
  });
  const latches = run.held ? run.held.length / rows : 0, holds = (row: number, latch: number) => (run.held?.[row * latches + latch] ?? 0) > 0.5;
  for (const motion of scene.motions) {
    if (!motion.aside) continue;
    const { motion: carrier, out, slope, length, latch } = motion.aside, { p, q } = scene.motions[carrier]!;
    const places = Array.from({ length: rows }, (_, row) => {
      const way = holds(row, latch) ? 0 : slope * Math.min(Math.max(run.travel?.[row] ?? 0, 0), length);
      const [w, x, y, z] = q.map((one) => columns.at(one)[row]!) as [number, number, number, number];
      return new Vector3(...out).multiplyScalar(way).applyQuaternion(new Quaternion(x, y, z, w).normalize()).toArray();
    });
    motion.p = axes.map((axis) => column((row) => columns.at(p[axis])[row]! + places[row]![axis])) as Triple;
    motion.q = q;
  }
  for (const tie of scene.ties) if (tie.latch !== undefined) tie.shown = column((row) => Number(holds(row, tie.latch!)));
  for (const force of scene.forces) {
    const acts = run.forces.get(force.name), { place } = acts ?? {};
    force.vector = axes.map((axis) => column((row) => acts?.vector[row * 3 + axis] ?? 0)) as Triple;
    if (place) force.place = axes.map((axis) => column((row) => place[row * 3 + axis] || 0)) as Triple;
    else if (acts) force.place = force.place.map((one) => column(() => columns.at(one)[0]!)) as Triple; // it stays where it is
  }
}
