import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { AdmissionRequest } from "../admission/admission_review.ts";
import { applyJSONPatch } from "../../tests/fixtures/webhook/apply_json_patch.ts";
import { placementPatch, placementRequest } from "./new_pod.ts";
import { NODE_CLASS_PRESETS, type NodeClass } from "./node_classes.ts";

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
    uid: "q",
    kind: "Pod",
    resource: "pods",
    operation: "CREATE",
    namespace: "shop",
    name: "",
    dryRun: false,
    object: { metadata, spec },
    ...changes,
  });
}

pure("placementRequest() reads a pod that has a controller", () => {
  const volumes = ["data-0", "data-1"].map((claimName) => ({
    persistentVolumeClaim: { claimName },
  }));
  assert.deepEqual(requestOf(METADATA, { spec: { volumes: [{ emptyDir: {} }, ...volumes] } }), {
    namespace: "shop",
    owner: OWNER,
    revision: "1",
    pod: { name: undefined, generateName: "web-1-" },
    constraints: [],
    claims: ["data-0", "data-1"],
    dryRun: false,
  });
  const labels = { "controller-revision-hash": "db-5c6" };
  const db = requestOf({ ...METADATA, generateName: "", name: "db-0", labels });
  assert.deepEqual([db?.revision, db?.pod.name, db?.pod.generateName], [
    "db-5c6",
    "db-0",
    undefined,
  ]);
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
