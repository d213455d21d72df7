import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import { SAMPLE_PACE } from "../../tests/fixtures/market/paced_sample.ts";
import { onlyContainer, playedAgent } from "../../tests/fixtures/market/played_agent.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleID,
  sampleReading,
} from "../../tests/fixtures/market/sample_participants.ts";
import { desiredWrites } from "../reporting/desired.ts";
import { QUOTA_OFF_MS } from "./container_state.ts";
import type { ContainerResult, RoundResult } from "./round.ts";

/** Plays for so many ms; returns what was published of the only container, and when, ms. */
function sayings(
  play: (reading: (at: number) => readonly ContainerSample[]) => RoundResult,
  { ms, quota }: { readonly ms: number; readonly quota?: number },
): { readonly seen: readonly string[]; readonly limits: ReadonlySet<number> } {
  const seen: string[] = [];
  const limits = new Set<number>();
  for (let since = 0; since < ms; since += 250) {
    const round = play((at) => {
      const { quota: _usual, ...sample } = sampleReading("a", { at, usage: 1200 });
      return [quota === undefined ? sample : { ...sample, quota }];
    });
    const { notice, changedFor, limit } = onlyContainer(round);
    limits.add(limit);
    if (notice !== undefined) seen.push(`${since} ${notice}`);
    if (changedFor !== undefined) seen.push(`${since} to ${limit} for ${changedFor}`);
  }
  return { seen, limits };
}

pure("pace() never moves a limit that no quota enforces, and reports that after 40 s", () => {
  const { play } = playedAgent();
  const of = [boundedAllocation("a")];
  const { seen, limits } = sayings((reading) => play(of, reading), { ms: 60_000 });
  assert.deepEqual([seen, [...limits]], [["40000 QuotaOff"], [500]]);
});

pure("pace() takes a container in again when its quota appears", () => {
  const { play } = playedAgent();
  const of = [boundedAllocation("a")];
  const during = (options: { ms: number; quota?: number }) =>
    sayings((reading) => play(of, reading), options);
  // A moment without a quota is nothing to speak of, but to wait for.
  assert.deepEqual(during({ ms: 1000 }).seen, []);
  assert.deepEqual(during({ ms: 250, quota: 500 }).seen, ["0 to 1260 for DemandRose"]);
  const later = playedAgent();
  const again = (options: { ms: number; quota?: number }) =>
    sayings((reading) => later.play(of, reading), options);
  assert.deepEqual(again({ ms: 41_000 }).seen, ["40000 QuotaOff"]);
  assert.deepEqual(again({ ms: 500, quota: 500 }).seen, ["0 to 1260 for DemandRose"]);
  assert.deepEqual(again({ ms: 41_000 }).seen, ["40000 to 500 for QuotaOff"]);
});

pure("pace() reports that an idle container takes part again", () => {
  const { play } = playedAgent();
  const idle = (at: number, quota?: number) => {
    const { quota: _usual, ...sample } = sampleReading("a", { at, usage: 480 });
    return [quota === undefined ? sample : { ...sample, quota }];
  };
  const of = [boundedAllocation("a")];
  for (let round = 0; round < 161; round++) play(of, (at) => idle(at));
  const back = onlyContainer(play(of, (at) => idle(at, 500)));
  assert.deepEqual([back.notice, back.changedFor, back.limit], ["QuotaBack", undefined, 500]);
  assert.equal(onlyContainer(play(of, (at) => idle(at, 500))).notice, undefined);
});

pure(
  "pace() brings a limit that counts for nothing back to the own one, if nothing holds it",
  () => {
    const containers = [{ name: "app", cpuLimit: "800m" }];
    const written = boundedAllocation("a", { spec: { containers } });
    const first = playedAgent();
    const free = sayings((reading) => first.play([written], reading), { ms: 41_000 });
    assert.deepEqual([free.seen, [...free.limits]], [["40000 to 500 for QuotaOff"], [800, 500]]);
    for (const hold of ["lower", "both"] as const) {
      const second = playedAgent();
      const held = heldAt(800, hold);
      const kept = sayings((reading) => second.play([held], reading), { ms: 300_000 });
      assert.deepEqual([kept.seen, [...kept.limits]], [["40000 QuotaOff"], [800]], hold);
    }
    // Upwards nothing but a hold of both ways is in the way.
    for (const hold of ["half", "lower"] as const) {
      const third = playedAgent();
      const low = heldAt(300, hold);
      const raised = sayings((reading) => third.play([low], reading), { ms: 300_000 });
      assert.deepEqual(raised.seen, ["40000 to 500 for QuotaOff"], hold);
    }
  },
);

