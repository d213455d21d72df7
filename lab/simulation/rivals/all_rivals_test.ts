import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../../tests/fixtures/cases.ts";
import { feedFor, feedRival, firstReadings } from "../../../tests/fixtures/lab/fed_rival.ts";
import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { allRivals } from "./all_rivals.ts";
import { DecayingHistogram } from "../rightsizing/vpa_rule.ts";
import {
  createIntervals,
  perPod,
  type Rival,
  type RivalNode,
  type RivalPod,
  type RivalReading,
  type RivalRun,
} from "./rival.ts";
import { k8sCpu, k8sCpuFast } from "./static_limit.ts";

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
const anyShare = fc.oneof(
  fc.constantFrom(0, 1),
  fc.double({ min: 0, max: 1, noNaN: true }),
);
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

pure("perPod() gives each pod a rule of its own and asks it from the second look on", () => {
  const asked: string[] = [];
  const rival = perPod({
    algorithm: "spy",
    setting: "",
    lookMs: 100,
    createRule: ({ request }, { cpu }) => ({ atMs, usage }) => {
      asked.push(`${request} of ${cpu} at ${atMs}`);
      return request + usage;
    },
  });
  const look = feedRival(rival, { pods: [{ request: 1 }, { request: 2 }] });
  assert.deepEqual(asked, []);
  assert.deepEqual(look({ usage: 10 }, { usage: 20 }), [1 + 10, 2 + 20]);
  assert.deepEqual(asked, ["1 of 8000 at 100", "2 of 8000 at 100"]);
});

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

pure("createIntervals() reports what each pod, and all together, did since the last look", () => {
  const intervalsAt = createIntervals();
  intervalsAt(1000, [reading({ usageMs: 100, throttledMs: 5, throttledPeriods: 1 }), reading({})]);
  const intervals = intervalsAt(1500, [
    reading({ usageMs: 300, throttledMs: 45, throttledPeriods: 3, limit: 600 }),
    reading({ usageMs: 50 }),
  ]);
  // 200 ms and 50 ms of CPU in half a second: 400 m and 100 m.
  assert.deepEqual(intervals, [
    {
      atMs: 1500,
      elapsedMs: 500,
      usage: 400,
      nodeUsage: 500,
      usageMs: 200,
      throttledMs: 40,
      throttledPeriods: 2,
      limit: 600,
    },
    {
      atMs: 1500,
      elapsedMs: 500,
      usage: 100,
      nodeUsage: 500,
      usageMs: 50,
      throttledMs: 0,
      throttledPeriods: 0,
      limit: 500,
    },
  ]);
});

function followsHighestUsage(rival: Rival): void {
  const look = feedRival(rival);
  assert.deepEqual(look({ usage: 100 }), [100 / 0.5]);
  assert.deepEqual(look({ usage: 300 }), [300 / 0.5]);
  // The peak and 19 more decisions are the window of 20.
  assert.deepEqual(feedFor(look, { looks: 19, pods: [{ usage: 50 }] }), [300 / 0.5]);
  assert.deepEqual(look({ usage: 50 }), [50 / 0.5]);
}

pure("k8sCpu() sets the highest usage of 300 s over the target, every 15 s", () => {
  assert.equal(k8sCpu(0.5).lookMs, 15_000);
  followsHighestUsage(k8sCpu(0.5));
});

pure("k8sCpuFast() sets the highest usage of 20 s over the target, every second", () => {
  assert.equal(k8sCpuFast(0.5).lookMs, 1000);
  followsHighestUsage(k8sCpuFast(0.5));
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
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 64_000, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (value, share) => {
        const histogram = new DecayingHistogram("cpu");
        histogram.add({ value, weight: 1, atMs: 0 });
        const read = histogram.percentile(share);
        assert.ok(read >= value * (1 - 1e-9) && read <= value * 1.05 + 10.001, `${read}`);
      },
    ),
  );
});
