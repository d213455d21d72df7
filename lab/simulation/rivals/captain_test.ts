import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { captain } from "./captain.ts";
import { type FedLook, feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";

/** A second of readings, the first `throttled` of them with a throttled period; the last limit. */
function second(
  look: FedLook,
  { usage, throttled = 0 }: { usage: number; throttled?: number },
): number | undefined {
  let limit: number | undefined;
  for (let read = 0; read < 10; read++) {
    [limit] = look({ usage, throttledPeriods: read < throttled ? 1 : 0 });
  }
  return limit;
}

pure("captain() raises by the throttled share beyond three targets", () => {
  const look = feedRival(captain(0.1));
  near(second(look, { usage: 1000, throttled: 5 }), 1000 * (1 + 0.5 - 0.3));
  near(second(look, { usage: 1200, throttled: 9 }), 1200 * (1 + 0.9 - 0.3));
});

pure("captain() decides once a second", () => {
  const look = feedRival(captain(0.1));
  const early = feedFor(look, { looks: 9, pods: [{ usage: 1000, throttledPeriods: 1 }] });
  assert.deepEqual(early, [undefined]);
  near(look({ usage: 1000 })[0], 1000 * (1 + 0.9 - 0.3));
});

pure("captain() cuts to the highest usage only where that is at most 0.9 of the limit", () => {
  near(second(feedRival(captain(0.1)), { usage: 901 }), 1000);
  near(second(feedRival(captain(0.1)), { usage: 900 }), 900);
});

pure("captain() cuts at most by half at once, and ends at the larger of floor and 10 m", () => {
  const look = feedRival(captain(0.1), { pods: [{ floor: 0 }, { floor: 200 }] });
  near(second(look, { usage: 0 }), 500);
  near(second(look, { usage: 0 }), 250);
  const last = feedFor(look, { looks: 100, pods: [{}, {}] });
  assert.deepEqual(last, [10, 200]);
});

pure("captain() keeps the margin in standard deviations above the highest usage", () => {
  const look = feedRival(captain(0.1), { pods: [{ originalLimit: 600 }] });
  let limit: number | undefined;
  for (let read = 0; read < 10; read++) [limit] = look({ usage: read % 2 === 0 ? 100 : 200 });
  // Ten values 50 m off their mean: s² = 10 × 50² / 9. The margin has gone from 3 to 3 + 0 − 0.1.
  near(limit, 200 + 2.9 * Math.sqrt(10 * 50 ** 2 / 9));
});

pure("captain() gives back more than it took when throttling follows a cut within a second", () => {
  const look = feedRival(captain(0.1));
  near(second(look, { usage: 600 }), 600);
  // 3 of 10 are three targets, not more.
  assert.deepEqual(feedFor(look, { looks: 3, pods: [{ usage: 600, throttledPeriods: 1 }] }), [
    undefined,
  ]);
  near(look({ usage: 600, throttledPeriods: 1 })[0], 2 * 1000 - 600);
  // These four are not counted again: nothing is throttled in the rest of the second, so it cuts.
  near(feedFor(look, { looks: 6, pods: [{ usage: 600 }] })[0], 1400 / 2);
});

pure("captain() gives back nothing when a second has passed since the cut", () => {
  const look = feedRival(captain(0.1));
  near(second(look, { usage: 600 }), 600);
  near(second(look, { usage: 600 }), 600);
  near(second(look, { usage: 600, throttled: 4 }), 600 * (1 + 0.4 - 0.3));
});

pure("captain() gives back in the place of a decision that is due at the same reading", () => {
  const look = feedRival(captain(0.3));
  near(second(look, { usage: 600 }), 600);
  feedFor(look, { looks: 9, pods: [{ usage: 600, throttledPeriods: 1 }] });
  near(look({ usage: 600, throttledPeriods: 1 })[0], 2 * 1000 - 600);
});

pure("captain() with target 0 answers single throttled periods, and its margin never falls", () => {
  const look = feedRival(captain(0), { pods: [{ originalLimit: 3000 }] });
  near(second(look, { usage: 1000, throttled: 1 }), 3000 * (1 + 0.1));
  // Margin 3 + 0.1 − 0; ten readings of 1000 and ten of 500 are all 250 off their mean.
  near(second(look, { usage: 500 }), 1000 + 3.1 * Math.sqrt(20 * 250 ** 2 / 19));
  // 2 × 3300 − 1795 is above the ceiling.
  near(look({ usage: 500, throttledPeriods: 1 })[0], 4000);
});

pure("captain() does not climb out of reach while the ceiling holds it", () => {
  const look = feedRival(captain(0.1), { pods: [{ ceiling: 2000 }] });
  for (let past = 0; past < 9; past++) second(look, { usage: 1500, throttled: 10 });
  near(second(look, { usage: 1500, throttled: 10 }), 2000);
  near(second(look, { usage: 1500 }), 1500);
});