/** A pod with a limit that was written last as `present`, with an original limit of 500 m. */
function heldAt(present: number, held: "half" | "lower" | "both"): PodAllocation {
  const bounds = { revision: 1, reason: "", containers: [sampleBounds("a", { held })] };
  const status = { bounds, originalLimits: [{ name: "app", cpu: "500m" }] };
  const containers = [{ name: "app", cpuLimit: `${present}m` }];
  return boundedAllocation("a", { spec: { containers }, status });
}

pure(
  "pace() brings such a limit back by halves where limits go down so, one each half minute",
  () => {
    const { play } = playedAgent();
    const { seen } = sayings((reading) => play([heldAt(800, "half")], reading), { ms: 600_000 });
    const waitMs = SAMPLE_PACE.lowerWaitMs;
    assert.deepEqual(
      seen,
      [650, 580, 540, 520, 500].map((limit, step) =>
        `${40_000 + step * waitMs} to ${limit} for QuotaOff`
      ),
    );
  },
);

pure(
  "pace() reports that a quota is back, also where an agent before it reported none",
  () => {
    const published = (quota: number | undefined) => {
      const containers = [{ name: "app", cpuLimit: "500m" }];
      const market = { mode: "uncongested", demand: 480, need: 480, credit: 1, observedBounds: 1 };
      const spec = { containers, market: { ...market, reason: "QuotaOff" } };
      const written = boundedAllocation("a", { spec: spec as Partial<PodAllocation["spec"]> });
      const { play } = playedAgent();
      const seen: string[] = [];
      for (let round = 0; round < 200; round++) {
        const { notice } = onlyContainer(play([written], (at) => {
          const { quota: _usual, ...sample } = sampleReading("a", { at, usage: 480 });
          return [quota === undefined ? sample : { ...sample, quota }];
        }));
        if (notice !== undefined) seen.push(notice);
      }
      return seen;
    };
    assert.deepEqual(published(500), ["QuotaBack"]);
    assert.deepEqual(published(undefined), []);
  },
);

/** An idle container that starts, or does not, on a node of 4000 m. */
function started(boost: boolean, others: readonly PodAllocation[] = []) {
  const { play } = playedAgent();
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
  let last: ContainerResult | undefined;
  for (let i = 0; i < 20; i++) [last] = play([starting, ...others], readings).containers;
  return last;
}

pure("pace() gives a container that starts what the node has to spare, at once", () => {
  const boosted = started(true);
  assert.ok((boosted?.limit ?? 0) >= 2900, `${boosted?.limit}`);
  assert.equal(boosted?.state.reason, "StartupBoost");
  assert.equal(started(false)?.limit, 500);
});

pure("pace() gives a container that starts nothing that others need", () => {
  const others = ["b", "c"].map((name) => boundedAllocation(name));
  const crowded = started(true, others);
  assert.ok((crowded?.limit ?? 0) < 1000, `${crowded?.limit}`);
});

