import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { seededRandom } from "../../../shared/random.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import { createWorkload } from "../workload.ts";
import { oracleLimits, type OraclePod } from "./oracle_rival.ts";
import type { PlannedLimit } from "./plan_limits.ts";

function pod(seed: number, cores: number): OraclePod {
  const values = Float64Array.of(cores, cores / 3, cores);
  return {
    floor: 50,
    ceiling: 4000,
    weight: 100,
    threads: 8,
    phaseMs: 0,
    uid: "pod",
    arrivals: createWorkload({ name: "t", unit: "cores", stepS: 20, values }, {
      random: seededRandom(seed),
      costMs: 8,
    }),
  };
}

const RUN = { durationMs: 60_000, sloMs: 100, cores: 8, changesPerMinute: 0.5 };

function limitAt(changes: readonly PlannedLimit[] | undefined, at: number): number {
  return changes?.findLast(({ atMs }) => atMs <= at)?.limit ?? NaN;
}

pure("oracleLimits() are the pods' own plans while they fit", () => {
  const options = { ...RUN, capacity: 7200, changesPerMinute: 2 };
  const both = oracleLimits([pod(1, 0.6), pod(2, 0.9)], options);
  assert.deepEqual(
    both,
    [1, 2].flatMap((seed) => oracleLimits([pod(seed, seed === 1 ? 0.6 : 0.9)], options)),
  );
  for (const changes of both) assert.ok(changes[0]?.atMs === 0 && changes.length <= 3);
});

pure("oracleLimits() share a short node exactly, to the step", () => {
  const greedy = { ...pod(3, 1), arrivals: busyLoop(4), weight: 300 };
  const limits = oracleLimits([pod(1, 0.6), greedy], { ...RUN, capacity: 2000 });
  for (let at = 0; at < RUN.durationMs; at += 1000) {
    const sum = limits.reduce((total, changes) => total + limitAt(changes, at), 0);
    assert.ok(sum > 1980 && sum <= 2000, `${sum} m at ${at} ms`);
  }
});

pure(
  "oracleLimits() go by what comes on a node that is always short, where requests may wait",
  () => {
    const greedy = { ...pod(3, 1), arrivals: busyLoop(4), weight: 300 };
    const options = { ...RUN, capacity: 2000, sloMs: 10_000 };
    const [first, second] = oracleLimits([pod(1, 0.6), greedy], options);
    const at30 = limitAt(first, 30_000);
    assert.ok(at30 < 500, "what comes, not what would keep it waiting less");
    assert.ok(at30 + limitAt(second, 30_000) > 1980);
  },
);
