import assert from "node:assert/strict";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { statusEvent } from "./status_event.ts";

function allocation(appliedCPULimit?: string): PodAllocation {
  const bare = sampleAllocation(samplePod("web"));
  const applied = appliedCPULimit === undefined ? {} : { appliedCPULimit };
  return {
    ...bare,
    spec: { ...bare.spec, ...sampleDesired("300m") },
    status: {
      originalLimits: [{ name: "app", cpu: "150m" }, { name: "b", cpu: "50m" }],
      ...applied,
    },
  };
}

function event(reason: EnforcementReason, before: PodAllocation, after = "300m") {
  return statusEvent(before, {
    decision: { changes: [], reason, message: "so" },
    status: { appliedCPULimit: after },
  });
}

Deno.test({
  name:
    "statusEvent() reports a change once, from the original limit at first, and why others don't happen",
  permissions: "none",
  fn() {
    const applied = { reason: "CPULimitApplied", message: "200m → 300m (Throttled)" };
    assert.deepEqual(event("Applied", allocation()), applied);
    assert.equal(event("Applied", allocation("300m")), undefined);
    assert.equal(event("Applied", allocation("400m"))?.message, "400m → 300m (Throttled)");
    assert.deepEqual(event("QuotaExceeded", allocation()), {
      reason: "CPULimitHeld",
      key: "QuotaExceeded",
      message: "QuotaExceeded: so",
    });
    assert.equal(event("BoundsStale", allocation()), undefined);
    const restored = { reason: "CPULimitsRestored", message: "so" };
    assert.deepEqual(event("Restored", allocation()), restored);
  },
});
