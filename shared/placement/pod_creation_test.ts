import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { AdmissionRequest } from "../admission/admission_review.ts";
import { applyJSONPatch } from "../../tests/fixtures/webhook/apply_json_patch.ts";
import { placementPatch, placementRequest } from "./new_pod.ts";
import { NODE_CLASS_PRESETS, type NodeClass } from "./node_classes.ts";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import {
  type AdmissionInput,
  admitPod,
  type CountedPod,
  dropOldest,
  expire,
  noReservations,
  observePods,
  type Reservation,
  type Reservations,
} from "./admit_pod.ts";

const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "rs" };
const METADATA = {
  generateName: "web-1-",
  labels: { "pod-template-hash": "1" },
  ownerReferences: [{ ...OWNER, uid: "other" }, { ...OWNER, controller: true }],
};

function requestOf(
  metadata: Record<string, unknown>,
  { spec = {}, ...changes }: Partial<AdmissionRequest> & { readonly spec?: unknown } = {},
) {
  return placementRequest({
    ...{ uid: "q", kind: "Pod", resource: "pods", operation: "CREATE", namespace: "shop" },
    ...{ name: "", dryRun: false, object: { metadata, spec } },
    ...changes,
  });
}

pure("placementRequest() reads a pod that has a controller", () => {
  const volumes = ["data-0", "data-1"].map((claimName) => ({
    persistentVolumeClaim: { claimName },
  }));
  assert.deepEqual(requestOf(METADATA, { spec: { volumes: [{ emptyDir: {} }, ...volumes] } }), {
    ...{ namespace: "shop", owner: OWNER, revision: "1", constraints: [], dryRun: false },
    pod: { name: undefined, generateName: "web-1-" },
    claims: ["data-0", "data-1"],
  });
  const labels = { "controller-revision-hash": "db-5c6" };
  const db = requestOf({ ...METADATA, generateName: "", name: "db-0", labels });
  assert.equal(db?.revision, "db-5c6");
  assert.deepEqual(db?.pod, { name: "db-0", generateName: undefined });
  assert.equal(requestOf({ ownerReferences: [OWNER] }), undefined);
  assert.equal(requestOf({}), undefined);
  assert.equal(requestOf(METADATA, { operation: "UPDATE" }), undefined);
  assert.equal(requestOf(METADATA, { resource: "pods/binding" }), undefined);
});

pure("placementRequest() repeats the decision that the pod carries", () => {
  const decided = (cost: string) =>
    requestOf({
      ...METADATA,
      labels: { "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": cost },
    })?.decided;
  assert.deepEqual(decided("-3"), { class: "spot", deletionCost: -3 });
  assert.deepEqual(decided("many"), { class: "spot" });
});

pure("placementRequest() reads node selector and required node affinity", () => {
  const expression = { key: "zone", operator: "In", values: ["a", "b"] };
  const field = { key: "metadata.name", operator: "In", values: ["n1"] };
  const nodeSelectorTerms = [
    { matchExpressions: [expression, { key: "x", operator: "Exists" }] },
    { matchFields: [field] },
  ];
  const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
  const host = { ...field, key: "kubernetes.io/hostname" };
  const nodeSelector = { zone: "a", "kubernetes.io/hostname": "n1" };
  const spec = { nodeSelector, affinity: { nodeAffinity: required } };
  assert.deepEqual(requestOf(METADATA, { spec })?.constraints, [
    { what: "its node selector", terms: [[host]], selector: true },
    {
      what: "its affinity",
      terms: [[expression, { key: "x", operator: "Exists", values: [] }], [host]],
    },
  ]);
  const empty = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: null } };
  const unmatched = requestOf(METADATA, { spec: { affinity: { nodeAffinity: empty } } });
  assert.deepEqual(unmatched?.constraints, [{ what: "its affinity", terms: [] }]);
  const preferred = { preferredDuringSchedulingIgnoredDuringExecution: [] };
  for (const affinity of [undefined, null, {}, { nodeAffinity: preferred }]) {
    const none = { affinity, nodeSelector: { zone: "a" } };
    assert.deepEqual(requestOf(METADATA, { spec: none })?.constraints, []);
  }
});

const { karpenter, gke, aks } = NODE_CLASS_PRESETS;
const GKE_SPOT = "cloud.google.com/gke-spot";

function placed(
  pod: Record<string, unknown>,
  to: NodeClass,
  { classes = karpenter, deletionCost }: Partial<Parameters<typeof placementPatch>[1]> = {},
) {
  const once = applyJSONPatch(pod, placementPatch(pod, { to, classes, deletionCost }));
  // A server may ask again about the patched pod.
  const again = placementPatch(once as Record<string, unknown>, { to, classes, deletionCost });
  assert.deepEqual(again, []);
  return once as { readonly metadata: unknown; readonly spec: Record<string, unknown> };
}

