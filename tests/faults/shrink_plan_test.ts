import assert from "node:assert/strict";
import type { Fault, FaultPlan } from "./fault.ts";
import { shrinkPlan } from "./shrink_plan.ts";

function outage(atMs: number): Fault {
  return { fault: "outage", atMs, ms: 1000 };
}

Deno.test({
  name: "shrinkPlan() keeps only the faults that are needed together",
  permissions: "none",
  async fn() {
    const faults = Array.from({ length: 17 }, (_, i) => outage(i * 1000));
    const plan: FaultPlan = { seed: 1, idleCPU: "free", faults };
    const needed = [faults[3], faults[12]];
    const small = await shrinkPlan(
      plan,
      (one) => Promise.resolve(needed.every((fault) => one.faults.some((two) => two === fault))),
    );
    assert.deepEqual(small.faults, needed);
  },
});
