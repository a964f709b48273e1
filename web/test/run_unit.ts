// Runs a unit with rows of numbers: run_unit.mjs UNIT ROWS ANSWERS; all results of each run, one after the other, are written.
import { openSync, readFileSync, writeSync } from "node:fs";
import { RigUnit } from "../src/live/rig_unit.ts";
import { Unit } from "../src/live/unit.ts";

const [packed, rows, answers] = process.argv.slice(2) as [string, string, string];
const read = JSON.parse(readFileSync(packed, "utf8")), unit = await ("ideal" in read.calls ? RigUnit.load(read) : Unit.load(read)), file = openSync(answers, "w");
for (const row of JSON.parse(readFileSync(rows, "utf8")) as number[][]) {
  const run = unit.run(row);
  for (const name of unit.names) writeSync(file, new Uint8Array(run.numbers(name).buffer));
}