pure("placementPatch() adds what a bare pod lacks", () => {
  assert.deepEqual(placed({ metadata: {}, spec: {} }, "spot", { deletionCost: -2 }), {
    metadata: {
      labels: { "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: { nodeSelector: { "karpenter.sh/capacity-type": "spot" } },
  });
  const nulls = {
    metadata: { labels: null, annotations: null },
    spec: { nodeSelector: null, tolerations: null },
  };
  assert.deepEqual(placed(nulls, "spot", { classes: gke }), {
    metadata: { labels: { "spotalis.io/capacity": "spot" }, annotations: null },
    spec: { nodeSelector: { [GKE_SPOT]: "true" }, tolerations: gke.spot.tolerations },
  });
});

pure("placementPatch() replaces what the pod says of capacity, and keeps all else", () => {
  const spot = { key: GKE_SPOT, operator: "Equal", value: "true" };
  const own = { key: "own", operator: "Exists" };
  const pod = {
    metadata: { labels: { app: "web", "spotalis.io/capacity": "spot" }, annotations: { a: "b" } },
    spec: {
      nodeSelector: { disk: "ssd", [GKE_SPOT]: "true" },
      tolerations: [{ ...spot, effect: "NoSchedule" }, own],
      containers: [],
    },
  };
  assert.deepEqual(placed(pod, "on-demand", { classes: gke, deletionCost: -1 }), {
    metadata: {
      labels: { app: "web", "spotalis.io/capacity": "on-demand" },
      annotations: { a: "b", "controller.kubernetes.io/pod-deletion-cost": "-1" },
    },
    spec: {
      nodeSelector: { disk: "ssd", "cloud.google.com/gke-provisioning": "standard" },
      tolerations: [own],
      containers: [],
    },
  });
});

pure("placementPatch() takes tolerations of the spot taint from on-demand pods", () => {
  const [taint = {}] = aks.spot.tolerations;
  const { key = "" } = taint;
  const left = (...tolerations: readonly unknown[]): unknown =>
    placed({ metadata: {}, spec: { tolerations } }, "on-demand", { classes: aks })
      .spec["tolerations"];
  const { operator: _, ...implied } = taint;
  const noExecute = { ...taint, effect: "NoExecute" };
  assert.deepEqual(left(implied, noExecute), [noExecute]);
  const others = [
    { key: "dedicated", operator: "Exists" },
    { key, operator: "Equal", value: "batch" },
    { operator: "Exists" },
  ];
  assert.deepEqual(left({ key, operator: "Exists" }, { key, value: "spot" }, ...others), others);
});

function reservation(pod: Reservation["pod"], changes: Partial<Reservation> = {}): Reservation {
  return { pod, revision: "r1", class: "spot", sinceMs: 0, expiresAtMs: 1000, ...changes };
}

function reservations(...open: readonly Reservation[]): Reservations {
  return { ...noReservations(), open };
}

const spotPod = (name: string) => placedPod(name, { class: "spot" });
const PREFIX = { generateName: "web-7d9f-" };

pure("observePods() ends the one reservation that a new pod is for", () => {
  const rows: readonly (readonly [Reservation["pod"], Partial<CountedPod> | undefined, boolean])[] =
    [
      [{ name: "web-7d9f-a" }, undefined, true],
      [{ name: "web-7d9f-b" }, undefined, false],
      [{ name: "web-7d9f-a" }, { unadmitted: true }, true],
      [PREFIX, undefined, true],
      [PREFIX, { unadmitted: true }, false],
      [PREFIX, { revision: "r0" }, false],
      [PREFIX, { class: "on-demand" }, false],
      [PREFIX, { name: "web-1234-a" }, false],
    ];
  for (const [awaited, changes, ends] of rows) {
    const pod = { ...spotPod("web-7d9f-a"), ...changes };
    const seen = observePods(reservations(reservation(awaited), reservation(awaited)), [pod]);
    assert.equal(seen.open.length, ends ? 1 : 2, JSON.stringify([awaited, changes]));
    // Each pod ends one.
    assert.deepEqual(observePods(seen, [pod]), seen);
  }
});

pure("observePods() counts no earlier pod, and admitPod() forgets deleted ones", () => {
  const before = { ...noReservations([spotPod("web-7d9f-a")]), open: [reservation(PREFIX)] };
  assert.equal(observePods(before, [spotPod("web-7d9f-a")]).open.length, 1);
  const pods = Array.from({ length: 200 }, (_, index) => spotPod(`web-7d9f-${index}`));
  const before200 = reservations(reservation(PREFIX));
  const seen = pods.reduce((all, pod) => observePods(all, [pod]), before200);
  assert.deepEqual([seen.open.length, seen.observedUIDs.size], [0, 200]);
  const open = [reservation(PREFIX)];
  const { reservations: again } = admitPod({ ...seen, open }, {
    ...INPUT,
    pods: pods.slice(0, 3),
  });
  assert.equal(again.open.length, 2);
  assert.deepEqual([...again.observedUIDs], pods.slice(0, 3).map(({ uid }) => uid));
});

pure("expire() and dropOldest() remove reservations in time, and by revision", () => {
  const two = reservations(reservation({}), reservation({}, { expiresAtMs: 2000 }));
  assert.deepEqual([999, 1000].map((nowMs) => expire(two, nowMs).open.length), [2, 1]);
  const some = reservations(
    reservation({ name: "a" }),
    reservation({ name: "b" }, { revision: "r2" }),
    reservation({ name: "c" }, { sinceMs: 10 }),
    reservation({ name: "d" }, { sinceMs: 20 }),
  );
  const left = (limit: number, untilMs = 20) =>
    dropOldest(some, { revision: "r1", limit, untilMs }).open.map(({ pod }) => pod.name).join("");
  assert.deepEqual([left(3), left(1), left(0), left(0, 19), left(0, 9)], [
    ...["abcd", "bd", "b", "bd", "bcd"],
  ]);
});

const INPUT: AdmissionInput = {
  workload: { kind: "Deployment", replicas: 10 },
  spec: { spotPercentage: 70, minOnDemand: 0 },
  pod: { revision: "r1", generateName: "web-" },
  ...{ pods: [], shortage: "none" as const, dryRun: false, nowMs: 0 },
};
const DB = { kind: "StatefulSet", replicas: 10 } as const;

/** The decisions about pods in a row, `everyMs` apart, that are not observed. */
function decisions(
  count: number,
  { everyMs = 0, ...input }: Partial<AdmissionInput> & { readonly everyMs?: number } = {},
) {
  let reservations: Reservations = noReservations(input.pods);
  return Array.from({ length: count }, (_, index) => {
    const answer = admitPod(reservations, { ...INPUT, nowMs: index * everyMs, ...input });
    reservations = answer.reservations;
    return answer;
  });
}

function admitted(...args: Parameters<typeof decisions>): string {
  return decisions(...args).map((answer) => answer.class[0]).join("");
}

pure("admitPod() counts reservations and the present pods of the revision", () => {
  const gone = { gone: true };
  const fallback = { only: "spot", shortage: "fallback" } as const;
  const five = placedPods({ "on-demand": 5 });
  const waiting = placedPod("web-w", { class: "spot", scheduled: false });
  const db = (name: string) => ({ workload: DB, pod: { revision: "r1", name } });
  const rows: readonly (readonly [string, Partial<AdmissionInput>])[] = [
    ["ossossosss", {}],
    ["oss", { pods: placedPods({ spot: 5, "on-demand": 2 }) }],
    ["os", { pods: placedPods({ "on-demand": 9 }, { revision: "r0" }) }],
    ["o", { pods: placedPods({ "on-demand": 9 }, gone) }],
    ["s", { pods: placedPods({ "on-demand": 9 }) }],
    // The place of a moved pod, while that pod is still observed.
    ["s", { pods: placedPods({ spot: 6, "on-demand": 4 }) }],
    ["o", { pods: placedPods({ spot: 8, "on-demand": 2 }) }],
    ["s", fallback],
    ["s", { only: "spot", spec: { spotPercentage: 0, minOnDemand: 5 } }],
    ["s", { ...db("db-0"), only: "spot" }],
    ["o", { ...db("db-2"), pods: placedPods({ spot: 7 }) }],
    ["s", { ...db("db-3"), pods: placedPods({ spot: 7 }) }],
    // After a fallback one at a time goes to spot.
    ["oooo", { pods: five, shortage: "fallback" }],
    ["sooo", { pods: five, shortage: "returning" }],
    ["o", { pods: [...five, waiting], shortage: "returning" }],
  ];
  for (const [expected, input] of rows) {
    assert.equal(admitted(expected.length, input), expected, JSON.stringify(input).slice(0, 200));
  }
});
pure("admitPod() reserves nothing for a dry run, and else for 30 s", () => {
  const [dry] = decisions(1, { dryRun: true });
  assert.equal(dry?.reservations.open.length, 0);
  const [first, second] = decisions(2);
  assert.equal(second?.reservations.open.length, 2);
  const [, later] = decisions(2, { everyMs: 30_000 });
  assert.deepEqual([later?.class, later?.reservations.open.length], [first?.class, 1]);
});

pure("admitPod() has the deletion cost of a Deployment's pod, with reservations", () => {
  assert.deepEqual(decisions(4).map((one) => one.deletionCost), [-1, -2, -3, -4]);
  const [db] = decisions(1, { workload: DB, pod: { revision: "r1", name: "db-0" } });
  assert.equal(db?.deletionCost, undefined);
});

pure("admitPod() takes a pod beyond the replicas for a failed creation, or a late cache", () => {
  // At once as well as one after the other: lost pods fill no floor.
  for (const everyMs of [0, 200]) {
    const answers = admitted(13, { everyMs });
    assert.equal(answers.slice(10), answers.slice(0, 3));
  }
  const spots = (...args: Parameters<typeof admitted>) => admitted(...args).replaceAll("o", "");
  assert.equal(spots(10, { pods: placedPods({ spot: 7, "on-demand": 3 }) }).length, 7);
  const seen = placedPods({ spot: 6, "on-demand": 3 });
  // Spot nodes are to run 20 of 29 pods.
  assert.equal(spots(20, { pods: seen, everyMs: 50 }).length, 14);
  // Later than caches lag behind, creations have failed.
  assert.equal(admitted(20, { pods: seen, everyMs: 2000 }), "s".repeat(20));
});
