// What a scene consists of, each drawn as what it is: parts, struts, cables, springs, latches, beams, trails, arrows.
import {
  BufferGeometry, CatmullRomCurve3, CylinderGeometry, EdgesGeometry, Float32BufferAttribute, Group, LineSegments, Mesh, Quaternion,
  SphereGeometry, TorusGeometry, TubeGeometry, Vector3, type Object3D,
} from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import type { Columns } from "../columns.ts";
import { OPACITY, type Palette, type Token } from "./colours.ts";
import type { BeamData, ForceData, PartData, SceneData, Solid, TieData } from "./data.ts";
import { geometryOf, vector } from "./solids.ts";
import type { Tracks } from "./tracks.ts";

const Y = new Vector3(0, 1, 0);
const SIDES = 12; // of a beam
const EDGE = 20; // deg: sharper edges are drawn

/** Return a part's meshes; buses and what is hollow are looked through and have their edges drawn. */
export function drawPart(part: PartData, token: Token, palette: Palette, columns: Columns): Group {
  const group = new Group();
  group.name = part.name;
  for (const solid of part.solids) {
    const geometry = geometryOf(solid, columns), hollow = solid.is === "turned" && solid.hollow;
    const flat = solid.is === "turned" && !solid.hollow && solid.outline.length === 2; // a plane goes on
    const clear = hollow ? 0.34 : flat ? 0.22 : OPACITY[part.role];
    const mesh = new Mesh(geometry, palette.solid(hollow ? "metal" : token, clear));
    if (clear < 1) mesh.renderOrder = part.role === "bus" ? 2 : 3;
    group.add(mesh);
    if (part.role === "bus" || part.role === "ground") group.add(new LineSegments(new EdgesGeometry(geometry, EDGE), palette.line(token, 0.7)));
    if (solid.is === "plate") group.add(new LineSegments(new EdgesGeometry(geometry, EDGE), palette.line("ink", 0.35)));
    if (solid.is === "turned" && hollow) group.add(...wireOf(solid, palette));
  }
  return group;
}

/** Return rings and meridians of what is hollow, and its lip. */
function wireOf(solid: Extract<Solid, { is: "turned" }>, palette: Palette): Object3D[] {
  const turn = new Quaternion().setFromUnitVectors(Y, vector(solid.axis).normalize()), points: number[] = [];
  const at = (along: number, radius: number, angle: number) => points.push(radius * Math.cos(angle), along, radius * Math.sin(angle));
  for (let piece = 0; piece + 1 < solid.outline.length; piece++) {
    const [from, to] = [solid.outline[piece]!, solid.outline[piece + 1]!];
    for (let k = 1; k <= 5; k++) {
      const along = from[0] + ((to[0] - from[0]) * k) / 5, radius = from[1] + ((to[1] - from[1]) * k) / 5;
      for (let i = 0; i < 72; i++) { at(along, radius, (i * Math.PI) / 36); at(along, radius, ((i + 1) * Math.PI) / 36); }
    }
    for (let i = 0; i < 16; i++) { at(from[0], from[1], (i * Math.PI) / 8); at(to[0], to[1], (i * Math.PI) / 8); }
  }
  const wire = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(points, 3)).applyQuaternion(turn).translate(...solid.origin);
  const [along, radius] = solid.outline.reduce((most, one) => (one[1] >= most[1] ? one : most));
  const lip = new TorusGeometry(radius, radius * 0.02, 12, 96).rotateX(Math.PI / 2).translate(0, along, 0).applyQuaternion(turn).translate(...solid.origin);
  return [new LineSegments(wire, palette.line("ink", 0.22)), new Mesh(lip, palette.solid("metal"))];
}

/** What follows the time. */
export interface Moving { object: Object3D; move(tracks: Tracks): void }

function between(object: Object3D, start: Vector3, end: Vector3, span = 1): void {
  const way = end.clone().sub(start), length = way.length();
  object.position.copy(start);
  if (length > 0) object.quaternion.setFromUnitVectors(Y, way.divideScalar(length));
  object.scale.set(1, Math.max(length / span, 1e-6), 1);
}

