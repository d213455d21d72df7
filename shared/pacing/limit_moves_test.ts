import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../tests/fixtures/pure.ts";
import { pacedSample, PLAIN_PACE, SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
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
  raises: readonly { readonly cost: number; readonly weight: number }[],
  free: number,
): number[] {
  const requests = raises.map(({ cost, weight }) => {
    const container = pacedSample({ weight, share: cost }, { limit: 0 });
    return { container, wanted: cost, cost };
  });
  const grants = grantRaises(requests, free, { now: 0, options: PLAIN_PACE });
  return requests.map(({ container }) =>
    grants.find((grant) => grant.container === container)?.granted ?? NaN
  );
}

pure("grantRaises() grants all where there is enough, also what lies off the grid", () => {
  assert.deepEqual(granted([{ cost: 333, weight: 1 }, { cost: 67, weight: 5 }], 400), [333, 67]);
});

pure("grantRaises() splits by weight and leaves what a small raise does not take", () => {
  const raises = [{ cost: 900, weight: 100 }, { cost: 900, weight: 200 }, {
    cost: 30,
    weight: 100,
  }];
  assert.deepEqual(granted(raises, 330), [100, 200, 30]);
});

pure("grantRaises() lets the lightest raise wait where parts would relieve nothing", () => {
  assert.deepEqual(granted([{ cost: 90, weight: 1 }, { cost: 90, weight: 2 }], 12), [0, 10]);
});

pure("grantRaises() grants nothing where nothing is free, or there is less", () => {
  assert.deepEqual(granted([{ cost: 100, weight: 1 }, { cost: 0, weight: 1 }], -50), [0, 0]);
  assert.deepEqual(granted([], 100), []);
});

pure("grantRaises() never grants more than is free, nor more than was asked for", () => {
  const raise = fc.record({
    cost: fc.double({ min: 0, max: 8000, noNaN: true }),
    weight: fc.integer({ min: 1, max: 10_000 }),
  });
  fc.assert(
    fc.property(
      fc.array(raise, { maxLength: 30 }),
      fc.double({ min: -1000, max: 20_000, noNaN: true }),
      (raises, free) => {
        const grants = granted(raises, free);
        const sum = grants.reduce((total, grant) => total + grant, 0);
        assert.ok(sum <= Math.max(0, free) * (1 + 1e-9));
        grants.forEach((grant, index) => assert.ok(grant <= (raises[index]?.cost ?? 0)));
      },
    ),
  );
});

pure(
  "rationedHysteresis() is the usual one for a container with a share of all that it needs",
  () => {
    const container = pacedSample({ share: 600, need: 600 }, { changedAt: 0 });
    assert.equal(rationedHysteresis(container, 0.15, { now: 1e9 }), 0.15);
  },
);

pure("rationedHysteresis() shrinks while a rationed container rests, to two hundredths", () => {
  const container = pacedSample({ share: 600, need: 601 }, { changedAt: 0 });
  const after = (seconds: number) => rationedHysteresis(container, 0.15, { now: seconds * 1000 });
  assert.equal(after(0), 0.15);
  assert.ok(Math.abs(after(60) - 0.15 / Math.E) < 1e-12);
  assert.equal(after(600), 0.02);
  const never = pacedSample({ share: 600, need: 601 });
  assert.equal(rationedHysteresis(never, 0.15, { now: 0 }), 0.02);
});

pure("rationedHysteresis() never exceeds the usual one, which may be 0", () => {
  const container = pacedSample({ share: 600, need: 700 }, { changedAt: 0 });
  assert.equal(rationedHysteresis(container, 0, { now: 0 }), 0);
  assert.equal(rationedHysteresis(container, 0.01, { now: 1e6 }), 0.01);
});

pure("isLargeRaise() begins above the hysteresis, a fifth of the limit here", () => {
  assert.equal(isLargeRaise(pacedSample(), 600, { now: 0, options: PLAIN_PACE }), false);
  assert.equal(isLargeRaise(pacedSample(), 610, { now: 0, options: PLAIN_PACE }), true);
});

pure("isLargeRaise() asks less of a rationed container the longer its limit rests", () => {
  const raise = (share: number, restS: number) =>
    isLargeRaise(pacedSample({ share, need: 900 }, { changedAt: 0 }), share, {
      now: restS * 1000,
      options: PLAIN_PACE,
    });
  assert.equal(raise(610, 0), true);
  assert.equal(raise(600, 0), false);
  // 500 × (1 + 0.2 × e^(−60 / 60)) = 536.8
  assert.deepEqual([raise(530, 60), raise(540, 60)], [false, true]);
  // In the end two hundredths, and more than a step of the grid.
  assert.deepEqual([raise(510, 9999), raise(520, 9999)], [false, true]);
});

pure("isLastRaise() is one of a throttled container to its ceiling, on the grid or off it", () => {
  const nearly = { share: 540, ceiling: 540, throttledMsPerS: 60 };
  assert.equal(isLastRaise(pacedSample(nearly)), true);
  assert.equal(isLastRaise(pacedSample({ ...nearly, ceiling: 549 })), true);
  assert.equal(isLastRaise(pacedSample({ ...nearly, ceiling: 550 })), false);
  assert.equal(isLastRaise(pacedSample({ ...nearly, throttledMsPerS: 5 })), false);
  assert.equal(isLastRaise(pacedSample({ ...nearly, share: 500, ceiling: 505 })), false);
});

