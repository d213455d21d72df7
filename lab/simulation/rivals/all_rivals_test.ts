import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../../tests/fixtures/cases.ts";
import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DecayingHistogram } from "../rightsizing/vpa_rule.ts";
import { allRivals } from "./all_rivals.ts";
import { hpa } from "./hpa.ts";
import { koordinator } from "./koordinator.ts";
import { mbcasSeed } from "./mbcas_seed.ts";
import {
  createIntervals,
  type Rival,
  type RivalNode,
  type RivalPod,
  type RivalReading,
  type RivalRun,
} from "./rival.ts";
import { vpa } from "./vpa.ts";

/** A pod's usage since the last look; nothing by default. */
interface FedInterval {
  /** Mean use, millicores. */
  readonly usage?: number;
  readonly throttledMs?: number;
  readonly throttledPeriods?: number;
}

/** Requests of the algorithm after one more look, with an interval per pod. */
type FedLook = (...intervals: readonly FedInterval[]) => readonly (number | undefined)[];

/** The scene, in the parts that a test does not care about: one pod on a node of eight CPUs. */
interface FedScene {
  readonly pods?: readonly Partial<RivalPod>[];
  readonly node?: Partial<RivalNode>;
}

const POD: RivalPod = {
  request: 1000,
  originalLimit: 1000,
  floor: 10,
  ceiling: 4000,
  weight: 1,
  p90Demand: 500,
};

/** Starts the algorithm and looks once, at 0. Every request is in force at once, uncut. */
function feedRival(rival: Rival, scene: FedScene = {}): FedLook {
  const pods = (scene.pods ?? [{}]).map((pod) => ({ ...POD, ...pod }));
  const run = rival.start(pods, { cpu: 8000, capacity: 7000, ...scene.node });
  let readings = firstReadings(pods);
  let atMs = 0;
  const look = () => {
    const requests = run.look(atMs, readings);
    readings = readings.map((reading, index) => ({
      ...reading,
      limit: requests[index] ?? reading.limit,
    }));
    return requests;
  };
  look();
  return (...intervals) => {
    atMs += rival.lookMs;
    readings = readings.map((reading, index) => {
      const { usage = 0, throttledMs = 0, throttledPeriods = 0 } = intervals[index] ?? {};
      return {
        ...reading,
        usageMs: reading.usageMs + usage / 1000 * rival.lookMs,
        throttledMs: reading.throttledMs + throttledMs,
        throttledPeriods: reading.throttledPeriods + throttledPeriods,
      };
    });
    return look();
  };
}

/** The last requests after the same intervals at each of several looks. */
function feedFor(
  look: FedLook,
  { looks, pods }: { readonly looks: number; readonly pods: readonly FedInterval[] },
): readonly (number | undefined)[] {
  let requests: readonly (number | undefined)[] = [];
  for (let done = 0; done < looks; done++) requests = look(...pods);
  return requests;
}

/** The readings of an algorithm's start: nothing was used under the pods' original limits. */
function firstReadings(pods: readonly RivalPod[]): RivalReading[] {
  return pods.map(({ originalLimit }) => ({
    usageMs: 0,
    throttledMs: 0,
    throttledPeriods: 0,
    limit: originalLimit,
  }));
}

pure("allRivals() has every setting of every algorithm, each under a name of its own", () => {
  const counts = new Map<string, number>();
  for (const { algorithm } of allRivals()) counts.set(algorithm, (counts.get(algorithm) ?? 0) + 1);
  assert.deepEqual([...counts], [
    ["static", 5],
    ["hpa", 4],
    ["k8s-cpu", 4],
    ["k8s-cpu-fast", 4],
    ["captain", 9],
    ["koordinator", 2],
    ["vpa", 4],
    ["mbcas-original", 1],
  ]);
  const names = allRivals().map(({ algorithm, setting }) => `${algorithm} ${setting}`);
  assert.equal(new Set(names).size, names.length);
  assert.ok(allRivals().every(({ setting }) => setting !== ""));
});

pure("allRivals() looks at multiples of 100 ms", () => {
  for (const { lookMs } of allRivals()) assert.ok(lookMs > 0 && lookMs % 100 === 0);
});

const POD_COUNT = 2;

const anyPod: fc.Arbitrary<RivalPod> = fc
  .record({
    request: fc.integer({ min: 0, max: 2000 }),
    more: fc.integer({ min: 10, max: 4000 }),
    weight: fc.integer({ min: 1, max: 5000 }),
    p90Demand: fc.integer({ min: 0, max: 8000 }),
  })
  .map(({ request, more, weight, p90Demand }) => ({
    request,
    originalLimit: request + more,
    floor: Math.max(10, request),
    ceiling: 4 * (request + more),
    weight,
    p90Demand,
  }));

/** A pod's usage between two looks, in shares of the possible. */
const anyShare = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const anyStep = fc.record({
  used: anyShare,
  throttledShare: anyShare,
  throttled: anyShare,
  moved: anyShare,
});
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;
const anySteps = fc.array(fc.tuple(anyStep, anyStep), { minLength: 1, maxLength: 60 });

const NODE: RivalNode = { cpu: 8000, capacity: 7000 };

type LimitRequests = readonly (number | undefined)[];

