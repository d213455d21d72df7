import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { firstReadings } from "../../../tests/fixtures/lab/fed_rival.ts";
import { allRivals, rivalAlgorithms, rivalsNamed } from "./all_rivals.ts";
import type { Rival, RivalNode, RivalPod, RivalRun } from "./rival.ts";
import { cases } from "../../../tests/fixtures/cases.ts";

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
    ["mbcas", 1],
  ]);
  const names = allRivals().map(({ algorithm, setting }) => `${algorithm} ${setting}`);
  assert.equal(new Set(names).size, names.length);
  assert.ok(allRivals().every(({ setting }) => setting !== ""));
});

pure("allRivals() looks at multiples of 100 ms", () => {
  for (const { lookMs } of allRivals()) assert.ok(lookMs > 0 && lookMs % 100 === 0);
});

pure("rivalsNamed() has all settings of the algorithms, in the order of the sweep", () => {
  const algorithms = rivalsNamed(["mbcas", "koordinator", "mbcas"]).map(({ algorithm }) =>
    algorithm
  );
  assert.deepEqual(algorithms, ["koordinator", "koordinator", "mbcas"]);
  assert.deepEqual(rivalsNamed([]), []);
  assert.equal(rivalsNamed(rivalAlgorithms()).length, allRivals().length);
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

/** What a pod did from one look to the next, in shares of what it could have done. */
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
        periods: before.periods + periods,
        throttledPeriods: before.throttledPeriods + Math.round(throttled * periods),
        limit: Math.ceil(Math.max(floor, Math.min(wanted, ceiling)) / 10) * 10,
      };
    });
    limits = run.look((index + 1) * rival.lookMs, readings);
    yield limits;
  }
}

const scenes = fc.record({
  pods: fc.tuple(anyPod, anyPod),
  steps: anySteps,
  others: anySteps,
});

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
