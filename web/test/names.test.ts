import assert from "node:assert/strict";
import { test } from "node:test";
import { placedNames } from "../src/panel.ts";

const events = (...given: [name: string, at: number][]) => given.map(([name, at]) => ({ name, start: at - 1, end: at + 90, at }));

test("a contact's name stands at its own peak, however long it lasts; those too close share one text", () => {
  const placed = (...given: [string, number][]) => placedNames(events(...given), (at) => at, 6, [0, 1000]);
  assert.deepEqual(placed(["Q1", 100], ["Q2", 150]), [["Q1", 100], ["Q2", 150]]);
  assert.deepEqual(placed(["Q3", 210], ["Q4", 204], ["Q1", 100]), [["Q1", 100], ["Q3, Q4", 207]]);
  assert.deepEqual(placed(["Q1", 100], ["Q2", 110], ["Q3", 120], ["Q4", 500]), [["Q1–Q3", 110], ["Q4", 500]]);
  assert.deepEqual(placed(["Q1", -5], ["Q2", 50], ["hold", 55], ["Q3", 1001]), [["Q2", 50]]);
});
