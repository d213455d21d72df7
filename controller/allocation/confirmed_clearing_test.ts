import assert from "node:assert/strict";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { createPodMemories, type PodMemory } from "./pod_memory.ts";
import { isConfirmed, needsConfirmation, staysRestored } from "./confirmed_clearing.ts";
import { pure } from "../../tests/fixtures/pure.ts";

function stays(manager: string, status: PodAllocationStatus, cpuLimit = "450m"): boolean {
  const pod = samplePod("web", { containers: [sampleContainer({ limitManagers: [manager] })] });
  const allocation = sampleAllocation(pod);
  const spec = { ...allocation.spec, containers: [{ name: "app", cpuLimit }] };
  return staysRestored(pod, { ...allocation, spec, status });
}

pure("staysRestored() goes by the status, or by the manager of a limit that no status has", () => {
  const reported = (cpuLimit: string) => ({ containers: [{ name: "app", cpuLimit }] });
  assert.equal(stays("mbcas", { reason: "Restored" }), true);
  assert.equal(stays("mbcas", { reason: "Applied", ...reported("300m") }), false);
  // The controller ended after its patch: the kubelet had reported 300 m before.
  assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("300m") }), true);
  // The market wants the user's own value, wanted it before, or the pod is new in the market.
  assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("300m") }, "200m"), false);
  assert.equal(stays("mbcas-restore", { reason: "Applied", ...reported("200m") }), false);
  assert.equal(stays("mbcas-restore", {}), false);
});

const POD = samplePod("web", { containers: [sampleContainer({ limits: { cpu: 200 } })] });

function memoryOf(publishedRevision?: number): PodMemory {
  const memory = createPodMemories(() => {}).of("shop/web", POD);
  return { ...memory, publishedRevision };
}

function wanting(limit: string, clearedAt?: string): PodAllocation {
  const { market, ...desired } = sampleDesired(limit);
  assert.ok(market);
  const bare = sampleAllocation(POD);
  const stamped = clearedAt === undefined ? market : { ...market, clearedAt };
  return { ...bare, spec: { ...bare.spec, ...desired, market: stamped } };
}

function withRevision(allocation: PodAllocation, revision: number): PodAllocation {
  const bounds = { revision, reason: "BurstFactor", containers: [] };
  return { ...allocation, status: { ...allocation.status, bounds } };
}

pure("isConfirmed() takes a clearing of the last 30 s, whatever the agent's clock", () => {
  const confirmed = (clearedAt?: string, agentSilentAfterMs = 300_000): boolean =>
    isConfirmed({ allocation: wanting("300m", clearedAt), memory: memoryOf() }, {
      config: { agentSilentAfterMs },
      wallMs: Date.UTC(2026, 0, 1, 0, 1),
    });
  assert.equal(confirmed("2026-01-01T00:00:30Z"), true);
  assert.equal(confirmed("2026-01-01T00:00:29Z"), false);
  assert.equal(confirmed("2026-01-01T00:00:45Z", 10_000), false);
  // A clock that is ahead makes nothing young for ever.
  assert.equal(confirmed("2026-01-01T00:01:30Z"), true);
  assert.equal(confirmed("2026-01-01T00:02:00Z"), false);
  for (const none of [undefined, "soon"]) assert.equal(confirmed(none), false);
});

pure("isConfirmed() takes a clearing by bounds that this controller published", () => {
  const allocation = wanting("300m");
  assert.equal(allocation.spec.market?.observedBounds, 3);
  const context = { config: { agentSilentAfterMs: 300_000 }, wallMs: 0 };
  const confirmed = [undefined, 4, 3, 2].map((revision) =>
    isConfirmed({ allocation, memory: memoryOf(revision) }, context)
  );
  assert.deepEqual(confirmed, [false, false, true, true]);
});

pure("needsConfirmation() is for limits that would move, and those that were restored", () => {
  const needs = (allocation: PodAllocation): boolean =>
    needsConfirmation({ pod: POD, allocation, memory: memoryOf() });
  assert.equal(needs(wanting("300m")), true);
  assert.equal(needs(wanting("200m")), false);
  const { status, ...rest } = wanting("200m");
  const restored = { ...status, phase: "Applied", reason: "Restored" } as const;
  assert.equal(needs({ ...rest, status: restored }), true);
});

pure("needsConfirmation() holds in a copy that does not have the new revision yet", () => {
  const allocation = wanting("300m");
  const needs = (revision: number): boolean =>
    needsConfirmation({
      pod: POD,
      allocation: withRevision(allocation, revision),
      memory: memoryOf(8),
    });
  assert.deepEqual([7, 8, 9].map(needs), [true, false, false]);
});
