import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { koordinator } from "./koordinator.ts";

const POD = { originalLimit: 400 };
const THROTTLED = { usage: 400, throttledPeriods: 1 };

pure(
  "koordinator() raises by a fifth each second of throttling, up to three original limits",
  () => {
    const look = feedRival(koordinator(), { pods: [POD] });
    near(look(THROTTLED)[0], 400 * 1.2);
    near(look(THROTTLED)[0], 400 * 1.2 * 1.2);
    // 1.2^6 = 2.99, 1.2^7 = 3.58
    near(feedFor(look, { looks: 5, pods: [THROTTLED] })[0], 3 * 400);
  },
);

pure("koordinator() leaves the quota where nothing is throttled", () => {
  const look = feedRival(koordinator(), { pods: [POD] });
  look(THROTTLED);
  near(feedFor(look, { looks: 30, pods: [{}] })[0], 400 * 1.2);
});

pure("koordinator() stays under the ceiling, and never below the original limit", () => {
  const look = feedRival(koordinator(), { pods: [{ ...POD, ceiling: 700 }] });
  near(feedFor(look, { looks: 9, pods: [THROTTLED] })[0], 700);
});

pure("koordinator() lowers by a fifth down to the original limit while the node is busy", () => {
  const look = feedRival(koordinator(), { pods: [POD, {}] });
  feedFor(look, { looks: 3, pods: [THROTTLED] });
  // Mean of the looks so far: (3 × 400 + 15600) / 4 = 4200 of 8000 m, above a half.
  near(look({ ...THROTTLED, usage: 400 }, { usage: 15_200 })[0], 400 * 1.2 ** 3 * 0.8);
  assert.equal(look(THROTTLED, { usage: 15_200 })[0], 400 * 1.2 ** 3 * 0.8 * 0.8);
  assert.equal(look(THROTTLED, { usage: 15_200 })[0], 400);
});

pure("koordinator() raises nothing on a node that is nearly busy", () => {
  // (400 + 3300) / 8000 = 0.4625, between 0.45 and 0.5.
  const warm = feedRival(koordinator(), { pods: [POD, {}] });
  assert.deepEqual(warm(THROTTLED, { usage: 3300 }), [400, 1000]);
  const cool = feedRival(koordinator(), { pods: [POD, {}] });
  assert.deepEqual(cool(THROTTLED, { usage: 3100 }), [400 * 1.2, 1000]);
});

pure("koordinator() lowers when the budget is spent, until some is saved", () => {
  // A second at three times the limit: 2, a quarter of which is there.
  const look = feedRival(koordinator(1), { pods: [POD] });
  near(look({ usage: 400, throttledPeriods: 1 })[0], 480);
  // 0.5 − (1.2 − 1) = 0.3
  near(look({ usage: 480, throttledPeriods: 1 })[0], 576);
  // 0.3 − (1.44 − 1) = −0.14
  near(look({ usage: 576, throttledPeriods: 1 })[0], 576 * 0.8);
  // Between 60 and 100 % nothing is saved.
  near(look({ usage: 300, throttledPeriods: 1 })[0], 400);
  // −0.14 + (1 − 0.25) = 0.61
  near(look({ usage: 100, throttledPeriods: 1 })[0], 480);
});

pure("koordinator() owes at most what the bucket holds", () => {
  const look = feedRival(koordinator(1), { pods: [POD] });
  feedFor(look, { looks: 10, pods: [{ usage: 1200, throttledPeriods: 1 }] });
  // −2 + 1 + 1 = 0 is not above 0; one second more is.
  feedFor(look, { looks: 2, pods: [{}] });
  near(look({ usage: 300, throttledPeriods: 1 })[0], 400);
  near(look({ usage: 0, throttledPeriods: 1 })[0], 480);
});
