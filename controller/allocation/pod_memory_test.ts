import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { samplePod } from "../../tests/contract/sample_objects.ts";
import { createPodMemories, isCurrent } from "./pod_memory.ts";

function podWith(uid: string): Pod {
  const pod = samplePod("web");
  return { ...pod, metadata: { ...pod.metadata, uid } };
}

Deno.test({
  name: "createPodMemories() forgets a pod when another one bears its name",
  permissions: "none",
  fn() {
    const forgotten: string[] = [];
    const memories = createPodMemories((podKey, uid) => void forgotten.push(`${podKey} ${uid}`));
    const first = memories.of("shop/web", podWith("u1"));
    first.refusal = { untilMs: 5, message: "no", reason: "Refused", restoring: false };
    assert.equal(memories.of("shop/web", podWith("u1")), first);
    assert.equal(memories.of("shop/web", podWith("u2")).refusal, undefined);
    memories.forget("shop/web");
    memories.forget("shop/web");
    assert.deepEqual(forgotten, ["shop/web u1", "shop/web u2"]);
  },
});

Deno.test({
  name: "isCurrent() waits for a pod that is as new as the last patch, but not for ever",
  permissions: "none",
  fn() {
    const seen = (resourceVersion: string, to: string, nowMs = 1000): boolean => {
      const pod = podWith("u1");
      const memory = createPodMemories(() => {}).of("shop/web", pod);
      memory.patched = { from: "7", to, atMs: 0 };
      const metadata = { ...pod.metadata, resourceVersion };
      const current = isCurrent(memory, { pod: { ...pod, metadata }, nowMs });
      assert.equal(memory.patched === undefined, current);
      return current;
    };
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
  },
});
