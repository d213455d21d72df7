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
import { pure } from "../../tests/fixtures/pure.ts";
import { nextStatus, phaseOf, type StatusInput } from "./allocation_status.ts";
import {
  createPodMemories,
  isCurrent,
  noteResize,
  resizePauses,
  waitLeftMs,
} from "./pod_memory.ts";

function podWith(uid: string): Pod {
  const pod = samplePod("web");
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

pure("createPodMemories() forgets a pod when another one bears its name", () => {
  const forgotten: string[] = [];
  const memories = createPodMemories((podKey, uid) => void forgotten.push(`${podKey} ${uid}`));
  const first = memories.getOrCreate("shop/web", podWith("u1"));
  first.refusal = { message: "no", reason: "Refused" };
  assert.equal(memories.getOrCreate("shop/web", podWith("u1")), first);
  assert.equal(memories.getOrCreate("shop/web", podWith("u2")).refusal, undefined);
  memories.forget("shop/web");
  memories.forget("shop/web");
  assert.deepEqual(forgotten, ["shop/web u1", "shop/web u2"]);
});

pure("isCurrent() waits for a pod that is as new as the last patch, but not for ever", () => {
  const pod = podWith("u1");
  const memory = createPodMemories(() => {}).getOrCreate("shop/web", pod);
  const seen = (resourceVersion: string, to: string, nowMs = 1000): boolean => {
    memory.lastPatch = { from: "7", to, atMs: 0 };
    return isCurrent(memory, { pod: at(resourceVersion), nowMs });
  };
  const at = (resourceVersion: string): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, resourceVersion },
  });
  // Before the patch, between the cached version and the patch, after it.
  assert.deepEqual([seen("7", "10"), seen("9", "10"), seen("10", "10"), seen("11", "10")], [
    false,
    false,
    true,
    true,
  ]);
  // Versions that can't be compared: any but the one before will have to do.
  assert.deepEqual([seen("7", "x"), seen("8", "x")], [false, true]);
  assert.equal(seen("7", "10", 60_000), true);
  // A copy that is listed again from a server that lags behind goes back.
  assert.deepEqual([seen("11", "10"), isCurrent(memory, { pod: at("9"), nowMs: 2000 })], [
    true,
    false,
  ]);
});

pure("noteResize() holds a pod for 5 min after more than 100 resizes", () => {
  const heldAfter = (count: number, everyMs: number): number => {
    const memory = createPodMemories(() => {}).getOrCreate("shop/web", podWith("u1"));
    for (let index = 0; index < count; index++) noteResize(memory, index * everyMs);
    const nowMs = (count - 1) * everyMs;
    return resizePauses(memory, { nowMs, minIntervalMs: 0 }).oscillatingMs;
  };
  assert.equal(heldAfter(100, 1000), 0);
  assert.equal(heldAfter(101, 1000), 300_000);
  assert.equal(heldAfter(101, 2999), 300_000);
  assert.equal(heldAfter(500, 3000), 0);
  // It begins to count anew.
  assert.equal(heldAfter(102, 1000), 299_000);
  assert.equal(heldAfter(201, 1000), 200_000);
  assert.equal(heldAfter(202, 1000), 300_000);
});

pure("resizePauses() leaves the least time after the last resize", () => {
  const memory = createPodMemories(() => {}).getOrCreate("shop/web", podWith("u1"));
  const restMs = (nowMs: number): number =>
    resizePauses(memory, { nowMs, minIntervalMs: 1000 }).restMs;
  assert.equal(restMs(0), 0);
  noteResize(memory, 500);
  assert.deepEqual([500, 900, 1500, 9000].map(restMs), [1000, 600, 0, 0]);
});

pure("waitLeftMs() is the rest of the wait; a restore waits for no attempt", () => {
  const left = (restoring: boolean, nowMs = 400): readonly number[] =>
    [false, true].map((one) =>
      waitLeftMs({ wait: { untilMs: 1000, restoring } }, { nowMs, restoring: one })
    );
  assert.deepEqual([left(false), left(true), left(true, 1500)], [[600, 0], [600, 600], [0, 0]]);
  assert.equal(waitLeftMs({}, { nowMs: 0, restoring: false }), 0);
});

const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

function applied(...limits: number[]): Pod {
  return samplePod("web", {
    containers: limits.map((cpu, index) =>
      sampleContainer({ name: `c${index}`, limits: { cpu: 999 }, applied: { limits: { cpu } } })
    ),
  });
}

const POD = applied(300);

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

