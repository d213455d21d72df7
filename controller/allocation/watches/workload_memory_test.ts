import assert from "node:assert/strict";
import type { Workload } from "../../../shared/api/workload.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { createWorkloadMemory } from "./workload_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const KEY = "shop/web";

function stage(...present: Workload[]) {
  const objects = new Map(present.map((one) => [KEY, one]));
  const changed = createWorkloadMemory({
    get: (key) => objects.get(key),
    all: () => objects.values(),
  });
  return (workload: Workload | undefined): boolean => {
    if (workload === undefined) objects.delete(KEY);
    else objects.set(KEY, workload);
    return changed(KEY);
  };
}

test("createWorkloadMemory() reports workloads that come and go, once", () => {
  const change = stage();
  assert.deepEqual([change(sampleWorkload()), change(sampleWorkload())], [true, false]);
  assert.deepEqual([change(undefined), change(undefined)], [true, false]);
});

test("createWorkloadMemory() reports when a rollout begins and ends, and of no pod in between", () => {
  const change = stage(sampleWorkload());
  const counts = [[3, 3], [0, 4], [1, 4], [3, 4], [3, 3], [5, 5]] as const;
  assert.deepEqual(
    counts.map(([updated, total]) => change(sampleWorkload({ rollout: { updated, total } }))),
    [false, true, false, false, true, false],
  );
});

test("createWorkloadMemory() reports other annotations", () => {
  const change = stage(sampleWorkload());
  const annotations = { "mbcas.io/hpa-coordination": "false" };
  assert.deepEqual([change(sampleWorkload({ annotations })), change(sampleWorkload())], [
    true,
    true,
  ]);
});

test("createWorkloadMemory() reports other labels", () => {
  const change = stage(sampleWorkload());
  const { metadata, ...rest } = sampleWorkload();
  const labelled = { ...rest, metadata: { ...metadata, labels: { "mbcas.io/managed": "false" } } };
  assert.deepEqual([change(labelled), change(labelled), change(sampleWorkload())], [
    true,
    false,
    true,
  ]);
});

test("createWorkloadMemory() ignores labels and annotations that are not the market's, and about templates", () => {
  const own = { "mbcas.io/hpa-coordination": "false" };
  const change = stage(sampleWorkload({ annotations: own }));
  const annotations = { ...own, "optipod.io/last-recommendation": "2026-01-02T03:04:05.000Z" };
  const { metadata, ...rest } = sampleWorkload({ annotations });
  const labelled = { ...rest, metadata: { ...metadata, labels: { app: "web" } } };
  assert.equal(change(labelled), false);
  const makes = { paused: false, replicas: 2, template: { containers: [], initContainers: [] } };
  assert.equal(change({ ...labelled, makes }), false);
  assert.equal(change({ ...labelled, unreadableTemplate: "Cannot read it" }), false);
  assert.equal(change(sampleWorkload()), true);
});
