import assert from "node:assert/strict";
import type { ContainerResult, RoundResult } from "../agent/market/round.ts";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";
import { createDecisionLog } from "./decision_log.ts";

/** A round that moved one container; of the rest only what the log reads. */
function round(limit: number, changedFor: MarketReason | undefined, price = 0.25): RoundResult {
  const participant = {
    participant: { containerID: "aa" },
    limit,
    changedFor,
  } as unknown as ContainerResult;
  return { price, containers: [participant] } as unknown as RoundResult;
}

Deno.test({
  name: "createDecisionLog() reports why a limit was wanted, and at what price",
  permissions: "none",
  fn() {
    const log = createDecisionLog();
    log.note(round(300, "Throttled"));
    log.note(round(200, "DemandFell", Infinity));
    log.note(round(200, undefined));
    assert.deepEqual(log.of("aa", 300), { reason: "Throttled", price: 0.25 });
    assert.deepEqual(log.of("aa", 200), { reason: "DemandFell" });
    log.note(round(300, "DemandRose"));
    assert.equal(log.of("aa", 300).reason, "DemandRose");
  },
});

Deno.test({
  name: "createDecisionLog() refuses to leave a change unexplained",
  permissions: "none",
  fn() {
    const log = createDecisionLog();
    assert.throws(() => log.of("aa", 300), /aa at 300m/);
    log.note(round(200, "Throttled"));
    assert.throws(() => log.of("aa", 300), /aa at 300m/);
  },
});
