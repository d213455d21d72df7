import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { podsOfWorkload, type ReadPlacementCaches } from "./caches.ts";
import {
  eligibilityInput,
  placedPodsOf,
  placedPodsWithBudgets,
  replicaStatus,
} from "./workload_snapshot.ts";
import {
  listedObjects,
  type ObjectLists,
} from "../../tests/fixtures/placement/placement_reader.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";

const SPOT = { "karpenter.sh/capacity-type": "spot" };
const sample = sampleWorkload();
const WEB: Workload = { ...sample, metadata: { ...sample.metadata, uid: "d" } };
const NEW = { namespace: "shop", uid: "", resourceVersion: "" };

function podOf(
  name: string,
  { owner = "rs", ...change }: Partial<Pod> & { owner?: string } = {},
): Pod {
  const pod = { ...samplePod(name, { nodeName: "spot-1" }), phase: "Running" as const, ...change };
  const controller = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-h", uid: owner };
  const labels = { app: "web", "pod-template-hash": "h" };
  return {
    ...pod,
    ready: true,
    metadata: { ...pod.metadata, labels, uid: name, owner: controller },
  };
}

/** These objects beside the ReplicaSet and a spot node. */
function cachesWith({ nodes = [], ...lists }: ObjectLists): ReadPlacementCaches {
  return listedObjects({
    ...lists,
    nodes: [...nodes, { ...sampleNode("spot-1"), labels: SPOT }],
    replicaSets: [{
      metadata: { ...NEW, name: "web-h", uid: "rs" },
      deployment: { name: "web", uid: "d" },
    }],
  });
}

const INPUT = {
  settings: () => PLACEMENT_DEFAULTS,
  evicted: new Set<string>(),
};

function placed(pod: Pod, more: ObjectLists = {}): PlacedPod | undefined {
  const caches = cachesWith({ pods: [pod], ...more });
  return placedPodsOf(WEB, { ...INPUT, caches })[0];
}

Deno.test("podsOfWorkload() finds pods by the chain of owners' UIDs, whatever their names and labels", () => {
  const caches = cachesWith({ pods: [podOf("own"), podOf("foreign", { owner: "other" })] });
  const namesOf = (uid: string): readonly string[] =>
    podsOfWorkload({ ...WEB, metadata: { ...WEB.metadata, uid } }, caches)
      .map(({ metadata }) => metadata.name);
  assert.deepEqual(namesOf("d"), ["own"]);
  // One of the same name that was made anew.
  assert.deepEqual(namesOf("reborn"), []);
});

const SAMPLE_NODE = sampleNode("node-1");

function tainted(key: string) {
  return { ...SAMPLE_NODE, labels: SPOT, taints: [{ key, value: "", effect: "NoSchedule" }] };
}

Deno.test("placedPodsOf() counts no pod that ends or loses its node, and only the latter departs", () => {
  const drained = "karpenter.sh/disrupted";
  const itn = "aws-node-termination-handler/spot-itn";
  const pod = podOf("a", { nodeName: "node-1" });
  const terminating = { ...pod, metadata: { ...pod.metadata, terminating: true } };
  const rows: readonly (readonly [Pod, string | undefined, string | undefined, boolean?])[] = [
    [pod, undefined, undefined],
    [{ ...pod, phase: "Succeeded" }, undefined, "gone"],
    [{ ...pod, phase: "Failed" }, undefined, "gone"],
    [terminating, drained, "gone"],
    [pod, drained, `taint ${drained} 7 true`],
    [pod, itn, `taint ${itn} 7 undefined`],
    [pod, drained, "gone", true],
  ];
  for (const [one, taint, expected, evicted = false] of rows) {
    const nodes = [taint === undefined ? SAMPLE_NODE : tainted(taint)];
    const [found] = placedPodsOf(WEB, {
      ...INPUT,
      caches: cachesWith({ pods: [one], nodes }),
      evicted: new Set(evicted ? ["a"] : []),
      signSinceMs: (node, sign) => node === "node-1" && sign === `taint ${taint}` ? 7 : 8,
    });
    const { gone, departs, departsSinceMs, drained } = found!;
    const departure = departs && [departs, departsSinceMs, drained].map(String).join(" ");
    assert.deepEqual([gone, departure], [
      expected !== undefined,
      expected === "gone" ? undefined : expected,
    ]);
  }
});

