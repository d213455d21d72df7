import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pacedSample, PLAIN_PACE, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  followLowerTarget,
  fundRaises,
  grantRaises,
  isLargeRaise,
  isLastRaise,
  lowerWait,
  rationedHysteresis,
} from "./limit_moves.ts";
import { DEFAULT_PACE, type PacedContainer, type PaceMemory } from "./paced_container.ts";

/** What is granted of raises from 0 m, by their place. */
function granted(
  raises: readonly (readonly [cost: number, weight: number])[],
  free: number,
): number[] {
  const requests = raises.map(([cost, weight]) => {
    const container = pacedSample({ weight, share: cost }, { limit: 0 });
    return { container, wanted: cost, cost };
  });
  const grants = grantRaises(requests, free, { now: 0, options: PLAIN_PACE });
  return requests.map(({ container }) =>
    grants.find((grant) => grant.container === container)?.granted ?? NaN
  );
}

pure("grantRaises() grants all where there is enough, and else parts that relieve", () => {
  // Also what lies off the grid.
  assert.deepEqual(granted([[333, 1], [67, 5]], 400), [333, 67]);
  assert.deepEqual(granted([[900, 100], [900, 200], [30, 100]], 330), [100, 200, 30]);
  // The lightest waits where parts would relieve nothing.
  assert.deepEqual(granted([[90, 1], [90, 2]], 12), [0, 10]);
  assert.deepEqual(granted([[100, 1], [0, 1]], -50), [0, 0]);
  assert.deepEqual(granted([], 100), []);
});

forAll(
  "grantRaises() never grants more than is free, nor more than was asked for",
  [
    fc.array(
      fc.tuple(fc.double({ min: 0, max: 8000, noNaN: true }), fc.integer({ min: 1, max: 10_000 })),
      { maxLength: 30 },
    ),
    fc.double({ min: -1000, max: 20_000, noNaN: true }),
  ],
  (raises, free) => {
    const grants = granted(raises, free);
    const sum = grants.reduce((total, grant) => total + grant, 0);
    assert.ok(sum <= Math.max(0, free) * (1 + 1e-9));
    grants.forEach((grant, index) => assert.ok(grant <= (raises[index]?.[0] ?? 0)));
  },
  1,
);

pure("rationedHysteresis() shrinks while a rationed container rests, to two hundredths", () => {
  const after = (seconds: number, { need = 601, usual = 0.15, changedAt = 0 } = {}): string =>
    rationedHysteresis(pacedSample({ share: 600, need }, { changedAt }), usual, {
      now: seconds * 1000,
    }).toFixed(9);
  assert.equal(after(1e6, { need: 600 }), "0.150000000", "it has all that it needs");
  assert.deepEqual([after(0), after(600)], ["0.150000000", "0.020000000"]);
  assert.equal(after(60), (0.15 / Math.E).toFixed(9));
  assert.equal(after(0, { changedAt: -Infinity }), "0.020000000");
  assert.equal(after(0, { usual: 0 }), "0.000000000");
  assert.equal(after(1000, { usual: 0.01 }), "0.010000000");
});

pure("isLargeRaise() begins above the hysteresis, less for rationed containers that rest", () => {
  const raise = (share: number, restS: number, need = 900) =>
    isLargeRaise(pacedSample({ share, need }, { changedAt: 0 }), share, {
      ...{ now: restS * 1000, options: PLAIN_PACE },
    });
  assert.deepEqual([raise(600, 0), raise(610, 0)], [false, true]);
  assert.deepEqual([raise(600, 9999, 600), raise(610, 9999, 610)], [false, true]);
  // 500 × (1 + 0.2 × e^(−60 / 60)) = 536.8
  assert.deepEqual([raise(530, 60), raise(540, 60)], [false, true]);
  // In the end two hundredths, and more than a step of the grid.
  assert.deepEqual([raise(510, 9999), raise(520, 9999)], [false, true]);
});

pure("isLastRaise() is one of a throttled container to its ceiling, on the grid or off it", () => {
  const nearly = { share: 540, ceiling: 540, throttledMsPerS: 60 };
  const changes = [{}, { ceiling: 549 }, { ceiling: 550 }, { throttledMsPerS: 5 }];
  const found = [...changes, { share: 500, ceiling: 505 }]
    .map((change) => isLastRaise(pacedSample({ ...nearly, ...change })));
  assert.deepEqual(found, [true, true, false, false, false]);
});

