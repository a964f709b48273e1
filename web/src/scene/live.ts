// What runs now: the scene of one sample, moved as its server says.
import type { Columns } from "../columns.ts";
import type { SceneData } from "./data.ts";
import { element } from "./dom.ts";
import type { SceneView } from "./scene.ts";

/** What `dockdyn/report/scene/live.py` tells. */
interface Facts {
  position: number[][]; // by body
  attitude: number[][];
  force: number[];
  scale: SceneData["force_scale"];
  words: string[]; // a heading and lines
}

/** Show what the events of an address say: bodies and the force in the scene, words in their place. */
export function followEvents(address: string, view: SceneView, scene: SceneData, columns: Columns, words: HTMLElement): void {
  const source = new EventSource(address), [force] = scene.forces;
  source.onmessage = ({ data }: MessageEvent<string>) => {
    const facts: Facts = JSON.parse(data), forces = new Map([[force!.name, { place: null, vector: Float64Array.from(facts.force) }]]);
    Object.assign(scene.force_scale, facts.scale);
    columns.forgetMore();
    view.retake({ time: Float64Array.of(scene.span[0]), position: Float64Array.from(facts.position.flat()), attitude: Float64Array.from(facts.attitude.flat()), forces, held: null, travel: null });
    const [heading = "", ...lines] = facts.words;
    words.replaceChildren(element("h2", {}, heading), ...lines.map((line) => element("p", {}, line)));
  };
}
