import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Clock } from "../../shared/clock.ts";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { nodeTable, sampleOnce } from "./sample_once.ts";

pure("nodeTable() names a pod once and marks what is not known", () => {
  const containers = [
    {
      id: "b".repeat(64),
      usage: 120.4,
      throttled: 300,
      quota: 200,
      periods: 2,
      pressure: 0.755,
    },
    { id: "c".repeat(64) },
  ];
  const text = nodeTable({
    layout: "cgroup v2",
    cores: 4,
    intervalMs: 250.4,
    pods: [
      { uid: "pod-1", request: 99.6, containers },
      { uid: "pod-2", containers: [{ id: "d".repeat(64) }] },
    ],
    warnings: [],
  });
  const [layout, counts = "", ...lines] = text.split("\n");
  assert.equal(layout, "cgroup v2");
  assert.match(counts, /^2 pods, 3 containers, 4 CPUs, 250 ms /);
  assert.deepEqual(lines, [
    "",
    "POD    CONTAINER     USAGE  THROTTLED  QUOTA  REQUEST  PERIODS  WAITING",
    "pod-1  bbbbbbbbbbbb   120m       300m   200m     100m      0/2      76%",
    "       cccccccccccc      -          -      -                 -        -",
    "pod-2  dddddddddddd      -          -      -        -        -        -",
    "",
  ]);
});

pure("sampleOnce() takes cores from the flag, then the cgroups, then the machine", async () => {
  const clock: Clock = { wall: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const uid = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
  const files = { [`kubepods/pod${uid}/${"a".repeat(64)}/cpu.stat`]: "usage_usec 1\n" };
  const cores = async (more: Record<string, string>, flag = {}) => {
    const parts = { tree: createMemoryTree({ ...files, ...more }), clock, fallbackCores: 3 };
    const view = await sampleOnce(parts, { intervalMs: 250, ...flag });
    // The clock stands: no rates, but the pod is there.
    assert.deepEqual(view.pods, [{ uid, containers: [{ id: "a".repeat(64) }] }]);
    return view.cores;
  };
  const cpuset = { "cpuset.cpus.effective": "0-7\n" };
  assert.equal(await cores(cpuset, { cores: 5 }), 5);
  assert.equal(await cores(cpuset), 8);
  assert.equal(await cores({}), 3);
});
