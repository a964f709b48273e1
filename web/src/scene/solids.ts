// Solids by their dimensions as geometries.
import {
  BoxGeometry, BufferGeometry, CapsuleGeometry, CylinderGeometry, Float32BufferAttribute, LatheGeometry, Matrix4, Quaternion, SphereGeometry,
  TorusGeometry, Vector2, Vector3,
} from "three";
import type { Columns } from "../columns.ts";
import type { Point, Solid } from "./data.ts";

const Y = new Vector3(0, 1, 0), Z = new Vector3(0, 0, 1);
export const vector = (point: Point): Vector3 => new Vector3(...point);

export function geometryOf(solid: Solid, columns: Columns): BufferGeometry {
  switch (solid.is) {
    case "box": {
      const low = vector(solid.low), high = vector(solid.high), size = high.clone().sub(low), [a, b, c] = solid.axes.map(vector) as [Vector3, Vector3, Vector3];
      const middle = low.add(high).multiplyScalar(0.5);
      const geometry = new BoxGeometry(size.x, size.y, size.z).translate(middle.x, middle.y, middle.z);
      return geometry.applyMatrix4(new Matrix4().makeBasis(a, b, c.dot(a.clone().cross(b)) < 0 ? c.negate() : c));
    }
    case "ball":
      return new SphereGeometry(solid.radius, 28, 18).translate(...solid.centre);
    case "tube": {
      const start = vector(solid.start), way = vector(solid.end).sub(start), length = way.length();
      const straight = solid.round
        ? new CapsuleGeometry(solid.radius, length, 5, 14)
        : new CylinderGeometry(solid.end_radius ?? solid.radius, solid.radius, length, 28);
      const middle = start.addScaledVector(way, 0.5);
      return straight.applyQuaternion(new Quaternion().setFromUnitVectors(Y, way.normalize())).translate(middle.x, middle.y, middle.z);
    }
    case "ring": {
      const turn = new Quaternion().setFromUnitVectors(Z, vector(solid.axis).normalize());
      return new TorusGeometry(solid.major_radius, solid.radius, 16, 96).applyQuaternion(turn).translate(...solid.centre);
    }
    case "plate":
      return plate(solid.outline.map(vector), solid.thickness);
    case "turned": {
      const turn = new Quaternion().setFromUnitVectors(Y, vector(solid.axis).normalize());
      const points = solid.outline.map(([along, radius]) => new Vector2(Math.max(radius, 1e-6), along));
      return new LatheGeometry(points, 72).applyQuaternion(turn).translate(...solid.origin);
    }
    case "mesh": {
      const [x, y, z] = solid.vertices.map((place) => columns.at(place)) as [Float64Array, Float64Array, Float64Array];
      const corners = solid.faces.map((place) => columns.at(place)) as [Float64Array, Float64Array, Float64Array];
      const position = new Float32Array(3 * x.length), index = new Uint32Array(3 * corners[0].length);
      for (let i = 0; i < x.length; i++) position.set([x[i]!, y[i]!, z[i]!], 3 * i);
      for (let i = 0; i < corners[0].length; i++) index.set([corners[0][i]!, corners[1][i]!, corners[2][i]!], 3 * i);
      let geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(position, 3));
      geometry.setIndex(Array.from(index));
      if (!solid.smooth) geometry = geometry.toNonIndexed();
      geometry.computeVertexNormals();
      return geometry;
    }
  }
}

/** Return a plate whose middle is a plane outline. */
function plate(outline: Vector3[], thickness: number): BufferGeometry {
  const normal = new Vector3(), centre = new Vector3();
  for (const point of outline) centre.addScaledVector(point, 1 / outline.length);
  outline.forEach((point, i) => normal.add(point.clone().sub(centre).cross(outline[(i + 1) % outline.length]!.clone().sub(centre))));
  normal.normalize().multiplyScalar(thickness / 2);
  const sides = [1, -1].map((side) => outline.map((point) => point.clone().addScaledVector(normal, side)));
  const position: number[] = [];
  const add = (...points: Vector3[]) => { for (const { x, y, z } of points) position.push(x, y, z); };
  for (let i = 1; i + 1 < outline.length; i++) {
    add(sides[0]![0]!, sides[0]![i]!, sides[0]![i + 1]!);
    add(sides[1]![0]!, sides[1]![i + 1]!, sides[1]![i]!);
  }
  for (let i = 0; i < outline.length; i++) {
    const j = (i + 1) % outline.length, [a, b, c, d] = [sides[0]![i]!, sides[0]![j]!, sides[1]![j]!, sides[1]![i]!];
    add(a, d, c, a, c, b);
  }
  const geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(position, 3));
  geometry.computeVertexNormals();
  return geometry;
}
