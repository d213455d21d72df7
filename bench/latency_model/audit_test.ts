import assert from "node:assert/strict";
import {
  auditRecording,
  costBound,
  FULL_LOAD,
  isIdle,
  isPrintable,
  serviceReactions,
} from "./audit.ts";
import type { RecordedRun } from "./recording.ts";

function run(figures: Partial<RecordedRun>, units: readonly [number, number] = [8, 8]) {
  const run: RecordedRun = {
    completed: FULL_LOAD,
    meanMs: 60,
    p99Ms: 110,
    spreadMs: 2,
    units: new Map([["a", units[0]], ["b", units[1]]]),
    steady: true,
    ...figures,
  };
  return run;
}

Deno.test({
  name: "isPrintable() knows wrk2's two decimals of ms and of s",
  permissions: "none",
  fn() {
    for (const ms of [443.14, 890.88, 202.4, 100, 1340, 12_840]) {
      assert.ok(isPrintable(ms), `${ms}`);
    }
    for (const ms of [107.211, 922.447, 1178.853, 1345]) assert.ok(!isPrintable(ms), `${ms}`);
  },
});

Deno.test({
  name: "auditRecording() counts what can't be, and correlates what should agree",
  permissions: "none",
  fn() {
    const audit = auditRecording([
      run({ meanMs: 51, p99Ms: 119.123, spreadMs: 1 }),
      run({ meanMs: 52, p99Ms: 118.5, spreadMs: 2 }),
      run({ meanMs: 53, p99Ms: 117.5, spreadMs: 3 }),
      run({ meanMs: 5000, p99Ms: 1289.1, spreadMs: undefined }),
    ]);
    assert.deepEqual(audit, {
      runs: 4,
      printable: 0.5,
      meanAboveP99: 0.25,
      atFloor: 0.75,
      floorCorrelation: -1,
      spreadCorrelation: -1,
    });
  },
});

Deno.test({
  name: "isIdle() asks for steady units, the whole load and a narrow spread",
  permissions: "none",
  fn() {
    assert.ok(isIdle(run({})));
    assert.ok(!isIdle(run({ steady: false })));
    assert.ok(!isIdle(run({ completed: 0.99 * FULL_LOAD })));
    assert.ok(!isIdle(run({ spreadMs: 20 })));
    assert.ok(!isIdle(run({ spreadMs: undefined })));
  },
});

Deno.test({
  name:
    "serviceReactions() finds that a helps and b hurts; costBound() takes the least of policies",
  permissions: "none",
  fn() {
    const runs = [
      run({ spreadMs: 900 }, [2, 9]),
      run({ spreadMs: 15 }, [4, 7]),
      run({ spreadMs: 5 }, [6, 5]),
      run({ spreadMs: 1, steady: false }, [1, 1]),
    ];
    const reactions = serviceReactions(runs);
    assert.deepEqual(reactions, [
      { service: "a", correlation: -1, fewestWhenIdle: 4, idleRuns: 1 },
      { service: "b", correlation: 1, fewestWhenIdle: 5, idleRuns: 1 },
    ]);
    const other = reactions.map((one) => ({ ...one, fewestWhenIdle: 3 }));
    // 5 units are 150,000 ms of CPU in a run.
    assert.ok(Math.abs(costBound([reactions]) - 150_000 / FULL_LOAD) < 1e-12);
    assert.ok(Math.abs(costBound([reactions, other]) - 90_000 / FULL_LOAD) < 1e-12);
  },
});
