import assert from "node:assert/strict";
import fc from "fast-check";
import { SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { DEFAULT_PACE, grantable, paceAt } from "./pace_options.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Raise hysteresis and margin where this share of capacity is free. */
function raises(freeShare: number): number[] {
  const { raiseHysteresis, raiseMargin } = paceAt(SAMPLE_PACE, freeShare);
  return [raiseHysteresis, raiseMargin].map((value) => Number(value.toFixed(9)));
}

pure("grantable() leaves the cushion", () => {
  assert.equal(grantable(1000, { cushion: 0.03 }), 970);
});

pure(
  "paceAt() gives freely where a tenth of capacity is free, and sparingly where none is",
  () => {
    assert.deepEqual(raises(0.1), [0, 0.05]);
    assert.deepEqual(raises(1), [0, 0.05]);
    assert.deepEqual(raises(0.05), [0.1, 0.025]);
    assert.deepEqual(raises(0), [0.2, 0]);
    assert.deepEqual(raises(-3), [0.2, 0]);
  },
);

pure("paceAt() raises ever more easily the more is free, and changes nothing else", () => {
  const share = fc.double({ min: -1, max: 2, noNaN: true });
  fc.assert(fc.property(share, share, (a, b) => {
    const less = paceAt(DEFAULT_PACE, Math.min(a, b));
    const more = paceAt(DEFAULT_PACE, Math.max(a, b));
    assert.ok(less.raiseHysteresis >= more.raiseHysteresis - 1e-12);
    assert.ok(less.raiseMargin <= more.raiseMargin + 1e-12);
    const { raiseHysteresis, raiseMargin } = DEFAULT_PACE;
    assert.deepEqual({ ...less, raiseHysteresis, raiseMargin }, DEFAULT_PACE);
  }));
});
