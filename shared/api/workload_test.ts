import assert from "node:assert/strict";
import { DONE } from "../../tests/fixtures/sample_workloads.ts";
import { isRollingOut, type RolloutState } from "./workload.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function rolls(change: Partial<RolloutState>): boolean {
  return isRollingOut({ ...DONE, ...change });
}

test("isRollingOut() is false when all pods are of the newest template, or there are none", () => {
  assert.equal(rolls({}), false);
  assert.equal(rolls({ updated: 0, total: 0 }), false);
});

test("isRollingOut() is true until the last pod of an old template is gone", () => {
  assert.equal(rolls({ updated: 0 }), true);
  assert.equal(rolls({ updated: 2 }), true);
  assert.equal(rolls({ total: 4 }), true);
});

test("isRollingOut() is false while pods are not being replaced", () => {
  assert.equal(rolls({ updated: 1, total: 4, stands: true }), false);
});
