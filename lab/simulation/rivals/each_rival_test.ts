import assert from "node:assert/strict";
import { type FedLook, feedFor, feedRival } from "../../../tests/fixtures/lab/fed_rival.ts";
import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { captain } from "./captain.ts";
import { hpa } from "./hpa.ts";
import { koordinator } from "./koordinator.ts";
import { mbcasSeed } from "./mbcas_seed.ts";
import { vpa } from "./vpa.ts";

/** Looks of 15 s in a minute. */
const MINUTE = 4;
const POD = { request: 100, originalLimit: 200 };
/** 150 m lies in the twelfth bucket, which ends at 10 + 10 × 1.05 + … = 159.17 m. */
const BUCKET_OF_150 = 10 * (1.05 ** 12 - 1) / 0.05;
const TARGET = Math.ceil(BUCKET_OF_150 * 1.15);

pure("vpa() sets the target and keeps the limit's ratio to the request", () => {
  const look = feedRival(vpa(), { pods: [POD] });
  assert.deepEqual(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] }), [undefined]);
  // Recommended at 60 s, acted on at 120 s: 183 m are more than 10 % from 100 m.
  near(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] })[0], TARGET * 200 / 100);
  // And then it is what is set.
  assert.deepEqual(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] }), [undefined]);
});

pure("vpa() leaves what is within 10 % of the target", () => {
  const look = feedRival(vpa({ limit: "target" }), { pods: [POD] });
  // 200 − 184 = 16 < 20
  assert.ok(Math.abs(200 - TARGET) < 20);
  for (let round = 0; round < 10; round++) {
    assert.deepEqual(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] }), [undefined]);
  }
});

pure("vpa() follows a peak once more than a tenth of the weight has seen it", () => {
  const look = feedRival(vpa({ limit: "target" }), { pods: [POD] });
  feedFor(look, { looks: 10 * MINUTE, pods: [{ usage: 150 }] });
  // Ten of eleven are more than 0.9; ten of twelve are less, and that is acted on a minute later.
  feedFor(look, { looks: MINUTE, pods: [{ usage: 1000 }] });
  assert.deepEqual(feedFor(look, { looks: MINUTE, pods: [{ usage: 1000 }] }), [undefined]);
  const [limit] = feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] });
  assert.ok(limit !== undefined && limit >= 1000 * 1.15 && limit <= 1060 * 1.15, `${limit}`);
});

pure("vpa() weighs samples by the request in force", () => {
  const look = feedRival(vpa({ limit: "target" }), { pods: [{ originalLimit: 200 }] });
  // One sample of 1 core at a request of 200 m, so from 120 s on the request is above 1 core.
  feedFor(look, { looks: MINUTE, pods: [{ usage: 1000 }] });
  const [high] = feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] });
  assert.ok(high !== undefined && high > 1000);
  // Weights: 0.2 at 1 core, 0.2 at 150 m, then some 1.17 a minute: 0.2 of 0.4 + 1.17 is more than a
  // tenth, 0.2 of 0.4 + 2 × 1.17 less. With equal weights it would take ten samples.
  assert.deepEqual(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] }), [undefined]);
  assert.deepEqual(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] }), [undefined]);
  near(feedFor(look, { looks: MINUTE, pods: [{ usage: 150 }] })[0], TARGET);
});

pure("vpa() never recommends less than 25 m", () => {
  const look = feedRival(vpa({ limit: "target" }), { pods: [POD] });
  near(feedFor(look, { looks: 2 * MINUTE, pods: [{ usage: 1 }] })[0], 25);
});

pure("vpa() outside bounds waits for history before it raises, and hardly ever lowers", () => {
  const up = feedRival(vpa({ act: "bounds" }), { pods: [POD] });
  // 183 × (1 + 0.001 / n)^−2 > 100 needs n > 0.0028 days, 4.1 minutes: the sample at 6 min, for the
  // first was at 1 min. The updater acts a minute later.
  assert.deepEqual(feedFor(up, { looks: 6 * MINUTE, pods: [{ usage: 150 }] }), [undefined]);
  near(feedFor(up, { looks: MINUTE, pods: [{ usage: 150 }] })[0], TARGET * 2);

  const down = feedRival(vpa({ act: "bounds" }), { pods: [{ request: 1000 }] });
  // (1 + 1 / n) × 183 < 1000 needs n > 0.224 days, 5.4 h.
  for (let minute = 1; minute <= 120; minute++) {
    assert.deepEqual(feedFor(down, { looks: MINUTE, pods: [{ usage: 150 }] }), [undefined]);
  }
});

