import assert from "node:assert/strict";
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { MarketReason } from "../../shared/api/reasons/market_reasons.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import { type DemandRule, queueingNeed, WAIT_TARGET_MS } from "../../shared/demand/demand_rule.ts";
import { GRID } from "../../shared/quantity.ts";
import { onlyContainer, playedAgent } from "../../tests/fixtures/market/algorithm_plant.ts";
import {
  boundedAllocation,
  SAMPLE_PACE,
  sampleBounds,
  sampleID,
  sampleReading,
} from "../../tests/fixtures/market/sample_participants.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { LOOP_DEFAULTS } from "../loop.ts";
import { desiredWrites } from "../reporting/desired.ts";
import { QUOTA_OFF_MS } from "./container_state.ts";
import type { ContainerResult, RoundResult } from "./round.ts";

/** Differences between a pod and one with an original limit of 500 m. */
interface PodChange extends Partial<ContainerBounds> {
  readonly written?: string;
  readonly reason?: MarketReason;
}

function pod({ written, reason, ...bounds }: PodChange = {}, name = "a"): PodAllocation {
  const market = { mode: "uncongested", demand: 480, need: 480, credit: 1, observedBounds: 1 };
  return boundedAllocation(name, {
    spec: {
      ...(written === undefined ? {} : { containers: [{ name: "app", cpuLimit: written }] }),
      ...(reason === undefined ? {} : { market: { ...market, reason } as typeof market }),
    } as Partial<PodAllocation["spec"]>,
    status: {
      bounds: { revision: 1, reason: "", containers: [sampleBounds(name, bounds)] },
      originalLimits: [{ name: "app", cpu: "500m" }],
    },
  });
}

type Reading = Partial<Omit<ContainerSample, "at" | "quota">> & {
  /** @default 500; null: it has none */
  readonly quota?: number | null;
};

function readingOf(name: string, at: number, { quota = 500, ...fields }: Reading): ContainerSample {
  const { quota: _usual, ...sample } = sampleReading(name, { at, ...fields });
  return quota === null ? sample : { ...sample, quota };
}

/** An agent of one pod; `play` plays so many rounds, of which each result is returned. */
function agentOf(options: Parameters<typeof playedAgent>[0] = {}) {
  const { play, states } = playedAgent(options);
  return {
    states,
    play(allocation: PodAllocation, reading: Reading | undefined, rounds = 1): ContainerResult[] {
      return Array.from({ length: rounds }, () =>
        onlyContainer(play(
          [allocation],
          (at) => reading === undefined ? [] : [readingOf("a", at, reading)],
        )));
    },
  };
}

/** The last result of so many rounds of a new agent. */
function last(change: PodChange, reading?: Reading, rounds = 1): ContainerResult {
  return agentOf().play(pod(change), reading, rounds).at(-1) as ContainerResult;
}

pure(
  "clearAndPace() begins with the written limit, else the quota, else the original limit",
  () => {
    assert.equal(last({ written: "800m" }, { quota: 700 }).limit, 800);
    assert.equal(last({}, { quota: 700 }).limit, 700);
    const { limit, share, changedFor, state } = last({ demand: 1200 });
    // Without readings nothing changes, whatever a metric asks for.
    assert.deepEqual([limit, share, changedFor, state.demand], [500, 500, undefined, undefined]);
  },
);

/** A pod, its readings in 20 rounds, and the limit and reason after them. */
const RAISES: readonly (readonly [PodChange, Reading, number, MarketReason | undefined])[] = [
  // By a margin of 5 % beyond what is needed.
  [{}, { usage: 1200, throttledMsPerS: 300 }, 1260, "Throttled"],
  [{}, { usage: 1200 }, 1260, "DemandRose"],
  [{}, { usage: 50 }, 500, undefined],
  // A metric raises before work comes, up to the ceiling; the larger of it and the readings counts.
  [{ demand: 1200 }, { usage: 50 }, 1260, "MetricRose"],
  [{ demand: 3000 }, { usage: 50 }, 2000, "MetricRose"],
  [{ demand: 40 }, { usage: 1200 }, 1260, "DemandRose"],
  [{ demand: 1200 }, { usage: 50, throttledMsPerS: 300 }, 1260, "Throttled"],
  // One that starts gets all that is to spare.
  [{ boost: true, ceiling: 3000 }, { usage: 50 }, 3000, "StartupBoost"],
];

