import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { settleVirtually } from "../../tests/contract/support/settle_virtually.ts";
import {
  addMarketPod,
  type CoallocScene,
  sceneTest,
} from "../../tests/fixtures/cli/coalloc_scene.ts";
import { type PollEnd, type PollParts, pollPod } from "./poll_pod.ts";

const WAIT: PollEnd = { reason: "ResizeInProgress", message: "not yet" };

interface Case {
  readonly scene: CoallocScene;
  readonly uid: string;
  poll(look: PollParts["look"], change?: Partial<PollParts>): Promise<PollEnd>;
}

function pollTest(name: string, fn: (known: Case) => Promise<void>): void {
  sceneTest(name, (scene) => {
    const { metadata } = addMarketPod(scene, "web", { limit: 450, own: 200 });
    const { clock, cluster: { reader }, world: { signal } } = scene;
    const parts = { reader, clock, signal, timeoutMs: 10_000 };
    const poll: Case["poll"] = (look, change = {}) =>
      settleVirtually(clock, pollPod(metadata, { ...parts, look, ...change }));
    return fn({ scene, uid: metadata.uid, poll });
  });
}

pollTest("pollPod() looks again until the look is done", async ({ poll, scene }) => {
  const looks: PollEnd[] = [WAIT, WAIT, { reason: "Applied", message: "there" }];
  const end = await poll(() => Promise.resolve(looks.shift() ?? WAIT));
  assert.deepEqual(end, { reason: "Applied", message: "there" });
  assert(scene.clock.monotonic() >= 500 && scene.clock.monotonic() < 600);
});

pollTest(
  "pollPod() tries again after conflicts, a server error with Retry-After and an outage",
  async ({ poll }) => {
    const errors = [409, 429, 503, 0];
    const end = await poll(() => {
      const status = errors.shift();
      return status === undefined
        ? Promise.resolve({ reason: "Applied", message: "" })
        : Promise.reject(new ApiError(status, "", "busy", { retryAfterMs: 2000 }));
    });
    assert.equal(end.reason, "Applied");
  },
);

pollTest("pollPod() ends with a refusal, and with faults of the program", async ({ poll }) => {
  const refusal = new ApiError(403, "Forbidden", "exceeded quota");
  assert.deepEqual(await poll(() => Promise.reject(refusal)), {
    reason: "Refused",
    message: "exceeded quota",
    refusal,
  });
  await assert.rejects(poll(() => Promise.reject(new Error("a fault"))), /a fault/);
});

pollTest("pollPod() knows a pod that is gone or born again", async ({ poll, scene, uid }) => {
  const reborn = new ApiError(422, "Invalid", "metadata.uid: field is immutable");
  assert.equal((await poll(() => Promise.reject(reborn))).reason, "PodGone");
  scene.api.store.tables.Pod.remove("shop/web", uid);
  assert.equal((await poll(() => Promise.resolve(WAIT))).reason, "PodGone");
  const later = addMarketPod(scene, "web", { limit: 450, own: 200 });
  assert.notEqual(later.metadata.uid, uid);
  assert.equal((await poll(() => Promise.resolve(WAIT))).reason, "PodGone");
});

pollTest("pollPod() ends when time is up", async ({ poll }) => {
  assert.deepEqual(await poll(() => Promise.resolve(WAIT), { timeoutMs: 2000 }), {
    reason: "ResizeInProgress",
    message: "not yet (after 2 s)",
  });
});
