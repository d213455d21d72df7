import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { ApiError } from "../api/api_error.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import { refusalKind, refusalReason } from "./refusal.ts";

pure("refusalKind() distinguishes a missing pod, a conflict, API back-off and a refusal", () => {
  const uid = 'metadata.uid: Invalid value: "u1": field is immutable';
  const denied = 'admission webhook "policy.example.com" denied the request: no';
  const cases = [
    ...[[404, "", "gone"], [422, uid, "gone"]],
    ...[[422, "spec.nodeName: field is immutable", "refused"], [403, "exceeded quota", "refused"]],
    ...[[400, "", "refused"], [409, "", "conflict"], [429, "", "busy"], [500, "", "busy"]],
    ...[[503, "", "busy"], [0, "", "busy"], [500, denied, "refused"], [409, denied, "refused"]],
    [500, 'failed calling webhook "policy.example.com": no endpoints', "refused"],
  ] as const;
  for (const [status, message, kind] of cases) {
    assert.equal(refusalKind(new ApiError(status, "", message)), kind, `${status} ${message}`);
  }
});

const FORBIDDEN = 'pods "web" is forbidden: ';
const INVALID = 'Pod "web" is invalid: ';

pure("refusalReason() reads a refusal's cause, or its message", () => {
  // Recorded from a kube-apiserver 1.36.3, but for the webhook's.
  const forbidden: readonly (readonly [EnforcementReason, message: string])[] = [
    [
      "QuotaExceeded",
      `${FORBIDDEN}exceeded quota: cpu, requested: limits.cpu=700m, used: limits.cpu=280m, ` +
      "limited: limits.cpu=400m",
    ],
    [
      "LimitRange",
      `${FORBIDDEN}[cpu max limit to request ratio per Container is 8, but provided ratio is ` +
      "9.000000, maximum cpu usage per Pod is 520m, but limit is 530m]",
    ],
    [
      "LimitRange",
      `${FORBIDDEN}[minimum cpu usage per Container is 100m, but request is 50m, minimum cpu usage ` +
      "per Container is 100m, but request is 10m]",
    ],
    [
      "NodeCapacity",
      `${FORBIDDEN}node didn't have enough allocatable resources: cpu, requested: 9010, ` +
      "allocatable: 2000",
    ],
    [
      "AdmissionDenied",
      `${FORBIDDEN}ValidatingAdmissionPolicy 'undo-no-resize' with binding 'undo-no-resize' denied ` +
      "request: no resizes here",
    ],
    ["AdmissionDenied", 'admission webhook "policy.example.com" denied the request: no'],
    ["Refused", `${FORBIDDEN}User "x" cannot patch resource "pods/resize" in API group ""`],
  ];
  for (const [reason, message] of forbidden) {
    assert.equal(refusalReason(new ApiError(403, "Forbidden", message)), reason, message);
  }
  for (
    const [cause, reason] of [["NodeCapacity", "NodeCapacity"], [
      "UnsupportedPlatform",
      "WindowsPod",
    ]]
  ) {
    const causes = ["FieldValueForbidden", cause ?? ""];
    assert.equal(refusalReason(new ApiError(403, "Forbidden", "no", { causes })), reason);
  }
});

pure("refusalReason() knows what servers of 1.33 to 1.36 say of pods that can't be resized", () => {
  const messages: Readonly<Record<string, EnforcementReason>> = {
    // 1.33 and 1.34; then 1.35 and 1.36 without their feature gate.
    ": Forbidden: pods with pod-level resources cannot be resized": "PodLevelResources",
    [
      ": Forbidden: resize of pods with pod-level resources is forbidden when " +
      "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
    ]: "PodLevelResources",
    ": Forbidden: static pods cannot be resized": "StaticPod",
    ": Forbidden: windows pods cannot be resized": "WindowsPod",
    "spec: Forbidden: pods with node allocatable resource claims cannot be resized": "DeviceClaims",
    "spec: Forbidden: Pod running on node without support for resize": "KubeletTooOld",
    'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing':
      "QoSWouldChange",
    "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed": "Refused",
  };
  for (const [message, reason] of Object.entries(messages)) {
    const error = new ApiError(422, "Invalid", INVALID + message);
    assert.deepEqual([refusalReason(error), refusalKind(error)], [reason, "refused"], message);
  }
});
