import assert from "node:assert/strict";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import type { MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import { createPendingDecreases, type ResizeRequest, turnFor } from "./resize_turns.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Pods of 200 m each. */
function stage() {
  const woken: string[] = [];
  const decreases = createPendingDecreases((podKey) => void woken.push(podKey));
  const note = (
    name: string,
    { limit = "200m", reason = "FundsRaise", nowMs = 0, nodeName = "node-1" }: {
      readonly limit?: string;
      readonly reason?: MarketReason;
      readonly nowMs?: number;
      readonly nodeName?: string;
    },
  ): void => {
    const pod = samplePod(name, { nodeName, containers: [sampleContainer()] });
    const bare = sampleAllocation(pod);
    const { market, ...desired } = sampleDesired(limit);
    assert.ok(market);
    const spec = { ...bare.spec, ...desired, market: { ...market, reason } };
    decreases.note(`shop/${name}`, { pod, allocation: { ...bare, spec }, nowMs });
  };
  const waitMs = (podKey: string, nowMs = 0, nodeName = "node-1"): number =>
    decreases.waitMs({ podKey, nodeName, nowMs });
  return { woken, decreases, note, waitMs };
}

test("waitMs() makes raises wait for decreases that pay for them, on the same node only", () => {
  const { note, waitMs } = stage();
  note("payer", { limit: "100m" });
  assert.equal(waitMs("shop/raised"), 5000);
  assert.equal(waitMs("shop/raised", 0, "node-2"), 0);
  assert.equal(waitMs("shop/payer"), 0);
});

test("waitMs() waits for no other change", () => {
  const { note, waitMs } = stage();
  note("less", { limit: "100m", reason: "DemandFell" });
  note("more", { limit: "300m", reason: "Throttled" });
  note("same", {});
  assert.equal(waitMs("shop/raised"), 0);
});

test("waitMs() ends after five seconds, however often the same decrease is noted", () => {
  const { note, waitMs } = stage();
  for (const nowMs of [0, 2000, 4000]) note("payer", { limit: "100m", nowMs });
  assert.deepEqual([4000, 4999, 5000].map((nowMs) => waitMs("shop/raised", nowMs)), [1000, 1, 0]);
  note("payer", { limit: "110m", nowMs: 6000 });
  assert.equal(waitMs("shop/raised", 6000), 5000);
});

test("settle() wakes the raises of the node once its last decrease is sent or not wanted", () => {
  const { note, waitMs, decreases, woken } = stage();
  for (const name of ["a", "b"]) note(name, { limit: "100m" });
  waitMs("shop/raised");
  decreases.settle("shop/a");
  assert.deepEqual(woken, []);
  note("b", { limit: "200m" });
  assert.deepEqual(woken, ["shop/raised"]);
  assert.equal(waitMs("shop/raised"), 0);
});

Deno.test({
  name: "turnFor() puts restores first, what raises wait for next, and drops small decreases only",
  permissions: "none",
  fn() {
    const change = (
      reason: ResizeRequest["reason"],
      net: number,
      restoring = false,
    ): ResizeRequest => ({
      restoring,
      reason,
      net,
      total: 1000,
    });
    const table: readonly (readonly [ResizeRequest, ReturnType<typeof turnFor>])[] = [
      [change("OptedOut", -500, true), { urgency: 0 }],
      [change("AgentSilent", 500, true), { urgency: 0 }],
      [change("FundsRaise", -300), { urgency: 1 }],
      [change("NodeCongested", -20), { urgency: 1 }],
      [change("CeilingFell", -20), { urgency: 1 }],
      [change("Throttled", 300), { urgency: 2 }],
      [change("StartupBoost", 300), { urgency: 2 }],
      [change("DemandRose", 300), { urgency: 3 }],
      [change("FirstClearing", 300), { urgency: 3 }],
      [change("CPUFree", 300), { urgency: 4, droppable: false }],
      [change("DemandFell", -249), { urgency: 4, droppable: true }],
      [change("DemandFell", -250), { urgency: 4, droppable: false }],
    ];
    for (const [one, turn] of table) assert.deepEqual(turnFor(one), turn, one.reason);
  },
});
