import assert from "node:assert/strict";
import fc from "fast-check";
import { samplesNote } from "./samples_note.ts";
import { createUsageRing } from "./usage_ring.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const MINUTE_MS = 60_000;
const DEFAULTS = { intervalMs: 30_000, size: 16 };
const SPEC = { provider: "metrics-server", windowMs: 5 * MINUTE_MS, minSamples: 10 } as const;

test("samplesNote() says that 5 min read every 30 s do not hold 10 samples", () => {
  assert.match(samplesNote(SPEC, DEFAULTS) ?? "", / 5m .* 8 .* 30s, .* 10: .*samplerInterval/);
  assert.equal(samplesNote({ ...SPEC, minSamples: 8 }, DEFAULTS), undefined);
  assert.equal(samplesNote(SPEC, { ...DEFAULTS, intervalMs: 20_000 }), undefined);
  assert.equal(samplesNote({ ...SPEC, windowMs: 24 * 60 * MINUTE_MS }, DEFAULTS), undefined);
  assert.equal(samplesNote({ ...SPEC, provider: "prometheus" }, DEFAULTS), undefined);
});

test("samplesNote() is silent only where each look at one pod has enough, one reading late or not", () => {
  let silent = 0;
  fc.assert(
    fc.property(
      fc.record({
        windowMs: fc.integer({ min: 1000, max: 20 * MINUTE_MS }),
        intervalMs: fc.integer({ min: 5000, max: MINUTE_MS }),
        minSamples: fc.integer({ min: 1, max: 60 }),
        size: fc.constantFrom(4, 16, 64),
        phase: fc.double({ min: 0, max: 1, noNaN: true }),
        late: fc.nat(100),
      }),
      ({ windowMs, intervalMs, minSamples, size, phase, late }) => {
        const policy = { provider: "metrics-server", windowMs, minSamples } as const;
        if (samplesNote(policy, { intervalMs, size }) !== undefined) return;
        silent++;
        const nowMs = 1e12;
        const ring = createUsageRing("cpu", { windowMs, slots: size });
        const count = Math.ceil(2 * windowMs / intervalMs);
        for (let back = count; back >= 0; back--) {
          if (back === late) continue;
          ring.add({ atMs: nowMs - (back + phase) * intervalMs, value: 1 }, nowMs);
        }
        const have = ring.distribution({ nowMs, windowMs }).count;
        assert.ok(have >= minSamples, `${have} of ${minSamples}`);
      },
    ),
  );
  assert.ok(silent > 20, `${silent}`);
});
