import assert from "node:assert/strict";
import { addSums, NO_TESTS, summaryLine, sumsOf } from "./test_summary.ts";

const OUTPUT = "running 1 test\nok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)\n\n";
const FAILURES = "FAILED | 2 passed | 3 failed (4 steps) (2s)\nerror: Test failed\n";

Deno.test("sumsOf() reads Deno's summary line", () => {
  assert.deepEqual(sumsOf(OUTPUT, 0), { passed: 12, failed: 0, ignored: 1 });
  assert.deepEqual(sumsOf(FAILURES, 1), { passed: 2, failed: 3, ignored: 0 });
});

Deno.test("sumsOf() counts a process that fails without a failed test as one failure", () => {
  assert.deepEqual(sumsOf(OUTPUT, 1), { passed: 12, failed: 1, ignored: 1 });
  assert.deepEqual(sumsOf("error: not found\n", 1), { ...NO_TESTS, failed: 1 });
  assert.deepEqual(sumsOf("", 0), { ...NO_TESTS, failed: 1 });
});

Deno.test("summaryLine() adds up to what the checks read", () => {
  const sums = addSums(sumsOf(OUTPUT, 0), sumsOf(FAILURES, 1));
  assert.equal(summaryLine(sums, 61_400), "FAILED | 14 passed | 3 failed | 1 ignored (1m1s)");
  assert.equal(summaryLine(NO_TESTS, 900), "ok | 0 passed | 0 failed | 0 ignored (1s)");
});