pure("clearAndPace() raises a container for what it needs", () => {
  for (const [change, reading, limit, reason] of RAISES) {
    const result = last(change, reading, 20);
    const what = JSON.stringify([change, reading]);
    assert.deepEqual([result.limit, result.state.reason], [limit, reason], what);
  }
  // A held one that starts asks for no more than it needs.
  assert.equal(last({ boost: true, held: "both" }, { usage: 50 }, 20).need, 50);
  // So does one with a limit that is held above its ceiling.
  const above = { boost: true, held: "lower", written: "800m", ceiling: 300 } as const;
  assert.equal(last(above, { usage: 50, quota: 800 }, 20).need, 50);
});

pure("clearAndPace() moves a Guaranteed container with its need, down to its floor", () => {
  const { play } = agentOf({ capacity: 10_000 });
  const guaranteed = pod({ floor: 500, weight: 500, requestMoves: true });
  let limit = 500;
  const after = (rounds: number, usage: number): number => {
    for (let i = 0; i < rounds; i++) {
      limit = play(guaranteed, { usage, quota: limit })[0]?.limit ?? NaN;
    }
    return limit;
  };
  const [idle, busy, later] = [after(240, 300), after(120, 1200), after(360, 300)];
  assert.deepEqual([idle, later], [500, 500]);
  assert.ok(busy >= 1200 && busy < 1300, `${busy}`);
});

pure("clearAndPace() lowers a container after the wait for a metric that is gone", () => {
  const { play } = agentOf();
  play(pod({ demand: 1200 }), { usage: 50 }, 60);
  const waitRounds = SAMPLE_PACE.lowerWaitMs / 250;
  assert.equal(play(pod(), { usage: 50 }, waitRounds).at(-1)?.limit, 1260);
  const limit = play(pod(), { usage: 50 }, 4).at(-1)?.limit ?? NaN;
  assert.ok(limit < 600, `${limit}`);
});

pure("clearAndPace() starts a restarted container's state anew, at the limit of before", () => {
  const { states, play } = agentOf();
  play(pod(), { usage: 1200 });
  const restarted = pod({ containerID: `containerd://${sampleID("new")}`, written: "1200m" });
  const [result] = play(restarted, undefined);
  assert.deepEqual([result?.limit, result?.changedFor], [1200, undefined]);
  assert.deepEqual([...states.keys()], [result?.participant.containerID]);
  assert.equal(result?.state.demand, undefined);
});

pure("clearAndPace() earns credit for what is left, once for each sample, however late", () => {
  const { play } = playedAgent();
  const creditFor = (at: (now: number) => number): number =>
    onlyContainer(play([pod()], (now) => [readingOf("a", at(now), { usage: 0 })])).state.credit;
  const credit = creditFor((now) => now);
  assert.ok(credit > 1);
  assert.equal(creditFor(() => 250), credit);
  const creditAfter = (lagMs: number): number => {
    const { play } = playedAgent();
    const idle = (at: number) => [readingOf("a", at - lagMs, { usage: 0 })];
    const credits = Array.from(
      { length: 100 },
      () => onlyContainer(play([pod()], idle)).state.credit,
    );
    return credits.at(-1) ?? NaN;
  };
  assert.ok(creditAfter(0) > 1.01);
  assert.equal(creditAfter(100), creditAfter(0));
});

