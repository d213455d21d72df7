import assert from "node:assert/strict";
import { pacedSample, PLAIN_PACE } from "../../tests/fixtures/paced_sample.ts";
import { isLargeRaise, isLastRaise, isThrottled } from "./worth_of_raise.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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
  const nearly = { share: 540, ceiling: 540, heldBack: 60 };
  assert.equal(isLastRaise(pacedSample(nearly)), true);
  assert.equal(isLastRaise(pacedSample({ ...nearly, ceiling: 549 })), true);
  assert.equal(isLastRaise(pacedSample({ ...nearly, ceiling: 550 })), false);
  assert.equal(isLastRaise(pacedSample({ ...nearly, heldBack: 5 })), false);
  assert.equal(isLastRaise(pacedSample({ ...nearly, share: 500, ceiling: 505 })), false);
});

pure("isThrottled() begins above a hundredth of the limit", () => {
  assert.equal(isThrottled(pacedSample({ heldBack: 5 })), false);
  assert.equal(isThrottled(pacedSample({ heldBack: 5.1 })), true);
});
