// Builds what reports carry, into the package: the page's script and style as text, the scene's script gzipped.
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

// into the package, or the folder that is named
const carried = process.argv[2]?.startsWith("-") === false ? process.argv[2] : "../src/dockdyn/report/web";
const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "none", write: false, loader: { ".css": "css" } };

async function text(entry, more) {
  const { outputFiles } = await build({ ...common, entryPoints: [entry], ...more });
  return outputFiles[0].contents;
}

async function buildPage() {
  await mkdir(carried, { recursive: true });
  const script = { format: "iife" };
  await writeFile(`${carried}/page.js`, await text("src/main.ts", script));
  await writeFile(`${carried}/page.css`, await text("src/page.css", {}));
  // a script of its own, which is unpacked where a page has a scene; its style comes with it as text
  await writeFile(`${carried}/worker.js.gz`, gzipSync(await text("src/live/worker.ts", script), { level: 9 }));
  const scene = await text("src/scene/scene.ts", { ...script, globalName: "dockdynScene", loader: { ".css": "text" } });
  await writeFile(`${carried}/scene.js.gz`, gzipSync(scene, { level: 9 }));
}

async function buildTests() {
  const names = (await readdir("test", { recursive: true })).filter((name) => name.endsWith(".test.ts"));
  await rm("built-tests", { recursive: true, force: true });
  await build({ ...common, entryPoints: names.map((name) => `test/${name}`), minify: false, write: true, format: "esm", platform: "node", outdir: "built-tests", outExtension: { ".js": ".mjs" }, loader: { ".css": "text" } });
}

await (process.argv.includes("--tests") ? buildTests() : buildPage());
