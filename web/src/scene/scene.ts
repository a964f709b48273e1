// The scene of a run in three dimensions: a script of its own, unpacked where a page has a scene.
import { AxesHelper, Box3, Group, Quaternion, Vector3, type Object3D } from "three";
import type { Clock } from "../clock.ts";
import type { Columns } from "../columns.ts";
import { Palette, type Token } from "./colours.ts";
import type { PartData, Point, SceneData } from "./data.ts";
import { takeUp, type OtherRun } from "./other_run.ts";
import { drawn, element, quantity, roundBelow, save } from "./dom.ts";
import { Film } from "./film.ts";
import style from "./scene.css";
import { Stage } from "./stage.ts";
import { drawBeam, drawForce, drawPart, drawTie, drawTrail, type Moving } from "./things.ts";
import { Tracks } from "./tracks.ts";
import { transport } from "./transport.ts";

export { Clock } from "../clock.ts";
export { unpackColumns } from "../columns.ts";
export type { SceneData } from "./data.ts";
export { followEvents } from "./live.ts";

export interface SceneView {
  /** Return the picture as it stands, for print and for saving; null where there is none. */
  picture(): HTMLCanvasElement | null;
  /** Return where a place of a body (m, its axes) is now, in the axes in which the scene is seen. */
  placeOf(body: string, place: Point): Point;
  /** Return the size (N) and the arrow's length (m) of each force now. */
  forces(): { name: string; size: number; length: number }[];
  /** Stand where a view is seen from, by its name. */
  look(view: string): void;
  /** Whether `retake` can show another run: what moves are bodies, and what latches and their ramps do. */
  retakes: boolean;
  /** Show another run of the same mechanism; null: the report's own. */
  retake(run: OtherRun | null): void;
}

const WHOLE = /^(bus|link|gear|surface|look|ground)$/;
const ARM = /^(link|gear|surface)$/;