/** The limits of a run that reads these steps, cut by the bounds and in force at the next reading. */
function* play(
  run: RivalRun,
  { rival, pods, steps }: {
    rival: Rival;
    pods: readonly RivalPod[];
    steps: readonly (readonly Step[])[];
  },
): Generator<LimitRequests> {
  let readings = firstReadings(pods);
  let limits = run.look(0, readings);
  yield limits;
  for (const [index, step] of steps.entries()) {
    readings = readings.map((before, at) => {
      const { floor, ceiling } = pods[at] as RivalPod;
      const { used, throttledShare, throttled, moved } = step[at] as Step;
      const periods = Math.round(moved * rival.lookMs / 100);
      const wanted = limits[at] ?? before.limit;
      return {
        usageMs: before.usageMs + used * before.limit / 1000 * rival.lookMs,
        throttledMs: before.throttledMs + throttledShare * 8 * rival.lookMs,
        throttledPeriods: before.throttledPeriods + Math.round(throttled * periods),
        limit: Math.ceil(Math.max(floor, Math.min(wanted, ceiling)) / 10) * 10,
      };
    });
    limits = run.look((index + 1) * rival.lookMs, readings);
    yield limits;
  }
}

const scenes = fc.record({ pods: fc.tuple(anyPod, anyPod), steps: anySteps, others: anySteps });

for (const rival of allRivals()) {
  pure(
    `allRivals() sets finite limits by the readings alone: ${rival.algorithm} ${rival.setting}`,
    () =>
      fc.assert(
        fc.property(scenes, ({ pods, steps, others }) => {
          const alone = [...play(rival.start(pods, NODE), { rival, pods, steps })];
          const beside = play(rival.start(pods, NODE), { rival, pods, steps: others });
          const together = play(rival.start(pods, NODE), { rival, pods, steps }).map((limits) => {
            beside.next();
            return limits;
          });
          assert.deepEqual([...together], alone);
          for (const limits of alone) {
            assert.equal(limits.length, POD_COUNT);
            const set = limits.filter((limit) => limit !== undefined);
            assert.ok(set.every((limit) => Number.isFinite(limit) && limit >= 0), `${limits}`);
          }
        }),
        cases(0.4),
      ),
  );
}

function reading(fields: Partial<RivalReading>): RivalReading {
  return { usageMs: 0, throttledMs: 0, throttledPeriods: 0, limit: 500, ...fields };
}

pure("createIntervals() reports nothing at the first look or without time between two", () => {
  const intervalsAt = createIntervals();
  assert.equal(intervalsAt(0, [reading({ usageMs: 7 })]), undefined);
  assert.equal(intervalsAt(0, [reading({ usageMs: 9 })]), undefined);
  // The look without time is as if it had not been: 12 − 7.
  assert.equal(intervalsAt(100, [reading({ usageMs: 12 })])?.[0]?.usageMs, 5);
});

const DAY_MS = 86_400_000;

pure("DecayingHistogram weighs samples, and halves their weight in a day", () => {
  const histogram = new DecayingHistogram("cpu");
  histogram.add({ value: 100, weight: 3, atMs: 0 });
  histogram.add({ value: 5, weight: 2, atMs: DAY_MS });
  // 2 of 2 + 3 / 2 are 0.571.
  near(histogram.percentile(0.57), 10);
  assert.ok(histogram.percentile(0.58) > 100);
});

pure("DecayingHistogram is at most 5 % and one bucket of 10 m above the only value", () => {
  fc.assert(fc.property(
    fc.double({ min: 0, max: 64_000, noNaN: true }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (value, share) => {
      const histogram = new DecayingHistogram("cpu");
      histogram.add({ value, weight: 1, atMs: 0 });
      const read = histogram.percentile(share);
      assert.ok(read >= value * (1 - 1e-9) && read <= value * 1.05 + 10.001, `${read}`);
    },
  ));
});

const HALF = { request: 100, originalLimit: 200 };

/**
 * A real VPA 1.8.1 with defaults on a real node, two pods that want 1 core at a limit of 200 m: first
 * step after 307 s, limit ≥ demand after 726 s. Their requests are not recorded; half the limit is
 * assumed. Here it takes 300 and 540 s: there are no delays of metrics-server, API and kubelet.
 */
pure("vpa() outside bounds climbs by censored steps as slowly as a real one did", () => {
  const look = feedRival(vpa({ act: "bounds" }), { pods: [HALF, HALF] });
  let limit = HALF.originalLimit;
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

/** Looks of 5 s in 15 s; replicas of 250 m, four of them at the start, one to sixteen. */
const LOOKS = 3;

pure("hpa() at most doubles in 15 s", () => {
  const look = feedRival(hpa(0.5));
  // 4000 m are 32 replicas of 125 m each; the ceiling allows 16.
  feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] });
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] }), [8 * 250]);
  assert.deepEqual(feedFor(look, { looks: LOOKS, pods: [{ usage: 4000 }] }), [16 * 250]);
});

pure("hpa() keeps between the replicas of floor and ceiling", () => {
  const pods = [{ floor: 600, ceiling: 1100 }];
  const busy = feedRival(hpa(0.5), { pods });
  assert.deepEqual(feedFor(busy, { looks: LOOKS + 2, pods: [{ usage: 1000 }] }), [4 * 250]);
  const idle = feedRival(hpa(0.5), { pods });
  assert.deepEqual(feedFor(idle, { looks: 21 * LOOKS, pods: [{}] }), [3 * 250]);
});

pure("koordinator() lowers when the budget is spent, until some is saved", () => {
  // A second at three times the limit: 2, a quarter of which is there.
  const look = feedRival(koordinator(1), { pods: [{ originalLimit: 400 }] });
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

pure("mbcasSeed() divides a short node by weight", () => {
  const pods = [
    { originalLimit: 800, ceiling: 2000, weight: 1 },
    { originalLimit: 800, ceiling: 2000, weight: 3 },
  ];
  const look = feedRival(mbcasSeed(), { pods, node: { capacity: 1000 } });
  // Both want 880 m.
  const limits = feedFor(look, { looks: 15, pods: [{ usage: 800 }, { usage: 800 }] });
  near(limits[0], 1000 * 1 / 4);
  near(limits[1], 1000 * 3 / 4);
});
