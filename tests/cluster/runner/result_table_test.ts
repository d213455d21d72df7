import assert from "node:assert/strict";
import { fileTable, indented, resultTable } from "./result_table.ts";
import type { SuiteFile } from "./suite_table.ts";

const MARKET: SuiteFile = { name: "market", layer: "core", lane: "node", seconds: 110 };
const CRD: SuiteFile = { name: "crd", layer: 2, lane: "beside", seconds: 9 };

Deno.test("fileTable() has a row for each file", () => {
  assert.deepEqual(fileTable([MARKET, CRD]).split("\n"), [
    "  market  core        node    110 s",
    "  crd     rotation 2  beside  9 s",
  ]);
});

Deno.test("resultTable() has the longest file first", () => {
  const sums = { passed: 4, failed: 1, ignored: 0 };
  const results = [
    { file: CRD, sums, ms: 900, output: "" },
    { file: MARKET, sums, ms: 101_000, output: "" },
  ];
  assert.deepEqual(resultTable(results).split("\n"), [
    "  market  node    101.0 s  4 passed  1 failed  0 ignored",
    "  crd     beside  0.9 s    4 passed  1 failed  0 ignored",
  ]);
});

Deno.test("indented() leaves no summary line at the left", () => {
  const text = indented("running\n\nok | 1 passed | 0 failed (1s)\n");
  assert.equal(text, "    running\n\n    ok | 1 passed | 0 failed (1s)");
  assert.doesNotMatch(text, /^(ok|FAILED) \| [0-9]+ passed/m);
});
