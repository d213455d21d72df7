import assert from "node:assert/strict";
import { derivePlans } from "./derive_plans.ts";
import { drawPlan } from "./draw_plan.ts";
import type { FaultPlan } from "./fault.ts";
import { playPlan } from "./play_plan.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] }, fn });
}

const NO_FAULTS: FaultPlan = { seed: 1, idleCPU: "free", faults: [] };

test("playPlan() breaks no promise without faults, and plays the same plan the same way", async () => {
  const first = await playPlan(NO_FAULTS, { record: true });
  assert.deepEqual(first.violations, []);
  assert.deepEqual(await playPlan(NO_FAULTS, { record: true }), first);
});

test("playPlan() breaks no promise under drawn faults", async () => {
  for (const seed of [5, 59, 96, 1034]) {
    const { violations } = await playPlan(drawPlan(seed));
    assert.deepEqual(violations, [], `seed ${seed}`);
  }
});

test("derivePlans() has a plan for each write and each event of a run", async () => {
  const run = await playPlan({ ...NO_FAULTS, idleCPU: "tight" }, { record: true });
  const kinds = derivePlans({ plan: NO_FAULTS, ...run }).map(({ faults }) => faults.at(-1)?.fault);
  const writes = run.requests.filter(({ verb, kind }) => verb === "resize" && kind === "Pod");
  assert.ok(writes.length > 50, `${writes.length}`);
  for (const kind of ["crash", "freeze", "travel"] as const) {
    assert.ok(kinds.filter((one) => one === kind).length > 200, kind);
  }
});

test("drawPlan() draws each kind of fault, the same for the same seed", () => {
  const plans = Array.from({ length: 60 }, (_, seed) => drawPlan(seed));
  const kinds = new Set(plans.flatMap(({ faults }) => faults.map(({ fault }) => fault)));
  assert.equal(kinds.size, 21);
  assert.deepEqual(drawPlan(7), plans[7]);
  return Promise.resolve();
});
