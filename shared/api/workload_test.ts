import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { DONE } from "../../tests/fixtures/sample_workloads.ts";
import { isRollingOut, type RolloutState } from "./workload.ts";

function rolls(change: Partial<RolloutState>): boolean {
  return isRollingOut({ ...DONE, ...change });
}

pure("isRollingOut() is false when all pods are of the newest template, or there are none", () => {
  assert.equal(rolls({}), false);
  assert.equal(rolls({ updated: 0, total: 0 }), false);
});

pure("isRollingOut() is true until the last pod of an old template is gone", () => {
  assert.equal(rolls({ updated: 0 }), true);
  assert.equal(rolls({ updated: 2 }), true);
  assert.equal(rolls({ total: 4 }), true);
});

pure("isRollingOut() is false while pods are not being replaced", () => {
  assert.equal(rolls({ updated: 1, total: 4, stands: true }), false);
});
