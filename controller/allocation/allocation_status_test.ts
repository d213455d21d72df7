import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import {
  ENFORCEMENT_REASONS,
  type EnforcementReason,
} from "../../shared/api/reasons/enforcement_reasons.ts";
import {
  sampleAllocation,
  sampleContainer,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { nextStatus, phaseOf } from "./allocation_status.ts";

const wallTime = "2026-01-01T00:00:00.000Z";

function applied(...limits: number[]): Pod {
  return samplePod("web", {
    containers: limits.map((appliedLimitCPU, index) =>
      sampleContainer({
        name: `c${index}`,
        limits: { cpu: 999 },
        applied: { limits: { cpu: appliedLimitCPU } },
      })
    ),
  });
}

function allocation(status: PodAllocationStatus = {}): PodAllocation {
  const bare = sampleAllocation(samplePod("web"));
  const side = { containerID: "containerd://a", floor: 100, ceiling: 800, weight: 100 };
  const containers = ["c0", "c1"].map((name) => ({ name, ...side }));
  return {
    ...bare,
    metadata: { ...bare.metadata, generation: 5 },
    status: { bounds: { revision: 1, reason: "", containers }, ...status },
  };
}

function next(
  pod: Pod,
  before: PodAllocation,
  reason: { reason?: EnforcementReason; message?: string },
): PodAllocationStatus | undefined {
  return nextStatus(before, pod, { decision: { changes: [], ...reason }, wallTime });
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("phaseOf() has a phase for each reason, Applied only for what the kubelet has done", () => {
  const effects = Object.keys(ENFORCEMENT_REASONS) as EnforcementReason[];
  const ofPhase = (phase: string) => effects.filter((reason) => phaseOf(reason) === phase);
  assert.deepEqual(ofPhase("Applied"), ["Applied", "Restored"]);
  assert.deepEqual(ofPhase("Failed"), [
    "IdentityMismatch",
    "KubeletTooOld",
    "WindowsPod",
    "StaticPod",
    "StaticCPUManager",
    "StaticMemoryManager",
    "SwapEnabled",
    "PodLevelResources",
    "DeviceClaims",
    "ResizeInfeasible",
    "ResizeError",
    "Refused",
    "NodeCapacity",
    "AdmissionDenied",
    "RestoreBlocked",
    "OriginalUnknown",
  ]);
});

test("nextStatus() reports the kubelet's limits, not those of the spec", () => {
  const status = next(applied(300, 1700), allocation(), { reason: "Applied", message: "done" });
  assert.equal(status?.appliedCPULimit, "2");
  assert.deepEqual(status?.containers, [
    { name: "c0", cpuLimit: "300m" },
    { name: "c1", cpuLimit: "1700m" },
  ]);
  assert.equal(status?.phase, "Applied");
  assert.equal(status?.observedGeneration, 5);
  assert.equal(status?.lastAppliedTime, wallTime);
});

test("nextStatus() has nothing to write when it says so already", () => {
  const pod = applied(300, 300);
  const status = next(pod, allocation(), { reason: "Applied", message: "done" });
  assert.ok(status);
  assert.equal(next(pod, allocation(status), { reason: "Applied", message: "done" }), undefined);
  assert.equal(next(pod, allocation(status), {}), undefined);
});

test("nextStatus() notices limits that moved between containers", () => {
  const status = next(applied(300, 300), allocation(), { reason: "Applied" });
  const moved = next(applied(400, 200), allocation(status), { reason: "Applied" });
  assert.equal(moved?.appliedCPULimit, "600m");
  assert.equal(moved?.containers?.[0]?.cpuLimit, "400m");
});

test("nextStatus() keeps no message that belongs to another reason", () => {
  const refused = next(applied(300), allocation(), { reason: "Refused", message: "quota" });
  const later = next(applied(300), allocation(refused), { reason: "Applied" });
  assert.equal(refused?.message, "quota");
  assert.equal(later?.message, undefined);
});

test("nextStatus() rewrites the message of a failure, not that of a wait", () => {
  const refused = next(applied(300), allocation(), { reason: "Refused", message: "quota" });
  const policy = { reason: "Refused", message: "policy" } as const;
  assert.equal(next(applied(300), allocation(refused), policy)?.message, "policy");
  const held = next(applied(300), allocation(), { reason: "RateLimited", message: "in 2 s" });
  const wait = { reason: "RateLimited", message: "in 1 s" } as const;
  assert.equal(next(applied(300), allocation(held), wait), undefined);
});

test("nextStatus() keeps bounds and originals", () => {
  const before = allocation({ originalLimits: [{ name: "c0", cpu: "200m" }] });
  const status = next(applied(300), before, { reason: "Waiting" });
  assert.deepEqual(status?.originalLimits, before.status?.originalLimits);
  assert.deepEqual(status?.bounds, before.status?.bounds);
  assert.equal(status?.lastAppliedTime, undefined);
});

test("nextStatus() has a condition for kubectl wait, with the time of its last transition", () => {
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  const decided = (reason: EnforcementReason, second: number, message = "") => ({
    decision: { changes: [], reason, message },
    wallTime: at(second),
  });
  const held = nextStatus(allocation(), applied(300), decided("Waiting", 1, "not yet"));
  assert.deepEqual(held?.conditions, [{
    type: "Applied",
    status: "False",
    reason: "Waiting",
    message: "not yet",
    lastTransitionTime: at(1),
    observedGeneration: 5,
  }]);
  const stale = nextStatus(allocation(held), applied(300), decided("BoundsStale", 2));
  assert.equal(stale?.conditions?.[0]?.lastTransitionTime, at(1));
  const done = nextStatus(allocation(stale), applied(300), decided("Applied", 3));
  assert.equal(done?.conditions?.[0]?.status, "True");
  assert.equal(done?.conditions?.[0]?.lastTransitionTime, at(3));
});

test("nextStatus() calls a refusal Failed, a hold for the same reason Pending", () => {
  const decision = { changes: [], reason: "QuotaExceeded", message: "full" } as const;
  const attemptedAt = "2026-01-01T00:00:09.000Z";
  const refused = nextStatus(allocation(), applied(300), {
    decision,
    wallTime,
    refused: true,
    attemptedAt,
  });
  assert.deepEqual([refused?.phase, refused?.lastAttemptTime], ["Failed", attemptedAt]);
  const held = nextStatus(allocation(refused), applied(300), { decision, wallTime });
  assert.deepEqual([held?.phase, held?.lastAttemptTime], ["Pending", attemptedAt]);
});

test("nextStatus() cuts what a server has to say", () => {
  const status = next(applied(300), allocation(), { reason: "Refused", message: "x".repeat(9000) });
  assert.equal(status?.message?.length, 2000);
  assert.equal(status?.conditions?.[0]?.message.length, 2000);
});
