import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { cacheSources } from "../../simulation/api/cache_sources.ts";
import { createSimulatedAPI } from "../../simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { sampleNode, samplePod } from "../../tests/contract/sample_objects.ts";
import { createCaches } from "../allocation/caches.ts";
import { cachedObjects, createPlacementInformers, createWebhookView } from "./caches.ts";
import type { NodeTerm } from "../../shared/placement/node_constraints.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import {
  DB_OWNER,
  manualCaches,
  PLACEMENT_RULES,
  podRequest,
  storedPod,
  WEB_OWNER,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement_caches.ts";

const NEW = { namespace: "shop", uid: "", resourceVersion: "" };

Deno.test("cachedObjects() finds in the copies what the chain of owners, nodes and claims name", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const options = { clock, random: seededRandom(1), log: silentLog };
  const api = createSimulatedAPI({ ...options, latencyMs: 0 });
  const { tables } = api.store;
  const pod = samplePod("web-1");
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-h", uid: "rs" };
  tables.Pod.seed({ ...pod, metadata: { ...pod.metadata, owner } });
  tables.Node.seed(sampleNode("node-1"));
  tables.ReplicaSet.seed({
    metadata: { ...NEW, name: "web-h", uid: "rs" },
    deployment: { name: "web", uid: "d" },
  });
  tables.PersistentVolume.seed({ metadata: { ...NEW, name: "pv" }, claim: "shop/data" });
  tables.PodDisruptionBudget.seed({
    metadata: { ...NEW, name: "web" },
    disruptionsAllowed: 0,
    current: true,
    freesUnready: false,
  });
  const caches = {
    ...createCaches(cacheSources(api), options),
    ...createPlacementInformers({
      replicaSets: api.listWatch("ReplicaSet"),
      budgets: api.listWatch("PodDisruptionBudget"),
      volumes: api.listWatch("PersistentVolume"),
    }, options),
  };
  const { signal } = new AbortController();
  for (const copy of [caches.pods, caches.nodes, caches.replicaSets]) void copy.run(signal);
  for (const copy of [caches.budgets, caches.volumes]) void copy.run(signal);
  await clock.runUntil(1000);
  const objects = cachedObjects(caches);
  const names = (list: Iterable<{ readonly metadata: { readonly name: string } }>) =>
    [...list].map(({ metadata }) => metadata.name);
  assert.deepEqual(names(objects.replicaSetsOwnedBy("d")), ["web-h"]);
  assert.deepEqual(names(objects.podsOwnedBy("rs")), ["web-1"]);
  assert.deepEqual(names(objects.podsOwnedBy("other")), []);
  assert.deepEqual(names(objects.nodes()), ["node-1"]);
  assert.equal(objects.node("node-1")?.ready, true);
  assert.deepEqual(names(objects.budgetsIn("shop")), ["web"]);
  assert.deepEqual(names(objects.volumesOf("shop/data")), ["pv"]);
  assert.equal(objects.namespace("shop"), undefined);
});

const { classes } = PLACEMENT_RULES;

function stage(copies = manualCaches()) {
  const facts = createWebhookView(copies, { rules: () => PLACEMENT_RULES });
  const of = (owner = WEB_OWNER) => facts.workloadOf({ namespace: "shop", owner });
  return { copies, facts, of };
}

Deno.test("createCopiedFacts() finds workloads by UID, through the ReplicaSet of a Deployment", () => {
  const { of } = stage();
  const web = of();
  assert.ok(web !== "other");
  assert.deepEqual([web?.kind, web?.name, web?.uid, web?.replicas], [
    "Deployment",
    "web",
    "web",
    10,
  ]);
  const db = of(DB_OWNER);
  assert.equal(db !== "other" && db?.kind, "StatefulSet");
  // Of the same name, but made anew or not seen yet.
  assert.equal(of({ ...WEB_OWNER, uid: "next" }), undefined);
  assert.equal(of({ ...DB_OWNER, uid: "next" }), undefined);
  assert.equal(of({ ...WEB_OWNER, name: "api-5f" }), undefined);
});

Deno.test("createCopiedFacts() knows that owners of other kinds are none", () => {
  const { copies, of } = stage();
  assert.equal(of({ ...WEB_OWNER, kind: "DaemonSet" }), "other");
  assert.equal(of({ ...DB_OWNER, apiVersion: "apps.kruise.io/v1" }), "other");
  const { deployment: _none, ...bare } = WEB_SET;
  copies.replicaSets.put(bare);
  assert.equal(of(), "other");
});

