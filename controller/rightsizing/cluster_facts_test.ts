import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { HorizontalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { LimitRange, ResourceQuota } from "../../shared/api/namespace.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ReplicaSet, WorkloadKind } from "../../shared/api/workload.ts";
import { fixedCache } from "../../tests/fixtures/fixed_cache.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { createCorrectionMemory } from "./corrections.ts";
import { ClusterFacts } from "./cluster_facts.ts";
import { createPermissionMemory, type PermissionScope } from "./permissions.ts";

const KNOWN = {
  recommendations: [],
  samples: new Map<string, number>(),
  memoryPeaks: new Map<string, number>(),
  inForce: new Map<string, never>(),
};

const FORMER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9c", uid: "rs-former" };

function factsWith({ pods = [], originalLimit, autoscalers = [] }: {
  readonly pods?: readonly Pod[];
  readonly originalLimit?: string;
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
} = {}) {
  const metadata = { name: "", namespace: "shop", uid: "", resourceVersion: "" };
  const status = { originalLimits: [{ name: "app", cpu: originalLimit }] };
  const allocation = { metadata: { ...metadata, name: "uid-web-1" }, status };
  const odd = { metadata: { ...metadata, name: "r" }, items: [], unreadable: "no number" };
  const node: Node = {
    metadata: { name: "node-1", uid: "", resourceVersion: "" },
    allocatableCPU: 4000,
    ready: true,
    pressures: [],
  };
  const cluster = new ClusterFacts({
    caches: {
      pods: fixedCache(pods),
      replicaSets: fixedCache<ReplicaSet>([{
        metadata: { ...metadata, name: FORMER.name, uid: FORMER.uid },
        deployment: { name: "web", uid: "former" },
      }]),
      nodes: fixedCache([node]),
      allocations: fixedCache(originalLimit === undefined ? [] : [allocation as PodAllocation]),
      limitRanges: fixedCache<LimitRange>([odd]),
      resourceQuotas: fixedCache<ResourceQuota>(),
      horizontalPodAutoscalers: fixedCache(autoscalers),
      verticalPodAutoscalers: fixedCache([sampleVPA("Off", { unreadable: "no target" })]),
    },
    corrections: createCorrectionMemory(),
    dryRun: () => true,
    served: () => ({ resizeServed: true, lowersMemoryLimits: false }),
    missingPermissions: () => [],
  });
  const { workload } = rightsizingFacts();
  const one = (windowMs?: number) => ({
    workload,
    policy: autoPolicy({}, windowMs === undefined ? {} : { windowMs }),
    nowMs: NOW_MS,
    pods: cluster.podsOf(workload).own,
  });
  return { cluster, workload, one, facts: () => cluster.factsOf(one(), KNOWN) };
}

const web = workloadPod("web-1", [templateContainer()]);

pure("podsOf() separates the workload's own pods, without those that end", () => {
  const { owner: _owner, ...lonely } = { ...web.metadata, name: "lonely" };
  const pods: Pod[] = [
    web,
    { ...web, metadata: lonely },
    // Of a ReplicaSet that was left over by a former Deployment of the name.
    { ...web, metadata: { ...web.metadata, name: "web-former", owner: FORMER } },
    { ...workloadPod("web-2", []), phase: "Succeeded" },
    { ...web, metadata: { ...web.metadata, name: "web-3", terminating: true } },
  ];
  const { cluster, workload } = factsWith({ pods });
  const { own, others } = cluster.podsOf(workload);
  const namesOf = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata.name);
  assert.deepEqual([namesOf(own), namesOf(others)], [["web-1"], ["lonely", "web-former"]]);
});

pure("factsOf() has nodes, autoscalers, and a sentence for each unreadable object", () => {
  const autoscalers = [sampleHPA(), sampleHPA({ target: { kind: "Deployment", name: "db" } })];
  const facts = factsWith({ pods: [web], autoscalers }).facts();
  assert.deepEqual([...facts.nodes.keys()], ["node-1"]);
  assert.equal(facts.largestNode?.allocatableCPU, 4000);
  assert.deepEqual([facts.autoscalers.length, facts.verticalAutoscalers.length], [1, 1]);
  assert.deepEqual(facts.unreadable, [
    "LimitRange r: no number",
    "VerticalPodAutoscaler web-vpa: no target",
  ]);
  const { dryRun, marketManages, lowersMemoryLimits } = facts;
  assert.deepEqual([dryRun, marketManages, lowersMemoryLimits], [true, false, false]);
});

pure("factsOf() has the user's original limit where the market has set another", () => {
  const facts = factsWith({ pods: [web], originalLimit: "700m" }).facts();
  assert.equal(facts.marketManages, true);
  assert.deepEqual(facts.pods[0]?.containers[0]?.limits, { cpu: 700, memory: 128 * MI });
});

pure("correctionsOf() has kills within the window, until the workload is deleted", () => {
  const pods = [workloadPod("web-1", [templateContainer({ oomKilledAtMs: NOW_MS - 1000 })])];
  const { cluster, one } = factsWith({ pods });
  const kills = (windowMs: number) => cluster.correctionsOf(one(windowMs)).get("app")?.oomKills;
  assert.equal(kills(1000), undefined);
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  pods.length = 0;
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  cluster.keepOnly((key) => key !== "Deployment/shop/web");
  assert.equal(kills(1001), undefined);
});

pure("missing() has refused permissions of the namespace and kind, by method, for 30 s", () => {
  const scope = (namespace: string, kind: WorkloadKind = "Deployment"): PermissionScope => ({
    kind,
    metadata: { namespace },
  });
  let nowMs = 0;
  const { refused, missing } = createPermissionMemory({ clock: { monotonic: () => nowMs } });
  assert.deepEqual(missing(scope("shop")), []);
  const [get, patch] = ["get", "patch"].map((verb) => `${verb} deployments.apps in namespace shop`);
  const resize = "patch pods/resize in namespace shop";
  const others = "patch podallocations.allocation.mbcas.io/status in namespace shop";
  for (const one of [resize, get, patch, others]) refused(scope("shop"), one ?? "");
  assert.deepEqual(missing(scope("shop")), [
    { method: "InPlace", permission: resize },
    { method: "Recreate", permission: patch },
  ]);
  assert.deepEqual(missing(scope("bank")), []);
  assert.deepEqual(missing(scope("shop", "DaemonSet")), []);
  nowMs = 20_000;
  refused(scope("shop"), patch ?? "");
  for (const [atMs, expected] of [[30_000, ["Recreate"]], [50_000, []]] as const) {
    nowMs = atMs;
    assert.deepEqual(missing(scope("shop")).map(({ method }) => method), expected);
  }
});
