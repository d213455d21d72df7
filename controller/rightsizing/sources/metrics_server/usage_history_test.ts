import assert from "node:assert/strict";
import type { KubePodUsage } from "../../../../adapters/kube/kinds/pod_metrics.ts";
import { pure } from "../../../../tests/fixtures/pure.ts";
import type { UsageQuery, WorkloadIdentity } from "../../ports.ts";
import { createSampledPods, type PodOwner } from "./sampled_pods.ts";
import { readHistory, storedHistory, UsageHistory, type WorkloadHistory } from "./usage_history.ts";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { ReplicaSet, Workload } from "../../../../shared/api/workload.ts";
import type { PolicySpec } from "../../../../shared/rightsizing/policy_spec.ts";
import { fixedCache } from "../../../../tests/fixtures/caches.ts";
import {
  autoPolicy,
  templateContainer,
  workloadPod,
} from "../../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { storedPolicy } from "../../../../tests/fixtures/rightsizing/workload_records.ts";
import {
  ownedBy,
  sampleWorkload,
  workloadSpec,
} from "../../../../tests/fixtures/sample_workloads.ts";

const HOUR_MS = 3_600_000;
const WEB: WorkloadIdentity = { kind: "Deployment", name: "web", uid: "u1" };
const NOW_MS = 1_767_225_600_000;
const OWNER: PodOwner = { uid: WEB.uid, containers: ["app", "proxy"], windowMs: HOUR_MS };

function reading(over: Partial<KubePodUsage> & { cpu?: number } = {}): KubePodUsage {
  const { cpu = 100, ...rest } = over;
  const containers = ["app", "proxy", "init"].map((name) => ({ name, cpu, memory: 2 * cpu }));
  return { namespace: "shop", pod: "web-a", timeMs: NOW_MS, containers, ...rest };
}

function question(toMs = NOW_MS, windowMs = HOUR_MS): UsageQuery {
  return {
    namespace: "shop",
    workload: WEB,
    pods: ["web-a"],
    otherPods: [],
    containers: ["app", "proxy"],
    window: { fromMs: toMs - windowMs, toMs },
  };
}

function historyStage(kept = new Map<string, WorkloadHistory>()) {
  const history = new UsageHistory(kept, 16);
  const add = (reading: KubePodUsage, { owner = OWNER, nowMs = NOW_MS } = {}): void =>
    history.add(reading, { owner, nowMs });
  const app = (asked = question()) =>
    history.usage(asked, asked.window.toMs).get("app") ?? assert.fail();
  return { kept, history, add, app };
}

pure("add() counts a reading of a pod once, over all pods, of the owner's containers only", () => {
  const { kept, history, add, app } = historyStage();
  assert.equal(app().cpu.count, 0);
  for (const timeMs of [NOW_MS, NOW_MS, NOW_MS - 1]) add(reading({ timeMs }));
  assert.equal(app().cpu.count, 1);
  add(reading({ pod: "web-b", cpu: 300 }));
  const { cpu, memory } = app();
  assert.deepEqual([cpu.count, cpu.min, cpu.max], [2, 100, 300]);
  assert.deepEqual([memory.count, memory.min, memory.max], [2, 200, 600]);
  assert.deepEqual([...history.usage(question(), NOW_MS).keys()], ["app", "proxy"]);
  assert.equal(kept.get("u1")?.containers.has("init"), false);
  const other = { ...question(), workload: { ...WEB, uid: "made again" } };
  assert.equal(app(other).cpu.count, 0);
});

pure("add() passes over readings that are too old to know whether they were counted", () => {
  const { add, app } = historyStage();
  add(reading({ timeMs: NOW_MS - 600_000 }));
  assert.equal(app().cpu.count, 0);
  add(reading({ timeMs: NOW_MS - 599_999 }));
  assert.equal(app().cpu.count, 1);
});

