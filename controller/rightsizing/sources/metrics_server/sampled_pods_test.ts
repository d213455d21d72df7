import assert from "node:assert/strict";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { ReplicaSet, Workload } from "../../../../shared/api/workload.ts";
import type { PolicySpec, StoredPolicy } from "../../../../shared/rightsizing/policy_spec.ts";
import { fixedCache } from "../../../../tests/fixtures/caches.ts";
import { pure } from "../../../../tests/fixtures/pure.ts";
import {
  autoPolicy,
  templateContainer,
  workloadPod,
} from "../../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleWorkload } from "../../../../tests/fixtures/sample_workloads.ts";
import { createSampledPods } from "./sampled_pods.ts";

const METRICS: PolicySpec = autoPolicy({}, { provider: "metrics-server" });
const DISABLED: PolicySpec = { ...METRICS, mode: "Disabled" };

/** Owners of pods `web-0` and `db-0` of Deployments of these names, and of another kind, under these policies. */
function sampledPods(...specs: readonly PolicySpec[]) {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const makes = { paused: false, replicas: 1, template: { containers, initContainers: [] } };
  const workloads: Workload[] = [];
  const pods: Pod[] = [];
  for (const name of ["web", "db"]) {
    const workload = sampleWorkload({ makes });
    workloads.push({ ...workload, metadata: { ...workload.metadata, name, uid: name } });
    const pod = workloadPod(`${name}-0`, containers);
    const { owner } = pod.metadata;
    const made = owner && { ...owner, name: owner.name.replace(/^web/, name) };
    pods.push({ ...pod, metadata: { ...pod.metadata, ...(made && { owner: made }) } });
  }
  // A pod names what owner it likes.
  const owner = { apiVersion: "v1", kind: "constructor", name: "web", uid: "web" };
  const odd = workloadPod("odd-0", containers);
  pods.push({ ...odd, metadata: { ...odd.metadata, owner } });
  let reads = 0;
  const all = specs.map((spec, index) => ({
    metadata: { namespace: "shop", name: `${index}`, uid: "", resourceVersion: "", generation: 1 },
    spec,
    faults: [],
    status: {},
  })) satisfies StoredPolicy[];
  const parts = (synced: boolean) => ({
    caches: {
      pods: fixedCache(pods),
      deployments: fixedCache(workloads),
      statefulSets: fixedCache<Workload>([], synced),
      daemonSets: fixedCache<Workload>(),
    },
    replicaSets: fixedCache<ReplicaSet>(),
    policies: { all: () => (reads++, all) },
    input: () => ({ namespaces: new Map([["shop", {}]]), policyNamespaces: [] }),
  });
  return {
    owners: createSampledPods(parts(true)),
    unsynced: createSampledPods(parts(false)),
    reads: () => reads,
  };
}

pure("isWanted() is true where an enabled policy looks at metrics-server", () => {
  const isWanted = (...policies: PolicySpec[]) => sampledPods(...policies).owners.isWanted();
  assert.equal(isWanted(), false);
  assert.equal(isWanted(autoPolicy(), DISABLED), false);
  assert.equal(isWanted(autoPolicy(), { ...METRICS, mode: "Recommend" }), true);
});

pure("ofReading() finds a pod's workload once for a reading", () => {
  const ownerOf = (name: string, ...policies: PolicySpec[]) =>
    sampledPods(...policies).owners.ofReading()({ namespace: "shop", name });
  assert.deepEqual(ownerOf("web-0", METRICS), {
    uid: "web",
    containers: ["app"],
    windowMs: METRICS.windowMs,
  });
  for (const name of ["job-0", "odd-0"]) assert.equal(ownerOf(name, METRICS), undefined);
  for (const policies of [[autoPolicy()], [DISABLED], []]) {
    assert.equal(ownerOf("web-0", ...policies), undefined);
  }
  const { owners, reads } = sampledPods(METRICS);
  for (const matched of [2, 4]) {
    const ownerOf = owners.ofReading();
    for (const name of ["web-0", "web-0", "db-0"]) ownerOf({ namespace: "shop", name });
    assert.equal(reads(), matched);
  }
});

pure("workloadUIDs() is known once all workloads are", () => {
  const { owners, unsynced } = sampledPods();
  assert.deepEqual(owners.workloadUIDs(), new Set(["web", "db"]));
  assert.equal(unsynced.workloadUIDs(), undefined);
});
