import assert from "node:assert/strict";
import type { ContainerBounds, PodAllocation } from "../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import { GRID } from "../shared/market/rounding.ts";
import { WAIT_TARGET_MS } from "../shared/demand/common_wait.ts";
import { queueingNeed } from "../shared/demand/queueing_need.ts";
import type { DemandRule } from "../shared/demand/signal.ts";
import type { ContainerBook } from "./container_book.ts";
import { type RoundResult, runRound, type SeatResult } from "./market_round.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleReading,
  sampleSeats,
} from "../tests/fixtures/sample_seat.ts";
import { SAMPLE_PACE } from "../tests/fixtures/paced_sample.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Takes what is used for what is needed. */
const asUsed: DemandRule = ({ usage }) => ({
  mean: 0,
  burstinessMs: 0,
  trial: usage,
  saturatedMs: 0,
});

/** A node of one agent; each call of `play` is a round 250 ms later. */
function agent({ capacity = 4000, rule = asUsed, lendUpTo = 0.9 } = {}) {
  const book: ContainerBook = new Map();
  let now = 0;
  let freeShare = 0;
  let waitMs = WAIT_TARGET_MS;
  const play = (
    allocations: readonly PodAllocation[],
    reading: (at: number) => readonly ContainerSample[],
  ): RoundResult => {
    now += 250;
    const containers = new Map(reading(now).map((sample) => [sample.containerID, sample]));
    const context = {
      now,
      capacity,
      lendUpTo,
      needUpTo: 0.8,
      freeShare,
      waitMs,
      waitTargetMs: WAIT_TARGET_MS,
      pace: SAMPLE_PACE,
      newRule: () => rule,
    };
    const sample = { at: now, containers, unmanaged: 0 };
    const round = runRound(allocations.flatMap(sampleSeats), { sample, book, context });
    ({ freeShare, waitMs } = round);
    return round;
  };
  return { book, play };
}

function only({ seats }: RoundResult): SeatResult {
  const [result] = seats;
  assert.ok(result !== undefined && seats.length === 1);
  return result;
}

pure("runRound() keeps the present limit while a container has no readings", () => {
  const { play } = agent();
  const result = only(play([boundedAllocation("a")], () => []));
  assert.deepEqual([result.limit, result.share, result.changedFor], [500, 500, undefined]);
});

pure(
  "runRound() begins with the written limit, else the quota in force, else the own limit",
  () => {
    const containers = [{ name: "app", cpuLimit: "800m" }];
    const written = boundedAllocation("a", { spec: { containers } });
    const reading = (at: number) => [sampleReading("a", { at, quota: 700 })];
    assert.equal(only(agent().play([written], reading)).limit, 800);
    assert.equal(only(agent().play([boundedAllocation("a")], reading)).limit, 700);
  },
);

pure("runRound() raises a container that needs more at once, by a margin beyond that", () => {
  const { play } = agent();
  const busy = (at: number) => [sampleReading("a", { at, usage: 1200, heldBack: 300 })];
  const result = only(play([boundedAllocation("a")], busy));
  // 1200 × 1.05; the share itself has no margin.
  assert.deepEqual([result.limit, result.share, result.changedFor], [1260, 1200, "Throttled"]);
});

pure(
  "runRound() raises a container that takes no loans for its need alone, and lowers it again",
  () => {
    const bounds = (loans: Pick<ContainerBounds, "loans">) => ({
      revision: 1,
      reason: "",
      containers: [sampleBounds("a", { floor: 500, weight: 500, ...loans })],
    });
    /** Limits after a minute of little use, in a burst, and a minute and a half after it. */
    const limits = (loans: Pick<ContainerBounds, "loans">): readonly number[] => {
      const { play } = agent({ capacity: 10_000 });
      const status = {
        bounds: bounds(loans),
        originalLimits: [{ name: "app", cpu: "500m" }],
        originalRequests: [{ name: "app", cpu: "500m" }],
      };
      let limit = 500;
      const after = (rounds: number, usage: number): number => {
        for (let i = 0; i < rounds; i++) {
          const reading = (at: number) => [sampleReading("a", { at, usage, quota: limit })];
          limit = only(play([boundedAllocation("a", { status })], reading)).limit;
        }
        return limit;
      };
      return [after(240, 300), after(120, 1200), after(360, 300)];
    };
    const [idle = 0, busy = 0, later = 0] = limits({ loans: false });
    assert.deepEqual([idle, later], [500, 500]);
    assert.ok(busy >= 1200 && busy < 1300, `${busy}`);
    const [lent = 0] = limits({});
    assert.ok(lent > 500, `an idle node lends to others: ${lent}`);
  },
);

