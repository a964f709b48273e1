// Makes modules of their columns: module_files.mjs FILE…; each is written beside its columns, as FILE.wasm.
import { readFileSync, writeFileSync } from "node:fs";
import { moduleOf } from "../src/live/module.ts";

for (const file of process.argv.slice(2)) writeFileSync(`${file}.wasm`, moduleOf(new Uint8Array(readFileSync(file))));
