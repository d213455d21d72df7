import assert from "node:assert/strict";
import type { NodeTerm } from "../../shared/api/node.ts";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import {
  DB_OWNER,
  manualCaches,
  podRequest,
  storedPod,
  WEB_OWNER,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { createWebhookView } from "./caches.ts";

function stage() {
  const caches = manualCaches();
  const evicted = new Set<string>();
  const settings = { ...PLACEMENT_DEFAULTS };
  const view = createWebhookView(caches, { settings: () => settings, evicted });
  const of = (owner = WEB_OWNER) => view.workloadOf({ namespace: "shop", owner });
  return {
    caches,
    settings,
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

const SPOT = { "karpenter.sh/capacity-type": "spot" };
const NODE = { ...sampleNode("n1"), labels: SPOT };
const webPod = (number: number, changes: Parameters<typeof podRequest>[1] = {}) =>
  storedPod(podRequest(`${number}`, changes), { name: `web-5f-${number}` });

Deno.test("createWebhookView() finds workloads by UID, through the ReplicaSet of a Deployment", () => {
  const { caches, of } = stage();
  const uidOf = (owner = WEB_OWNER) => {
    const found = of(owner);
    return found === "other" ? found : found?.metadata.uid;
  };
  assert.deepEqual([uidOf(), uidOf(DB_OWNER)], ["web", "db"]);
  // The same name, but another object or one that the caches don't have yet.
  const others = [{ ...WEB_OWNER, uid: "next" }, { ...DB_OWNER, uid: "next" }];
  for (const owner of [...others, { ...WEB_OWNER, name: "api-5f" }]) {
    assert.equal(of(owner), undefined);
  }
  assert.equal(of({ ...WEB_OWNER, kind: "DaemonSet" }), "other");
  assert.equal(of({ ...DB_OWNER, apiVersion: "apps.kruise.io/v1" }), "other");
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
  caches.pods.put(storedPod(podRequest("4", { owner }), { name: "web-6a-4", owner }));
  caches.nodes.put(NODE);
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
  const { caches, settings, evicted, pods } = stage();
  const taints = [{ key: "karpenter.sh/disrupted", value: "", effect: "NoSchedule" }];
  const steps: readonly (readonly [() => unknown, string])[] = [
    [() => caches.pods.put({ ...webPod(1), nodeName: "n1" }), "on-demand false"],
    [() => caches.nodes.put(NODE), "spot false"],
    [() => settings.nodeClassifier = NODE_CLASS_PRESETS.eks, "on-demand false"],
    [() => settings.nodeClassifier = PLACEMENT_DEFAULTS.nodeClassifier, "spot false"],
    [() => caches.nodes.put({ ...NODE, taints }), "spot true"],
    [() => settings.departureSigns = { taints: [], conditions: [] }, "spot false"],
    [() => evicted.add("uid-web-5f-1"), "spot true"],
    [() => evicted.clear(), "spot false"],
  ];
  for (const [change, expected] of steps) {
    change();
    assert.deepEqual(pods().map((pod) => `${pod.class} ${pod.gone}`), [expected], `${change}`);
  }
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
    caches.nodes.put({ ...sampleNode(`${one}-0`), labels });
  }
  const on = (key: string, ...values: readonly string[]): NodeTerm => [
    { key, operator: "In", values },
  ];
  const affinity = (terms: readonly NodeTerm[]) => [{ what: "its affinity", terms }];
  const allowed = (claims: readonly string[], constraints = affinity([on("zone", "a")])) =>
    view.allowed({ namespace: "shop", claims, constraints }).join();
  const both = "spot,on-demand";
  const host = "kubernetes.io/hostname";
  // Nodes are known by name and by label; tests of allowedClasses() have more terms.
  const rows: readonly (readonly [string, readonly NodeTerm[]])[] = [
    ["on-demand", [on(host, "on-demand-0")]],
    [both, [on(host, "spot.host", "on-demand.host")]],
    ["", [on(host, "gone")]],
    ["spot", [on(host, "spot.host")]],
  ];
  const metadata = { name: "pv", uid: "pv", resourceVersion: "1" };
  for (const [expected, nodes] of rows) {
    caches.volumes.put({ metadata, claim: "shop/data", nodes });
    assert.equal(allowed(["logs", "data"]), expected);
    assert.equal(allowed([], affinity(nodes)), expected);
  }
  assert.equal(allowed(["data"], affinity([on(host, "on-demand-0")])), "");
  assert.equal(allowed(["logs"]), both);
});

Deno.test("createWebhookView() is synced when each cache is", () => {
  const { caches, view } = stage();
  assert.ok(view.synced);
  for (const one of [caches.volumes, caches.replicaSets, caches.pods, caches.deployments]) {
    one.synced = false;
    assert.ok(!view.synced);
    one.synced = true;
  }
});
