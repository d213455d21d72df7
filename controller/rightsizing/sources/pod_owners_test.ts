import assert from "node:assert/strict";
import type { Workload } from "../../../shared/api/workload.ts";
import type { PolicySpec } from "../../../shared/rightsizing/policy_spec.ts";
import {
  autoPolicy,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { createSampledPods } from "./pod_owners.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const METRICS: PolicySpec = autoPolicy({}, { provider: "metrics-server" });

/** A cluster of Deployments `web` and `db`, a pod each. */
function stage(policies: readonly PolicySpec[]) {
  const state = { nowMs: 0, uids: undefined as ReadonlySet<string> | undefined };
  const asked: string[] = [];
  const containers = [templateContainer()];
  const podOf = (name: string) => {
    const pod = workloadPod(`${name}-0`, containers);
    const { owner } = pod.metadata;
    const made = owner && { ...owner, name: owner.name.replace(/^web/, name) };
    return { ...pod, metadata: { ...pod.metadata, ...(made && { owner: made }) } };
  };
  const makes = { paused: false, replicas: 1, template: { containers, initContainers: [] } };
  const workloads = new Map<string, Workload>(["web", "db"].map((name) => {
    const workload = sampleWorkload({ makes });
    return [`shop/${name}`, { ...workload, metadata: { ...workload.metadata, name, uid: name } }];
  }));
  const pods = new Map(["web", "db"].map((name) => [`shop/${name}-0`, podOf(name)]));
  const owners = createSampledPods({
    pods: { get: (key) => pods.get(key) },
    workload: (kind, key) => kind === "Deployment" ? workloads.get(key) : undefined,
    replicaSet: () => undefined,
    workloadUIDs: () => state.uids,
    policies: () => policies,
    policyOf({ metadata: { name } }) {
      asked.push(name);
      return policies[0];
    },
    clock: { monotonic: () => state.nowMs },
  });
  const windowOf = (name: string): number | undefined =>
    owners.ownerOf({ namespace: "shop", name: `${name}-0` })?.windowMs;
  return { state, asked, owners, windowOf };
}

test("isWanted() is true where an enabled policy looks at metrics-server", () => {
  const isWanted = (...policies: PolicySpec[]): boolean => stage(policies).owners.isWanted();
  const disabled: PolicySpec = { ...METRICS, mode: "Disabled" };
  assert.equal(isWanted(), false);
  assert.equal(isWanted(autoPolicy(), disabled), false);
  assert.equal(isWanted(autoPolicy(), { ...METRICS, mode: "Recommend" }), true);
});

test("ownerOf() finds a pod's workload where its policy looks at metrics-server", () => {
  assert.equal(stage([METRICS]).windowOf("web"), METRICS.windowMs);
  assert.equal(stage([METRICS]).windowOf("job"), undefined);
  assert.equal(stage([autoPolicy()]).windowOf("web"), undefined);
  assert.equal(stage([]).windowOf("web"), undefined);
});

test("exists() is false only where the workload is known to be gone", () => {
  const { owners, state } = stage([]);
  assert.equal(owners.exists({ namespace: "shop", uid: "web" }), true);
  state.uids = new Set(["web"]);
  assert.equal(owners.exists({ namespace: "shop", uid: "web" }), true);
  assert.equal(owners.exists({ namespace: "shop", uid: "db" }), false);
});

test("ownerOf() asks once a workload in a reading, and begins the next one with nothing", () => {
  const { windowOf, asked, state } = stage([METRICS]);
  for (const name of ["web", "web", "db"]) windowOf(name);
  state.nowMs = 9999;
  windowOf("job");
  windowOf("db");
  assert.deepEqual(asked, ["web", "db"]);
  state.nowMs = 10_000;
  windowOf("db");
  state.nowMs = 15_000;
  windowOf("web");
  windowOf("db");
  assert.deepEqual(asked, ["web", "db", "db", "web"]);
  state.nowMs = 20_000;
  windowOf("web");
  assert.equal(asked.length, 5, "what was learnt late in a reading goes with the rest");
});
