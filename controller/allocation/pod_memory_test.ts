import assert from "node:assert/strict";
import type { Pod } from "../../shared/api/pod.ts";
import { samplePod } from "../../tests/contract/sample_objects.ts";
import { createPodMemories } from "./pod_memory.ts";

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
    first.refusal = { untilMs: 5, message: "no" };
    assert.equal(memories.of("shop/web", podWith("u1")), first);
    assert.equal(memories.of("shop/web", podWith("u2")).refusal, undefined);
    memories.forget("shop/web");
    memories.forget("shop/web");
    assert.deepEqual(forgotten, ["shop/web u1", "shop/web u2"]);
  },
});
