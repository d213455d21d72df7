import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { commonWait, MOST_WAIT_MS, WAIT_TARGET_MS, type WaitingContainer } from "./common_wait.ts";
import { queueingNeed } from "./queueing_need.ts";

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
  return containers.reduce(
    (sum, { estimate, ceiling }) => sum + Math.min(ceiling, queueingNeed(estimate, waitMs)),
    0,
  );
}

const containers = fc.array(
  fc.record({
    mean: fc.double({ min: 0, max: 4000, noNaN: true }),
    burstinessMs: fc.double({ min: 0, max: 500, noNaN: true }),
    ceiling: fc.integer({ min: 10, max: 8000 }),
  }),
  { maxLength: 12 },
).map((drawn) =>
  drawn.map(({ mean, burstinessMs, ceiling }) => waiting(mean, burstinessMs, ceiling))
);
const room = fc.double({ min: -1000, max: 40_000, noNaN: true });

pure("commonWait() is the least where there is room, and without containers", () => {
  assert.equal(
    waitFor([waiting(300, 50)], queueingNeed({ mean: 300, burstinessMs: 50 }, WAIT_TARGET_MS)),
    WAIT_TARGET_MS,
  );
  assert.equal(waitFor([], 0), WAIT_TARGET_MS);
});

pure("commonWait() is the most where even that does not make the needs fit", () => {
  assert.equal(waitFor([waiting(1000, 0)], 1049), MOST_WAIT_MS);
  assert.equal(waitFor([waiting(300, 50)], -1), MOST_WAIT_MS);
});

pure("commonWait() finds the wait at which the needs fill the room", () => {
  // Two of m = 0.3 and b = 100 in 1280 m: (2 × 0.64 − 0.3)² − 0.09 = 0.8704 = 2 m b ln 100 / x.
  const exact = 2 * 0.3 * 100 * Math.log(100) / 0.8704;
  const found = waitFor([waiting(300, 100), waiting(300, 100)], 1280);
  assert.ok(found >= exact && found <= exact * (1 + PRECISION), `${found} for ${exact}`);
});

pure("commonWait() counts what a metric asks for, with its part at most", () => {
  const service = waiting(1000, 100);
  const asking = (asked: number | undefined): WaitingContainer => ({
    ...waiting(10, 1),
    part: 2000,
    asked,
  });
  const alone = queueingNeed(service.estimate, WAIT_TARGET_MS);
  const wait = (asked: number | undefined, room: number) => waitFor([service, asking(asked)], room);
  assert.equal(wait(undefined, alone + 300), WAIT_TARGET_MS);
  assert.equal(wait(300, alone + 300), WAIT_TARGET_MS);
  assert.ok(wait(600, alone + 300) > WAIT_TARGET_MS);
  assert.equal(wait(9000, alone + 2000), WAIT_TARGET_MS, "its part is 2000");
});

pure(
  "commonWait() counts a container that was saturated for ten seconds with its part at most",
  () => {
    const service = waiting(1000, 20);
    const job = (saturatedMs: number): WaitingContainer => ({
      estimate: { mean: 5000, burstinessMs: 20, trial: 0, saturatedMs },
      ceiling: 8000,
      part: 4000,
    });
    assert.equal(waitFor([service, job(10_000)], 6000), WAIT_TARGET_MS);
    assert.equal(waitFor([service, job(9999)], 6000), MOST_WAIT_MS);
    // One that needs less than its part counts with what it needs.
    const modest = { ...job(10_000), part: 100_000 };
    assert.equal(waitFor([service, modest], 6000), MOST_WAIT_MS);
  },
);

pure("commonWait() lets no container wait longer where all are saturated: weights decide", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 20 });
  fc.assert(fc.property(weights, fc.integer({ min: 100, max: 64_000 }), (drawn, size) => {
    const all = drawn.reduce((sum, weight) => sum + weight, 0);
    const table = drawn.map((weight): WaitingContainer => ({
      estimate: { mean: 1e6, burstinessMs: 20, trial: 0, saturatedMs: 10_000 },
      ceiling: 1e6,
      part: size * weight / all,
    }));
    assert.equal(waitFor(table, size), WAIT_TARGET_MS);
  }));
});

pure("commonWait() lets the needs fit wherever any wait does", () => {
  fc.assert(fc.property(containers, room, (table, size) => {
    const waitMs = waitFor(table, size);
    assert.ok(waitMs >= WAIT_TARGET_MS * (1 - 1e-12) && waitMs <= MOST_WAIT_MS * (1 + 1e-12));
    if (needs(table, MOST_WAIT_MS) <= size + ROUNDING) {
      assert.ok(needs(table, waitMs) <= size + ROUNDING);
    } else assert.equal(waitMs, MOST_WAIT_MS);
  }));
});

pure("commonWait() is the shortest such wait: a hundredth less, and the needs do not fit", () => {
  fc.assert(fc.property(containers, room, (table, size) => {
    const waitMs = waitFor(table, size);
    if (waitMs === WAIT_TARGET_MS) return;
    assert.ok(needs(table, waitMs / (1 + PRECISION)) > size);
  }));
});

pure("commonWait() never grows with room, nor falls when another container comes", () => {
  fc.assert(fc.property(containers, room, room, (table, a, b) => {
    assert.ok(waitFor(table, Math.max(a, b)) <= waitFor(table, Math.min(a, b)));
    assert.ok(waitFor(table.slice(1), a) <= waitFor(table, a));
  }));
});
