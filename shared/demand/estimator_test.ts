import assert from "node:assert/strict";
import fc from "fast-check";
import { createEstimator } from "./estimator.ts";
import type { DemandSignal } from "./signal.ts";

const INTERVAL_MS = 250;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function signal(fields: Partial<DemandSignal>): DemandSignal {
  return {
    intervalMs: INTERVAL_MS,
    usage: 0,
    heldBack: 0,
    throttledShare: 0,
    scarcity: 0,
    ...fields,
  };
}

const anySignal: fc.Arbitrary<DemandSignal> = fc.record({
  intervalMs: fc.integer({ min: 10, max: 60_000 }),
  usage: fc.double({ min: 0, max: 8000, noNaN: true }),
  heldBack: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 64_000, noNaN: true })),
  throttledShare: fc.double({ min: 0, max: 1, noNaN: true }),
  quota: fc.integer({ min: 10, max: 8000 }),
  scarcity: fc.double({ min: 0, max: 1, noNaN: true }),
});

pure("createEstimator() never estimates less than a container has just used", () => {
  fc.assert(fc.property(fc.array(anySignal, { minLength: 1, maxLength: 60 }), (signals) => {
    const rule = createEstimator();
    for (const one of signals) assert.ok(rule(one) >= one.usage);
  }));
});

pure("createEstimator() asks for 800 m for one busy thread at a 200 m quota, then for 1000", () => {
  const rule = createEstimator();
  const busy = { usage: 200, heldBack: 800, throttledShare: 1 };
  assert.equal(rule(signal({ ...busy, quota: 200 })), 800);
  assert.equal(rule(signal({ usage: 800, heldBack: 200, throttledShare: 1, quota: 800 })), 1000);
});

pure("createEstimator() does not let one throttled sample raise while CPU is scarce", () => {
  const rule = createEstimator();
  const quiet = signal({ usage: 200, quota: 200, scarcity: 1 });
  const before = rule(quiet);
  const throttled = rule({ ...quiet, heldBack: 800, throttledShare: 1 });
  assert.equal(before, 200);
  assert.equal(throttled, 200);
});

pure("createEstimator() asks for more of a scarce node once throttling has lasted", () => {
  const rule = createEstimator();
  const saturated = signal({
    usage: 200,
    heldBack: 800,
    throttledShare: 1,
    quota: 200,
    scarcity: 1,
  });
  let asked = 0;
  for (let at = 0; at < 5000; at += INTERVAL_MS) asked = rule(saturated);
  assert.ok(asked > 290 && asked <= 300, `asked for ${asked}`);
});

pure("createEstimator() settles on constant usage, whatever came before", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 100 }),
      fc.integer({ min: 0, max: 4000 }),
      (before, usage) => {
        const rule = createEstimator();
        for (const past of before) rule(signal({ usage: past }));
        let last = 0;
        // variance + (mean − usage)² was at most 4000² and fades to e^-10 of that in ten times the
        // memory of 30 s: two deviations are at most 54 m, and the mean is off by less than 1 m.
        for (let at = 0; at < 300_000; at += INTERVAL_MS) last = rule(signal({ usage }));
        assert.ok(Math.abs(last - usage) <= 55, `${last} for ${usage}`);
      },
    ),
    { numRuns: 30 },
  );
});
