import assert from "node:assert/strict";
import { boundedAllocation } from "../../../fixtures/market/sample_participants.ts";
import { GAUGES, gaugesOf } from "./reason_gauges.ts";

Deno.test({
  name: "gaugesOf() finds the gauge of each kind of reason, and both for a reason of both kinds",
  permissions: "none",
  fn() {
    assert.deepEqual(gaugesOf("PodNotReady"), ["bounds"]);
    assert.deepEqual(gaugesOf("OptedOut"), ["allocations"]);
    assert.deepEqual(gaugesOf("QuotaExceeded"), ["bounds", "allocations"]);
    assert.deepEqual(gaugesOf("Throttled"), []);
  },
});

Deno.test({
  name: "GAUGES find their own reasons in an allocation and in the metrics, and not each other's",
  permissions: "none",
  fn() {
    const rules = [{ reason: "PodNotReady" as const, message: "" }];
    const bounds = { revision: 1, reason: "", containers: [], rules };
    const allocation = boundedAllocation("a", { status: { bounds, reason: "ResizeDeferred" } });
    const found = (reason: string) => [
      GAUGES.bounds.has(allocation, reason),
      GAUGES.allocations.has(allocation, reason),
    ];
    assert.deepEqual(found("PodNotReady"), [true, false]);
    assert.deepEqual(found("ResizeDeferred"), [false, true]);
    assert.deepEqual(found("OptedOut"), [false, false]);
    const series = [
      'mbcas_bounds{reason="QuotaExceeded"}',
      'mbcas_allocations{phase="Failed",reason="QuotaExceeded"}',
    ];
    const matching = (reason: string) =>
      series.map((one) =>
        [GAUGES.bounds, GAUGES.allocations].map((gauge) => gauge.series(reason).test(one))
      );
    assert.deepEqual(matching("QuotaExceeded"), [[true, false], [false, true]]);
    assert.deepEqual(matching("Quota"), [[false, false], [false, false]]);
  },
});