/** Show a scene in `host`, which fills its place and may change its size; it follows the clock. */
export function mountScene(host: HTMLElement, scene: SceneData, columns: Columns, clock: Clock): SceneView {
  if (!document.getElementById("dds-style")) document.head.append(element("style", { id: "dds-style" }, style));
  const root = element("div", { class: "dds" }), place = element("div", { class: "dds-stage" });
  root.append(place);
  const moves = clock.span.end > clock.span.start;
  if (moves && !document.querySelector(".transport")) root.append(transport(clock, scene, columns, root)); // the page has none of its own
  if (scene.notes.length) root.append(element("p", { class: "dds-notes" }, scene.notes.join("; ")));
  host.replaceChildren(root);
  const palette = new Palette(), themed = () => {
    const asked = document.documentElement.dataset.theme;
    palette.repaint(asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
    root.classList.toggle("dark", palette.dark);
  };
  themed();
  new MutationObserver(themed).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
  const tracks = new Tracks(scene, columns, scene.bodies[scene.seen_from] ?? -1);
  const nowhere: SceneView = { picture: () => null, placeOf, forces: () => [], look: () => undefined, retakes: false, retake: () => undefined };

  function placeOf(body: string, of: Point): Point {
    return tracks.place(scene.bodies[body] ?? -1, new Vector3(...of)).toArray();
  }

  let stage: Stage;
  try {
    stage = new Stage(place, palette, () => overlays());
  } catch {
    place.append(element("div", { class: "dds-over dds-none" }, "The scene needs WebGL, which this browser does not give. Curves and tables show the same run."));
    clock.subscribe((now) => tracks.go(now.time));
    return nowhere;
  }

  // what is drawn
  const names = Object.keys(scene.bodies), carriers = scene.motions.map(() => new Group()), still = new Group();
  stage.scene.add(...carriers, still);
  const carrier = (motion: number): Group => carriers[motion] ?? still;
  const layers = new Map<string, Map<string, { objects: Object3D[]; token: Token; on: boolean }>>();
  const list = (group: string, name: string, object: Object3D, token: Token, on = true) => {
    const inside = layers.get(group) ?? new Map();
    layers.set(group, inside);
    const layer = inside.get(name) ?? { objects: [], token, on };
    inside.set(name, layer);
    layer.objects.push(object);
    object.userData.hidden = !on;
    object.visible = on;
  };
  const tokenOf = (part: PartData): Token => {
    if (part.colour?.startsWith("#")) return part.colour as Token;
    if (part.role === "ghost") return part.name.startsWith("without rig") ? "without" : "computed";
    return part.role === "ground" || part.body === null ? "ground" : Math.max(names.indexOf(part.body), 0);
  };
  const bounded: { object: Object3D; role: string }[] = [];
  for (const part of scene.parts) {
    const token = tokenOf(part), object = drawPart(part, token, palette, columns);
    carrier(part.motion).add(object);
    list(part.role === "ghost" ? "ghosts" : part.body ?? "ground", part.role === "ghost" ? part.name.split("/")[0]! : part.name.split("/").slice(1).join("/") || part.name, object, token);
    bounded.push({ object, role: part.role });
  }
  const moving: Moving[] = [];
  const follow = (one: Moving, group: string, token: Token, ghost?: Token) => {
    stage.scene.add(one.object);
    const parts = one.object.name.split("/");
    list(ghost ? "ghosts" : group, (ghost ? parts[0] : parts.pop())!, one.object, ghost ?? token);
    moving.push(one);
  };
  for (const beam of scene.beams) follow(drawBeam(beam, names.indexOf(beam.body), palette), beam.body, names.indexOf(beam.body), beam.ghost);
  for (const tie of scene.ties) follow(drawTie(tie, palette, tracks), "held by", tie.kind === "latch" ? "hold" : "metal", tie.ghost);
  const forces = scene.forces.map((force) => drawForce(force, scene, palette));
  forces.forEach((force, i) => follow(force, "forces", scene.forces[i]!.kind));
  let times = columns.at(scene.time);
  const trails = scene.trails.map((trail) => {
    const [x, y, z] = trail.points.map((one) => columns.at(one)) as [Float64Array, Float64Array, Float64Array];
    const found = drawTrail(trail.name, Array.from(x).flatMap((one, i) => [one, y[i]!, z[i]!]), palette);
    carrier(trail.motion).add(found.object);
    list("paths", trail.name, found.object, "trail");
    return found;
  });
  const reach = scene.focus.reach;
  for (const name of names) {
    const axes = new AxesHelper(0.6 * reach);
    carrier(scene.bodies[name]!).add(axes);
    list("axes", name, axes, "ink", false);
  }

  const retakes = !scene.beams.length && scene.ties.every(({ shown, latch }) => shown === undefined || latch !== undefined) && scene.motions.every(({ aside }, motion) => aside || Object.values(scene.bodies).includes(motion));
  const own = { ties: scene.ties.map((one) => ({ ...one })), time: scene.time, origin: scene.origin, motions: scene.motions.map((one) => ({ ...one })), forces: scene.forces.map((one) => ({ ...one })) };

  function retake(run: OtherRun | null): void {
    Object.assign(scene, { time: own.time, origin: own.origin });
    scene.motions.forEach((motion, i) => Object.assign(motion, own.motions[i]));
    scene.forces.forEach((force, i) => Object.assign(force, own.forces[i]));
    scene.ties.forEach((tie, i) => Object.assign(tie, own.ties[i]));
    if (run) takeUp(scene, columns, run);
    tracks.retake();
    times = columns.at(scene.time);
    trails.forEach(({ object }) => (object.visible = !run && !object.userData.hidden)); // they are of the report's run
    update();
  }

  function update(): void {
    tracks.go(clock.time);
    scene.motions.forEach((_, i) => {
      carriers[i]!.position.copy(tracks.poses[i]!.position);
      carriers[i]!.quaternion.copy(tracks.poses[i]!.attitude);
    });
    const run = tracks.run();
    still.position.copy(run.position);
    still.quaternion.copy(run.attitude);
    for (const one of moving) {
      one.move(tracks);
      one.object.visible = !one.object.userData.hidden && !one.object.userData.away;
    }
    let row = 0;
    while (row + 1 < times.length && times[row + 1]! <= clock.time) row++;
    if (scene.time === own.time) for (const one of trails) one.upTo(row);
    say();
    stage.invalidate();
  }

  // views
  const cornersOf = (wanted: (one: { object: Object3D; role: string }) => boolean): Vector3[] => {
    stage.scene.updateMatrixWorld(true);
    const found = [...bounded.filter(wanted).map(({ object }) => object), ...moving.filter((one) => !one.object.userData.away && !forces.some((force) => force === one)).map(({ object }) => object)];
    const boxes = found.map((object) => new Box3().expandByObject(object, true)).filter((box) => !box.isEmpty());
    const corners = boxes.flatMap(({ min, max }) => [0, 1, 2, 3, 4, 5, 6, 7].map((i) => new Vector3(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z)));
    return corners.length ? corners : [new Vector3(-reach, -reach, -reach), new Vector3(reach, reach, reach)];
  };
  const axis = () => new Vector3(...scene.focus.axis).applyQuaternion(tracks.poses[scene.focus.motion]?.attitude ?? new Quaternion()).normalize();
  const focus = () => tracks.place(scene.focus.motion, new Vector3(...scene.focus.place));
  const sideways = (): Vector3 => {
    const along = axis(), up = Math.abs(along.z) < 0.9 ? new Vector3(0, 0, 1) : new Vector3(1, 0, 0);
    return along.cross(up).normalize();
  };
  const UP = new Vector3(0, 0, 1);
  const slanted = () => axis().multiplyScalar(0.62).addScaledVector(sideways(), 0.72).addScaledVector(UP, Math.abs(axis().z) < 0.9 ? 0.42 : 0);
  const linked = scene.focus.arm ? "arm" : "appendages";
  const views: Record<string, () => void> = {
    contact: () => stage.look(focus(), 1.25 * reach, slanted()),
    ...(scene.beams.length || scene.parts.some((part) => part.role === "link") ? { [linked]: () => stage.fitAll(cornersOf((one) => ARM.test(one.role)), slanted()) } : {}),
    whole: () => stage.fitAll(cornersOf((one) => WHOLE.test(one.role)), slanted()),
    side: () => stage.look(focus(), 1.6 * reach, sideways()),
    "along axis": () => stage.look(focus(), 1.25 * reach, axis().addScaledVector(UP, 1e-3)),
  };
  let shown = "";
  const look = (name: string) => {
    views[name]?.();
    shown = name;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.textContent === name));
  };
  const buttons = Object.keys(views).map((name, i) => element("button", { type: "button", title: `${name} (key ${i + 1})`, click: () => look(name) }, name));
  const seen = element("select", { "aria-label": "Seen from", title: "In whose axes the scene is seen", change: () => { tracks.seenFrom(scene.bodies[seen.value] ?? -1); update(); look(shown); } });
  seen.append(...names.map((name) => element("option", { value: name, selected: name === scene.seen_from }, `from ${name}`)), element("option", { value: "", selected: !(scene.seen_from in scene.bodies) }, "from outside"));
  const film = new Film(clock, () => compose(), scene.title);
  const filming = element("button", { type: "button", title: "Save the run as a film, from its start to its end", click: () => film.toggle(filming) }, "film");
  const keep = element("button", { type: "button", title: "Save this picture", click: () => compose().toBlob((blob) => { if (blob) save(blob, `${scene.title} ${clock.time.toFixed(3)} s.png`); }) }, "PNG");
  root.append(element("div", { class: "dds-over dds-views" }, ...buttons, seen, keep, ...(moves && Film.possible() ? [filming] : [])));
  root.addEventListener("keydown", (event) => {
    const name = Object.keys(views)[Number(event.key) - 1];
    if (name && !(event.target instanceof HTMLSelectElement)) look(name);
  });

  // words and bars over it
  const time = element("b"), state = element("span"), bars = element("div", { class: "dds-over dds-bars" });
  place.append(element("div", { class: "dds-over dds-now" }, time, state), bars);
  const triad = drawn("svg", { class: "dds-over dds-triad", width: 64, height: 64, viewBox: "-32 -32 64 64", "aria-hidden": "true" });
  place.append(triad);
  function say(): void {
    const largest = forces.reduce((most, one, i) => (one.size > (forces[most]?.size ?? 0) ? i : most), -1);
    time.textContent = moves ? `${clock.time.toFixed(clock.span.end < 1 ? 4 : 2)}\u202fs` : "";
    state.textContent = largest >= 0 && !forces[largest]!.object.userData.away ? `${scene.forces[largest]!.name}: ${quantity(forces[largest]!.size, "N")}${scene.forces[largest]!.friction ? " with friction" : ""}` : scene.forces.length ? "no contact force" : "";
  }
  function barLengths(): { length: number; metres: number; force: number; newtons: number } {
    const pixel = stage.pixel(), metres = roundBelow(130 * pixel), perNewton = scene.force_scale.metres / pixel;
    const newtons = scene.forces.length && perNewton > 0 && isFinite(perNewton) ? roundBelow(Math.min(110 / perNewton, scene.force_scale.cut ?? Infinity)) : 0;
    return { length: metres / pixel, metres, force: newtons * perNewton, newtons };
  }
  function overlays(): void {
    const { length, metres, force, newtons } = barLengths();
    const lines = [element("div", {}, element("span", { class: "dds-length", style: `width:${length}px` }), quantity(metres, "m"))];
    const cut = scene.force_scale.cut, most = Math.max(...forces.map((one) => one.size), 0);
    if (newtons) lines.unshift(element("div", {}, element("span", { class: "dds-force", style: `width:${force}px` }), quantity(newtons, "N") + (cut !== null && most > cut * 1.001 ? ` (arrows end at ${quantity(cut, "N")})` : "")));
    bars.replaceChildren(...lines);
    const ends = (["x", "y", "z"] as const).map((name, i) => ({ name, at: new Vector3().setComponent(i, 1).transformDirection(stage.camera.matrixWorldInverse) })).sort((a, b) => a.at.z - b.at.z);
    triad.replaceChildren(...ends.flatMap(({ name, at }) => [
      drawn("path", { d: `M0 0L${at.x * 20} ${-at.y * 20}`, stroke: palette.css({ x: "contact", y: "hold", z: "trail" }[name] as Token), "stroke-width": 2, "stroke-linecap": "round" }),
      drawn("text", { x: at.x * 27, y: -at.y * 27 + 4, "text-anchor": "middle" }, name),
    ]));
  }

  /** Return the picture with its time and its bars. */
  function compose(): HTMLCanvasElement {
    const view = stage.still(), made = document.createElement("canvas"), scale = view.width / Math.max(place.clientWidth, 1), pen = made.getContext("2d")!;
    made.width = view.width - (view.width % 2);
    made.height = view.height - (view.height % 2);
    pen.drawImage(view, 0, 0);
    pen.scale(scale, scale);
    const high = made.height / scale, { length, metres, force, newtons } = barLengths();
    pen.fillStyle = pen.strokeStyle = palette.css("ink");
    pen.font = "600 19px sans-serif";
    pen.fillText(time.textContent ?? "", 12, 28);
    pen.font = "13px sans-serif";
    pen.fillText(state.textContent ?? "", 12, 46);
    pen.lineWidth = 1.5;
    pen.strokeRect(12, high - 18, length, 0.1);
    pen.fillText(quantity(metres, "m"), 20 + length, high - 14);
    if (newtons) {
      pen.fillText(quantity(newtons, "N"), 20 + force, high - 34);
      pen.fillStyle = palette.css("contact");
      pen.fillRect(12, high - 40, force, 3);
    }
    return made;
  }

  // on paper the picture, light; what a graphics card has drawn would be printed empty
  addEventListener("beforeprint", () => {
    palette.repaint(false);
    const picture = compose();
    picture.className = "dds-paper";
    root.append(picture);
  });
  addEventListener("afterprint", () => {
    root.querySelector(".dds-paper")?.remove();
    themed();
  });

  // the tree
  const tree = element("ul");
  for (const [group, items] of layers) {
    const boxes: HTMLInputElement[] = [], inside = element("ul");
    for (const [name, layer] of items) {
      const box = element("input", { type: "checkbox", change: () => {
        for (const object of layer.objects) { object.userData.hidden = !box.checked; object.visible = box.checked; }
        update();
      } });
      box.checked = layer.on;
      boxes.push(box);
      const mark = element("i");
      palette.paint(() => { mark.style.background = palette.css(layer.token); });
      inside.append(element("li", {}, element("label", {}, box, mark, name)));
    }
    const all = element("input", { type: "checkbox", change: () => { for (const box of boxes) if (box.checked !== all.checked) box.click(); } });
    all.checked = boxes.some((box) => box.checked);
    tree.append(element("li", {}, element("label", {}, all, element("b", {}, group)), inside));
  }
  const wide = moves && matchMedia("(min-width: 900px)").matches && [...layers.values()].reduce((sum, one) => sum + one.size + 1, 0) <= 16;
  place.append(element("details", { class: "dds-over dds-tree", open: wide }, element("summary", {}, "Scene"), tree));

  tracks.go(clock.span.start);
  const step = roundBelow(0.5 * reach), at = focus();
  const grid = stage.grid(40 * step, step, new Vector3(at.x, at.y, at.z - 1.35 * reach));
  tree.append((() => { const box = element("input", { type: "checkbox", change: () => { grid.visible = box.checked; stage.invalidate(); } }); box.checked = true; return element("li", {}, element("label", {}, box, element("b", {}, `grid of ${quantity(step, "m")}`))); })());
  clock.subscribe(update);
  look("arm" in views ? "arm" : "contact");
  return { picture: compose, placeOf, forces: () => forces.map(({ object, size, length }) => ({ name: object.name, size, length })), look, retakes, retake };
}
