// Runs a unit with rows of numbers: run_unit.mjs UNIT ROWS ANSWERS; all results of each run, one after the other, are written.
import { openSync, readFileSync, writeSync } from "node:fs";
import { Unit } from "../src/live/unit.ts";

const [packed, rows, answers] = process.argv.slice(2) as [string, string, string];
const unit = await Unit.load(JSON.parse(readFileSync(packed, "utf8"))), file = openSync(answers, "w");
for (const row of JSON.parse(readFileSync(rows, "utf8")) as number[][]) {
  const run = unit.run(row);
  for (const name of unit.names) writeSync(file, new Uint8Array(run.numbers(name).buffer));
}
