import assert from "node:assert/strict";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { silentLog } from "../../shared/log.ts";
import type { PlacementDecision, PlacementRequest } from "../../shared/placement/new_pod.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import {
  manualCaches,
  PLACEMENT_RULES,
  podRequest,
  SHOP,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { createWebhookView } from "./caches.ts";
import { createPlacementMutator, createPlacementWarner } from "./mutators.ts";
import type { AdmissionReport } from "./ports.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import { applyJSONPatch } from "../../shared/admission/json_patch.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { NODE_CLASSES } from "../../shared/placement/node_classes.ts";
import { postTo } from "../../tests/fixtures/webhook/post_to.ts";
import { createPodCreationMutator } from "../rightsizing/pod_creation.ts";

const SIGNAL = new AbortController().signal;
const SPOT: PlacementDecision = { class: "spot", deletionCost: -2 };

function stage(decision: PlacementDecision | Error, { readOnly = false } = {}) {
  const reports: AdmissionReport[] = [];
  const asked: PlacementRequest[] = [];
  const caches = manualCaches();
  const mutator = createPlacementMutator({
    view: createWebhookView(caches, { rules: () => PLACEMENT_RULES }),
    decider: {
      decide(pod) {
        asked.push(pod);
        return decision instanceof Error ? Promise.reject(decision) : Promise.resolve(decision);
      },
    },
    rules: () => ({ ...PLACEMENT_RULES, readOnly }),
    observer: { admitted: (one) => reports.push(one) },
    clock: createVirtualClock({ wallStart: 0 }),
    log: silentLog,
  });
  return {
    asked,
    caches,
    mutate: async (request: AdmissionRequest) => await mutator.mutate(request, SIGNAL),
    results: () => reports.map(({ result, class: to }) => to === undefined ? result : [result, to]),
  };
}

Deno.test("createPlacementMutator() writes selector, label and cost into the pod", async () => {
  const { mutate, results } = stage(SPOT);
  const mutation = await mutate(podRequest("1"));
  assert.deepEqual(mutation?.patch, [
    { op: "add", path: "/spec/nodeSelector", value: { "karpenter.sh/capacity-type": "spot" } },
    { op: "add", path: "/metadata/labels/spotalis.io~1capacity", value: "spot" },
    {
      op: "add",
      path: "/metadata/annotations",
      value: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
  ]);
  assert.deepEqual(results(), [["Placed", "spot"]]);
});

Deno.test("createPlacementMutator() ignores requests that are not about a new pod of a controller", async () => {
  const { mutate, asked, results } = stage(SPOT);
  assert.equal(await mutate({ ...podRequest("1"), operation: "UPDATE" }), undefined);
  assert.equal(await mutate({ ...podRequest("1"), resource: "pods/eviction" }), undefined);
  assert.equal(await mutate({ ...podRequest("1"), object: { metadata: {} } }), undefined);
  assert.deepEqual([asked.length, results()], [0, []]);
});

Deno.test("createPlacementMutator() leaves the pod, reports why, and forwards a warning", async () => {
  const plain = stage({ unplaced: "NoLeader" });
  assert.equal(await plain.mutate(podRequest("1")), undefined);
  assert.deepEqual(plain.results(), ["NoLeader"]);
  const wrong = stage({ unplaced: "ConfigurationError", warning: "it is wrong" });
  assert.deepEqual(await wrong.mutate(podRequest("1")), { patch: [], warnings: ["it is wrong"] });
  assert.deepEqual(wrong.results(), ["ConfigurationError"]);
});

Deno.test("createPlacementMutator() leaves the pod where something breaks", async () => {
  const broken = stage(new RangeError("a fault"));
  assert.equal(await broken.mutate(podRequest("1")), undefined);
  const odd = stage(SPOT);
  const { object, ...request } = podRequest("1");
  assert.equal(await odd.mutate({ ...request, object: { ...object, spec: 1 } }), undefined);
  assert.deepEqual([broken.results(), odd.results()], [["Failed"], ["Failed"]]);
});

Deno.test("createPlacementMutator() reports where a pod would go in read-only mode", async () => {
  const { mutate, results } = stage(SPOT, { readOnly: true });
  assert.equal(await mutate(podRequest("1")), undefined);
  assert.deepEqual(results(), [["ReadOnly", "spot"]]);
});

Deno.test("createPlacementMutator() marks a pod as pinned when its affinity names its class", async () => {
  const { mutate, asked } = stage({ unplaced: "NodesBound" });
  await mutate(podRequest("1", { spec: affinityTo("karpenter.sh/capacity-type", "spot") }));
  await mutate(podRequest("2", { spec: affinityTo("zone", "spot") }));
  assert.deepEqual(asked.map(({ pinned, only }) => [pinned, only]), [
    [true, undefined],
    [undefined, undefined],
  ]);
});

Deno.test("createPlacementMutator() finds the class of all hosts in a pod's affinity", async () => {
  const { mutate, asked, caches } = stage({ unplaced: "NodesBound" });
  for (const [name, one] of [["s0", "spot"], ["s1", "spot"], ["o0", "on-demand"]] as const) {
    const labels = { "karpenter.sh/capacity-type": one };
    caches.nodes.put({ metadata: { name, uid: name, resourceVersion: "1" }, labels });
  }
  const asks = async (...hosts: readonly string[]) => {
    await mutate(podRequest("1", { spec: affinityTo("kubernetes.io/hostname", ...hosts) }));
    const { pinned, only } = asked.at(-1)!;
    return { pinned, only };
  };
  assert.deepEqual(await asks("s0", "s1"), { pinned: undefined, only: "spot" });
  assert.deepEqual(await asks("o0", "gone"), { pinned: undefined, only: "on-demand" });
  assert.deepEqual(await asks("s0", "o0"), { pinned: undefined, only: undefined });
  assert.deepEqual(await asks("gone"), { pinned: true, only: undefined });
});

function affinityTo(key: string, ...values: readonly string[]) {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator: "In", values }] }];
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
}

