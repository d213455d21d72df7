import assert from "node:assert/strict";
import { sampleContainer, samplePod } from "../../../tests/contract/sample_objects.ts";
import { describeChanges } from "./report_words.ts";

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
    const moved = changes.map((change) => ({ ...change, requestCPU: change.limitCPU }));
    assert.equal(
      describeChanges(pod, moved),
      "app 200m → 450m, proxy 50m → 40m (request and limit)",
    );
  },
});
