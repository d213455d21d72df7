import assert from "node:assert/strict";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import type { Pod } from "../api/pod.ts";
import type { Workload } from "../api/workload.ts";
import {
  budgetRefusal,
  eligibilityInput,
  type PlacedObjects,
  placedPodsOf,
  podsOfWorkload,
  replicaStatus,
  withBudgets,
} from "./workload_snapshot.ts";
import { listedObjects, type ObjectLists } from "../../tests/fixtures/placement/listed_objects.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "./node_departure.ts";
import { NODE_CLASS_PRESETS } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";

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
  config: { classes: NODE_CLASS_PRESETS.karpenter, departures: DEFAULT_DEPARTURE_SIGNS },
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

Deno.test("placedPodsOf() takes the class from the node, and from the pod while it has none", () => {
  assert.equal(placed(podOf("a"))?.class, "spot");
  const onDemand = podOf("a", { nodeName: "od" });
  assert.equal(placed(onDemand, { nodes: [sampleNode("od")] })?.class, "on-demand");
  const waiting = podOf("a", { nodeName: "", nodeSelector: SPOT, unschedulableSinceMs: 5 });
  const found = placed(waiting);
  assert.deepEqual([found?.class, found?.scheduled, found?.unschedulableSinceMs], [
    "spot",
    false,
    5,
  ]);
});

Deno.test("placedPodsOf() counts no pod that has ended, or is on a node that is about to go", () => {
  assert.equal(placed(podOf("a"))?.gone, false);
  assert.equal(placed(podOf("a", { phase: "Succeeded" }))?.gone, true);
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  const nodes = [{ ...sampleNode("dying"), labels: SPOT, taints }];
  const going = placed(podOf("a", { nodeName: "dying" }), { nodes });
  assert.deepEqual([going?.gone, going?.departs], [true, "taint karpenter.sh/disrupted"]);
  assert.equal(going?.departsSinceMs, undefined);
  const doomed = objectsWith({ pods: [podOf("a", { nodeName: "dying" })], nodes });
  const [known] = placedPodsOf(WEB, {
    ...INPUT,
    objects: doomed,
    signSinceMs: (node, sign) => node === "dying" && sign === going?.departs ? 7 : 8,
  });
  assert.equal(known?.departsSinceMs, 7);
  const objects = objectsWith({ pods: [podOf("a")] });
  const [evicted] = placedPodsOf(WEB, { ...INPUT, objects, evicted: new Set(["a"]) });
  assert.equal(evicted?.gone, true);
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
  // Of a pod that does not run there is nothing to disturb.
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

Deno.test("withBudgets() adds the budget that blocks an eviction", () => {
  const budgets = [sampleBudget()];
  const objects = objectsWith({ pods: [podOf("a")], budgets });
  const pods = placedPodsOf(WEB, { ...INPUT, objects });
  assert.equal(pods[0]?.budget, undefined);
  const [asked] = withBudgets(pods, { workload: WEB, objects });
  assert.match(asked?.budget ?? "", /web/);
});

Deno.test("withBudgets() matches pods with the same labels once", () => {
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
  const asked = withBudgets(placedPodsOf(WEB, { ...INPUT, objects }), { workload: WEB, objects });
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
  const replicas = { wanted: 3, observed: true, present: 3, ready: 2, updated: 3 };
  assert.equal(replicaStatus({ ...WEB, replicas })?.ready, 2);
  assert.equal(replicaStatus(WEB), undefined);
});

Deno.test("listedObjects() finds each object, and nothing in empty lists", () => {
  const volume = { metadata: { name: "pv", uid: "", resourceVersion: "" }, claim: "shop/data" };
  const pod = samplePod("web");
  const objects = listedObjects({ pods: [pod], nodes: [sampleNode("a")], volumes: [volume] });
  assert.equal(objects.node("a")?.metadata.name, "a");
  assert.equal(objects.node("b"), undefined);
  assert.deepEqual(objects.volumesOf("shop/data"), [volume]);
  assert.deepEqual(objects.volumesOf("shop/other"), []);
  // A pod without a controller has no owner.
  assert.deepEqual(objects.podsOwnedBy(""), []);
  const none = listedObjects({});
  assert.deepEqual([none.budgetsIn("shop"), none.replicaSetsOwnedBy("d"), [...none.nodes()]], [
    [],
    [],
    [],
  ]);
  assert.equal(none.namespace("shop"), undefined);
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