/** Plays an idle container on a node of 4000 m for a while; a metric asks for this. */
function withMetric(
  demand: number | undefined,
  { usage = 50, throttledMsPerS = 0, ceiling = 2000, rounds = 20 } = {},
): ContainerResult {
  const { play } = playedAgent();
  let last: RoundResult | undefined;
  for (let i = 0; i < rounds; i++) {
    last = play(
      [metricAllocation(demand, ceiling)],
      (at) => [sampleReading("a", { at, usage, throttledMsPerS })],
    );
  }
  assert.ok(last !== undefined);
  return onlyContainer(last);
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

pure("pace() raises a container with a metric that asks for it before it uses more", () => {
  const raised = withMetric(1200);
  // 1200 × 1.05.
  assert.deepEqual([raised.limit, raised.state.reason, raised.state.demand], [
    1260,
    "MetricRose",
    1200,
  ]);
  assert.equal(withMetric(undefined).limit, 500);
  assert.equal(withMetric(3000).limit, 2000, "its ceiling");
});

pure("pace() takes the larger of the metric's value and the readings", () => {
  const [with40, without] = [
    withMetric(40, { usage: 1200 }),
    withMetric(undefined, { usage: 1200 }),
  ];
  assert.equal(with40.limit, without.limit);
  assert.deepEqual([with40.state.reason, with40.state.demand], ["DemandRose", 1200]);
  assert.equal(withMetric(1200, { throttledMsPerS: 300 }).state.reason, "Throttled");
});

pure("pace() believes no metric of a container without readings", () => {
  const { play } = playedAgent();
  const result = onlyContainer(play([metricAllocation(1200)], () => []));
  assert.deepEqual([result.limit, result.state.demand], [500, undefined]);
});

pure("pace() lowers a container with a metric that is gone after the wait, not at once", () => {
  const { play } = playedAgent();
  const reading = (at: number) => [sampleReading("a", { at, usage: 50 })];
  for (let i = 0; i < 60; i++) play([metricAllocation(1200)], reading);
  const waitRounds = SAMPLE_PACE.lowerWaitMs / 250;
  let limit = 0;
  for (let i = 0; i < waitRounds; i++) {
    limit = onlyContainer(play([metricAllocation(undefined)], reading)).limit;
  }
  assert.equal(limit, 1260);
  for (let i = 0; i < 4; i++) {
    limit = onlyContainer(play([metricAllocation(undefined)], reading)).limit;
  }
  assert.ok(limit < 600, `${limit}`);
});

/** Quotas of both containers at a time in ms, null for one without; absent before the first sample. */
type Quotas = (since: number) => { readonly app?: number | null; readonly side?: number | null };

/** An idle pod of two containers, its limits written for this reason by an agent before this one. */
function writtenPod(reason: "QuotaOff" | "Throttled"): PodAllocation {
  // No limit moves: otherwise its reason would be published instead.
  const ceiling = 500;
  const containers = [sampleBounds("a", { ceiling }), sampleBounds("b", { name: "side", ceiling })];
  const originalLimits = [{ name: "app", cpu: "500m" }, { name: "side", cpu: "500m" }];
  const market = { mode: "uncongested", demand: 960, need: 960, credit: 1 } as const;
  return boundedAllocation("a", {
    status: { bounds: { revision: 1, reason: "", containers }, originalLimits },
    spec: {
      containers: [{ name: "app", cpuLimit: "500m" }, { name: "side", cpuLimit: "500m" }],
      market: { ...market, reason, observedBounds: 1 },
    },
  });
}

/** What a new agent writes for the pod, and when, ms. The allocation has what was written last. */
function writes(
  { before, ms }: { readonly before: "QuotaOff" | "Throttled"; readonly ms: number },
  quotas: Quotas,
): readonly string[] {
  const { play } = playedAgent();
  let allocation = writtenPod(before);
  const seen: string[] = [];
  for (let since = 0; since < ms; since += 250) {
    const { app, side } = quotas(since);
    const round = play([allocation], (at) => [
      ...readingOf("a", { at, quota: app }),
      ...readingOf("b", { at, quota: side }),
    ]);
    for (const { desired } of desiredWrites(round, new Map())) {
      seen.push(`${since} ${desired.market?.reason}`);
      allocation = { ...allocation, spec: { ...allocation.spec, ...desired } };
    }
  }
  return seen;
}

function readingOf(
  container: string,
  { at, quota }: { readonly at: number; readonly quota: number | null | undefined },
): readonly ContainerSample[] {
  if (quota === undefined) return [];
  const own = { at, podUID: "a", containerID: sampleID(container), usage: 480 };
  const { quota: _usual, ...sample } = sampleReading("a", own);
  return [quota === null ? sample : { ...sample, quota }];
}

pure("pace() takes no quota for back before all containers of the pod have readings", () => {
  const late = (quota: number | null): Quotas => (since) => (
    since < 1000 ? { side: 500 } : { app: quota, side: 500 }
  );
  const restart = { before: "QuotaOff", ms: QUOTA_OFF_MS + 10_000 } as const;
  assert.deepEqual(writes(restart, late(null)), []);
  assert.deepEqual(writes(restart, late(500)), ["1000 QuotaBack"]);
  assert.deepEqual(writes(restart, () => ({ app: null, side: null })), []);
});

pure("pace() reports that quotas are back once the last one is, whichever was reported", () => {
  const backAt = QUOTA_OFF_MS + 10_000;
  // The side has none for long; the app loses its own for a moment, in which that of the side is back.
  const quotas: Quotas = (since) => ({
    app: since >= backAt - 2000 && since < backAt + 5000 ? null : 500,
    side: since < backAt ? null : 500,
  });
  assert.deepEqual(writes({ before: "Throttled", ms: backAt + 20_000 }, quotas), [
    `${QUOTA_OFF_MS} QuotaOff`,
    `${backAt + 5000} QuotaBack`,
  ]);
  // Once it is gone for good, it is published again.
  const gone: Quotas = (since) => ({ app: 500, side: since >= backAt ? null : 500 });
  assert.deepEqual(writes({ before: "QuotaOff", ms: backAt + QUOTA_OFF_MS + 1000 }, gone), [
    "0 QuotaBack",
    `${backAt + QUOTA_OFF_MS} QuotaOff`,
  ]);
});
