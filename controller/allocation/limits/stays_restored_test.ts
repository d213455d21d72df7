import assert from "node:assert/strict";
import type { PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { staysRestored } from "./stays_restored.ts";

function stays(manager: string, status: PodAllocationStatus, cpuLimit = "450m"): boolean {
  const pod = samplePod("web", { containers: [sampleContainer({ limitManagers: [manager] })] });
  const allocation = sampleAllocation(pod);
  const spec = { ...allocation.spec, containers: [{ name: "app", cpuLimit }] };
  return staysRestored(pod, { ...allocation, spec, status });
}

Deno.test({
  name: "staysRestored() goes by the status, or by the manager of a limit that no status tells of",
  permissions: "none",
  fn() {
    const reported = (cpuLimit: string) => ({ containers: [{ name: "app", cpuLimit }] });
    assert.equal(stays("mbcas", { reason: "Restored" }), true);
    assert.equal(stays("mbcas", { reason: "Applied", ...reported("300m") }), false);
    // The controller ended after its patch: the kubelet had reported 300 m before.
    assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("300m") }), true);
    // The market wants the user's own value, wanted it before, or the pod is new in the market.
    assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("300m") }, "200m"), false);
    assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("200m") }), false);
    assert.equal(stays("mbcas-restore", {}), false);
  },
});
