// Makes a report alive: curves, scene and tables with one time. What is read is in the page without it.
import { Clock } from "./clock.ts";
import { gunzip, unpackColumns, type PackedColumns } from "./columns.ts";
import type { mountScene, SceneData } from "./scene/scene.ts";

interface PageData {
  columns: PackedColumns;
  span: [number, number] | null; // of the run, s
  scene: SceneData | null;
}

declare const dockdynScene: { mountScene: typeof mountScene };

/** Unpack the scene's script and run it: the page's policy allows it by its hash. */
async function loadScene(): Promise<typeof dockdynScene> {
  const code = await gunzip(document.getElementById("scene-script")!.textContent!);
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(code);
  document.head.append(script);
  return dockdynScene;
}

async function start(): Promise<void> {
  const data: PageData = JSON.parse(document.getElementById("page-data")!.textContent!);
  const columns = await unpackColumns(data.columns);
  const clock = new Clock({ start: data.span?.[0] ?? 0, end: data.span?.[1] ?? 0 });
  const host = document.getElementById("scene");
  if (data.scene && host) (await loadScene()).mountScene(host, data.scene, columns, clock);
  document.documentElement.dataset.ready = "";
}

void start();