pure(
  "runRound() starts a container's page anew when it was restarted, at the limit of before",
  () => {
    const { book, play } = agent();
    const busy = (at: number) => [sampleReading("a", { at, usage: 1200 })];
    play([boundedAllocation("a")], busy);
    const bounds = { revision: 2, reason: "", containers: [sampleBounds("new")] };
    const containers = [{ name: "app", cpuLimit: "1200m" }];
    const restarted = boundedAllocation("a", { spec: { containers }, status: { bounds } });
    const result = only(play([restarted], () => []));
    assert.deepEqual([result.limit, result.changedFor], [1200, undefined]);
    assert.deepEqual([...book.keys()], [result.seat.containerID]);
    assert.equal(result.page.demand, undefined);
  },
);

pure("runRound() earns credit for what is left to others, once for each sample", () => {
  const { play } = agent();
  const allocation = boundedAllocation("a");
  const idle = only(play([allocation], (at) => [sampleReading("a", { at, usage: 0 })]));
  const { credit } = idle.page;
  assert.ok(credit > 1);
  const old = sampleReading("a", { at: 250, usage: 0 });
  assert.equal(only(play([allocation], () => [old])).page.credit, credit);
});

pure("runRound() says which share of capacity was free of any commitment", () => {
  // 97 % may be granted and 500 m are held.
  const ample = agent({ capacity: 10_000 }).play([boundedAllocation("a")], () => []);
  assert.ok(Math.abs(ample.freeShare - 0.92) < 1e-9);
  assert.ok(Math.abs(ample.committed - 500) < 1e-9);
  const full = agent({ capacity: 400 }).play([boundedAllocation("a")], () => []);
  assert.ok(Math.abs(full.freeShare - (0.97 - 500 / 400)) < 1e-9);
});

pure("readSeats() tells an estimate how scarce CPU is: not at all while a tenth is free", () => {
  const scarcities: number[] = [];
  const rule: DemandRule = ({ scarcity }) => {
    scarcities.push(scarcity);
    return { mean: 0, burstinessMs: 0, trial: 500, saturatedMs: 0 };
  };
  for (const capacity of [10_000, 560]) {
    const { play } = agent({ capacity, rule });
    const reading = (at: number) => [sampleReading("a", { at })];
    play([boundedAllocation("a")], reading);
    play([boundedAllocation("a")], reading);
  }
  const [first, ample, , tight] = scarcities;
  assert.deepEqual([first, ample], [1, 0], "before the first round nothing is known to be free");
  // Of 560 m 543.2 may be granted and 500 are held: 0.0771 of capacity.
  assert.ok(Math.abs((tight ?? 0) - (1 - 43.2 / 56)) < 1e-9);
});

/** Uneven work. */
const uneven: DemandRule = ({ usage }) => ({
  mean: usage,
  burstinessMs: 50,
  trial: 0,
  saturatedMs: 0,
});
/** What it needs where it may wait twice as long as it should. */
const NEED_AT_TWICE = queueingNeed({ mean: 300, burstinessMs: 50 }, 2 * WAIT_TARGET_MS);

function waitsTwice({ waitMs }: RoundResult): void {
  // The bisection is exact within a hundredth.
  assert.ok(waitMs >= 2 * WAIT_TARGET_MS && waitMs <= 2.02 * WAIT_TARGET_MS, `waits ${waitMs} ms`);
}

pure("runRound() lets work wait longer where needs would take over four fifths of the CPU", () => {
  const reading = (at: number) => [sampleReading("a", { at, usage: 300 })];
  const ample = agent({ rule: uneven }).play([boundedAllocation("a")], reading);
  assert.equal(ample.waitMs, WAIT_TARGET_MS);
  assert.ok(only(ample).need > NEED_AT_TWICE);
  const capacity = NEED_AT_TWICE / 0.8;
  const short = agent({ rule: uneven, capacity }).play([boundedAllocation("a")], reading);
  waitsTwice(short);
  // Bids are on the grid.
  const onGrid = Math.ceil(NEED_AT_TWICE / GRID) * GRID;
  assert.ok(only(short).need <= onGrid && only(short).need > NEED_AT_TWICE * 0.99);
});

