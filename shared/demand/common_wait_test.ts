import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { commonWait, MOST_WAIT_MS, WAIT_TARGET_MS, type WaitingContainer } from "./common_wait.ts";
import { queueingNeed } from "./demand_rule.ts";

/** The bisection's step in the logarithm is below this, so waits are exact within this share. */
const PRECISION = 0.01;
/** Needs may exceed the room by the last digits, millicores. */
const ROUNDING = 1e-6;

function waiting(mean: number, burstinessMs: number, ceiling = 1e6): WaitingContainer {
  return { estimate: { mean, burstinessMs, trial: 0, saturatedMs: 0 }, ceiling, part: ceiling };
}

function waitFor(containers: readonly WaitingContainer[], room: number): number {
  return commonWait(containers, { room, targetMs: WAIT_TARGET_MS });
}

function needs(containers: readonly WaitingContainer[], waitMs: number): number {
  const needOf = ({ estimate, ceiling }: WaitingContainer): number =>
    Math.min(ceiling, queueingNeed(estimate, waitMs));
  return containers.reduce((sum, one) => sum + needOf(one), 0);
}

pure("commonWait() is the least where needs fit, and the most where no wait makes them fit", () => {
  const one = waiting(300, 50);
  assert.equal(waitFor([one], queueingNeed(one.estimate, WAIT_TARGET_MS)), WAIT_TARGET_MS);
  assert.equal(waitFor([], 0), WAIT_TARGET_MS);
  assert.equal(waitFor([waiting(1000, 0)], 1049), MOST_WAIT_MS);
  assert.equal(waitFor([one], -1), MOST_WAIT_MS);
});

pure("commonWait() finds the wait at which the needs fill the room", () => {
  // Two of m = 0.3 and b = 100 in 1280 m: (2 × 0.64 − 0.3)² − 0.09 = 0.8704 = 2 m b ln 100 / x.
  const exact = 2 * 0.3 * 100 * Math.log(100) / 0.8704;
  const found = waitFor([waiting(300, 100), waiting(300, 100)], 1280);
  assert.ok(found >= exact && found <= exact * (1 + PRECISION), `${found} for ${exact}`);
});

pure("commonWait() counts what a metric asks for, with its part at most", () => {
  const service = waiting(1000, 100);
  const alone = queueingNeed(service.estimate, WAIT_TARGET_MS);
  const isShort = (asked: number | undefined, room: number): boolean =>
    waitFor([service, { ...waiting(10, 1), part: 2000, asked }], alone + room) > WAIT_TARGET_MS;
  const rows = [[undefined, 300], [300, 300], [600, 300], [9000, 2000]] as const;
  assert.deepEqual(rows.map(([asked, room]) => isShort(asked, room)), [false, false, true, false]);
});

pure("commonWait() counts what was saturated for ten seconds with its part at most", () => {
  const wait = (saturatedMs: number, part = 4000): number => {
    const estimate = { mean: 5000, burstinessMs: 20, trial: 0, saturatedMs };
    return waitFor([waiting(1000, 20), { estimate, ceiling: 8000, part }], 6000);
  };
  assert.equal(wait(10_000), WAIT_TARGET_MS);
  assert.equal(wait(9999), MOST_WAIT_MS);
  // One that needs less than its part counts with what it needs.
  assert.equal(wait(10_000, 100_000), MOST_WAIT_MS);
});

forAll(
  "commonWait() lets no container wait longer where all are saturated: weights decide",
  [
    fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 20 }),
    fc.integer({ min: 100, max: 64_000 }),
  ],
  (weights, size) => {
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const estimate = { mean: 1e6, burstinessMs: 20, trial: 0, saturatedMs: 10_000 };
    const containers = weights.map((weight): WaitingContainer => ({
      ...{ estimate, ceiling: 1e6, part: size * weight / all },
    }));
    assert.equal(waitFor(containers, size), WAIT_TARGET_MS);
  },
  1,
);

const anyContainers = fc.array(
  fc.record({
    mean: fc.double({ min: 0, max: 4000, noNaN: true }),
    burstinessMs: fc.double({ min: 0, max: 500, noNaN: true }),
    ceiling: fc.integer({ min: 10, max: 8000 }),
  }).map(({ mean, burstinessMs, ceiling }) => waiting(mean, burstinessMs, ceiling)),
  { maxLength: 12 },
);
const anyRoom = fc.double({ min: -1000, max: 40_000, noNaN: true });

forAll(
  "commonWait() is the shortest wait at which the needs fit, longer with less room only",
  [anyContainers, anyRoom, anyRoom],
  (containers, room, other) => {
    const waitMs = waitFor(containers, room);
    assert.ok(waitMs >= WAIT_TARGET_MS * (1 - 1e-12) && waitMs <= MOST_WAIT_MS * (1 + 1e-12));
    if (needs(containers, MOST_WAIT_MS) <= room + ROUNDING) {
      assert.ok(needs(containers, waitMs) <= room + ROUNDING);
    } else assert.equal(waitMs, MOST_WAIT_MS);
    if (waitMs > WAIT_TARGET_MS) assert.ok(needs(containers, waitMs / (1 + PRECISION)) > room);
    const longer = Math.min(room, other);
    assert.ok(waitFor(containers, Math.max(room, other)) <= waitFor(containers, longer));
    assert.ok(waitFor(containers.slice(1), room) <= waitMs);
  },
  1,
);