/** Plays targets, one a second from second 0: the second of the first answer, and the answer. */
function lowered(
  targets: readonly number[],
  memory: Partial<PaceMemory> = {},
): readonly [second: number, limit: number] | undefined {
  let container = pacedSample({}, memory);
  for (const [second, share] of targets.entries()) {
    const now = { ...container, share };
    const { lower, limit } = followLowerTarget(now, second * 1000, SAMPLE_PACE);
    if (limit !== undefined) return [second, limit];
    container = { ...container, memory: { ...container.memory, lower } };
  }
  return undefined;
}

pure("followLowerTarget() lowers after 30 s, to the highest target since the fall was over", () => {
  const low = Array<number>(60).fill(200);
  assert.deepEqual(lowered(low.with(12, 260)), [30, 260]);
  // It begins again when the target was back within a tenth of the limit.
  assert.equal(lowered(low.with(29, 450)), undefined);
  assert.deepEqual(lowered(low, { since: 25_000 }), [35, 200], "it warms up");
  // Usage is averaged, so a fall takes a moment; after a third of the wait all count.
  const falling = [400, 300, ...low];
  assert.deepEqual(lowered(falling), [30, 200]);
  assert.deepEqual(lowered(falling.with(8, 250)), [30, 200]);
  assert.deepEqual(lowered(falling.with(10, 250)), [30, 250]);
  // A trial is rolled back soon, if 220 m are as good as the 200 m before it; 221 are not.
  assert.deepEqual(lowered(low.map(() => 220), { trialFrom: 200 }), [2, 220]);
  assert.deepEqual(lowered(low.map(() => 221), { trialFrom: 200 }), [30, 221]);
});

pure("lowerWait() is short only where the target is back at the limit before a trial", () => {
  const lower = { since: 0, highest: 220 };
  const memories = [{ lower }, { trialFrom: 200 }, { trialFrom: 200, lower }];
  const waits = [...memories, { trialFrom: 199, lower }].map((one) => lowerWait(one, SAMPLE_PACE));
  assert.deepEqual(waits, [30_000, 30_000, 2000, 30_000]);
});

const AT = { now: 100_000, options: DEFAULT_PACE };

/** Containers that pay, by their place, with their new limits. */
function payments(containers: readonly PacedContainer[], shortage: number): [number, number][] {
  return [...fundRaises(containers, shortage, AT)]
    .map(([container, limit]) => [containers.indexOf(container), limit]);
}

pure("fundRaises() lowers the largest surplus first, by a tenth at least", () => {
  const shares = (...all: readonly number[]) => all.map((share) => pacedSample({ share }));
  assert.deepEqual(payments(shares(300, 100, 450), 250), [[1, 250]]);
  assert.deepEqual(payments(shares(300, 100, 450), 500), [[1, 100], [0, 400]]);
  assert.deepEqual(payments(shares(100), 10), [[0, 450]]);
  assert.deepEqual(payments(shares(100), 0), []);
  // Left out: one that warms up, paid lately, or has a surplus below a tenth.
  const young = pacedSample({ share: 100 }, { since: AT.now - 9999 });
  const paid = pacedSample({ share: 100 }, { fundedAt: AT.now - 4999 });
  assert.deepEqual(payments([young, paid, ...shares(450)], 1000), []);
  // A rationed container is left less beyond its share the longer it rests.
  const rationed = (changedAt: number) => pacedSample({ share: 480, need: 900 }, { changedAt });
  assert.deepEqual(payments([rationed(AT.now)], 1000), []);
  assert.deepEqual(payments([rationed(-1e9)], 1000), [[0, 480]]);
});

forAll(
  "fundRaises() never lowers under a share, and takes all surplus for an endless shortage",
  [fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 }), fc.integer({ min: 1, max: 5000 })],
  (tens, shortage) => {
    const containers = tens.map((ten) => pacedSample({ share: ten * 10 }));
    for (const [place, limit] of payments(containers, shortage)) {
      assert.ok(limit >= (containers[place]?.share ?? Infinity) && limit < 500);
    }
    const all = payments(containers, Infinity);
    assert.equal(all.length, containers.filter(({ share }) => share < 450).length);
    for (const [place, limit] of all) assert.equal(limit, containers[place]?.share);
  },
  1,
);
