// What `dockdyn/report/scene/data.py` says of a scene. Lengths in m; numbers named `column` are places in the page's columns.
export type Point = [number, number, number];
type column = number;
export type Triple = [column, column, column];

export type Solid =
  | { is: "box"; low: Point; high: Point; axes: [Point, Point, Point] }
  | { is: "ball"; centre: Point; radius: number }
  | { is: "tube"; start: Point; end: Point; radius: number; end_radius?: number; round?: boolean }
  | { is: "ring"; centre: Point; axis: Point; major_radius: number; radius: number }
  | { is: "plate"; outline: Point[]; thickness: number }
  | { is: "turned"; origin: Point; axis: Point; outline: [number, number][]; hollow: boolean }
  | { is: "mesh"; vertices: Triple; faces: Triple; smooth: boolean };

export type Role = "bus" | "link" | "gear" | "surface" | "look" | "ghost" | "ground";

export interface PartData { name: string; role: Role; body: string | null; motion: number; solids: Solid[]; colour?: string }
export interface EndData { motion: number; place: Point }
export interface TieData {
  name: string;
  kind: "strut" | "cable" | "spring" | "latch" | "magnet";
  first: EndData;
  second: EndData;
  radius: number;
  shown?: column;
  latch?: number; // which one, of a latch
  free?: number; // m, of a spring that does not pull: no longer is it drawn, from its second end
  ghost?: `#${string}`; // of another run, in its colour
}
export interface BeamData {
  name: string;
  body: string;
  motion: number;
  place: Point[];
  shift: Point[][]; // by section and mode
  eta: column[];
  radius: number;
  bow?: number[][][]; // by section
  along?: Point;
  ghost?: `#${string}`;
}
export interface ForceData { name: string; kind: "contact" | "hold"; friction: boolean; motion: number; place: Triple; vector: Triple }

export interface MotionData {
  p: Triple;
  q: [column, column, column, column];
  aside?: { motion: number; out: Point; slope: number; length: number; latch: number }; // of what a ramp pushes along `out`
}

export interface SceneData {
  title: string;
  time: column;
  span: [number, number]; // s
  within: number;
  motions: MotionData[];
  origin: Triple;
  bodies: Record<string, number>;
  seen_from: string;
  parts: PartData[];
  ties: TieData[];
  beams: BeamData[];
  trails: { name: string; motion: number; points: Triple }[];
  forces: ForceData[];
  force_scale: { metres: number; cut: number | null };
  focus: { motion: number; place: Point; axis: Point; reach: number; arm: boolean }; // whether links and beams lead to what is looked at
  notes: string[];
}