Deno.test("placedPodsOf() lets a pod that loses its node move, whatever node it asks for", () => {
  const asked = { key: "karpenter.sh/capacity-type", operator: "In", values: ["spot"] } as const;
  const pods = [podOf("a", { nodeName: "node-1", requiredNodes: [[asked]] })];
  const pinned = [tainted("other"), tainted("aws-node-termination-handler/spot-itn")].map(
    (node) => {
      const caches = cachesWith({ pods, nodes: [node] });
      return placedPodsOf(WEB, { ...INPUT, caches })[0]?.pinned !== undefined;
    },
  );
  assert.deepEqual(pinned, [true, false]);
});

Deno.test("placedPodsOf() has since when a pod without a node waits", () => {
  const found = placed(podOf("a", { nodeName: "", nodeSelector: SPOT, unschedulableSinceMs: 5 }));
  const { class: one, node, scheduled, unschedulableSinceMs } = found!;
  assert.deepEqual([one, node, scheduled, unschedulableSinceMs], ["spot", "", false, 5]);
  assert.equal(placed(podOf("a", { unschedulableSinceMs: 5 }))?.unschedulableSinceMs, undefined);
});

Deno.test("placedPodsOf() finds what pins a pod in selector, affinity and volumes", () => {
  const expression = {
    key: "karpenter.sh/capacity-type",
    operator: "In" as const,
    values: ["spot"],
  };
  const free = placed(podOf("a", { claims: ["data"] }));
  assert.equal(free?.pinned, undefined);
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  const kept = (nodeName: string) => {
    const pod = podOf("a", { nodeName });
    return placed({ ...pod, metadata: { ...pod.metadata, annotations } })?.pinned;
  };
  // A pod that does not run can't be disrupted.
  assert.match(kept("spot-1") ?? "", /do-not-disrupt/);
  assert.equal(kept(""), undefined);
  const pinned = placed(podOf("a", { requiredNodes: [[expression]] }));
  assert.match(pinned?.pinned ?? "", /affinity.* on-demand/);
  const named = placed(podOf("a", { nodeSelector: { "kubernetes.io/hostname": "spot-1" } }));
  assert.match(named?.pinned ?? "", /node selector.* on-demand/);
  const host = { key: "kubernetes.io/hostname", operator: "In" as const, values: ["spot-1"] };
  const volumes = [{
    metadata: { name: "pv", uid: "", resourceVersion: "" },
    claim: "shop/data",
    nodes: [[host]],
  }];
  const local = placed(podOf("a", { claims: ["data"] }), { volumes });
  assert.match(local?.pinned ?? "", /volume data.* on-demand/);
});

Deno.test("placedPodsWithBudgets() has the budget that blocks an eviction, and matches pods with the same labels once", () => {
  let reads = 0;
  const { selector, ...others } = sampleBudget();
  const counted = {
    ...others,
    get selector() {
      reads++;
      return selector;
    },
  } as PodDisruptionBudget;
  const pods = Array.from({ length: 100 }, (_, index) => podOf(`web-${index}`));
  const caches = cachesWith({ pods, budgets: [counted] });
  const asked = placedPodsWithBudgets(WEB, { ...INPUT, caches });
  assert.equal(asked.filter(({ budget }) => budget !== undefined).length, 100);
  assert.ok(reads < 10, `${reads} reads`);
});

Deno.test("eligibilityInput() and replicaStatus() read labels and counts", () => {
  const metadata = {
    name: "shop",
    uid: "",
    resourceVersion: "",
    labels: { a: "b" },
    annotations: {},
  };
  assert.equal(eligibilityInput(WEB, { metadata }).namespace.metadata?.labels["a"], "b");
  assert.equal(eligibilityInput(WEB, undefined).namespace.metadata, undefined);
  const replicas = { replicas: 3, observed: true, present: 3, ready: 2, updated: 3 };
  assert.equal(replicaStatus({ ...WEB, replicas })?.ready, 2);
  assert.equal(replicaStatus(WEB), undefined);
});
