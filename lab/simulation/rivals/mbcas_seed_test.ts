import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { mbcasSeed } from "./mbcas_seed.ts";

/** Looks of 1 s between two writes. */
const WRITE = 15;
const POD = { originalLimit: 500, floor: 100, ceiling: 2000 };

pure("mbcasSeed() gives a tenth above usage while nothing is throttled, every 15 s", () => {
  const look = feedRival(mbcasSeed(), { pods: [POD] });
  assert.deepEqual(feedFor(look, { looks: WRITE - 1, pods: [{ usage: 300 }] }), [undefined]);
  near(look({ usage: 300 })[0], 300 * 1.1);
});

pure("mbcasSeed() changes a pod once in 30 s at most", () => {
  const look = feedRival(mbcasSeed(), { pods: [POD] });
  near(feedFor(look, { looks: WRITE, pods: [{ usage: 300 }] })[0], 330);
  assert.deepEqual(feedFor(look, { looks: WRITE, pods: [{ usage: 200 }] }), [undefined]);
  near(feedFor(look, { looks: WRITE, pods: [{ usage: 200 }] })[0], 220);
});

pure("mbcasSeed() raises a throttled pod by half at most, towards the ceiling", () => {
  const look = feedRival(mbcasSeed(), { pods: [POD] });
  // 50 ms of 500 ms are the threshold of 0.1: s = 1, smoothed 1 − 0.7^15 = 0.995.
  const throttled = { usage: 500, throttledMs: 50 };
  near(feedFor(look, { looks: WRITE, pods: [throttled] })[0], 1.5 * 500);
});

pure("mbcasSeed() takes throttling in quickly and forgets it slowly", () => {
  const look = feedRival(mbcasSeed(), { pods: [{ ...POD, originalLimit: 1900 }] });
  feedFor(look, { looks: WRITE - 1, pods: [{ usage: 500 }] });
  // s = 0.3 after the first throttled second; usage 500 m, ceiling 2000 m.
  const s = 0.3 * 1;
  near(look({ usage: 500, throttledMs: 500 })[0], 500 + s * (2000 - 500));
  // 30 quiet seconds: s × 0.9^30 = 0.0127 is less than a tenth of usage.
  near(feedFor(look, { looks: 2 * WRITE, pods: [{ usage: 400 }] })[0], 400 * 1.1);
  const idle = feedRival(mbcasSeed(), { pods: [{ ...POD, originalLimit: 1900 }] });
  feedFor(idle, { looks: WRITE, pods: [{ usage: 500, throttledMs: 500 }] });
  // The first write was a change, to 500 + 0.995 × 1500; the next may be at 45 s.
  const faded = (1 - 0.7 ** 15) * 0.9 ** 30;
  near(
    feedFor(idle, { looks: 2 * WRITE, pods: [{ usage: 100 }] })[0],
    100 + faded * (2000 - 100),
  );
});

pure("mbcasSeed() divides a short node by weight", () => {
  const pods = [
    { ...POD, originalLimit: 800, floor: 10, weight: 1 },
    { ...POD, originalLimit: 800, floor: 10, weight: 3 },
  ];
  const look = feedRival(mbcasSeed(), { pods, node: { capacity: 1000 } });
  // Both want 880 m.
  const limits = feedFor(look, { looks: WRITE, pods: [{ usage: 800 }, { usage: 800 }] });
  near(limits[0], 1000 * 1 / 4);
  near(limits[1], 1000 * 3 / 4);
});

pure("mbcasSeed() leaves a limit that is less than 10 m off", () => {
  const look = feedRival(mbcasSeed(), { pods: [POD] });
  // 446 × 1.1 = 490.6
  assert.deepEqual(feedFor(look, { looks: WRITE, pods: [{ usage: 446 }] }), [undefined]);
});

pure("mbcasSeed() takes a pod that was throttled without running as throttled", () => {
  const look = feedRival(mbcasSeed(), { pods: [POD] });
  // s = 1 − 0.7^15 = 0.995 of the ceiling, cut at 1.5 × 500.
  near(feedFor(look, { looks: WRITE, pods: [{ throttledMs: 100 }] })[0], 750);
});
