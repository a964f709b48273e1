// Where everything is at a time, in the axes in which the scene is seen.
import { Quaternion, Vector3 } from "three";
import type { Columns } from "../columns.ts";
import type { SceneData, Triple } from "./data.ts";

export interface Pose { position: Vector3; attitude: Quaternion }

const pose = (): Pose => ({ position: new Vector3(), attitude: new Quaternion() });

export class Tracks {
  readonly poses: Pose[];
  private time: Float64Array;
  private row = 0;
  private share = 0;
  private readonly base: Pose = pose();
  private readonly other = new Quaternion();

  constructor(private readonly scene: SceneData, private readonly columns: Columns, private seen: number) {
    this.time = columns.at(scene.time);
    this.poses = scene.motions.map(pose);
    this.go(this.time[0]!);
  }

  /** See everything in the axes of this motion; -1: as the run has it. */
  seenFrom(motion: number): void {
    this.seen = motion;
  }

  /** Take the times of the scene anew: it shows another run. */
  retake(): void {
    this.time = this.columns.at(this.scene.time);
  }

  /** Set all poses to those at a time (s). */
  go(time: number): void {
    const last = this.time.length - 1;
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.time[middle]! <= time) low = middle; else high = middle;
    }
    const gap = this.time[Math.min(low + 1, last)]! - this.time[low]!;
    this.row = low;
    this.share = gap > 0 ? Math.min(Math.max((time - this.time[low]!) / gap, 0), 1) : 0;
    this.scene.motions.forEach(({ p, q }, number) => {
      const found = this.poses[number]!;
      this.vector(p, found.position);
      const [w, x, y, z] = q.map((place) => this.columns.at(place)) as [Float64Array, Float64Array, Float64Array, Float64Array];
      const next = Math.min(low + 1, last);
      found.attitude.set(x[low]!, y[low]!, z[low]!, w[low]!).normalize();
      found.attitude.slerp(this.other.set(x[next]!, y[next]!, z[next]!, w[next]!).normalize(), this.share);
    });
    const base = this.poses[this.seen];
    if (base) {
      this.base.position.copy(base.position);
      this.base.attitude.copy(base.attitude).invert();
    } else {
      this.vector(this.scene.origin, this.base.position).negate();
      this.base.attitude.identity();
    }
    for (const one of this.poses) {
      one.position.sub(this.base.position).applyQuaternion(this.base.attitude);
      one.attitude.premultiply(this.base.attitude);
    }
  }

  /** Return the pose of the run's own axes. */
  run(): Pose {
    const found = pose();
    found.position.copy(this.base.position).negate().applyQuaternion(this.base.attitude);
    found.attitude.copy(this.base.attitude);
    return found;
  }

  /** Return a column's value now. */
  value(place: number): number {
    const column = this.columns.at(place), next = Math.min(this.row + 1, column.length - 1);
    return column[this.row]! * (1 - this.share) + column[next]! * this.share;
  }

  vector(places: Triple, into: Vector3): Vector3 {
    return into.set(this.value(places[0]), this.value(places[1]), this.value(places[2]));
  }

  /** Return a place of what moves so; -1: of the run's axes. */
  place(motion: number, of: Vector3): Vector3 {
    const at = this.poses[motion] ?? this.run();
    return of.applyQuaternion(at.attitude).add(at.position);
  }

  /** Turn a vector of the run's axes into those that are seen. */
  turn(vector: Vector3): Vector3 {
    return vector.applyQuaternion(this.base.attitude);
  }
}
