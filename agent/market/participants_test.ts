import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import { type LogFields, silentLog } from "../../shared/log.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleReading,
} from "../../tests/fixtures/market/sample_participants.ts";
import { createParticipantIndex, type Participants, participantsOf } from "./participants.ts";
import {
  addSample,
  type ContainerState,
  isQuotaOff,
  lacksQuota,
  limitWithoutQuota,
  newContainerState,
  PEAK_FADE_MS,
  QUOTA_OFF_MS,
} from "./container_state.ts";

const MARKET = {
  ...{ mode: "congested", demand: 1, need: 1, reason: "Throttled", observedBounds: 1 } as const,
  credit: 1.5,
};
const HUGE = "99999999999999k";

function pods({ list }: Participants): string[] {
  return list.map(({ allocation }) => allocation.spec.podName);
}

/** The allocation of a pod with these bounds. */
function boundedBy(pod: string, ...containers: readonly ContainerBounds[]): PodAllocation {
  const bounds = { revision: 1, reason: "", containers: [...containers] };
  return boundedAllocation(pod, { status: { bounds } });
}

/** An index, and what it warns of. */
function warning() {
  const lines: LogFields[] = [];
  const warn = (_message: string, fields: LogFields = {}) => void lines.push(fields);
  return { lines, index: createParticipantIndex({ ...silentLog, warn }) };
}

pure("participantsOf() takes id, bounds, original limit, and what was written last", () => {
  const containers = [{ name: "app", cpuLimit: "1" }];
  const allocation = boundedAllocation("a1", { spec: { containers, market: MARKET } });
  assert.deepEqual(participantsOf(allocation), [{
    ...{ allocation, key: "shop/a1", containerID: "6131", bounds: sampleBounds("a1") },
    ...{ originalLimit: 500, desired: 1000, credit: 1.5 },
  }]);
  const { status: _status, ...bare } = allocation;
  for (const unbounded of [bare, { ...bare, status: {} }]) {
    assert.deepEqual(participantsOf(unbounded), []);
  }
});

pure("participantsOf() counts no limit beyond any node, and bounds the credit", () => {
  for (const [written, credit] of [[0, 0.5], [1e9, 2]] as const) {
    const { status } = boundedAllocation("web");
    const [found] = participantsOf(boundedAllocation("web", {
      spec: {
        containers: [{ name: "app", cpuLimit: HUGE }],
        market: { ...MARKET, credit: written },
      },
      status: { ...status, originalLimits: [{ name: "app", cpu: HUGE }] },
    }));
    assert.deepEqual(
      [found?.desired, found?.originalLimit, found?.credit],
      [undefined, 100, credit],
    );
  }
});

pure(
  "createParticipantIndex() follows allocations that come, go and change, in order of their keys",
  () => {
    const index = createParticipantIndex(silentLog);
    const [a, b, c] = ["a", "b", "c"].map((pod) => boundedAllocation(pod));
    assert.ok(a !== undefined && b !== undefined && c !== undefined);
    const newB = { ...b };
    const states = [[b, a], [c, a, b], [a, newB, c], [a, newB, c], [newB, c], [newB], []];
    const found = states.map((state) => index(state.values()));
    for (const [index, { list }] of found.entries()) {
      const sorted = states[index]?.toSorted((x, y) => x.metadata.name < y.metadata.name ? -1 : 1);
      assert.deepEqual(list.map(({ allocation }) => allocation), sorted);
    }
    assert.equal(found[2], found[3], "nothing changed");
  },
);

/** Bounds that can't be bid with, and why. */
const BAD: readonly (readonly [Partial<ContainerBounds>, RegExp])[] = [
  [{ weight: 1e10 }, /app: weight is 10000000000/],
  [{ floor: 300, ceiling: 200 }, /app: floor 300 is above/],
  [{ ceiling: 1e10 }, /app: ceiling is 10000000000/],
];

pure(
  "createParticipantIndex() leaves out a pod with a bad bid, warns of it once, and keeps the others",
  () => {
    for (const [change, reason] of BAD) {
      const { lines, index } = warning();
      const side = sampleBounds("other", { name: "side" });
      const allocation = boundedBy("bad", side, sampleBounds("bad", change));
      for (let round = 0; round < 3; round++) {
        const found = index([allocation, boundedAllocation("good")]);
        assert.deepEqual([pods(found), [...found.uids]], [["good"], ["uid-bad", "uid-good"]]);
      }
      assert.deepEqual(lines.map(({ key }) => key), ["shop/bad"]);
      assert.match(String(lines[0]?.reason), reason);
    }
  },
);

pure("createParticipantIndex() gives a container to one allocation, however many name it", () => {
  const { lines, index } = warning();
  const thief = boundedBy("b", sampleBounds("a"));
  const double = boundedBy("c", sampleBounds("c"), sampleBounds("c"));
  const all = [double, thief, boundedAllocation("a")];
  for (const state of [all, [...all]]) assert.deepEqual(pods(index(state)), ["a"]);
  assert.deepEqual(lines.map(({ key }) => key).sort(), ["shop/b", "shop/c"]);
});

type Sample = { readonly at: number; readonly quota?: number };

