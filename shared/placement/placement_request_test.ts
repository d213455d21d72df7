import assert from "node:assert/strict";
import type { AdmissionRequest } from "../admission/admission_review.ts";
import { placementRequest } from "./placement_request.ts";

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