/** The status after this reason, `before` being the present one. */
function next(
  reason: EnforcementReason | undefined,
  message?: string,
  { before, pod = POD, second = 0, ...more }: Partial<StatusInput> & {
    readonly before?: PodAllocationStatus | undefined;
    readonly pod?: Pod;
    readonly second?: number;
  } = {},
): PodAllocationStatus | undefined {
  const said = { ...(reason && { reason }), ...(message === undefined ? {} : { message }) };
  const decision = { changes: [], ...said };
  return nextStatus(allocation(before), pod, { decision, wallTime: at(second), ...more });
}

pure("phaseOf() has a phase for each reason, Applied only for what the kubelet has done", () => {
  const effects = Object.keys(ENFORCEMENT_REASONS) as EnforcementReason[];
  const ofPhase = (phase: string) => effects.filter((reason) => phaseOf(reason) === phase);
  assert.deepEqual(ofPhase("Applied"), ["Applied", "Restored"]);
  assert.deepEqual(ofPhase("Failed"), [
    ...["IdentityMismatch", "KubeletTooOld", "WindowsPod", "StaticPod", "StaticCPUManager"],
    ...["StaticMemoryManager", "SwapEnabled", "PodLevelResources", "DeviceClaims"],
    ...["ResizeInfeasible", "ResizeError", "Refused", "NodeCapacity", "AdmissionDenied"],
    ...["RestoreBlocked", "OriginalUnknown"],
  ]);
});

pure("nextStatus() reports the kubelet's limits, not those of the spec, and keeps the rest", () => {
  const limits = (c0: string, c1: string) => [{ name: "c0", cpuLimit: c0 }, {
    name: "c1",
    cpuLimit: c1,
  }];
  const before = { originalLimits: [{ name: "c0", cpu: "200m" }] };
  const { bounds } = allocation().status ?? {};
  const status = next("Applied", "done", { before, pod: applied(300, 1700) });
  const { conditions: _conditions, ...rest } = status ?? {};
  assert.deepEqual(rest, {
    ...{ bounds, ...before, phase: "Applied", reason: "Applied", message: "done" },
    ...{ containers: limits("300m", "1700m"), appliedCPULimit: "2" },
    ...{ observedGeneration: 5, lastAppliedTime: at(0) },
  });
  // Limits that moved between containers are a change, too.
  const moved = next("Applied", "done", { before: status, pod: applied(1700, 300) });
  assert.deepEqual(moved?.containers, limits("1700m", "300m"));
  assert.equal(next("Waiting")?.lastAppliedTime, undefined);
});

pure("nextStatus() writes what is new: another reason, or the message of a failure", () => {
  const again = (first: EnforcementReason, message: string, reason = first, other = message) =>
    next(reason, other, { before: next(first, message) });
  assert.equal(again("Applied", "done"), undefined);
  assert.equal(next(undefined, undefined, { before: next("Applied") }), undefined);
  assert.equal(again("Refused", "quota", "Refused", "policy")?.message, "policy");
  assert.equal(again("RateLimited", "in 2 s", "RateLimited", "in 1 s"), undefined);
  // No message stays that belongs to another reason.
  assert.equal(
    next("Applied", undefined, { before: next("Refused", "quota") })?.message,
    undefined,
  );
  const long = next("Refused", "x".repeat(9000));
  assert.deepEqual([long?.message?.length, long?.conditions?.[0]?.message.length], [2000, 2000]);
});

pure("nextStatus() has a condition for kubectl wait, with the time of its last transition", () => {
  const held = next("Waiting", "not yet", { second: 1 });
  const condition = { type: "Applied", status: "False", reason: "Waiting", message: "not yet" };
  const times = { lastTransitionTime: at(1), observedGeneration: 5 };
  assert.deepEqual(held?.conditions, [{ ...condition, ...times }]);
  const stale = next("BoundsStale", "", { before: held, second: 2 });
  const done = next("Applied", "", { before: stale, second: 3 });
  const found = [stale, done].map((one) => one?.conditions?.[0])
    .map((one) => [one?.status, one?.lastTransitionTime]);
  assert.deepEqual(found, [["False", at(1)], ["True", at(3)]]);
});

pure("nextStatus() calls a refusal Failed, a hold for the same reason Pending", () => {
  const refused = next("QuotaExceeded", "full", { refused: true, attemptedAt: at(9) });
  assert.deepEqual([refused?.phase, refused?.lastAttemptTime], ["Failed", at(9)]);
  const held = next("QuotaExceeded", "full", { before: refused });
  assert.deepEqual([held?.phase, held?.lastAttemptTime], ["Pending", at(9)]);
});
