import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { placedPods, sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import type { Pod } from "../api/pod.ts";
import type { Workload } from "../api/workload.ts";
import {
  budgetRefusal,
  eligibilityInput,
  type PlacedObjects,
  placedPodsOf,
  placedPodsWithBudgets,
  podsOfWorkload,
  replicaStatus,
} from "./workload_snapshot.ts";
import { listedObjects, type ObjectLists } from "../../tests/fixtures/placement/listed_objects.ts";
import { PLACEMENT_CONFIG } from "../../tests/fixtures/placement/placement_config.ts";
import { NODE_CLASS_PRESETS } from "./node_classes.ts";
import {
  classifyPod,
  countByClass,
  type PlacedPod,
  runningByClass,
  waitingByClass,
} from "./placed_pod.ts";

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
function objectsWith({ nodes = [], ...lists }: ObjectLists): PlacedObjects {
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
  config: PLACEMENT_CONFIG,
  evicted: new Set<string>(),
};

function placed(pod: Pod, more: ObjectLists = {}): PlacedPod | undefined {
  const objects = objectsWith({ pods: [pod], ...more });
  return placedPodsOf(WEB, { ...INPUT, objects })[0];
}

Deno.test("podsOfWorkload() finds pods by the chain of owners' UIDs, whatever their names and labels", () => {
  const objects = objectsWith({ pods: [podOf("own"), podOf("foreign", { owner: "other" })] });
  const namesOf = (uid: string): readonly string[] =>
    podsOfWorkload({ ...WEB, metadata: { ...WEB.metadata, uid } }, objects)
      .map(({ metadata }) => metadata.name);
  assert.deepEqual(namesOf("d"), ["own"]);
  // One of the same name that was made anew.
  assert.deepEqual(namesOf("reborn"), []);
});

const SAMPLE_NODE = sampleNode("node-1");

function tainted(key: string) {
  return { ...SAMPLE_NODE, labels: SPOT, taints: [{ key, value: "", effect: "NoSchedule" }] };
}

Deno.test("classifyPod() takes the class from the node, then from the selector, then from the label", () => {
  const { karpenter, aks } = NODE_CLASS_PRESETS;
  const spot = { ...SAMPLE_NODE, labels: SPOT };
  const rows = [
    ["spot", spot, undefined, undefined],
    ["on-demand", SAMPLE_NODE, "spot", "spot"],
    ["spot", undefined, "spot", "on-demand"],
    ["on-demand", undefined, "on-demand", "spot"],
    ["spot", undefined, undefined, "spot"],
    ["on-demand", undefined, undefined, "none"],
    ["on-demand", undefined, undefined, undefined],
    ["on-demand", undefined, undefined, "on-demand", aks],
    ["spot", undefined, undefined, "spot", aks],
  ] as const;
  for (const [expected, node, type, label, classes = karpenter] of rows) {
    const pod = podOf("a", type && { nodeSelector: { "karpenter.sh/capacity-type": type } });
    const labels = label === undefined ? {} : { "spotalis.io/capacity": label };
    const labelled = { ...pod, metadata: { ...pod.metadata, labels } };
    const found = classifyPod(labelled, { ...INPUT.config, classes, node, evicted: false });
    assert.equal(found.class, expected, JSON.stringify([node?.labels, type, label]));
  }
});

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
      objects: objectsWith({ pods: [one], nodes }),
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
      const objects = objectsWith({ pods, nodes: [node] });
      return placedPodsOf(WEB, { ...INPUT, objects })[0]?.pinned !== undefined;
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

Deno.test("runningByClass(), waitingByClass() and countByClass() count pods", () => {
  const departs = { gone: true, departs: "taint spot-itn" };
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 2 }, { ready: false }),
    ...placedPods({ spot: 1, "on-demand": 4 }, { scheduled: false }),
    ...placedPods({ spot: 4 }, { gone: true }),
    ...placedPods({ spot: 4 }, departs),
  ];
  assert.deepEqual(runningByClass(pods), { spot: 3, "on-demand": 2 });
  assert.deepEqual(waitingByClass(pods), { spot: 1, "on-demand": 4 });
  assert.deepEqual(countByClass(pods), { spot: 12, "on-demand": 6 });
  // A pod on a drained node still runs.
  const drained = placedPods({ "on-demand": 3 }, { ...departs, drained: true });
  assert.deepEqual(runningByClass([...pods, ...drained]), { spot: 3, "on-demand": 5 });
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
  const objects = objectsWith({ pods, budgets: [counted] });
  const asked = placedPodsWithBudgets(WEB, { ...INPUT, objects });
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
  const objects = objectsWith({ namespaces: [{ metadata }] });
  assert.equal(eligibilityInput(WEB, objects).namespace.metadata?.labels["a"], "b");
  assert.equal(eligibilityInput(WEB, objectsWith({})).namespace.metadata, undefined);
  const replicas = { replicas: 3, observed: true, present: 3, ready: 2, updated: 3 };
  assert.equal(replicaStatus({ ...WEB, replicas })?.ready, 2);
  assert.equal(replicaStatus(WEB), undefined);
});

Deno.test("budgetRefusal() explains which budgets block an eviction", () => {
  const { selector: _none, ...unselecting } = sampleBudget();
  const selecting = (matchLabels: Readonly<Record<string, string>>) => ({
    selector: { matchLabels, matchExpressions: [] },
  });
  const refused = (ready: boolean, ...changes: readonly Partial<PodDisruptionBudget>[]) =>
    budgetRefusal(
      { labels: { app: "web" }, ready },
      changes.map((change) => ({ ...sampleBudget(), ...change })),
    )?.replace(/^budgets? \S+ /, "");
  assert.equal(refused(true, {}), "allows no disruption");
  assert.equal(refused(true, { disruptionsAllowed: 1 }), undefined);
  assert.equal(budgetRefusal({ labels: { app: "web" }, ready: true }, [unselecting]), undefined);
  assert.equal(refused(true, selecting({ app: "db" })), undefined);
  assert.equal(refused(true, selecting({})), "allows no disruption");
  // A pod of several budgets can't be evicted.
  assert.match(
    refused(true, { disruptionsAllowed: 3 }, { disruptionsAllowed: 3 }) ?? "",
    /same pod/,
  );
  assert.match(refused(true, { disruptionsAllowed: 1, current: false }) ?? "", /not counted yet/);
  assert.deepEqual([refused(false, {}), refused(true, { freesUnready: true })], [
    "allows no disruption",
    "allows no disruption",
  ]);
  assert.equal(refused(false, { freesUnready: true }), undefined);
});