const ENABLED = { "spotalis.io/enabled": "true" };
const WRONG = { "spotalis.io/spot-percentage": "most", "spotalis.io/min-on-demand": "two" };

function warnerStage() {
  const caches = manualCaches();
  const warner = createPlacementWarner({
    view: createWebhookView(caches, { rules: () => PLACEMENT_RULES }),
    scope: () => PLACEMENT_RULES.scope,
  });
  const warned = async (
    annotations: Readonly<Record<string, string>>,
    changes: Partial<AdmissionRequest> = {},
  ) => {
    const mutation = await warner.mutate({
      uid: "1",
      kind: "Deployment",
      resource: "deployments",
      operation: "UPDATE",
      namespace: "shop",
      name: "web",
      dryRun: false,
      object: { metadata: { name: "web", labels: ENABLED, annotations }, spec: {} },
      ...changes,
    }, SIGNAL);
    assert.deepEqual(mutation?.patch ?? [], []);
    return mutation?.warnings;
  };
  return { caches, warned };
}

Deno.test("createPlacementWarner() warns about each fault of a new or changed workload", async () => {
  const { warned } = warnerStage();
  for (const changes of [{}, { operation: "CREATE", dryRun: true }] as const) {
    assertMatches(await warned(WRONG, changes) ?? [], [
      / Deployment web /,
      /spot-percentage .*"most"/,
      /min-on-demand .*"two"/,
    ]);
  }
  const db = await warned(WRONG, { kind: "StatefulSet", resource: "statefulsets" });
  assert.match(db?.[0] ?? "", /StatefulSet web/);
});

Deno.test("createPlacementWarner() warns of what the admission policy can't see", async () => {
  const { caches, warned } = warnerStage();
  const share = { "spotalis.io/spot-percentage": "70%" };
  const never = {
    "spotalis.io/disruption-schedule": "0 0 30 2 *",
    "spotalis.io/disruption-duration": "2h",
  };
  assert.match(
    (await warned({ ...share, ...never }))?.[1] ?? "",
    /-schedule .*workload/,
  );
  caches.namespaces.put({ metadata: { ...SHOP.metadata, annotations: never } });
  assert.match((await warned(share))?.[1] ?? "", /-schedule .*namespace/);
});

Deno.test("createPlacementWarner() is silent if nothing is wrong, or nothing is placed", async () => {
  const { caches, warned } = warnerStage();
  assert.equal(await warned({ "spotalis.io/spot-percentage": "70%" }), undefined);
  assert.equal(await warned({}), undefined);
  for (
    const changes of [
      { operation: "DELETE" },
      { resource: "deployments/scale" },
      { resource: "pods", kind: "Pod" },
      { resource: "daemonsets", kind: "DaemonSet" },
      { namespace: "kube-system" },
      { namespace: "unknown" },
      { object: { metadata: { annotations: WRONG } } },
    ] as const
  ) {
    assert.equal(await warned(WRONG, changes), undefined, JSON.stringify(changes));
  }
  caches.namespaces.synced = false;
  assert.equal(await warned(WRONG), undefined);
  caches.namespaces.synced = true;
  const labels = { "spotalis.io/enabled": "false" };
  caches.namespaces.put({ metadata: { ...SHOP.metadata, labels } });
  assert.equal(await warned(WRONG), undefined);
});

/** Rightsizing and placement on one pod, by one review. */

Deno.test("rightsizing and placement change a pod in either order", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const placement = createPlacementMutator({
    decider: { decide: () => Promise.resolve({ class: "spot", deletionCost: -2 }) },
    view: { allowed: () => NODE_CLASSES },
    rules: () => PLACEMENT_RULES,
    observer: { admitted: () => {} },
    clock,
    log: silentLog,
  });
  const rightsizing = createPodCreationMutator(() => () =>
    new Map([["app", { requests: { cpu: 180 }, limits: {} }]])
  );
  const { uid, namespace, object } = podRequest("1", {
    spec: { containers: [{ name: "app", resources: { requests: { cpu: "100m" } } }] },
  });
  const kinds = { kind: { kind: "Pod" }, resource: { resource: "pods" } };
  const body = JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: { uid, namespace, object, operation: "CREATE", ...kinds },
  });
  const changed = async (mutators: readonly Mutator[]): Promise<unknown> => {
    const routes = { "/mutate": mutators };
    const app = admissionRoutes({
      routes,
      clock,
      log: silentLog,
      observer: { answered: () => {} },
    });
    const { text } = await postTo(app, { target: "/mutate", body });
    const { response } = JSON.parse(text);
    assert.equal(response.warnings, undefined);
    return applyJSONPatch(object, JSON.parse(atob(response.patch)));
  };
  const both = await changed([rightsizing, placement]);
  assert.deepEqual(await changed([placement, rightsizing]), both);
  assert.deepEqual(both, {
    metadata: {
      ...(object?.["metadata"] as object),
      labels: { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "180m" } } }],
      nodeSelector: { "karpenter.sh/capacity-type": "spot" },
    },
  });
});
