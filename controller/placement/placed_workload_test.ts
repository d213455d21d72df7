import assert from "node:assert/strict";
import type { Node } from "../../shared/api/node.ts";
import type { PersistentVolume } from "../../shared/api/persistent_volume.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { silentLog } from "../../shared/log.ts";
import { DEFAULT_DEPARTURE_SIGNS } from "../../shared/placement/node_departure.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_class_presets.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../../tests/contract/sample_objects.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { createCaches } from "../allocation/caches.ts";
import { placedPodsOf, podsOfWorkload, withBudgets } from "./placed_workload.ts";
import { createPlacementCopies } from "./placement_copies.ts";

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

/** The copies of a server with these objects. */
async function cachesWith(objects: {
  readonly pods: readonly Pod[];
  readonly nodes?: readonly Node[];
  readonly volumes?: readonly PersistentVolume[];
  readonly budgets?: readonly PodDisruptionBudget[];
}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const options = { clock, random: seededRandom(1), log: silentLog };
  const api = createSimulatedAPI({ ...options, latencyMs: 0 });
  const { tables } = api.store;
  for (const pod of objects.pods) tables.Pod.seed(pod);
  for (const node of objects.nodes ?? []) tables.Node.seed(node);
  for (const volume of objects.volumes ?? []) tables.PersistentVolume.seed(volume);
  for (const budget of objects.budgets ?? []) tables.PodDisruptionBudget.seed(budget);
  tables.Node.seed({ ...sampleNode("spot-1"), labels: SPOT });
  tables.ReplicaSet.seed({
    metadata: { ...NEW, name: "web-h", uid: "rs" },
    deployment: { name: "web", uid: "d" },
  });
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementCopies({
      replicaSets: api.listWatch("ReplicaSet"),
      budgets: api.listWatch("PodDisruptionBudget"),
      volumes: api.listWatch("PersistentVolume"),
    }, options),
  };
  const { signal } = new AbortController();
  const { pods, nodes, replicaSets, budgets, volumes } = caches;
  for (const copy of [nodes, replicaSets, budgets, volumes]) void copy.run(signal);
  void pods.run(signal);
  await clock.runUntil(1000);
  return caches;
}

const LOOK = {
  config: { classes: NODE_CLASS_PRESETS.karpenter, departures: DEFAULT_DEPARTURE_SIGNS },
  evicted: new Set<string>(),
};

async function placed(
  pod: Pod,
  more: Omit<Parameters<typeof cachesWith>[0], "pods"> = {},
): Promise<PlacedPod | undefined> {
  const caches = await cachesWith({ pods: [pod], ...more });
  return placedPodsOf(WEB, { ...LOOK, caches })[0];
}

Deno.test("podsOfWorkload() finds pods by the chain of owners' UIDs, whatever names and labels say", async () => {
  const caches = await cachesWith({ pods: [podOf("own"), podOf("foreign", { owner: "other" })] });
  const namesOf = (uid: string): readonly string[] =>
    podsOfWorkload({ ...WEB, metadata: { ...WEB.metadata, uid } }, caches)
      .map(({ metadata }) => metadata.name);
  assert.deepEqual(namesOf("d"), ["own"]);
  // One of the same name that was made anew.
  assert.deepEqual(namesOf("reborn"), []);
});

Deno.test("placedPodsOf() takes the class from the node, and from the pod while it has none", async () => {
  assert.equal((await placed(podOf("a")))?.class, "spot");
  const onDemand = podOf("a", { nodeName: "od" });
  assert.equal((await placed(onDemand, { nodes: [sampleNode("od")] }))?.class, "on-demand");
  const waiting = podOf("a", { nodeName: "", nodeSelector: SPOT, unschedulableSinceMs: 5 });
  const found = await placed(waiting);
  assert.deepEqual([found?.class, found?.scheduled, found?.unschedulableSinceMs], [
    "spot",
    false,
    5,
  ]);
});

Deno.test("placedPodsOf() counts nobody who has finished, or whose node is about to go", async () => {
  assert.equal((await placed(podOf("a")))?.gone, false);
  assert.equal((await placed(podOf("a", { phase: "Succeeded" })))?.gone, true);
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  const nodes = [{ ...sampleNode("dying"), labels: SPOT, taints }];
  const going = await placed(podOf("a", { nodeName: "dying" }), { nodes });
  assert.deepEqual([going?.gone, going?.departs], [true, "taint karpenter.sh/disrupted"]);
  const caches = await cachesWith({ pods: [podOf("a")] });
  const [evicted] = placedPodsOf(WEB, { ...LOOK, caches, evicted: new Set(["a"]) });
  assert.equal(evicted?.gone, true);
});

Deno.test("placedPodsOf() finds what binds a pod in its affinity and its volumes", async () => {
  const expression = {
    key: "karpenter.sh/capacity-type",
    operator: "In" as const,
    values: ["spot"],
  };
  const free = await placed(podOf("a", { claims: ["data"] }));
  assert.equal(free?.bound, undefined);
  const pinned = await placed(podOf("a", { requiredNodes: [[expression]] }));
  assert.equal(pinned?.bound, "its affinity allows no on-demand node");
  const host = { key: "kubernetes.io/hostname", operator: "In" as const, values: ["spot-1"] };
  const volumes = [{
    metadata: { name: "pv", uid: "", resourceVersion: "" },
    claim: "shop/data",
    nodes: [[host]],
  }];
  const local = await placed(podOf("a", { claims: ["data"] }), { volumes });
  assert.equal(local?.bound, "its volume data allows no on-demand node");
});

Deno.test("withBudgets() says which budget would not let a pod go", async () => {
  const budgets = [{
    metadata: { ...NEW, name: "web" },
    selector: { matchLabels: { app: "web" }, matchExpressions: [] },
    disruptionsAllowed: 0,
    current: true,
    freesUnready: false,
  }];
  const caches = await cachesWith({ pods: [podOf("a")], budgets });
  const pods = placedPodsOf(WEB, { ...LOOK, caches });
  assert.equal(pods[0]?.budget, undefined);
  const [asked] = withBudgets(pods, { workload: WEB, caches });
  assert.equal(asked?.budget, "budget web allows no disruption");
});