pure("runRound() takes what containers without readings hold off the room for needs", () => {
  const reading = (at: number) => [sampleReading("a", { at, usage: 300 })];
  // Together with the 500 m of the other this is as short as in the test before.
  const capacity = (NEED_AT_TWICE + 500) / 0.8;
  const both = [boundedAllocation("a"), boundedAllocation("b")];
  waitsTwice(agent({ rule: uneven, capacity }).play(both, reading));
});

pure("runRound() clears an empty node", () => {
  const round = agent().play([], () => []);
  assert.deepEqual([round.mode, round.price, round.seats], ["uncongested", 0, []]);
  assert.deepEqual([round.freeShare, round.waitMs], [0.97, WAIT_TARGET_MS]);
});

/** Plays for so many ms; returns what was said of the only container, and when, ms. */
function sayings(
  play: (reading: (at: number) => readonly ContainerSample[]) => RoundResult,
  { ms, quota }: { readonly ms: number; readonly quota?: number },
): { readonly words: readonly string[]; readonly limits: ReadonlySet<number> } {
  const words: string[] = [];
  const limits = new Set<number>();
  for (let since = 0; since < ms; since += 250) {
    const round = play((at) => {
      const { quota: _usual, ...sample } = sampleReading("a", { at, usage: 1200 });
      return [quota === undefined ? sample : { ...sample, quota }];
    });
    const { told, changedFor, limit } = only(round);
    limits.add(limit);
    if (told !== undefined) words.push(`${since} ${told}`);
    if (changedFor !== undefined) words.push(`${since} to ${limit} for ${changedFor}`);
  }
  return { words, limits };
}

pure("runRound() never moves a limit that no quota enforces, and says so after 40 s", () => {
  const { play } = agent();
  const of = [boundedAllocation("a")];
  const { words, limits } = sayings((reading) => play(of, reading), { ms: 60_000 });
  assert.deepEqual([words, [...limits]], [["40000 QuotaOff"], [500]]);
});

pure("runRound() takes a container in again when its quota appears", () => {
  const { play } = agent();
  const of = [boundedAllocation("a")];
  const during = (options: { ms: number; quota?: number }) =>
    sayings((reading) => play(of, reading), options);
  // A moment without a quota is nothing to speak of, but to wait for.
  assert.deepEqual(during({ ms: 1000 }).words, []);
  assert.deepEqual(during({ ms: 250, quota: 500 }).words, ["0 to 1260 for DemandRose"]);
  const later = agent();
  const again = (options: { ms: number; quota?: number }) =>
    sayings((reading) => later.play(of, reading), options);
  assert.deepEqual(again({ ms: 41_000 }).words, ["40000 QuotaOff"]);
  assert.deepEqual(again({ ms: 500, quota: 500 }).words, ["0 to 1260 for DemandRose"]);
  assert.deepEqual(again({ ms: 41_000 }).words, ["40000 to 500 for QuotaOff"]);
});

pure("runRound() says that a calm container takes part again", () => {
  const { play } = agent();
  const calm = (at: number, quota?: number) => {
    const { quota: _usual, ...sample } = sampleReading("a", { at, usage: 480 });
    return [quota === undefined ? sample : { ...sample, quota }];
  };
  const of = [boundedAllocation("a")];
  for (let round = 0; round < 161; round++) play(of, (at) => calm(at));
  const back = only(play(of, (at) => calm(at, 500)));
  assert.deepEqual([back.told, back.changedFor, back.limit], ["FirstClearing", undefined, 500]);
  assert.equal(only(play(of, (at) => calm(at, 500))).told, undefined);
});

pure(
  "runRound() brings a limit that counts for nothing back to the own one, if nothing holds it",
  () => {
    const containers = [{ name: "app", cpuLimit: "800m" }];
    const written = boundedAllocation("a", { spec: { containers } });
    const first = agent();
    const free = sayings((reading) => first.play([written], reading), { ms: 41_000 });
    assert.deepEqual([free.words, [...free.limits]], [["40000 to 500 for QuotaOff"], [800, 500]]);
    const bounds = { revision: 1, reason: "", containers: [sampleBounds("a", { held: "both" })] };
    const status = { bounds, originalLimits: [{ name: "app", cpu: "500m" }] };
    const held = boundedAllocation("a", { spec: { containers }, status });
    const second = agent();
    const kept = sayings((reading) => second.play([held], reading), { ms: 41_000 });
    assert.deepEqual([kept.words, [...kept.limits]], [["40000 QuotaOff"], [800]]);
  },
);

