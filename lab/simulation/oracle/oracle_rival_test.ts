import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { seededRandom } from "../../../shared/random.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import { createWorkload } from "../workload.ts";
import { oracleLimits, type OraclePod } from "./oracle_rival.ts";

function pod(seed: number, cores: number): OraclePod {
  const values = Float64Array.of(cores, cores / 3, cores);
  return {
    floor: 50,
    ceiling: 4000,
    weight: 100,
    threads: 8,
    arrivals: createWorkload({ name: "t", unit: "cores", stepS: 20, values }, {
      random: seededRandom(seed),
      costMs: 8,
    }),
  };
}

const RUN = { durationMs: 60_000, sloMs: 100, cores: 8 };

pure("oracleLimits() are the pods' own plans while they fit", () => {
  const options = { ...RUN, capacity: 7200, changesPerMinute: 2 };
  const { limits, plans, shortSteps } = oracleLimits([pod(1, 0.6), pod(2, 0.9)], options);
  assert.equal(shortSteps, 0);
  assert.deepEqual(limits, plans.map((plan) => plan.limits));
  for (const changes of limits) {
    assert.equal(changes[0]?.atMs, 0);
    assert.ok(changes.length <= 3);
  }
});

pure("oracleLimits() share a short node exactly, to the step", () => {
  const greedy = { ...pod(3, 1), arrivals: busyLoop(4), weight: 300 };
  const { limits, shortSteps } = oracleLimits([pod(1, 0.6), greedy], { ...RUN, capacity: 2000 });
  assert.equal(shortSteps, 60);
  for (let at = 0; at < RUN.durationMs; at += 1000) {
    const sum = limits.reduce(
      (total, changes) => total + (changes.findLast(({ atMs }) => atMs <= at)?.limit ?? 0),
      0,
    );
    assert.ok(sum <= 2000, `${sum} m at ${at} ms`);
    assert.ok(sum > 1980, `${sum} m at ${at} ms: less than there is`);
  }
});

pure(
  "oracleLimits() plan nothing on a node that is always short, where requests may wait for long",
  () => {
    const greedy = { ...pod(3, 1), arrivals: busyLoop(4), weight: 300 };
    const options = { ...RUN, capacity: 2000, sloMs: 10_000 };
    const { limits, plans, shortSteps } = oracleLimits([pod(1, 0.6), greedy], options);
    assert.deepEqual(plans, []);
    assert.equal(shortSteps, 60);
    const at30 = limits.map((changes) =>
      changes.findLast(({ atMs }) => atMs <= 30_000)?.limit ?? 0
    );
    assert.ok(
      at30[0] !== undefined && at30[0] < 500,
      "what comes, not what would keep it waiting less",
    );
    assert.ok(at30.reduce((sum, limit) => sum + limit, 0) > 1980);
    const roomy = oracleLimits([pod(1, 0.6), pod(2, 0.9)], { ...options, capacity: 7200 });
    assert.equal(roomy.plans.length, 2);
  },
);
