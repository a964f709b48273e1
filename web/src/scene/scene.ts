// The scene of a run in three dimensions: a script of its own, unpacked where a page has a scene.
import type { Clock } from "../clock.ts";
import type { Columns } from "../columns.ts";

export type SceneData = Record<string, unknown>;

export interface SceneView {
  /** Return the picture as it stands, for print and for saving; null where there is none. */
  picture(): HTMLCanvasElement | null;
}

/** Show a scene in `host`, which fills its place and may change its size; it follows the clock. */
export function mountScene(_host: HTMLElement, _scene: SceneData, _columns: Columns, _clock: Clock): SceneView {
  return { picture: () => null };
}