/** An idle container that starts, or does not, on a node of 4000 m. */
function started(boost: boolean, others: readonly PodAllocation[] = []) {
  const { play } = agent();
  const starting = boundedAllocation("a", {
    status: {
      bounds: {
        revision: 1,
        reason: "",
        containers: [sampleBounds("a", { ceiling: 3000, ...(boost ? { boost } : {}) })],
      },
      originalLimits: [{ name: "app", cpu: "500m" }],
    },
  });
  const readings = (at: number) => [
    sampleReading("a", { at, usage: 50 }),
    ...others.map(({ metadata: { name } }) => sampleReading(name, { at, usage: 1500 })),
  ];
  let last: SeatResult | undefined;
  for (let i = 0; i < 20; i++) [last] = play([starting, ...others], readings).seats;
  return last;
}

pure("runRound() gives a container that starts what the node has to spare, at once", () => {
  const boosted = started(true);
  assert.ok((boosted?.limit ?? 0) >= 2900, `${boosted?.limit}`);
  assert.equal(boosted?.page.reason, "StartupBoost");
  assert.equal(started(false)?.limit, 500);
});

pure("runRound() gives a container that starts nothing that others need", () => {
  const others = ["b", "c"].map((name) => boundedAllocation(name));
  const crowded = started(true, others);
  assert.ok((crowded?.limit ?? 0) < 1000, `${crowded?.limit}`);
});

/** Plays an idle container on a node of 4000 m for a while; a metric says this of it. */
function withMetric(
  demand: number | undefined,
  { usage = 50, heldBack = 0, ceiling = 2000, rounds = 20 } = {},
): SeatResult {
  const { play } = agent();
  let last: RoundResult | undefined;
  for (let i = 0; i < rounds; i++) {
    last = play(
      [metricAllocation(demand, ceiling)],
      (at) => [sampleReading("a", { at, usage, heldBack })],
    );
  }
  assert.ok(last !== undefined);
  return only(last);
}

function metricAllocation(demand: number | undefined, ceiling = 2000): PodAllocation {
  const metric = demand === undefined ? {} : { demand };
  const containers = [sampleBounds("a", { ceiling, ...metric })];
  return boundedAllocation("a", {
    status: {
      bounds: { revision: 1, reason: "", containers },
      originalLimits: [{ name: "app", cpu: "500m" }],
    },
  });
}

pure("runRound() raises a container whose metric says so before it uses more", () => {
  const raised = withMetric(1200);
  // 1200 × 1.05.
  assert.deepEqual([raised.limit, raised.page.reason, raised.page.demand], [
    1260,
    "MetricRose",
    1200,
  ]);
  assert.equal(withMetric(undefined).limit, 500);
  assert.equal(withMetric(3000).limit, 2000, "its ceiling");
});

pure("runRound() takes the larger of a metric's word and the readings'", () => {
  const [with40, without] = [
    withMetric(40, { usage: 1200 }),
    withMetric(undefined, { usage: 1200 }),
  ];
  assert.equal(with40.limit, without.limit);
  assert.deepEqual([with40.page.reason, with40.page.demand], ["DemandRose", 1200]);
  assert.equal(withMetric(1200, { heldBack: 300 }).page.reason, "Throttled");
});

pure("runRound() believes no metric of a container without readings", () => {
  const { play } = agent();
  const result = only(play([metricAllocation(1200)], () => []));
  assert.deepEqual([result.limit, result.page.demand], [500, undefined]);
});

pure("runRound() lowers a container whose metric is gone after the wait, not at once", () => {
  const { play } = agent({ lendUpTo: 0 });
  const reading = (at: number) => [sampleReading("a", { at, usage: 50 })];
  for (let i = 0; i < 60; i++) play([metricAllocation(1200)], reading);
  const waitRounds = SAMPLE_PACE.lowerWaitMs / 250;
  let limit = 0;
  for (let i = 0; i < waitRounds; i++) {
    limit = only(play([metricAllocation(undefined)], reading)).limit;
  }
  assert.equal(limit, 1260);
  for (let i = 0; i < 4; i++) limit = only(play([metricAllocation(undefined)], reading)).limit;
  assert.ok(limit < 600, `${limit}`);
});
