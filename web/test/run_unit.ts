// Runs a unit with rows of numbers: run_unit.mjs UNIT ROWS ANSWERS; all results of each run, one after the other, are written.
import { readFileSync, writeFileSync } from "node:fs";
import { Unit } from "../src/live/unit.ts";

const [packed, rows, answers] = process.argv.slice(2) as [string, string, string];
const unit = await Unit.load(JSON.parse(readFileSync(packed, "utf8")));
const found = (JSON.parse(readFileSync(rows, "utf8")) as number[][]).flatMap((row) => {
  const run = unit.run(row);
  return unit.names.map((name) => Buffer.from(run.numbers(name).buffer));
});
writeFileSync(answers, Buffer.concat(found));
