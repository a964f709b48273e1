// Runs a module on a memory: wasm_run.mjs MODULE MEMORY STACK ARGUMENTS RESULTS WORK; the memory is written back.
import fs from "node:fs";
const [module, image, stack, ...addresses] = process.argv.slice(2);
const code = new WebAssembly.Module(fs.readFileSync(module));
const bytes = fs.readFileSync(image);
const memory = new WebAssembly.Memory({ initial: Math.ceil(bytes.length / 65536) });
const env = {};
for (const { name, kind } of WebAssembly.Module.imports(code)) {
  if (kind === "memory") env[name] = memory;
  else if (kind === "global") env[name] = new WebAssembly.Global({ value: "i32", mutable: true }, Number(stack));
  else if (kind === "table") env[name] = new WebAssembly.ConstantTable({ initial: 0, element: "anyfunc" });
  else throw new Error(`imports the function ${name}`);
}
new Uint8Array(memory.buffer).set(bytes);
const { program } = new WebAssembly.Instance(code, { env }).exports;
const ended = program(...addresses.map(Number));
fs.writeFileSync(image, new Uint8Array(memory.buffer, 0, bytes.length));
process.exit(ended & 1 ? 0 : 3);
