import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { unpackColumns } from "../src/columns.ts";

// what Python packed, and the numbers themselves: tests/report/test_columns.py writes both
const file = process.env.PACKED_COLUMNS;

test("columns are what Python packed", { skip: !file }, async () => {
  const { packed, values, within } = JSON.parse(readFileSync(file!, "utf8"));
  const columns = await unpackColumns(packed);
  values.forEach((expected: (number | null)[], place: number) => {
    const found = columns.at(place);
    assert.equal(found.length, expected.length);
    expected.forEach((value, i) => {
      if (value === null) assert.ok(Number.isNaN(found[i]));
      else assert.ok(Math.abs(found[i]! - value) <= within[place], `column ${place}, row ${i}: ${found[i]} for ${value}`);
    });
  });
  assert.throws(() => columns.at(values.length), RangeError);
});
