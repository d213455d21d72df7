import assert from "node:assert/strict";
import type { MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import { limited, reconcilerStage } from "../../../tests/fixtures/market/reconciler_stage.ts";

function test(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

test("reportOthers() reports once that the kernel has no quota, and once that it has one again", async () => {
  const { reconcile, want, setPod, events, clock } = reconcilerStage();
  const reported = () =>
    events.map(({ type, reason, message }) => [type, reason, message.split(":")[0]]);
  const look = async (atMs: number, reason: MarketReason): Promise<void> => {
    await clock.runUntil(atMs);
    want("200m", reason);
    await reconcile();
  };
  setPod((pod) => limited(pod, 200));
  await reconcile();
  await look(1000, "FirstClearing");
  await look(600_000, "QuotaBack");
  const before = reported();
  assert.ok(before.every(([, , key]) => key !== "QuotaOff" && key !== "QuotaBack"));
  await look(1_200_000, "QuotaOff");
  const off = ["Warning", "CPULimitHeld", "QuotaOff"];
  assert.deepEqual(reported(), [...before, off]);
  await look(1_800_000, "QuotaOff");
  await look(2_400_000, "DemandRose");
  await look(3_000_000, "QuotaOff");
  assert.deepEqual(reported(), [...before, off]);
  await look(3_600_000, "QuotaBack");
  await look(4_200_000, "QuotaBack");
  const back = ["Normal", "CPULimitApplied", "QuotaBack"];
  assert.deepEqual(reported(), [...before, off, back]);
  await look(4_800_000, "QuotaOff");
  assert.deepEqual(reported(), [...before, off, back, off]);
});