pure("add() counts nothing of the time that an earlier process has counted", () => {
  const countedMs = NOW_MS - 100;
  const before = { newestMs: countedMs, countedMs, containers: new Map() };
  const { add, app } = historyStage(new Map([["u1", before]]));
  for (const pod of ["web-a", "web-b"]) {
    add(reading({ pod, timeMs: countedMs }));
    add(reading({ pod, timeMs: countedMs + 1 }));
  }
  assert.equal(app().cpu.count, 2);
});

pure("add() keeps what there is when the window changes, as far as it covers it", () => {
  const { add, app } = historyStage();
  add(reading({ timeMs: NOW_MS - 300_000 }));
  add(reading());
  const owner = { ...OWNER, windowMs: 200_000 };
  add(reading({ timeMs: NOW_MS + 1 }), { owner, nowMs: NOW_MS + 1 });
  assert.equal(app(question(NOW_MS + 1)).cpu.count, 2);
});

pure("readHistory() reads what storedHistory() makes, in whatever shape rings now have", () => {
  const { kept, add } = historyStage();
  add(reading({ cpu: 0.5 }));
  add(reading({ pod: "web-b", timeMs: NOW_MS - 500_000, cpu: 1e9 }));
  const one = kept.get("u1") ?? assert.fail();
  const stored = JSON.parse(JSON.stringify(storedHistory(one)));
  for (const slots of [16, 32]) {
    const read = readHistory(stored, { nowMs: NOW_MS, slots });
    assert.deepEqual([read.newestMs, read.countedMs], [NOW_MS, NOW_MS]);
    const { cpu, memory } = historyStage(new Map([["u1", read]])).app();
    assert.deepEqual([cpu.count, cpu.min, cpu.max, cpu.oldestMs], [2, 0.5, 1e9, NOW_MS - 500_000]);
    assert.deepEqual([memory.count, memory.min, memory.max], [2, 1, 2e9]);
  }
  assert.equal(readHistory(stored, { nowMs: NOW_MS - 1, slots: 16 }).newestMs, NOW_MS - 1);
  for (const wrong of [{ newestMs: "" }, { windowMs: 0 }, { containers: { app: {} } }]) {
    const read = () => readHistory({ ...stored, ...wrong }, { nowMs: NOW_MS, slots: 16 });
    assert.throws(read, SyntaxError);
  }
});

const METRICS: PolicySpec = autoPolicy({}, { provider: "metrics-server" });
const DISABLED: PolicySpec = { ...METRICS, mode: "Disabled" };

/** Owners of pods `web-0` and `db-0` of Deployments of these names, and of another kind, under these policies. */
function sampledPods(...specs: readonly PolicySpec[]) {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const spec = workloadSpec(containers);
  const workloads: Workload[] = [];
  const pods: Pod[] = [];
  for (const name of ["web", "db"]) {
    const workload = sampleWorkload({ spec });
    workloads.push({ ...workload, metadata: { ...workload.metadata, name, uid: name } });
    const pod = workloadPod(`${name}-0`, containers);
    const { owner } = pod.metadata;
    const made = owner && { ...owner, name: owner.name.replace(/^web/, name) };
    pods.push({ ...pod, metadata: { ...pod.metadata, ...(made && { owner: made }) } });
  }
  // A pod names what owner it likes.
  pods.push(ownedBy("constructor", workloadPod("odd-0", containers)));
  let reads = 0;
  const all = specs.map((spec, index) => storedPolicy(`${index}`, spec));
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

pure("createLookup() finds a pod's workload once for a reading", () => {
  const ownerOf = (name: string, ...policies: PolicySpec[]) =>
    sampledPods(...policies).owners.createLookup()({ namespace: "shop", name });
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
    const ownerOf = owners.createLookup();
    for (const name of ["web-0", "web-0", "db-0"]) ownerOf({ namespace: "shop", name });
    assert.equal(reads(), matched);
  }
});

pure("workloadUIDs() is known once all workloads are", () => {
  const { owners, unsynced } = sampledPods();
  assert.deepEqual(owners.workloadUIDs(), new Set(["web", "db"]));
  assert.equal(unsynced.workloadUIDs(), undefined);
});
