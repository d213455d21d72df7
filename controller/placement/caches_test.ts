import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import type { NodeTerm } from "../../shared/api/node.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../lab/simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import {
  DB_OWNER,
  manualCaches,
  PLACEMENT_RULES,
  podRequest,
  storedPod,
  WEB_OWNER,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { createCaches } from "../caches.ts";
import { cachedObjects, createPlacementInformers, createWebhookView } from "./caches.ts";

Deno.test("cachedObjects() finds objects by owner, name, namespace and claim", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const options = { clock, random: seededRandom(1), log: silentLog };
  const api = createSimulatedAPI({ ...options, latencyMs: 0 });
  const { tables } = api.store;
  const pod = samplePod("web-1");
  tables.Pod.seed({ ...pod, metadata: { ...pod.metadata, owner: WEB_OWNER } });
  tables.Node.seed(sampleNode("node-1"));
  tables.ReplicaSet.seed(WEB_SET);
  const metadata = { name: "pv", namespace: "shop", uid: "", resourceVersion: "" };
  tables.PersistentVolume.seed({ metadata, claim: "shop/data" });
  tables.PodDisruptionBudget.seed(sampleBudget());
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementInformers({
      replicaSets: api.listWatch("ReplicaSet"),
      budgets: api.listWatch("PodDisruptionBudget"),
      volumes: api.listWatch("PersistentVolume"),
    }, options),
  };
  const { signal } = new AbortController();
  for (const cache of [caches.pods, caches.nodes, caches.replicaSets]) void cache.run(signal);
  for (const cache of [caches.budgets, caches.volumes]) void cache.run(signal);
  await clock.runUntil(1000);
  const objects = cachedObjects(caches);
  const names = (list: Iterable<{ readonly metadata: { readonly name: string } }>) =>
    [...list].map(({ metadata: { name } }) => name);
  assert.deepEqual(names(objects.replicaSetsOwnedBy("web")), ["web-5f"]);
  assert.deepEqual(names(objects.podsOwnedBy("rs")), ["web-1"]);
  assert.deepEqual(names(objects.podsOwnedBy("other")), []);
  assert.deepEqual(names(objects.nodes()), ["node-1"]);
  assert.equal(objects.node("node-1")?.ready, true);
  assert.deepEqual(names(objects.budgetsIn("shop")), ["web"]);
  assert.deepEqual(names(objects.volumesOf("shop/data")), ["pv"]);
  assert.equal(objects.namespace("shop"), undefined);
});

function stage() {
  const caches = manualCaches();
  const evicted = new Set<string>();
  const current = { rules: PLACEMENT_RULES };
  const view = createWebhookView(caches, { rules: () => current.rules, evicted });
  const of = (owner = WEB_OWNER) => view.workloadOf({ namespace: "shop", owner });
  return {
    caches,
    current,
    evicted,
    view,
    of,
    pods() {
      const web = of();
      assert.ok(web !== undefined && web !== "other");
      return view.podsOf(web);
    },
  };
}

const METADATA = { name: "n1", uid: "n1", resourceVersion: "1" };
const SPOT = { "karpenter.sh/capacity-type": "spot" };
const webPod = (number: number, changes: Parameters<typeof podRequest>[1] = {}) =>
  storedPod(podRequest(`${number}`, changes), { name: `web-5f-${number}` });

Deno.test("createWebhookView() finds workloads by UID, through the ReplicaSet of a Deployment", () => {
  const { caches, of } = stage();
  const uidOf = (owner = WEB_OWNER) => {
    const found = of(owner);
    return found === "other" ? found : found?.uid;
  };
  assert.deepEqual([uidOf(), uidOf(DB_OWNER)], ["web", "db"]);
  // The same name, but another object or one that the caches don't have yet.
  const others = [{ ...WEB_OWNER, uid: "next" }, { ...DB_OWNER, uid: "next" }];
  for (const owner of [...others, { ...WEB_OWNER, name: "api-5f" }]) {
    assert.equal(of(owner), undefined);
  }
  assert.equal(of({ ...WEB_OWNER, kind: "DaemonSet" }), "other");
  assert.equal(of({ ...DB_OWNER, apiVersion: "apps.kruise.io/v1" }), "other");
  const { replicas: _none, ...unread } = webDeployment(1);
  caches.deployments.put(unread);
  assert.equal(of(), undefined);
  const another = webDeployment(1);
  caches.deployments.put({ ...another, metadata: { ...another.metadata, uid: "anew" } });
  assert.equal(of(), undefined);
  const { deployment: _owner, ...bare } = WEB_SET;
  caches.replicaSets.put(bare);
  assert.equal(of(), "other");
});

