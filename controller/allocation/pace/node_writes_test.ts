import assert from "node:assert/strict";
import { NODE_BOUNDS } from "../news/pod_news.ts";
import { boundCrowd, createNodeWrites, takeTurn } from "./node_writes.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function crowdOf(before: readonly string[], now: readonly string[]): string | undefined {
  return boundCrowd({ before: new Set(before), now: new Set(now) });
}

test("boundCrowd() finds what many pods are told at once, when it begins and when it ends", () => {
  assert.equal(crowdOf([], ["NodeNotReady"]), "failed");
  assert.equal(crowdOf(["BurstFactor"], ["BurstFactor", "NodeCordoned"]), "leaving");
  assert.equal(crowdOf(["NodeCordoned"], ["NodeDraining"]), "leaving");
  assert.equal(crowdOf(["NodeNotReady", "HPAFloor"], ["HPAFloor"]), "over");
  for (const word of NODE_BOUNDS) {
    assert.notEqual(crowdOf([], [word]), undefined);
    assert.equal(crowdOf([word], [word, "HPAFloor"]), undefined);
  }
  assert.equal(crowdOf([], ["HPAFloor"]), undefined);
  assert.equal(crowdOf(["HPAFloor"], []), undefined);
});

test("takeTurn() makes nobody wait for another crowd, and leaves lines that the pod is not of", () => {
  const writes = createNodeWrites({ perSecond: 1 });
  for (let one = 0; one < 100; one++) {
    takeTurn(writes, `zone/p${one}`, { crowd: "failed", nowMs: 0 });
  }
  const take = (podKey: string, crowd?: "failed" | "leaving"): number =>
    takeTurn(writes, podKey, { crowd, nowMs: 0 });
  assert.equal(take("a/p", "failed"), 100_000);
  assert.equal(take("a/p", "leaving"), 0);
  assert.equal(take("a/q", "failed"), 100_000);
  assert.equal(take("a/q"), 0);
  assert.equal(take("a/r", "failed"), 100_000);
  assert.equal(writes.agentAway.take("a/p", 0), 0);
});