/** Plays targets, one a second from second 0; the answers. */
function play(
  targets: readonly number[],
  memory: Partial<PaceMemory> = {},
): (number | undefined)[] {
  let container = pacedSample({}, memory);
  return targets.map((target, second) => {
    const { lower, limit } = followLowerTarget(
      { ...container, share: target },
      second * 1000,
      SAMPLE_PACE,
    );
    container = { ...container, memory: { ...container.memory, lower } };
    return limit;
  });
}

pure("followLowerTarget() lowers after 30 s, to the highest target since the fall was over", () => {
  const targets = Array.from({ length: 31 }, (_, second) => second === 12 ? 260 : 200);
  const limits = play(targets);
  assert.deepEqual(limits.slice(0, 30), Array(30).fill(undefined));
  assert.equal(limits[30], 260);
});

pure(
  "followLowerTarget() begins again when the target was back within a tenth of the limit",
  () => {
    const targets = Array.from({ length: 60 }, (_, second) => second === 29 ? 450 : 200);
    assert.deepEqual(play(targets), Array(60).fill(undefined));
  },
);

pure("followLowerTarget() does not lower while the container warms up", () => {
  const limits = play(Array(45).fill(200), { since: 25_000 });
  assert.equal(limits[34], undefined);
  assert.equal(limits[35], 200);
});

pure(
  "followLowerTarget() forgets how a fall began: usage is averaged, so it takes a moment",
  () => {
    const targets = Array.from({ length: 31 }, (_, second) => [400, 300, 200][second] ?? 200);
    assert.equal(play(targets)[30], 200);
    assert.equal(play(targets.with(8, 250))[30], 200);
    assert.equal(play(targets.with(10, 250))[30], 250, "after a third of the wait all count");
  },
);

pure("followLowerTarget() rolls a trial back soon, if nothing more than before is needed", () => {
  // The limit was 200 m before the trial; 220 m are as good as that, 221 are not.
  assert.equal(play(Array(60).fill(220), { trialFrom: 200 }).findIndex(Number), 2);
  assert.equal(play(Array(60).fill(221), { trialFrom: 200 }).findIndex(Number), 30);
});

pure(
  "lowerWait() is short only where the highest target since is back at the limit before a trial",
  () => {
    const lower = { since: 0, highest: 220 };
    assert.equal(lowerWait({ lower }, SAMPLE_PACE), 30_000);
    assert.equal(lowerWait({ trialFrom: 200 }, SAMPLE_PACE), 30_000);
    assert.equal(lowerWait({ trialFrom: 200, lower }, SAMPLE_PACE), 2000);
    assert.equal(lowerWait({ trialFrom: 199, lower }, SAMPLE_PACE), 30_000);
  },
);

const AT = { now: 100_000, options: DEFAULT_PACE };

/** Containers that pay, by their place, with their new limits. */
function payments(containers: readonly PacedContainer[], shortage: number): [number, number][] {
  return [...fundRaises(containers, shortage, AT)]
    .map(([container, limit]) => [containers.indexOf(container), limit]);
}

pure("fundRaises() lowers the largest surplus first, and no more containers than needed", () => {
  const containers = [300, 100, 450].map((share) => pacedSample({ share }));
  assert.deepEqual(payments(containers, 250), [[1, 250]]);
  assert.deepEqual(payments(containers, 500), [
    [1, 100],
    [0, 400],
  ]);
});

pure("fundRaises() lowers by a tenth at least: less would not be worth a change", () => {
  assert.deepEqual(payments([pacedSample({ share: 100 })], 10), [[0, 450]]);
});

pure(
  "fundRaises() leaves out containers that warm up, paid lately, or have a surplus below a tenth",
  () => {
    const containers = [
      pacedSample({ share: 100 }, { since: AT.now - 9999 }),
      pacedSample({ share: 100 }, { fundedAt: AT.now - 4999 }),
      pacedSample({ share: 450 }),
    ];
    assert.deepEqual(payments(containers, 1000), []);
  },
);

pure("fundRaises() leaves a rationed container less beyond its share the longer it rests", () => {
  const rationed = (changedAt: number) => pacedSample({ share: 480, need: 900 }, { changedAt });
  assert.deepEqual(payments([rationed(AT.now)], 1000), []);
  assert.deepEqual(payments([rationed(-1e9)], 1000), [[0, 480]]);
});

pure("fundRaises() takes nothing when nothing is missing", () => {
  assert.deepEqual(payments([pacedSample({ share: 100 })], 0), []);
});

pure(
  "fundRaises() never lowers under a share, and takes all surplus for an endless shortage",
  () => {
    const shares = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 });
    fc.assert(fc.property(shares, fc.integer({ min: 1, max: 5000 }), (tens, shortage) => {
      const containers = tens.map((ten) => pacedSample({ share: ten * 10 }));
      for (const [place, limit] of payments(containers, shortage)) {
        assert.ok(limit >= (containers[place]?.share ?? Infinity) && limit < 500);
      }
      const all = payments(containers, Infinity);
      assert.equal(all.length, containers.filter(({ share }) => share < 450).length);
      for (const [place, limit] of all) assert.equal(limit, containers[place]?.share);
    }));
  },
);
