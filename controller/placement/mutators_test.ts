import assert from "node:assert/strict";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { applyJSONPatch } from "../../shared/admission/json_patch.ts";
import { runMutators } from "../../shared/admission/run_mutators.ts";
import { silentLog } from "../../shared/log.ts";
import type { PlacementDecision } from "../../shared/placement/new_pod.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import {
  manualCaches,
  PLACEMENT_RULES,
  podRequest,
  SHOP,
} from "../../tests/fixtures/placement/placement_caches.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { createPodCreationMutator } from "../rightsizing/pod_creation.ts";
import { createWebhookView } from "./caches.ts";
import { createPlacementMutator, createPlacementWarner } from "./mutators.ts";
import type { AdmissionReport } from "./ports.ts";

const SIGNAL = new AbortController().signal;
const SPOT: PlacementDecision = { class: "spot", deletionCost: -2 };

function stage(decision: PlacementDecision | Error, { readOnly = false } = {}) {
  const reports: AdmissionReport[] = [];
  const mutator = createPlacementMutator({
    decider: {
      decide: () =>
        decision instanceof Error ? Promise.reject(decision) : Promise.resolve(decision),
    },
    config: { ...PLACEMENT_RULES, readOnly },
    observer: { admitted: (one) => reports.push(one) },
    clock: createVirtualClock({ wallStart: 0 }),
    log: silentLog,
  });
  return {
    mutator,
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

Deno.test("createPlacementMutator() leaves the pod and reports why, with a warning if there is one", async () => {
  const warning = "it is wrong";
  const { object, ...request } = podRequest("1");
  const rows = [
    [stage({ unplaced: "NoLeader" }), podRequest("1"), ["NoLeader"]],
    [stage({ unplaced: "ConfigurationError", warning }), podRequest("1"), ["ConfigurationError"]],
    [stage(SPOT, { readOnly: true }), podRequest("1"), [["ReadOnly", "spot"]]],
    [stage(new RangeError("a fault")), podRequest("1"), ["Failed"]],
    [stage(SPOT), { ...request, object: { ...object, spec: null } }, ["Failed"]],
    // No new pods of a controller.
    [stage(SPOT), { ...podRequest("1"), operation: "UPDATE" }, []],
    [stage(SPOT), { ...podRequest("1"), resource: "pods/eviction" }, []],
    [stage(SPOT), { ...podRequest("1"), object: { metadata: {} } }, []],
  ] as const;
  for (const [{ mutate, results }, sent, expected] of rows) {
    const mutation = await mutate(sent as AdmissionRequest);
    const isWarned = expected[0] === "ConfigurationError";
    assert.deepEqual(mutation, isWarned ? { patch: [], warnings: [warning] } : undefined);
    assert.deepEqual(results(), expected);
  }
});

const ENABLED = { "spotalis.io/enabled": "true" };
const WRONG = { "spotalis.io/spot-percentage": "most", "spotalis.io/min-on-demand": "two" };
const SHARE = { "spotalis.io/spot-percentage": "70%" };

function warnerStage() {
  const caches = manualCaches();
  const config = PLACEMENT_RULES;
  const view = createWebhookView(caches, { config, evicted: new Set() });
  const warner = createPlacementWarner({ view, config });
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

Deno.test("rightsizing and placement change a pod in either order", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { mutator: placement } = stage(SPOT);
  const rightsizing = createPodCreationMutator(() => () =>
    new Map([["app", { requests: { cpu: 180 }, limits: {} }]])
  );
  const request = podRequest("1", {
    spec: { containers: [{ name: "app", resources: { requests: { cpu: "100m" } } }] },
  });
  const changed = async (...mutators: readonly typeof placement[]): Promise<unknown> => {
    const answer = await runMutators(request, mutators, { clock, withinMs: 200 });
    assert.deepEqual([answer.warnings, answer.failures], [[], []]);
    return applyJSONPatch(request.object, answer.patch);
  };
  const both = await changed(rightsizing, placement);
  assert.deepEqual(await changed(placement, rightsizing), both);
  assert.deepEqual(both, {
    metadata: {
      ...(request.object?.["metadata"] as object),
      labels: { "pod-template-hash": "5f", "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: {
      containers: [{ name: "app", resources: { requests: { cpu: "180m" } } }],
      nodeSelector: { "karpenter.sh/capacity-type": "spot" },
    },
  });
});
