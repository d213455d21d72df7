import assert from "node:assert/strict";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { createPodMemories, type PodMemory } from "../pod_memory.ts";
import { hasAnswered, needsAnswer } from "./agent_answer.ts";

const POD = samplePod("web", { containers: [sampleContainer({ limitCPU: 200 })] });

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

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("needsAnswer() asks where a limit was wanted long ago, whatever the agent's clock", () => {
  const needs = (clearedAt?: string, { agentSilentAfterMs = 300_000, limit = "300m" } = {}) =>
    needsAnswer({ pod: POD, allocation: wanting(limit, clearedAt), memory: memoryOf() }, {
      config: { agentSilentAfterMs },
      wallMs: Date.UTC(2026, 0, 1, 0, 1),
    });
  assert.equal(needs("2026-01-01T00:00:30Z"), false);
  assert.equal(needs("2026-01-01T00:00:29Z"), true);
  assert.equal(needs("2026-01-01T00:00:29Z", { limit: "200m" }), false);
  assert.equal(needs("2026-01-01T00:00:45Z", { agentSilentAfterMs: 10_000 }), true);
  // A clock that is ahead makes nothing young for ever.
  assert.equal(needs("2026-01-01T00:01:30Z"), false);
  assert.equal(needs("2026-01-01T00:02:00Z"), true);
  for (const none of [undefined, "soon"]) assert.equal(needs(none), true);
});

test("needsAnswer() asks once, and where the last controller restored the limits", () => {
  const restored = wanting("200m", "2026-01-01T00:01:00Z");
  const allocation = {
    ...restored,
    status: { ...restored.status, phase: "Applied", reason: "Restored" },
  } as const;
  const context = {
    config: { agentSilentAfterMs: 300_000 },
    wallMs: Date.UTC(2026, 0, 1, 0, 1),
  };
  assert.equal(needsAnswer({ pod: POD, allocation, memory: memoryOf() }, context), true);
  assert.equal(needsAnswer({ pod: POD, allocation, memory: memoryOf(3) }, context), false);
});

test("hasAnswered() takes a clearing by bounds that this controller published", () => {
  const allocation = wanting("300m");
  assert.equal(allocation.spec.market?.observedBounds, 3);
  const answered = [undefined, 4, 3, 2].map((revision) =>
    hasAnswered({ allocation, memory: memoryOf(revision) })
  );
  assert.deepEqual(answered, [false, false, true, true]);
});