Deno.test("createWebhookView() counts the pods that the workload owns, by class and admission", () => {
  const { caches, pods } = stage();
  const labels = { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" };
  caches.pods.put(webPod(1, { spec: { nodeSelector: SPOT }, metadata: { labels } }));
  caches.pods.put({ ...webPod(2), phase: "Succeeded" });
  caches.pods.put({ ...webPod(3), nodeName: "n1" });
  const owner = { ...WEB_OWNER, name: "web-6a", uid: "rs2" };
  const newer = storedPod(podRequest("4", { owner }), { name: "web-6a-4", owner });
  caches.pods.put(newer);
  caches.nodes.put({ metadata: METADATA, labels: SPOT });
  assert.deepEqual(
    pods().map((pod) => [pod.name, pod.class, pod.gone, pod.scheduled, pod.unadmitted]),
    [
      ["web-5f-1", "spot", false, false, undefined],
      ["web-5f-2", "on-demand", true, false, true],
      ["web-5f-3", "spot", false, true, true],
    ],
  );
  const metadata = { ...WEB_SET.metadata, name: "web-6a", uid: "rs2" };
  caches.replicaSets.put({ ...WEB_SET, metadata });
  assert.equal(pods().length, 4);
});

Deno.test("createWebhookView() counts a pod anew when its node, an eviction or a setting changes", () => {
  const { caches, current, evicted, pods } = stage();
  const assertCounts = (...expected: readonly [string, boolean]) =>
    assert.deepEqual(pods().map((pod) => [pod.class, pod.gone]), [expected]);
  caches.pods.put({ ...webPod(1), nodeName: "n1" });
  assertCounts("on-demand", false);
  caches.nodes.put({ metadata: METADATA, labels: SPOT });
  assertCounts("spot", false);
  caches.pods.put({ ...webPod(1, { spec: { nodeSelector: SPOT } }), nodeName: "n2" });
  caches.nodes.put({ metadata: { ...METADATA, name: "n2" } });
  assertCounts("on-demand", false);
  caches.pods.put({ ...webPod(1), nodeName: "n1" });
  current.rules = { ...PLACEMENT_RULES, classes: NODE_CLASS_PRESETS.eks };
  assertCounts("on-demand", false);
  current.rules = PLACEMENT_RULES;
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  caches.nodes.put({ metadata: METADATA, labels: SPOT, taints });
  assertCounts("spot", true);
  current.rules = { ...PLACEMENT_RULES, departures: { taints: [], conditions: [] } };
  assertCounts("spot", false);
  evicted.add("uid-web-5f-1");
  assertCounts("spot", true);
  evicted.clear();
  assertCounts("spot", false);
});

Deno.test("createWebhookView() calls with each changed pod and its workload, and at any change", () => {
  const { caches, view } = stage();
  const seen: string[] = [];
  let changes = 0;
  const ends = [
    view.onPod(({ name }, uid) => seen.push(`${name} of ${uid}`)),
    view.onChange(() => void changes++),
  ];
  caches.pods.put(webPod(1));
  caches.pods.remove(webPod(1));
  caches.pods.put(storedPod(podRequest("2"), { name: "x", owner: { ...WEB_OWNER, uid: "old" } }));
  assert.deepEqual([seen, changes], [["web-5f-1 of web"], 3]);
  ends.forEach((end) => end());
  caches.pods.put(webPod(1));
  assert.equal(changes, 3);
});

Deno.test("createWebhookView() allows the classes of the nodes that volumes and affinity name", () => {
  const { caches, view } = stage();
  for (const one of ["spot", "on-demand"]) {
    const labels = { "karpenter.sh/capacity-type": one, "kubernetes.io/hostname": `${one}.host` };
    caches.nodes.put({ metadata: { name: `${one}-0`, uid: one, resourceVersion: "1" }, labels });
  }
  const allowed = (...terms: readonly NodeTerm[]): string => {
    caches.volumes.put({ metadata: METADATA, claim: "shop/data", nodes: terms });
    const found = view.allowed({ namespace: "shop", claims: ["logs", "data"] });
    const constraints = [{ what: "its affinity", terms }];
    assert.deepEqual(view.allowed({ namespace: "shop", constraints }), found);
    return found.join();
  };
  const on = (key: string, ...values: readonly string[]): NodeTerm => [
    { key, operator: "In", values },
  ];
  const both = "spot,on-demand";
  assert.equal(allowed(on("kubernetes.io/hostname", "on-demand-0")), "on-demand");
  assert.equal(allowed(on("karpenter.sh/capacity-type", "on-demand")), "on-demand");
  assert.equal(allowed(on("kubernetes.io/hostname", "spot.host", "on-demand.host")), both);
  assert.equal(allowed(on("karpenter.sh/capacity-type", "spot"), on("zone", "a")), both);
  assert.equal(allowed(on("kubernetes.io/hostname", "gone")), "");
  assert.equal(allowed(on("kubernetes.io/hostname", "spot.host")), "spot");
  const terms = [on("kubernetes.io/hostname", "on-demand-0")];
  const constraints = [{ what: "its affinity", terms }];
  assert.deepEqual(view.allowed({ namespace: "shop", claims: ["data"], constraints }), []);
  for (const free of [{ claims: ["logs"] }, { namespace: "bank", claims: ["data"] }, {}]) {
    assert.equal(view.allowed({ namespace: "shop", ...free }).join(), both);
  }
});

Deno.test("createWebhookView() is synced when each cache is", () => {
  const { caches, view } = stage();
  assert.ok(view.synced);
  caches.volumes.synced = false;
  assert.ok(!view.synced);
  caches.volumes.synced = true;
  caches.replicaSets.synced = false;
  assert.ok(!view.synced);
});
