import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { NODE_BOUNDS } from "../events/pod_events.ts";
import { boundCrowd, createNodeWrites, takeTurn } from "./node_writes.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function crowdOf(before: readonly string[], now: readonly string[]): string | undefined {
  return boundCrowd({ before: new Set(before), now: new Set(now) });
}

test("boundCrowd() finds what many pods are reported at once, when it begins and when it ends", () => {
  assert.equal(crowdOf([], ["NodeNotReady"]), "failed");
  assert.equal(crowdOf(["BurstFactor"], ["BurstFactor", "NodeCordoned"]), "leaving");
  assert.equal(crowdOf(["NodeCordoned"], ["NodeDraining"]), "leaving");
  assert.equal(crowdOf(["NodeNotReady", "HPAFloor"], ["HPAFloor"]), "over");
  for (const reason of NODE_BOUNDS) {
    assert.notEqual(crowdOf([], [reason]), undefined);
    assert.equal(crowdOf([reason], [reason, "HPAFloor"]), undefined);
  }
  assert.equal(crowdOf([], ["HPAFloor"]), undefined);
  assert.equal(crowdOf(["HPAFloor"], []), undefined);
});

test("takeTurn() makes no pod wait for another crowd, and leaves queues that it is not of", () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { signal } = new AbortController();
  const writes = createNodeWrites({ perSecond: 1, clock, wake: () => {}, signal });
  for (let one = 0; one < 100; one++) takeTurn(writes, { podKey: `zone/p${one}`, crowd: "failed" });
  assert.equal(takeTurn(writes, { podKey: "a/p", crowd: "failed" }), false);
  assert.equal(writes.failed.waiting, 100);
  assert.equal(takeTurn(writes, { podKey: "a/p", crowd: "leaving" }), true);
  assert.equal(writes.failed.waiting, 99);
  assert.equal(takeTurn(writes, { podKey: "a/q", crowd: "failed" }), false);
  assert.equal(takeTurn(writes, { podKey: "a/q", crowd: undefined }), true);
  assert.equal(writes.failed.waiting, 99);
  assert.equal(writes.agentAway.take({ podKey: "a/p" }), true);
});