/**
 * A real VPA 1.8.1 with defaults on a real node, two pods that want 1 core at a limit of 200 m: first
 * step after 307 s, limit ≥ demand after 726 s. Their requests are not recorded; half the limit is
 * assumed. Here it takes 300 and 540 s: there are no delays of metrics-server, API and kubelet.
 */
pure("vpa() outside bounds climbs by censored steps as slowly as a real one did", () => {
  const look = feedRival(vpa({ act: "bounds" }), { pods: [POD, POD] });
  let limit = POD.originalLimit;
  const steps: { readonly atS: number; readonly limit: number }[] = [];
  for (let atS = 15; atS <= 900; atS += 15) {
    const usage = Math.min(1000, limit);
    const [first, second] = look({ usage }, { usage });
    assert.equal(first, second);
    if (first === undefined) continue;
    limit = first;
    steps.push({ atS, limit });
  }
  const firstS = steps[0]?.atS ?? Infinity;
  assert.ok(firstS >= 240 && firstS <= 360, `first step after ${firstS} s`);
  const enoughS = steps.find((step) => step.limit >= 1000)?.atS ?? Infinity;
  assert.ok(enoughS >= 480 && enoughS <= 780, `enough after ${enoughS} s`);
  // More than one step: a quota of 200 m hides that 1 core is wanted.
  assert.ok(steps.length > 1 && (steps[0]?.limit ?? Infinity) < 1000);
});

/** Looks of 5 s; replicas of 250 m, four of them at the start, one to sixteen. */
const LOOKS = 3;

pure("hpa() asks for replicas by utilisation and target, and has them 10 s later", () => {
  const look = feedRival(hpa(0.5));
  const busy = { usage: 1000 };
  // 4 × (1000 / 1000) / 0.5 = 8 replicas at 15 s, which serve from 25 s on.
  const limits = [5, 10, 15, 20, 25].map(() => look(busy)[0]);
  assert.deepEqual(limits, [1000, 1000, 1000, 1000, 8 * 250]);
});

pure("hpa() at most doubles in 15 s", () => {
  const look = feedRival(hpa(0.5));
  // 4000 m are 32 replicas of 125 m each; the ceiling allows 16.
  feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] });
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] }), [8 * 250]);
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] }), [16 * 250]);
});

pure("hpa() scales down to the highest number desired in 300 s, at once", () => {
  const look = feedRival(hpa(0.5));
  // The four at 0 s count until 300 s: 20 decisions.
  assert.deepEqual(feedFor(look, { looks: 20 * LOOKS, pods: [{ usage: 200 }] }), [1000]);
  // ⌈200 / 125⌉ = 2
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 200 }] }), [2 * 250]);
});

pure("hpa() keeps between the replicas of floor and ceiling", () => {
  const pods = [{ floor: 600, ceiling: 1100 }];
  const busy = feedRival(hpa(0.5), { pods });
  assert.deepEqual(feedFor(busy, { looks: LOOKS + 2, pods: [{ usage: 1000 }] }), [4 * 250]);
  const idle = feedRival(hpa(0.5), { pods });
  assert.deepEqual(feedFor(idle, { looks: 21 * LOOKS, pods: [{}] }), [3 * 250]);
});

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

const LIMITED = { originalLimit: 400 };
const THROTTLED = { usage: 400, throttledPeriods: 1 };

pure("koordinator() raises by a fifth each second of throttling, up to 3 original limits", () => {
  const look = feedRival(koordinator(), { pods: [LIMITED] });
  near(look(THROTTLED)[0], 400 * 1.2);
  near(look(THROTTLED)[0], 400 * 1.2 * 1.2);
  // 1.2^6 = 2.99, 1.2^7 = 3.58
  near(feedFor(look, { looks: 5, pods: [THROTTLED] })[0], 3 * 400);
});

