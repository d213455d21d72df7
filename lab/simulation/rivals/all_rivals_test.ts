import fc from "fast-check";
import assert from "node:assert/strict";
import { near } from "../../../tests/fixtures/near.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DecayingHistogram } from "../rightsizing/vpa_rule.ts";
import { allRivals } from "./all_rivals.ts";
import {
  createIntervals,
  type Rival,
  type RivalNode,
  type RivalPod,
  type RivalReading,
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