/** Return what acts between two places: a strut in two tubes with ball joints, a cable, a coil, a latch's bolt. */
export function drawTie(tie: TieData, palette: Palette, tracks: Tracks): Moving {
  const group = new Group(), r = tie.radius;
  group.name = tie.name;
  const ends = (): [Vector3, Vector3] => {
    const [start, end] = [tie.first, tie.second].map(({ motion, place }) => tracks.place(motion, vector(place))) as [Vector3, Vector3];
    return [tie.free === undefined ? start : start.sub(end).clampLength(0, tie.free).add(end), end];
  };
  const paint = (token: Token, opacity = 1) => (tie.ghost ? palette.solid(tie.ghost, OPACITY.ghost) : palette.solid(token, opacity));
  const bar = (radius: number, token: Token, from = 0, to = 1, opacity = 1) => {
    const mesh = new Mesh(new CylinderGeometry(radius, radius, to - from, 18).translate(0, (from + to) / 2, 0), paint(token, opacity));
    group.add(mesh);
    return mesh;
  };
  const joint = (token: Token, radius: number) => {
    const ball = new Mesh(new SphereGeometry(radius, 18, 12), paint(token));
    group.add(ball);
    return ball;
  };
  const stretched: Object3D[] = [], balls: Mesh[] = [];
  let span = 1;
  if (tie.kind === "strut") {
    stretched.push(bar(0.62 * r, "metal", 0, 0.6), bar(r, "ground", 0.45, 1));
    balls.push(joint("metal", 1.3 * r), joint("ground", 1.3 * r));
  } else if (tie.kind === "spring") {
    const [start, end] = ends(), points: Vector3[] = [];
    span = Math.max(start.distanceTo(end), 4 * r);
    for (let i = 0; i <= 160; i++) {
      const share = i / 160, wound = Math.min(Math.max((share - 0.1) / 0.8, 0), 1), wide = share < 0.08 || share > 0.92 ? 0 : 2 * r;
      points.push(new Vector3(wide * Math.cos(16 * Math.PI * wound), share * span, wide * Math.sin(16 * Math.PI * wound)));
    }
    const coil = new Mesh(new TubeGeometry(new CatmullRomCurve3(points), 240, 0.22 * r, 6), paint("metal"));
    group.add(coil);
    stretched.push(coil);
  } else if (tie.kind === "latch") {
    stretched.push(bar(r, "hold"));
    balls.push(joint("hold", 1.7 * r), joint("hold", 1.7 * r));
  } else stretched.push(bar(tie.kind === "cable" ? r : 0.6 * r, tie.kind === "cable" ? "ink" : "hold", 0, 1, tie.kind === "cable" ? 1 : 0.4));
  return {
    object: group,
    move() {
      const [start, end] = ends();
      for (const one of stretched) between(one, start, end, span);
      balls[0]?.position.copy(start);
      balls[1]?.position.copy(end);
      group.userData.away = tie.shown !== undefined && tracks.value(tie.shown) < 0.5;
    },
  };
}

/** Return a beam's tube, bent by its modes. */
export function drawBeam(beam: BeamData, token: Token, palette: Palette): Moving {
  const count = beam.place.length, position = new Float32Array(count * SIDES * 3), index: number[] = [];
  for (let i = 0; i + 1 < count; i++) for (let j = 0; j < SIDES; j++) {
    const a = i * SIDES + j, b = i * SIDES + ((j + 1) % SIDES);
    index.push(a, b, a + SIDES, b, b + SIDES, a + SIDES);
  }
  const geometry = new BufferGeometry().setAttribute("position", new Float32BufferAttribute(position, 3)).setIndex(index);
  const mesh = new Mesh(geometry, beam.ghost ? palette.solid(beam.ghost, OPACITY.ghost) : palette.solid(token));
  mesh.name = beam.name;
  mesh.frustumCulled = false;
  return {
    object: mesh,
    move(tracks) {
      const at = tracks.poses[beam.motion]!, places = sectionPlaces(beam, beam.eta.map((place) => tracks.value(place)));
      mesh.position.copy(at.position);
      mesh.quaternion.copy(at.attitude);
      const side = new Vector3(), up = new Vector3(), out = geometry.getAttribute("position");
      const first = places[1]!.clone().sub(places[0]!);
      side.set(...([[1, 0, 0], [0, 1, 0], [0, 0, 1]][[Math.abs(first.x), Math.abs(first.y), Math.abs(first.z)].reduce((least, one, i, all) => (one < all[least]! ? i : least), 0)] as [number, number, number]));
      for (let i = 0; i < count; i++) {
        const along = places[Math.min(i + 1, count - 1)]!.clone().sub(places[Math.max(i - 1, 0)]!).normalize();
        up.copy(along).cross(side).normalize();
        side.copy(up).cross(along);
        for (let j = 0; j < SIDES; j++) {
          const angle = (2 * Math.PI * j) / SIDES, point = places[i]!.clone().addScaledVector(side, beam.radius * Math.cos(angle)).addScaledVector(up, beam.radius * Math.sin(angle));
          out.setXYZ(i * SIDES + j, point.x, point.y, point.z);
        }
      }
      out.needsUpdate = true;
      geometry.computeVertexNormals();
    },
  };
}

