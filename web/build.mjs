// Builds what reports carry, into the package: the page's script and style as text, the scene's script gzipped.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

// into the package, or the folder that is named
const carried = process.argv[2]?.startsWith("-") === false ? process.argv[2] : "../src/dockdyn/report/web";
const common = { bundle: true, minify: true, target: "es2022", charset: "utf8", legalComments: "eof", write: false, loader: { ".css": "css" } };

// Parts of shaders that the scene's materials never use, and which are most of what three cannot be rid of by itself: those of
// other materials, and of maps, shadows, fog, skins and the like, which a switch of the preprocessor leaves out of each shader.
const UNUSED = /^(shadowmap_|shadowmask_|transmission_|iridescence_|envmap_|lightprobes_|batching_|morph|skin|alphahash_|bumpmap_|normalmap_|lights_(lambert|phong|toon)_|lights_fragment_maps|gradientmap_|clearcoat_|displacementmap_|aomap_|lightmap_|alphamap_|tonemapping_|cube_uv_|fog_|emissivemap_|map_)/;
const MATERIALS = /^\s*(background|backgroundCube|cube|distance|equirect|meshlambert|meshmatcap|meshnormal|meshphong|meshtoon|points|shadow|sprite)_(?:vert|frag): ((?:vertex|fragment)(?:\$\w+)?),?$/gm;
const shaders = {
  name: "shaders",
  setup: ({ onLoad }) => onLoad({ filter: /three\.module\.js$/ }, async ({ path }) => {
    const source = await readFile(path, "utf8"), others = new Set([...source.matchAll(MATERIALS)].map((found) => found[2]));
    if (others.size !== 26) throw new Error("shaders of materials are named otherwise in this version of three");
    const shorter = (name, text) => (others.has(name) || UNUSED.test(name) ? "" : text.replace(/\\n(?:\\t)+/g, "\\n"));
    return { contents: source.replace(/^(const|var) ([a-z_0-9]+(?:\$\w+)?) = "((?:[^"\\]|\\.)*)";$/gm, (_, kind, name, text) => `${kind} ${name} = "${shorter(name, text)}";`), loader: "js" };
  }),
};

const packages = new Set(); // of others, parts of which are carried

async function text(entry, more) {
  const { outputFiles, metafile } = await build({ ...common, entryPoints: [entry], metafile: true, ...more });
  for (const input of Object.keys(metafile.inputs)) {
    const [, name] = input.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/) ?? [];
    if (name) packages.add(name);
  }
  return outputFiles[0].contents;
}

/** Return the licences of what is carried of others, as they ask for. */
async function licences() {
  const found = [...packages].sort().map(async (name) => {
    const { version, license } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const file = (await readdir(`node_modules/${name}`)).find((one) => /^licen[cs]e/i.test(one));
    if (!file) throw new Error(`${name} carries no licence`);
    return `${name} ${version} (${license})\n\n${(await readFile(`node_modules/${name}/${file}`, "utf8")).trim()}\n`;
  });
  return `The scripts in this folder carry parts of these packages.\n\n${(await Promise.all(found)).join("\n\n")}`;
}

async function buildPage() {
  await mkdir(carried, { recursive: true });
  const script = { format: "iife" };
  for (const name of ["page", "page-run", "page-campaign", "page-margins"]) await writeFile(`${carried}/${name}.js`, await text(`src/${name}.ts`, script)); // of which a page carries one
  await writeFile(`${carried}/page.css`, await text("src/page.css", {}));
  // a script of its own, which is unpacked where a page has a scene; its style comes with it as text
  for (const name of ["run", "loop"]) await writeFile(`${carried}/${name}-worker.js.gz`, gzipSync(await text(`src/live/${name}_worker.ts`, script), { level: 9 }));
  const scene = await text("src/scene/scene.ts", { ...script, globalName: "dockdynScene", loader: { ".css": "text" }, plugins: [shaders] });
  await writeFile(`${carried}/scene.js.gz`, gzipSync(scene, { level: 9 }));
  await writeFile(`${carried}/licences.txt`, await licences());
}

async function buildTests() {
  const names = (await readdir("test", { recursive: true })).filter((name) => name.endsWith(".test.ts"));
  await rm("built-tests", { recursive: true, force: true });
  await build({ ...common, entryPoints: names.map((name) => `test/${name}`), minify: false, write: true, format: "esm", platform: "node", outdir: "built-tests", outExtension: { ".js": ".mjs" }, loader: { ".css": "text" } });
}

await (process.argv.includes("--tests") ? buildTests() : buildPage());
