import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { sampleContainer, samplePod } from "../../tests/contract/sample_objects.ts";
import { describeChanges, describeRefusal } from "./report_words.ts";

const permissions = "none" as const;

Deno.test({
  name: "describeChanges() names each container with its limit before and after",
  permissions,
  fn() {
    const pod = samplePod("web", {
      containers: [sampleContainer(), sampleContainer({ name: "proxy", limitCPU: 50 })],
    });
    const changes = [
      { name: "app", sidecar: false, limitCPU: 450 },
      { name: "proxy", sidecar: false, limitCPU: 40 },
    ];
    assert.equal(describeChanges(pod, changes), "app 200m → 450m, proxy 50m → 40m");
  },
});

Deno.test({
  name: "describeRefusal() tells a pod that is gone from old state, a busy server and a no",
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
      [0, "", "busy"],
    ] as const;
    for (const [status, message, kind] of cases) {
      assert.equal(
        describeRefusal(new ApiError(status, "", message)),
        kind,
        `${status} ${message}`,
      );
    }
  },
});
