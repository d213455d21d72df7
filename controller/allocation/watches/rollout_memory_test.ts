import assert from "node:assert/strict";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { createRolloutMemory } from "./rollout_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("createRolloutMemory() knows since when a rollout has made no step", () => {
  const stillSince = createRolloutMemory();
  const at = (nowMs: number, updated: number, total = 3): number | undefined =>
    stillSince(sampleWorkload({ rollout: { updated, total } }), nowMs);
  assert.deepEqual([at(100, 0), at(200, 0), at(300, 1), at(400, 1)], [100, 100, 300, 300]);
  assert.deepEqual([at(500, 1, 4), at(600, 1, 4)], [500, 500]);
  assert.deepEqual([at(700, 4, 4), at(800, 1, 4)], [undefined, 800]);
  assert.equal(stillSince(undefined, 900), undefined);
});

test("createRolloutMemory() forgets a workload that is not asked about any more", () => {
  const stillSince = createRolloutMemory();
  const workload = (uid: string) => {
    const sample = sampleWorkload({ rollout: { updated: 0 } });
    return { ...sample, metadata: { ...sample.metadata, uid } };
  };
  assert.equal(stillSince(workload("a"), 0), 0);
  assert.equal(stillSince(workload("b"), 3_600_000), 3_600_000);
  assert.equal(stillSince(workload("a"), 3_600_000), 0);
  assert.equal(stillSince(workload("c"), 7_300_000), 7_300_000);
  assert.equal(stillSince(workload("b"), 7_300_000), 7_300_000);
});
