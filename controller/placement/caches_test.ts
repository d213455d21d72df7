import assert from "node:assert/strict";
import { NODE_CLASS_PRESETS } from "../../shared/placement/node_classes.ts";
import { sampleNode, samplePod } from "../../tests/contract/support/sample_objects.ts";
import {
  DB_OWNER,
  manualCaches,
  podRequest,
  SHOP,
  storedPod,
  WEB_OWNER,
  WEB_SET,
  webDeployment,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { createPlacementWarner } from "./mutators.ts";
import { createWebhookView, podsOfWorkload, type ReadPlacementCaches } from "./caches.ts";
import { sampleBudget } from "../../tests/fixtures/placement/placed_pods.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Workload } from "../../shared/api/workload.ts";
import { placedPodsOf, placedPodsWithBudgets, replicaStatus } from "./workload_snapshot.ts";
import {
  listedObjects,
  type ObjectLists,
} from "../../tests/fixtures/placement/placement_reader.ts";
import type { PlacedPod } from "../../shared/placement/placed_pod.ts";

function stage() {
  const caches = manualCaches();
  const evicted = new Set<string>();
  const settings = { ...PLACEMENT_DEFAULTS };
  const view = createWebhookView(caches, { settings: () => settings, evicted });
  const of = (owner = WEB_OWNER) => view.workloadOf({ namespace: "shop", owner });
  return {
    ...{ caches, settings, evicted, view, of },
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
  const found = pods().map((one) => [one.name, one.class, one.gone, one.scheduled, one.unadmitted]);
  assert.deepEqual(found, [
    ["web-5f-1", "spot", false, false, undefined],
    ["web-5f-2", "on-demand", true, false, true],
    ["web-5f-3", "spot", false, true, true],
  ]);
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

Deno.test("createWebhookView() is synced when each cache is", () => {
  const { caches, view } = stage();
  assert.ok(view.synced);
  for (const one of [caches.volumes, caches.replicaSets, caches.pods, caches.deployments]) {
    one.synced = false;
    assert.ok(!view.synced);
    one.synced = true;
  }
});

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
    assert.equal(departure ?? (gone ? "gone" : undefined), expected);
    assert.equal(gone, expected !== undefined);
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
  const term = (key: string, value: string) => ({ key, operator: "In" as const, values: [value] });
  const capacity = term("karpenter.sh/capacity-type", "spot");
  const volumes = [{
    metadata: { name: "pv", uid: "", resourceVersion: "" },
    claim: "shop/data",
    nodes: [[term("kubernetes.io/hostname", "spot-1")]],
  }];
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  const kept = (nodeName: string): Pod => {
    const pod = podOf("a", { nodeName });
    return { ...pod, metadata: { ...pod.metadata, annotations } };
  };
  const rows: readonly (readonly [Pod, pinned: RegExp | undefined, ObjectLists?])[] = [
    [podOf("a", { claims: ["data"] }), undefined],
    [podOf("a", { claims: ["data"] }), /volume data.* on-demand/, { volumes }],
    [podOf("a", { requiredNodes: [[capacity]] }), /affinity.* on-demand/],
    [
      podOf("a", { nodeSelector: { "kubernetes.io/hostname": "spot-1" } }),
      /node selector.* on-demand/,
    ],
    // A pod that does not run can't be disrupted.
    [kept("spot-1"), /do-not-disrupt/],
    [kept(""), undefined],
  ];
  for (const [pod, expected, lists] of rows) {
    const { pinned } = placed(pod, lists) ?? assert.fail("no pod");
    if (expected === undefined) assert.equal(pinned, undefined);
    else assert.match(pinned ?? "", expected);
  }
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

Deno.test("replicaStatus() has the counts of a workload that was observed", () => {
  const replicas = { replicas: 3, observed: true, present: 3, ready: 2, updated: 3 };
  assert.equal(replicaStatus({ ...WEB, replicas })?.ready, 2);
  assert.equal(replicaStatus(WEB), undefined);
});

const { signal: SIGNAL } = new AbortController();
const ENABLED = { "spotalis.io/enabled": "true" };
const WRONG = { "spotalis.io/spot-percentage": "most", "spotalis.io/min-on-demand": "two" };
const SHARE = { "spotalis.io/spot-percentage": "70%" };

function warnerStage() {
  const { caches, view } = stage();
  const warner = createPlacementWarner({ view, settings: () => PLACEMENT_DEFAULTS });
  const warned = async (
    annotations: Readonly<Record<string, string>>,
    changes: Partial<AdmissionRequest> = {},
  ) => {
    const mutation = await warner.mutate({
      ...{ uid: "1", kind: "Deployment", resource: "deployments", operation: "UPDATE" },
      ...{ namespace: "shop", name: "web", dryRun: false },
      object: { metadata: { name: "web", labels: ENABLED, annotations }, spec: {} },
      ...changes,
    }, SIGNAL);
    assert.deepEqual(mutation?.patch ?? [], []);
    return mutation?.warnings;
  };
  return { caches, warned };
}

Deno.test("createPlacementWarner() warns about each fault of a new or changed workload", async () => {
  const { caches, warned } = warnerStage();
  for (const changes of [{}, { operation: "CREATE", dryRun: true }] as const) {
    assertMatches(await warned(WRONG, changes) ?? [], [
      / Deployment web /,
      /spot-percentage .*"most"/,
      /min-on-demand .*"two"/,
    ]);
  }
  const db = await warned(WRONG, { kind: "StatefulSet", resource: "statefulsets" });
  assert.match(db?.[0] ?? "", /StatefulSet web/);
  // The admission policy can't see these.
  const never = {
    "spotalis.io/disruption-schedule": "0 0 30 2 *",
    "spotalis.io/disruption-duration": "2h",
  };
  assert.match((await warned({ ...SHARE, ...never }))?.[1] ?? "", /-schedule .*workload/);
  caches.namespaces.put({ metadata: { ...SHOP.metadata, annotations: never } });
  assert.match((await warned(SHARE))?.[1] ?? "", /-schedule .*namespace/);
});

Deno.test("createPlacementWarner() warns in texts that API servers neither cut nor drop", async () => {
  const { caches, warned } = warnerStage();
  const long = "\u0000\n\u{1f995}".repeat(300);
  const keys = ["spot-percentage", "min-on-demand", "paused", "disruption-schedule"];
  const annotations = Object.fromEntries(keys.map((key) => [`spotalis.io/${key}`, long]));
  caches.namespaces.put({ metadata: { ...SHOP.metadata, annotations } });
  const name = "w".repeat(253);
  const object = { metadata: { name, labels: { ...ENABLED }, annotations }, spec: {} };
  const texts = await warned(annotations, { object }) ?? [];
  // k8s.io/apiserver, pkg/endpoints/filters/warning.go: beyond 4096 in all, each is cut to 256, and one with
  // control characters is dropped.
  assert.ok(texts.length > keys.length);
  assert.equal(new Set(texts).size, texts.length);
  assert.ok(texts.reduce((sum, one) => sum + [...one].length, 0) <= 4096);
  for (const one of texts) assert.doesNotMatch(one, /[\p{Cc}\p{Cs}]/u);
});

Deno.test("createPlacementWarner() is silent if nothing is wrong, or nothing is placed", async () => {
  const { caches, warned } = warnerStage();
  for (const annotations of [SHARE, {}]) assert.equal(await warned(annotations), undefined);
  const others = [
    { operation: "DELETE" },
    { resource: "deployments/scale" },
    { resource: "pods", kind: "Pod" },
    { resource: "daemonsets", kind: "DaemonSet" },
    { namespace: "kube-system" },
    { namespace: "unknown" },
    { object: { metadata: { annotations: WRONG } } },
  ] as const;
  for (const changes of others) {
    assert.equal(await warned(WRONG, changes), undefined, JSON.stringify(changes));
  }
  caches.namespaces.synced = false;
  assert.equal(await warned(WRONG), undefined);
  caches.namespaces.synced = true;
  const labels = { "spotalis.io/enabled": "false" };
  caches.namespaces.put({ metadata: { ...SHOP.metadata, labels } });
  assert.equal(await warned(WRONG), undefined);
});
