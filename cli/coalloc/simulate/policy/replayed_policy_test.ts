import assert from "node:assert/strict";
import { readReplayedPolicy } from "./replayed_policy.ts";

const BOUNDS = { cpu: { min: "50m", max: 4 }, memory: { min: "64Mi", max: "4Gi" } };

function spec(more: object = {}): object {
  return { mode: "Auto", metricsConfig: {}, resourceBounds: BOUNDS, ...more };
}

Deno.test({
  name: "readReplayedPolicy() has the defaults of a policy",
  permissions: "none",
  fn() {
    assert.deepEqual(readReplayedPolicy(spec()), {
      faults: [],
      policy: {
        mode: "Auto",
        windowMs: 86_400_000,
        percentile: "P90",
        safetyFactor: 1.2,
        minSamples: 10,
        bounds: { cpu: { min: 50, max: 4000 }, memory: { min: 2 ** 26, max: 2 ** 32 } },
        intervalMs: 300_000,
        updateStrategy: {
          updateRequestsOnly: true,
          changeThresholdPercent: 10,
          cooldownMs: 1_800_000,
          limitMultipliers: { cpu: 1, memory: 1.1 },
        },
      },
    });
  },
});

Deno.test({
  name: "readReplayedPolicy() reads what is said, and days and sums of durations",
  permissions: "none",
  fn() {
    const { policy, faults } = readReplayedPolicy(spec({
      mode: "Disabled",
      metricsConfig: {
        rollingWindow: "7d",
        percentile: "P99",
        safetyFactor: 2,
        metricsServer: { minSamplesRequired: 3 },
      },
      updateStrategy: {
        updateRequestsOnly: false,
        limitConfig: { memoryLimitMultiplier: 1.5 },
        changeThresholdPercent: 20,
        cooldown: "1h30m",
      },
      reconciliationInterval: "90s",
    }));
    assert.deepEqual(faults, []);
    const { updateStrategy, bounds: _bounds, ...rest } = policy ?? assert.fail();
    assert.deepEqual(rest, {
      mode: "Disabled",
      windowMs: 7 * 86_400_000,
      percentile: "P99",
      safetyFactor: 2,
      minSamples: 3,
      intervalMs: 90_000,
    });
    assert.deepEqual(updateStrategy, {
      updateRequestsOnly: false,
      changeThresholdPercent: 20,
      cooldownMs: 5_400_000,
      limitMultipliers: { cpu: 1, memory: 1.5 },
    });
  },
});

Deno.test({
  name: "readReplayedPolicy() names each field that is wrong, and gives no policy then",
  permissions: "none",
  fn() {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ mode: "Sometimes" }, /^spec\.mode: .*Auto/],
      [{ metricsConfig: { percentile: "P80" } }, /^spec\.metricsConfig\.percentile: .*P50/],
      [
        { metricsConfig: { rollingWindow: "0s" } },
        /^spec\.metricsConfig\.rollingWindow: must be a/,
      ],
      [{ metricsConfig: { rollingWindow: "soon" } }, /rollingWindow: must be a duration/],
      [{ metricsConfig: { safetyFactor: 0.5 } }, /^spec\.metricsConfig\.safetyFactor: /],
      [{ reconciliationInterval: "5s" }, /^spec\.reconciliationInterval: .*at least 10000 ms/],
      [
        { resourceBounds: { ...BOUNDS, cpu: { min: "0", max: "1" } } },
        /cpu\.min: must be a quantity/,
      ],
      [
        { resourceBounds: { ...BOUNDS, cpu: { min: "2", max: "1" } } },
        /cpu: must have a min of at/,
      ],
    ];
    for (const [more, message] of wrong) {
      const { policy, faults } = readReplayedPolicy(spec(more));
      assert.equal(policy, undefined);
      assert.equal(faults.length, 1);
      assert.match(faults[0] ?? "", message);
    }
    assert.equal(readReplayedPolicy(undefined).faults.length, 1);
  },
});
