import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { samplePod } from "../../tests/contract/support/sample_objects.ts";
import {
  createPodMemories,
  isCurrent,
  noteResize,
  resizePauses,
  waitLeftMs,
} from "./pod_memory.ts";
import { pure } from "../../tests/fixtures/pure.ts";

function podWith(uid: string): Pod {
  const pod = samplePod("web");
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

pure("createPodMemories() forgets a pod when another one bears its name", () => {
  const forgotten: string[] = [];
  const memories = createPodMemories((podKey, uid) => void forgotten.push(`${podKey} ${uid}`));
  const first = memories.of("shop/web", podWith("u1"));
  first.refusal = { message: "no", reason: "Refused" };
  assert.equal(memories.of("shop/web", podWith("u1")), first);
  assert.equal(memories.of("shop/web", podWith("u2")).refusal, undefined);
  memories.forget("shop/web");
  memories.forget("shop/web");
  assert.deepEqual(forgotten, ["shop/web u1", "shop/web u2"]);
});

pure("isCurrent() waits for a pod that is as new as the last patch, but not for ever", () => {
  const pod = podWith("u1");
  const memory = createPodMemories(() => {}).of("shop/web", pod);
  const seen = (resourceVersion: string, to: string, nowMs = 1000): boolean => {
    memory.patched = { from: "7", to, atMs: 0 };
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
    const memory = createPodMemories(() => {}).of("shop/web", podWith("u1"));
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
  const memory = createPodMemories(() => {}).of("shop/web", podWith("u1"));
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
