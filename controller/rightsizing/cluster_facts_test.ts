import assert from "node:assert/strict";
import type { HorizontalPodAutoscaler } from "../../shared/api/autoscalers.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
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
import { createClusterFacts } from "./cluster_facts.ts";

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const { workload } = rightsizingFacts();
const ONE = { workload, policy: autoPolicy(), nowMs: NOW_MS };
const KNOWN = {
  recommendations: [],
  samples: new Map<string, number>(),
  memoryPeaks: new Map<string, number>(),
  inForce: new Map<string, never>(),
};

interface Choice {
  readonly pods?: readonly Pod[];
  readonly allocation?: PodAllocation;
  readonly autoscalers?: readonly HorizontalPodAutoscaler[];
  /** The cache that does not become complete. */
  readonly lacks?: string;
}

function factsWith({ pods = [], allocation, autoscalers = [], lacks }: Choice = {}) {
  const synced = (name: string) => ({ whenSynced: () => Promise.resolve(name !== lacks) });
  const node = { metadata: { name: "node-1" }, pressures: [] };
  return createClusterFacts({
    caches: {
      pods: { ...synced("pods"), byIndex: () => pods },
      replicaSets: { ...synced("ReplicaSets"), get: () => undefined },
      nodes: {
        ...synced("nodes"),
        get: (name) => name === "node-1" ? node as never : undefined,
        all: () => [node as never],
      },
      allocations: {
        ...synced("allocations"),
        get: (key) => key === "shop/uid-web-1" ? allocation : undefined,
      },
      horizontalPodAutoscalers: { ...synced("horizontal"), byIndex: () => autoscalers },
      verticalPodAutoscalers: {
        ...synced("vertical"),
        byIndex: () => [sampleVPA("Off", { unreadable: "no target" })],
      },
    },
    corrections: createCorrectionMemory(),
    rulesOf: () => ({ quotas: [], unreadable: ["LimitRange r: no number"] }),
    dryRun: () => true,
    served: () => ({ resizeServed: true, lowersMemoryLimits: false }),
    missingPermissions: () => [],
  });
}

const container = templateContainer();
const web = workloadPod("web-1", [container]);

test("podsIn() leaves out pods that have ended or are ending", () => {
  const ended: Pod = { ...workloadPod("web-2", [container]), phase: "Succeeded" };
  const ending: Pod = { ...web, metadata: { ...web.metadata, name: "web-3", terminating: true } };
  const { podsIn } = factsWith({ pods: [web, ended, ending] });
  assert.deepEqual(podsIn("shop").map(({ metadata }) => metadata.name), ["web-1"]);
});

test("factsOf() has the workload's own pods, nodes and autoscalers, and a sentence for each that can't be read", () => {
  const { owner: _owner, ...metadata } = workloadPod("lonely", [container]).metadata;
  const autoscalers = [
    sampleHPA(),
    sampleHPA({ target: { kind: "Deployment", name: "db" } }),
  ];
  const facts = factsWith({ pods: [web, { ...web, metadata }], autoscalers }).factsOf(ONE, KNOWN);
  assert.deepEqual(facts.pods.map((pod) => pod.metadata.name), ["web-1"]);
  assert.deepEqual([...facts.nodes.keys()], ["node-1"]);
  assert.deepEqual([facts.autoscalers.length, facts.verticalAutoscalers.length], [1, 1]);
  assert.deepEqual(facts.unreadable, [
    "LimitRange r: no number",
    "VerticalPodAutoscaler web-vpa: no target",
  ]);
  assert.deepEqual([facts.dryRun, facts.marketManages, facts.lowersMemoryLimits], [
    true,
    false,
    false,
  ]);
});

test("factsOf() has the user's original limit where the market has set another", () => {
  const allocation = {
    status: { originalLimits: [{ name: "app", cpu: "700m" }] },
  } as unknown as PodAllocation;
  const facts = factsWith({ pods: [web], allocation }).factsOf(ONE, KNOWN);
  assert.equal(facts.marketManages, true);
  assert.equal(facts.pods[0]?.containers[0]?.limits.cpu, 700);
  assert.equal(facts.pods[0]?.containers[0]?.limits.memory, 128 * MI);
});

test("correctionsOf() has the kills within the policy's window, until the workload is deleted", () => {
  const killed = workloadPod("web-1", [templateContainer({ oomKilledAtMs: NOW_MS - 1000 })]);
  const pods = [killed];
  const facts = factsWith({ pods });
  const kills = (windowMs: number): unknown =>
    facts.correctionsOf({ ...ONE, policy: autoPolicy({}, { windowMs }) }).get("app")?.oomKills;
  assert.equal(kills(1000), undefined);
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  pods.length = 0;
  assert.deepEqual(kills(1001), [{ hadBytes: 128 * MI }]);
  facts.keepOnly((key) => key !== "Deployment/shop/web");
  assert.equal(kills(1001), undefined);
});

test("whenSynced() waits for all caches", async () => {
  const { signal } = new AbortController();
  assert.equal(await factsWith().whenSynced(signal), true);
  for (const lacks of ["pods", "nodes", "allocations", "horizontal", "vertical"]) {
    assert.equal(await factsWith({ lacks }).whenSynced(signal), false, lacks);
  }
});