/** Samples, whether the limit must stay, and whether no quota is expected any more. */
const QUOTAS: readonly (readonly [readonly Sample[], boolean, boolean])[] = [
  [[], false, false],
  [[{ at: 1000, quota: 500 }, { at: 2000 }], true, false],
  [[{ at: 2000 }, { at: 2000 + QUOTA_OFF_MS - 1 }], true, false],
  [[{ at: 2000 }, { at: 2000 + QUOTA_OFF_MS }], true, true],
  [[{ at: 0 }, { at: QUOTA_OFF_MS - 1, quota: 500 }, { at: QUOTA_OFF_MS }], true, false],
  [[{ at: 0 }, { at: 250, quota: 500 }], false, false],
];

pure("isQuotaOff() counts from the first of the latest samples without a quota", () => {
  for (const [samples, lacks, isOff] of QUOTAS) {
    const rule = () => ({ mean: 0, burstinessMs: 0, trial: 0, saturatedMs: 0 });
    const start = { limit: 500, now: 0, rule, credit: 1, reason: "QuotaOff" };
    const state = newContainerState(start);
    for (const sample of samples) {
      const { quota: _usual, ...reading } = sampleReading("a", sample);
      addSample(state, { sample: { ...reading, ...sample }, scarcity: 0, waitMs: 100 });
    }
    assert.deepEqual([lacksQuota(state), isQuotaOff(state)], [lacks, isOff]);
    assert.equal(state.quotaOffReported, true);
  }
});

type Bounds = Parameters<typeof limitWithoutQuota>[0];

/** Limits on the way from `present` to an original limit, each step due. */
function way(bounds: Partial<Bounds>, present: number, originalLimit = 500): number[] {
  const limits: number[] = [];
  for (let limit = present; limits.length < 20; limits.push(limit)) {
    const options = { present: limit, originalLimit, isStepDue: true };
    const next = limitWithoutQuota({ floor: 100, ceiling: 2000, ...bounds }, options);
    if (next === limit) break;
    limit = next;
  }
  return limits;
}

const WAYS: readonly (readonly [Partial<Bounds>, number, readonly number[]])[] = [
  [{}, 800, [500]],
  [{ held: "half" }, 800, [650, 580, 540, 520, 500]],
  [{ held: "lower" }, 800, []],
  [{ held: "both" }, 800, []],
  [{}, 300, [500]],
  [{ held: "half" }, 300, [500]],
  [{ held: "lower" }, 300, [500]],
  [{ held: "both" }, 300, []],
  [{ floor: 600 }, 800, [600]],
  [{ ceiling: 400 }, 800, [400]],
];

pure("limitWithoutQuota() goes to the original limit, as bounds and holds let it", () => {
  for (const [bounds, present, limits] of WAYS) {
    assert.deepEqual(way(bounds, present), limits, JSON.stringify([bounds, present]));
  }
  const notDue = { present: 800, originalLimit: 500, isStepDue: false };
  const bounds = { floor: 100, ceiling: 2000 };
  assert.equal(limitWithoutQuota({ ...bounds, held: "half" }, notDue), 800);
  assert.equal(limitWithoutQuota(bounds, notDue), 500);
  // An original limit off the grid is reached by half steps too.
  for (let present = 500; present <= 1000; present++) {
    for (const originalLimit of [495, 500, 503, 510]) {
      const limits = way({ held: "half" }, present, originalLimit);
      assert.equal(limits.at(-1) ?? present, originalLimit, `${present} to ${originalLimit}`);
      assert.ok(limits.length < 10);
    }
  }
});

/** A state that is fed with samples; `shares` are the throttled shares that its rule was given. */
function fed() {
  const shares: number[] = [];
  const state: ContainerState = newContainerState({
    ...{ limit: 500, now: 0, credit: 1 },
    rule({ usage, periods, throttledPeriods }) {
      shares.push(throttledPeriods / periods);
      return { mean: usage, burstinessMs: 0, trial: usage * 2, saturatedMs: 0 };
    },
  });
  const add = (sample?: Parameters<typeof sampleReading>[1]): ContainerState => {
    const reading = sample && sampleReading("a", sample);
    addSample(state, { sample: reading, scarcity: 0, waitMs: 75 });
    return state;
  };
  return { add, shares };
}

pure("addSample() feeds each sample once, and nothing where there is none", () => {
  const { add, shares } = fed();
  assert.equal(add().demand, undefined);
  const sample = { at: 250, periods: 4, throttledPeriods: 1, throttledMsPerS: 80 };
  add(sample);
  const { demand, throttledMs } = add(sample);
  // 80 ms/s for a quarter of a second.
  assert.deepEqual([demand, shares, throttledMs], [600, [0.25], 20]);
});

pure("addSample() lets a peak fade, and takes a higher one at once", () => {
  const { add } = fed();
  add({ at: 1, usage: 1000 });
  const { peak } = add({ at: 2, usage: 0, intervalMs: PEAK_FADE_MS * Math.LN2 });
  assert.ok(Math.abs(peak - 500) < 1e-9);
  assert.equal(add({ at: 3, usage: 800 }).peak, 800);
});

pure("addSample() counts the warm-up from the first reading, however late that comes", () => {
  const { add } = fed();
  for (const at of [60_250, 60_500]) assert.equal(add({ at }).pace.since, 60_000);
});
