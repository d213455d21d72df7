import assert from "node:assert/strict";
import { ApiError } from "../api/api_error.ts";
import { refusalKind, refusalReason } from "./refusal.ts";

const permissions = "none" as const;

Deno.test({
  name: "refusalKind() distinguishes a missing pod, a conflict, API back-off and a refusal",
  permissions,
  fn() {
    const uid = 'metadata.uid: Invalid value: "u1": field is immutable';
    const cases = [
      [404, "", "gone"],
      [422, uid, "gone"],
      [422, "spec.nodeName: field is immutable", "refused"],
      [422, "Pod QOS Class may not change as a result of resizing", "refused"],
      [403, "exceeded quota", "refused"],
      [400, "", "refused"],
      [409, "", "conflict"],
      [429, "", "busy"],
      [500, "", "busy"],
      [503, "", "busy"],
      [500, 'failed calling webhook "policy.example.com": no endpoints', "refused"],
      [500, 'admission webhook "policy.example.com" denied the request: no', "refused"],
      [409, 'admission webhook "policy.example.com" denied the request: no', "refused"],
      [0, "", "busy"],
    ] as const;
    for (const [status, message, kind] of cases) {
      assert.equal(
        refusalKind(new ApiError(status, "", message)),
        kind,
        `${status} ${message}`,
      );
    }
  },
});

Deno.test({
  name: "refusalReason() reads a refusal's cause, or its message",
  permissions,
  fn() {
    const pod = 'pods "web" is forbidden: ';
    // Recorded from a kube-apiserver 1.36.3, but for the webhook's.
    const cases = [
      [
        `${pod}exceeded quota: cpu, requested: limits.cpu=700m, used: limits.cpu=280m, ` +
        "limited: limits.cpu=400m",
        "QuotaExceeded",
      ],
      [
        `${pod}[cpu max limit to request ratio per Container is 8, but provided ratio is ` +
        "9.000000, maximum cpu usage per Pod is 520m, but limit is 530m]",
        "LimitRange",
      ],
      [
        `${pod}[minimum cpu usage per Container is 100m, but request is 50m, minimum cpu usage ` +
        "per Container is 100m, but request is 10m]",
        "LimitRange",
      ],
      [
        `${pod}node didn't have enough allocatable resources: cpu, requested: 9010, ` +
        "allocatable: 2000",
        "NodeCapacity",
      ],
      [
        `${pod}ValidatingAdmissionPolicy 'undo-no-resize' with binding 'undo-no-resize' denied ` +
        "request: no resizes here",
        "AdmissionDenied",
      ],
      ['admission webhook "policy.example.com" denied the request: no', "AdmissionDenied"],
      [`${pod}User "x" cannot patch resource "pods/resize" in API group ""`, "Refused"],
    ] as const;
    for (const [message, reason] of cases) {
      assert.equal(refusalReason(new ApiError(403, "Forbidden", message)), reason, message);
    }
    for (const [cause, reason] of [["NodeCapacity"], ["UnsupportedPlatform", "WindowsPod"]]) {
      const causes = ["FieldValueForbidden", cause ?? ""];
      assert.equal(
        refusalReason(new ApiError(403, "Forbidden", "no", { causes })),
        reason ?? cause,
      );
    }
  },
});

Deno.test({
  name: "refusalReason() knows what servers of 1.33 to 1.36 say of pods that can't be resized",
  permissions,
  fn() {
    const pod = 'Pod "web" is invalid: ';
    const cases = [
      // 1.33 and 1.34; then 1.35 and 1.36 without their feature gate.
      [`${pod}: Forbidden: pods with pod-level resources cannot be resized`, "PodLevelResources"],
      [
        `${pod}: Forbidden: resize of pods with pod-level resources is forbidden when ` +
        "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled",
        "PodLevelResources",
      ],
      [`${pod}: Forbidden: static pods cannot be resized`, "StaticPod"],
      [`${pod}: Forbidden: windows pods cannot be resized`, "WindowsPod"],
      [
        `${pod}spec: Forbidden: pods with node allocatable resource claims cannot be resized`,
        "DeviceClaims",
      ],
      [
        `${pod}spec: Forbidden: Pod running on node without support for resize`,
        "KubeletTooOld",
      ],
      [
        `${pod}spec: Invalid value: "": Pod QOS Class may not change as a result of resizing`,
        "QoSWouldChange",
      ],
      [
        `${pod}spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed`,
        "Refused",
      ],
    ] as const;
    for (const [message, reason] of cases) {
      const error = new ApiError(422, "Invalid", message);
      assert.equal(refusalReason(error), reason, message);
      assert.equal(refusalKind(error), "refused", message);
    }
  },
});
