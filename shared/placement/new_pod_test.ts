import assert from "node:assert/strict";
import type { AdmissionRequest } from "../admission/admission_review.ts";
import { placementPatch, placementRequest } from "./new_pod.ts";
import { applyJSONPatch } from "../admission/json_patch.ts";
import { NODE_CLASS_PRESETS, type NodeClass, type NodeClasses } from "./node_classes.ts";

const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-1", uid: "rs" };

function request(
  metadata: Record<string, unknown>,
  changes: Partial<AdmissionRequest> = {},
): AdmissionRequest {
  return {
    uid: "q",
    kind: "Pod",
    resource: "pods",
    operation: "CREATE",
    namespace: "shop",
    name: "",
    dryRun: false,
    object: { metadata, spec: { containers: [{ env: [{ value: "secret" }] }] } },
    ...changes,
  };
}

const METADATA = {
  generateName: "web-1-",
  labels: { "pod-template-hash": "1" },
  ownerReferences: [{ ...OWNER, uid: "other" }, { ...OWNER, controller: true }],
};

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("placementRequest() has owner, revision and names of the pod, and nothing else", () => {
  assert.deepEqual(placementRequest(request(METADATA)), {
    namespace: "shop",
    owner: OWNER,
    revision: "1",
    pod: { generateName: "web-1-" },
    dryRun: false,
  });
});

test("placementRequest() repeats the decision that the pod carries", () => {
  const carrying = {
    ...METADATA,
    labels: { "pod-template-hash": "1", "spotalis.io/capacity": "spot" },
    annotations: { "controller.kubernetes.io/pod-deletion-cost": "-3" },
  };
  assert.deepEqual(placementRequest(request(carrying))?.decided, {
    class: "spot",
    deletionCost: -3,
  });
  const odd = {
    ...carrying,
    annotations: { "controller.kubernetes.io/pod-deletion-cost": "many" },
  };
  assert.deepEqual(placementRequest(request(odd))?.decided, { class: "spot" });
});

test("placementRequest() has the claims of the pod's volumes", () => {
  const claimsOf = (...claims: readonly string[]) => {
    const volumes = claims.map((claimName) => ({
      name: claimName,
      persistentVolumeClaim: { claimName },
    }));
    const spec = { volumes: [{ name: "c", emptyDir: {} }, ...volumes] };
    return placementRequest(request({}, { object: { metadata: METADATA, spec } }))?.claims;
  };
  assert.equal(claimsOf(), undefined);
  assert.deepEqual(claimsOf("data-0", "data-1"), ["data-0", "data-1"]);
});

test("placementRequest() is undefined for pods without a controller, and for other requests", () => {
  assert.equal(placementRequest(request({ ownerReferences: [OWNER] })), undefined);
  assert.equal(placementRequest(request({})), undefined);
  assert.equal(placementRequest(request(METADATA, { operation: "UPDATE" })), undefined);
  assert.equal(placementRequest(request(METADATA, { resource: "pods/binding" })), undefined);
});

const { karpenter, gke, aks } = NODE_CLASS_PRESETS;

function placed(
  pod: Record<string, unknown>,
  to: NodeClass,
  { classes = karpenter, deletionCost }: {
    readonly classes?: NodeClasses;
    readonly deletionCost?: number;
  } = {},
): { readonly metadata: unknown; readonly spec: Record<string, unknown> } {
  const once = applyJSONPatch(pod, placementPatch(pod, { to, classes, deletionCost }));
  // A server may ask again about the patched pod.
  const again = placementPatch(once as Record<string, unknown>, { to, classes, deletionCost });
  assert.deepEqual(again, []);
  return once as ReturnType<typeof placed>;
}

test("placementPatch() adds what a bare pod lacks", () => {
  assert.deepEqual(placed({ metadata: {}, spec: {} }, "spot", { deletionCost: -2 }), {
    metadata: {
      labels: { "spotalis.io/capacity": "spot" },
      annotations: { "controller.kubernetes.io/pod-deletion-cost": "-2" },
    },
    spec: { nodeSelector: { "karpenter.sh/capacity-type": "spot" } },
  });
  const { spec } = placed({ metadata: {}, spec: {} }, "spot", { classes: aks });
  assert.deepEqual(spec, {
    nodeSelector: { "kubernetes.azure.com/scalesetpriority": "spot" },
    tolerations: aks.spot.tolerations,
  });
});

test("placementPatch() replaces what the pod says of capacity, and keeps all else", () => {
  const spot = { key: "cloud.google.com/gke-spot", operator: "Equal", value: "true" };
  const own = { key: "own", operator: "Exists" };
  const pod = {
    metadata: { labels: { app: "web", "spotalis.io/capacity": "spot" }, annotations: { a: "b" } },
    spec: {
      nodeSelector: { disk: "ssd", "cloud.google.com/gke-spot": "true" },
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

test("placementPatch() takes tolerations of the spot taint from on-demand pods, and no others", () => {
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

test("placementPatch() takes null for absent, and has no cost by default", () => {
  const pod = {
    metadata: { labels: null, annotations: null },
    spec: { nodeSelector: null, tolerations: null },
  };
  assert.deepEqual(placed(pod, "spot", { classes: gke }), {
    metadata: { labels: { "spotalis.io/capacity": "spot" }, annotations: null },
    spec: {
      nodeSelector: { "cloud.google.com/gke-spot": "true" },
      tolerations: gke.spot.tolerations,
    },
  });
});

test("placementPatch() throws for an object that is not a pod", () => {
  assert.throws(() => placementPatch({ metadata: {} }, { to: "spot", classes: karpenter }), {
    name: "TypeError",
    message: /^Cannot place/,
  });
});