Deno.test("createCopiedFacts() does not know a workload whose replicas can't be read, or that is gone", () => {
  const { copies, of } = stage();
  const { replicas: _none, ...unread } = webDeployment(1);
  copies.deployments.put(unread);
  assert.equal(of(), undefined);
  copies.deployments.put({ ...unread, metadata: { ...unread.metadata, uid: "anew" } });
  assert.equal(of(), undefined);
});

Deno.test("createCopiedFacts() counts the pods that the workload owns, by class, seen or answered", () => {
  const { copies, facts, of } = stage();
  const web = of();
  assert.ok(web !== undefined && web !== "other");
  const answered = {
    metadata: { labels: { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" } },
  };
  const spot = { spec: { nodeSelector: { "karpenter.sh/capacity-type": "spot" } }, ...answered };
  copies.pods.put(storedPod(podRequest("1", spot), { name: "web-5f-1" }));
  const done = storedPod(podRequest("2"), { name: "web-5f-2" });
  copies.pods.put({ ...done, phase: "Succeeded" });
  const running = storedPod(podRequest("3"), { name: "web-5f-3" });
  copies.pods.put({ ...running, nodeName: "n1" });
  const other = storedPod(podRequest("4"), { name: "x", owner: { ...WEB_OWNER, uid: "old" } });
  copies.pods.put(other);
  const node = { name: "n1", uid: "n1", resourceVersion: "1" };
  copies.nodes.put({ metadata: node, labels: { "karpenter.sh/capacity-type": "spot" } });
  assert.deepEqual(
    facts.podsOf(web).map((pod) => [pod.name, pod.class, pod.gone, pod.scheduled, pod.unadmitted]),
    [
      ["web-5f-1", "spot", false, false, undefined],
      ["web-5f-2", "on-demand", true, false, true],
      ["web-5f-3", "spot", false, true, true],
    ],
  );
});

Deno.test("createCopiedFacts() counts a pod anew when its node is known, or the setting changes", () => {
  const copies = manualCaches();
  let present = classes;
  const facts = createWebhookView(copies, {
    rules: () => ({ ...PLACEMENT_RULES, classes: present }),
  });
  const web = facts.workloadOf({ namespace: "shop", owner: WEB_OWNER });
  assert.ok(web !== undefined && web !== "other");
  const classOf = () => facts.podsOf(web).map((pod) => pod.class).join();
  copies.pods.put({ ...storedPod(podRequest("1"), { name: "web-5f-1" }), nodeName: "n1" });
  assert.equal(classOf(), "on-demand");
  const metadata = { name: "n1", uid: "n1", resourceVersion: "1" };
  copies.nodes.put({ metadata, labels: { "karpenter.sh/capacity-type": "spot" } });
  assert.equal(classOf(), "spot");
  const spot = { spec: { nodeSelector: { "karpenter.sh/capacity-type": "spot" } } };
  copies.pods.put({ ...storedPod(podRequest("1", spot), { name: "web-5f-1" }), nodeName: "n2" });
  copies.nodes.put({ metadata: { ...metadata, name: "n2" } });
  assert.equal(classOf(), "on-demand");
  copies.pods.put({ ...storedPod(podRequest("1"), { name: "web-5f-1" }), nodeName: "n1" });
  present = NODE_CLASS_PRESETS.eks;
  assert.equal(classOf(), "on-demand");
});

Deno.test("createCopiedFacts() tells of pods with their workload, and of any change", () => {
  const { copies, facts } = stage();
  const seen: string[] = [];
  let changes = 0;
  const ends = [
    facts.onPod(({ name }, uid) => seen.push(`${name} of ${uid}`)),
    facts.onChange(() => void changes++),
  ];
  const pod = storedPod(podRequest("1"), { name: "web-5f-1" });
  copies.pods.put(pod);
  copies.pods.remove(pod);
  copies.pods.put(storedPod(podRequest("2"), { name: "x", owner: { ...WEB_OWNER, uid: "old" } }));
  assert.deepEqual([seen, changes], [["web-5f-1 of web"], 3]);
  ends.forEach((end) => end());
  copies.pods.put(pod);
  assert.equal(changes, 3);
});

Deno.test("createCopiedFacts() knows of which classes the nodes of volumes and hosts are", () => {
  const { copies, facts } = stage();
  for (const one of ["spot", "on-demand"]) {
    const labels = { "karpenter.sh/capacity-type": one, "kubernetes.io/hostname": `${one}.host` };
    copies.nodes.put({ metadata: { name: `${one}-0`, uid: one, resourceVersion: "1" }, labels });
  }
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  const allowed = (...terms: readonly NodeTerm[]): string => {
    copies.volumes.put({ metadata, claim: "shop/data", nodes: terms });
    const found = facts.allowed({ namespace: "shop", claims: ["logs", "data"] });
    // One and the same for what a pod says itself.
    const constraints = [{ what: "its affinity", terms }];
    assert.deepEqual(facts.allowed({ namespace: "shop", constraints }), found);
    return found.join();
  };
  const on = (key: string, ...values: readonly string[]): NodeTerm => [
    { key, operator: "In", values },
  ];
  assert.equal(allowed(on("kubernetes.io/hostname", "spot.host")), "spot");
  assert.equal(allowed(on("kubernetes.io/hostname", "on-demand-0")), "on-demand");
  assert.equal(allowed(on("karpenter.sh/capacity-type", "on-demand")), "on-demand");
  const both = "spot,on-demand";
  assert.equal(allowed(on("kubernetes.io/hostname", "spot.host", "on-demand.host")), both);
  assert.equal(allowed(on("karpenter.sh/capacity-type", "spot"), on("zone", "a")), both);
  // Where the node is, nobody knows.
  assert.equal(allowed(on("kubernetes.io/hostname", "gone")), "");
  const onSpot = on("kubernetes.io/hostname", "spot-0");
  allowed(onSpot);
  const constraints = [{
    what: "its affinity",
    terms: [on("kubernetes.io/hostname", "on-demand-0")],
  }];
  assert.deepEqual(facts.allowed({ namespace: "shop", claims: ["data"], constraints }), []);
  for (const free of [{ claims: ["logs"] }, { namespace: "bank", claims: ["data"] }, {}]) {
    assert.equal(facts.allowed({ namespace: "shop", ...free }).join(), both);
  }
});

Deno.test("createCopiedFacts() is in sync when each copy is", () => {
  const { copies, facts } = stage();
  assert.ok(facts.synced);
  copies.volumes.synced = false;
  assert.ok(!facts.synced);
  copies.volumes.synced = true;
  copies.replicaSets.synced = false;
  assert.ok(!facts.synced);
});

Deno.test("createCopiedFacts() counts nobody on a node that is about to go, or who was evicted", () => {
  const copies = manualCaches();
  const evicted = new Set<string>();
  let rules = PLACEMENT_RULES;
  const facts = createWebhookView(copies, { rules: () => rules, evicted });
  const web = facts.workloadOf({ namespace: "shop", owner: WEB_OWNER });
  assert.ok(web !== undefined && web !== "other");
  const gone = () => facts.podsOf(web).map((pod) => pod.gone);
  copies.pods.put({ ...storedPod(podRequest("1"), { name: "web-5f-1" }), nodeName: "n1" });
  const metadata = { name: "n1", uid: "n1", resourceVersion: "1" };
  copies.nodes.put({ metadata });
  assert.deepEqual(gone(), [false]);
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  copies.nodes.put({ metadata, taints });
  assert.deepEqual(gone(), [true]);
  rules = { ...PLACEMENT_RULES, departures: { taints: [], conditions: [] } };
  assert.deepEqual(gone(), [false]);
  evicted.add("uid-web-5f-1");
  assert.deepEqual(gone(), [true]);
  evicted.clear();
  assert.deepEqual(gone(), [false]);
});

Deno.test("createCopiedFacts() finds the pods of all ReplicaSets of the Deployment, and no others", () => {
  const { copies, facts, of } = stage();
  const web = of();
  assert.ok(web !== undefined && web !== "other");
  const owner = { ...WEB_OWNER, name: "web-6a", uid: "rs2" };
  const put = (name: string, by: typeof owner) =>
    copies.pods.put(storedPod(podRequest(name, { owner: by }), { name, owner: by }));
  put("old", WEB_OWNER);
  put("new", owner);
  put("other", { ...WEB_OWNER, uid: "rs3" });
  assert.deepEqual(facts.podsOf(web).map(({ name }) => name), ["old"]);
  const { metadata } = WEB_SET;
  copies.replicaSets.put({ ...WEB_SET, metadata: { ...metadata, name: "web-6a", uid: "rs2" } });
  assert.deepEqual(facts.podsOf(web).map(({ name }) => name).toSorted(), ["new", "old"]);
});