pure("koordinator() lowers by a fifth down to the original limit while the node is busy", () => {
  const look = feedRival(koordinator(), { pods: [LIMITED, {}] });
  feedFor(look, { looks: 3, pods: [THROTTLED] });
  // Mean of the looks so far: (3 × 400 + 15600) / 4 = 4200 of 8000 m, above a half.
  near(look({ ...THROTTLED, usage: 400 }, { usage: 15_200 })[0], 400 * 1.2 ** 3 * 0.8);
  assert.equal(look(THROTTLED, { usage: 15_200 })[0], 400 * 1.2 ** 3 * 0.8 * 0.8);
  assert.equal(look(THROTTLED, { usage: 15_200 })[0], 400);
});

pure("koordinator() raises nothing on a node that is nearly busy", () => {
  // (400 + 3300) / 8000 = 0.4625, between 0.45 and 0.5.
  const warm = feedRival(koordinator(), { pods: [LIMITED, {}] });
  assert.deepEqual(warm(THROTTLED, { usage: 3300 }), [400, 1000]);
  const cool = feedRival(koordinator(), { pods: [LIMITED, {}] });
  assert.deepEqual(cool(THROTTLED, { usage: 3100 }), [400 * 1.2, 1000]);
});

pure("koordinator() lowers when the budget is spent, until some is saved", () => {
  // A second at three times the limit: 2, a quarter of which is there.
  const look = feedRival(koordinator(1), { pods: [LIMITED] });
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

/** Looks of 1 s between two writes. */
const WRITE = 15;
const BOUNDED = { originalLimit: 500, floor: 100, ceiling: 2000 };

pure("mbcasSeed() gives a tenth above usage while nothing is throttled, every 15 s", () => {
  const look = feedRival(mbcasSeed(), { pods: [BOUNDED] });
  assert.deepEqual(feedFor(look, { looks: WRITE - 1, pods: [{ usage: 300 }] }), [undefined]);
  near(look({ usage: 300 })[0], 300 * 1.1);
});

pure("mbcasSeed() changes a pod once in 30 s at most", () => {
  const look = feedRival(mbcasSeed(), { pods: [BOUNDED] });
  near(feedFor(look, { looks: WRITE, pods: [{ usage: 300 }] })[0], 330);
  assert.deepEqual(feedFor(look, { looks: WRITE, pods: [{ usage: 200 }] }), [undefined]);
  near(feedFor(look, { looks: WRITE, pods: [{ usage: 200 }] })[0], 220);
});

pure("mbcasSeed() raises a throttled pod by half at most, towards the ceiling", () => {
  const look = feedRival(mbcasSeed(), { pods: [BOUNDED] });
  // 50 ms of 500 ms are the threshold of 0.1: s = 1, smoothed 1 − 0.7^15 = 0.995.
  const throttled = { usage: 500, throttledMs: 50 };
  near(feedFor(look, { looks: WRITE, pods: [throttled] })[0], 1.5 * 500);
});

pure("mbcasSeed() takes throttling in quickly and forgets it slowly", () => {
  const look = feedRival(mbcasSeed(), { pods: [{ ...BOUNDED, originalLimit: 1900 }] });
  feedFor(look, { looks: WRITE - 1, pods: [{ usage: 500 }] });
  // s = 0.3 after the first throttled second; usage 500 m, ceiling 2000 m.
  const s = 0.3 * 1;
  near(look({ usage: 500, throttledMs: 500 })[0], 500 + s * (2000 - 500));
  // 30 quiet seconds: s × 0.9^30 = 0.0127 is less than a tenth of usage.
  near(feedFor(look, { looks: 2 * WRITE, pods: [{ usage: 400 }] })[0], 400 * 1.1);
  const idle = feedRival(mbcasSeed(), { pods: [{ ...BOUNDED, originalLimit: 1900 }] });
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
    { ...BOUNDED, originalLimit: 800, floor: 10, weight: 1 },
    { ...BOUNDED, originalLimit: 800, floor: 10, weight: 3 },
  ];
  const look = feedRival(mbcasSeed(), { pods, node: { capacity: 1000 } });
  // Both want 880 m.
  const limits = feedFor(look, { looks: WRITE, pods: [{ usage: 800 }, { usage: 800 }] });
  near(limits[0], 1000 * 1 / 4);
  near(limits[1], 1000 * 3 / 4);
});
