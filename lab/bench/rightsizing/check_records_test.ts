import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import { checkRecords, expectedRequest } from "./check_records.ts";
import { containerName, namespaceOf, workloadName } from "./known_usage.ts";

const SIZE = { workloads: 2, pods: 2, containers: 2 };
const NOW_MS = Date.UTC(2026, 0, 2);

function recordsWith(moreCPU = 0): readonly WorkloadRecord[] {
  return [0, 1].map((workload) => ({
    workload: {
      kind: "Deployment",
      namespace: namespaceOf(workload),
      name: workloadName(workload),
    },
    policy: { namespace: "rightsizing", name: "everything" },
    status: "Recommended",
    reason: "RecommendOnly",
    message: "",
    recommendedAtMs: NOW_MS,
    recommendations: [0, 1].map((container) => {
      const request = (resource: "cpu" | "memory"): number =>
        Math.trunc(
          expectedRequest({ workload, container }, { size: SIZE, resource, nowMs: NOW_MS }),
        );
      return {
        container: containerName(container),
        cpu: request("cpu") + moreCPU * workload,
        memory: request("memory"),
        explanation: "",
      };
    }),
    inForce: [],
  } as WorkloadRecord));
}

pure("checkRecords() takes what is cut to whole units for right", () => {
  assert.deepEqual(checkRecords(recordsWith(), SIZE), { recommended: 4, wrong: 0 });
});

pure("checkRecords() finds requests that are off, missing, or twice there", () => {
  const { recommended, wrong, example } = checkRecords(recordsWith(3), SIZE);
  assert.deepEqual([recommended, wrong], [4, 2]);
  assert.match(example ?? "", /^team-0\/app-1 part-0: cpu \d+, expected \d+\.?\d*$/);
  const [first, second] = recordsWith();
  assert.deepEqual(checkRecords(first ? [first] : [], SIZE).wrong, 4);
  const twice = second && {
    ...second,
    recommendations: [...second.recommendations, ...second.recommendations.slice(0, 1)],
  };
  assert.equal(checkRecords(first && twice ? [first, twice] : [], SIZE).wrong, 2);
});