function assertNear(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual}, expected ${expected}`);
}

pure("clearAndPace() reports which share of capacity was free of any commitment", () => {
  // 97 % may be granted and 500 m are held.
  const ample = playedAgent({ capacity: 10_000 }).play([pod()], () => []);
  assertNear(ample.freeFraction, 0.92);
  assertNear(ample.committed, 500);
  const full = playedAgent({ capacity: 400 }).play([pod()], () => []);
  assertNear(full.freeFraction, 0.97 - 500 / 400);
  const empty = playedAgent().play([], () => []);
  assert.deepEqual([empty.mode, empty.price, empty.containers], ["uncongested", 0, []]);
  assert.deepEqual([empty.freeFraction, empty.waitMs], [0.97, WAIT_TARGET_MS]);
});

pure("estimate() passes on how scarce CPU is: not at all while a tenth is free", () => {
  const scarcities = [10_000, 560].flatMap((capacity) => {
    const seen: number[] = [];
    const rule: DemandRule = ({ scarcity }) => {
      seen.push(scarcity);
      return { mean: 0, burstinessMs: 0, trial: 500, saturatedMs: 0 };
    };
    agentOf({ capacity, rule }).play(pod(), {}, 2);
    return seen;
  });
  const [first, ample, , tight = 0] = scarcities;
  assert.deepEqual([first, ample], [1, 0], "before the first round nothing is known to be free");
  // The grants may reach 543.2 of 560 m, and 500 are held: 0.0771 of capacity.
  assertNear(tight, 1 - 43.2 / 56);
});

/** Uneven work, and what it needs where it may wait twice as long as it should. */
const rule: DemandRule = ({ usage }) => ({
  ...{ mean: usage, burstinessMs: 50, trial: 0, saturatedMs: 0 },
});
const NEED_AT_TWICE = queueingNeed({ mean: 300, burstinessMs: 50 }, 2 * WAIT_TARGET_MS);

pure("clearAndPace() lets work wait longer where needs take more than their part", () => {
  const playWith = (capacity: number | undefined, ...pods: PodAllocation[]): RoundResult =>
    playedAgent({ rule, ...(capacity === undefined ? {} : { capacity }) })
      .play(pods, (at) => [readingOf("a", at, { usage: 300 })]);
  const { needUpTo } = LOOP_DEFAULTS;
  const ample = playWith(undefined, pod());
  assert.equal(ample.waitMs, WAIT_TARGET_MS);
  assert.ok(onlyContainer(ample).need > NEED_AT_TWICE);
  const short = playWith(NEED_AT_TWICE / needUpTo, pod());
  // The holdings of a container without readings are taken off the room for needs.
  const beside = playWith((NEED_AT_TWICE + 500) / needUpTo, pod(), pod({}, "b"));
  for (const { waitMs } of [short, beside]) {
    // The bisection is exact within a hundredth.
    assert.ok(waitMs >= 2 * WAIT_TARGET_MS && waitMs <= 2.02 * WAIT_TARGET_MS, `${waitMs} ms`);
  }
  const { need } = onlyContainer(short);
  assert.ok(need <= Math.ceil(NEED_AT_TWICE / GRID) * GRID && need > NEED_AT_TWICE * 0.99);
});

/** Limits and reasons published for a busy container in so many seconds, each with its time, ms. */
function published(
  { play }: ReturnType<typeof agentOf>,
  [allocation, seconds, quota]: readonly [PodAllocation, number, number | null],
  usage = 1200,
): readonly string[] {
  return play(allocation, { usage, quota }, 4 * seconds).flatMap((one, round) => {
    const { notice, changedFor, limit } = one;
    if (changedFor !== undefined) return `${250 * round} to ${limit} for ${changedFor}`;
    return notice === undefined ? [] : `${250 * round} ${notice}`;
  });
}

/** A container that never has a quota: what it had written, and what is published in 600 s. */
const WITHOUT_QUOTA: readonly (readonly [PodChange, readonly string[]])[] = [
  [{}, ["40000 QuotaOff"]],
  [{ written: "800m" }, ["40000 to 500 for QuotaOff"]],
  [{ written: "800m", held: "lower" }, ["40000 QuotaOff"]],
  [{ written: "800m", held: "both" }, ["40000 QuotaOff"]],
  // Upwards nothing but a hold of both ways is in the way.
  [{ written: "300m", held: "half" }, ["40000 to 500 for QuotaOff"]],
  [{ written: "300m", held: "lower" }, ["40000 to 500 for QuotaOff"]],
  // By halves where limits go down so, one each half minute.
  [
    { written: "800m", held: "half" },
    [650, 580, 540, 520, 500].map((limit, step) =>
      `${40_000 + step * SAMPLE_PACE.lowerWaitMs} to ${limit} for QuotaOff`
    ),
  ],
];

pure("clearAndPace() brings a limit that no quota enforces to the original one after 40 s", () => {
  for (const [change, expected] of WITHOUT_QUOTA) {
    const seen = published(agentOf(), [pod(change), 600, null]);
    assert.deepEqual(seen, expected, JSON.stringify(change));
  }
});

pure("clearAndPace() takes a container in again when its quota appears", () => {
  // A moment without a quota is nothing to report, but to wait for.
  const first = agentOf();
  assert.deepEqual(published(first, [pod(), 1, null]), []);
  assert.deepEqual(published(first, [pod(), 1, 500]), ["0 to 1260 for DemandRose"]);
  const second = agentOf();
  assert.deepEqual(published(second, [pod(), 41, null]), ["40000 QuotaOff"]);
  assert.deepEqual(published(second, [pod(), 1, 500]), ["0 to 1260 for DemandRose"]);
  assert.deepEqual(published(second, [pod(), 41, null]), ["40000 to 500 for QuotaOff"]);
  const idle = agentOf();
  assert.deepEqual(published(idle, [pod(), 41, null], 480), ["40000 QuotaOff"]);
  assert.deepEqual(published(idle, [pod(), 10, 500], 480), ["0 QuotaBack"]);
  // Also where an agent before it reported none.
  const reported = pod({ written: "500m", reason: "QuotaOff" });
  assert.deepEqual(published(agentOf(), [reported, 50, 500], 480), ["0 QuotaBack"]);
  assert.deepEqual(published(agentOf(), [reported, 50, null], 480), []);
});

/** Quotas of both containers at a time in ms, null for one without; absent before the first sample. */
type Quotas = (since: number) => { readonly app?: number | null; readonly side?: number | null };

/**
 * Writes of a new agent for an idle pod of two containers, each with its time, ms, after an agent that
 * wrote this reason. The allocation has what was written last.
 */
function writes(reason: "QuotaOff" | "Throttled", ms: number, quotas: Quotas): readonly string[] {
  const { play } = playedAgent();
  // No limit moves: otherwise its reason would be published instead.
  const ceiling = 500;
  const single = pod({ ceiling, written: "500m", reason });
  const limits = ["app", "side"].map((name) => ({ name, cpuLimit: "500m" }));
  const containers = [sampleBounds("a", { ceiling }), sampleBounds("b", { name: "side", ceiling })];
  let allocation: PodAllocation = {
    ...single,
    spec: { ...single.spec, containers: limits },
    status: {
      bounds: { revision: 1, reason: "", containers },
      originalLimits: ["app", "side"].map((name) => ({ name, cpu: "500m" })),
    },
  };
  const seen: string[] = [];
  for (let since = 0; since < ms; since += 250) {
    const { app, side } = quotas(since);
    const round = play(
      [allocation],
      (at) =>
        Object.entries({ a: app, b: side }).flatMap(([name, quota]) =>
          quota === undefined ? [] : [readingOf(name, at, { usage: 480, quota })]
        ),
    );
    for (const { desired } of desiredWrites(round, new Map())) {
      seen.push(`${since} ${desired.market?.reason}`);
      allocation = { ...allocation, spec: { ...allocation.spec, ...desired } };
    }
  }
  return seen;
}

const BACK_AT = QUOTA_OFF_MS + 10_000;

pure("clearAndPace() waits for readings of all containers before a quota is back", () => {
  const late = (app: number | null): Quotas => (since) =>
    since < 1000 ? { side: 500 } : { app, side: 500 };
  assert.deepEqual(writes("QuotaOff", BACK_AT, late(null)), []);
  assert.deepEqual(writes("QuotaOff", BACK_AT, late(500)), ["1000 QuotaBack"]);
  assert.deepEqual(writes("QuotaOff", BACK_AT, () => ({ app: null, side: null })), []);
});

pure("clearAndPace() reports that quotas are back once the last one is", () => {
  // The side has none for long; the app loses its own for a moment, in which that of the side is back.
  const moment: Quotas = (since) => ({
    app: since >= BACK_AT - 2000 && since < BACK_AT + 5000 ? null : 500,
    side: since < BACK_AT ? null : 500,
  });
  const seen = [`${QUOTA_OFF_MS} QuotaOff`, `${BACK_AT + 5000} QuotaBack`];
  assert.deepEqual(writes("Throttled", BACK_AT + 20_000, moment), seen);
  // Once it is gone for good, it is published again.
  const gone: Quotas = (since) => ({ app: 500, side: since >= BACK_AT ? null : 500 });
  const again = ["0 QuotaBack", `${BACK_AT + QUOTA_OFF_MS} QuotaOff`];
  assert.deepEqual(writes("QuotaOff", BACK_AT + QUOTA_OFF_MS + 1000, gone), again);
});
