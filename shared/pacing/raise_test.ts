import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { pacedSample, PLAIN_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { grantRaises, isLargeRaise, isLastRaise, rationedHysteresis } from "./raise.ts";

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