/** Return the middles of a beam's sections at modal coordinates, in its axes at rest (m). */
export function sectionPlaces(beam: BeamData, eta: number[]): Vector3[] {
  return beam.place.map((place, section) => {
    const at = vector(place);
    eta.forEach((one, mode) => at.addScaledVector(vector(beam.shift[section]![mode]!), one));
    if (beam.bow && beam.along) {
      const bow = beam.bow[section]!;
      at.addScaledVector(vector(beam.along), -0.5 * eta.reduce((sum, one, i) => sum + eta.reduce((part, other, j) => part + one * bow[i]![j]! * other, 0), 0));
    }
    return at;
  });
}

/** Return the length (m) of a force's arrow: as long as its size says, but no longer than the largest that is drawn. */
export function arrowLength(force: number, scale: SceneData["force_scale"]): number {
  return Math.min(force, scale.cut ?? Infinity) * scale.metres;
}

/** Return a force's arrow, which begins where it acts. */
export function drawForce(force: ForceData, scene: SceneData, palette: Palette): Moving & { size: number; length: number } {
  const group = new Group(), wide = scene.focus.reach * 0.02, material = palette.flat(force.kind);
  group.name = force.name;
  const shaft = new Mesh(new CylinderGeometry(wide, wide, 1, 14).translate(0, 0.5, 0), material);
  const head = new Mesh(new CylinderGeometry(0, 2.7 * wide, 7 * wide, 20).translate(0, -3.5 * wide, 0), material);
  group.add(shaft, head);
  const pale = palette.flat(force.kind); // seen, pale, through what stands before it
  Object.assign(pale, { depthTest: false, transparent: true, opacity: 0.3 });
  for (const one of [shaft, head]) {
    const through = new Mesh(one.geometry, pale);
    through.renderOrder = 5;
    one.add(through);
  }
  return {
    object: group,
    size: 0,
    length: 0,
    move(tracks) {
      const way = tracks.turn(tracks.vector(force.vector, new Vector3()));
      this.size = way.length();
      this.length = arrowLength(this.size, scene.force_scale);
      group.userData.away = this.length < 0.01 * scene.focus.reach;
      if (group.userData.away) return;
      group.position.copy(tracks.place(force.motion, tracks.vector(force.place, new Vector3())));
      group.quaternion.setFromUnitVectors(Y, way.normalize());
      const tip = Math.min(1, (0.6 * this.length) / (7 * wide));
      head.scale.setScalar(tip);
      head.position.y = this.length;
      shaft.scale.y = Math.max(this.length - 6.9 * wide * tip, 1e-6);
    },
  };
}

/** Return the path of a point: pale as a whole, full up to now. */
export function drawTrail(name: string, points: number[], palette: Palette): { object: Group; upTo(rows: number): void } {
  const group = new Group();
  group.name = name;
  const lines = [palette.thick("trail", 1.5, 0.3), palette.thick("trail", 2.6)].map((material) => {
    const line = new Line2(new LineGeometry().setPositions(points), material);
    line.frustumCulled = false;
    group.add(line);
    return line;
  });
  return { object: group, upTo(rows) { lines[1]!.geometry.instanceCount = Math.max(rows, 0); } };
}
