import assert from "node:assert/strict";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import { desiredWrites } from "./desired.ts";
import { QUOTA_OFF_MS } from "./quota_off.ts";
import { unsettledQuotas } from "./unsettled_quotas.ts";
import { playedAgent } from "../tests/fixtures/played_agent.ts";
import {
  boundedAllocation,
  sampleBounds,
  sampleID,
  sampleReading,
} from "../tests/fixtures/sample_seat.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Quotas of both containers at a time in ms, null for one without; absent before the first sample. */
type Quotas = (since: number) => { readonly app?: number | null; readonly side?: number | null };

/** A calm pod of two containers, its limits written for this reason by an agent before this one. */
function writtenPod(reason: "QuotaOff" | "Throttled"): PodAllocation {
  // No limit moves: its reason would be told instead.
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
  const words: string[] = [];
  for (let since = 0; since < ms; since += 250) {
    const { app, side } = quotas(since);
    const round = play([allocation], (at) => [
      ...readingOf("a", { at, quota: app }),
      ...readingOf("b", { at, quota: side }),
    ]);
    for (const { desired } of desiredWrites(round, new Map())) {
      words.push(`${since} ${desired.market?.reason}`);
      allocation = { ...allocation, spec: { ...allocation.spec, ...desired } };
    }
  }
  return words;
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

pure("runRound() takes no quota for back before all containers of the pod have readings", () => {
  const late = (quota: number | null): Quotas => (since) => (
    since < 1000 ? { side: 500 } : { app: quota, side: 500 }
  );
  const restart = { before: "QuotaOff", ms: QUOTA_OFF_MS + 10_000 } as const;
  assert.deepEqual(writes(restart, late(null)), []);
  assert.deepEqual(writes(restart, late(500)), ["1000 QuotaBack"]);
  assert.deepEqual(writes(restart, () => ({ app: null, side: null })), []);
});

pure("runRound() says that quotas are back once the last one is, whichever was spoken of", () => {
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
  // Gone again for good, it is news again.
  const gone: Quotas = (since) => ({ app: 500, side: since >= backAt ? null : 500 });
  assert.deepEqual(writes({ before: "QuotaOff", ms: backAt + QUOTA_OFF_MS + 1000 }, gone), [
    "0 QuotaBack",
    `${backAt + QUOTA_OFF_MS} QuotaOff`,
  ]);
});

pure(
  "unsettledQuotas() names pods with a container without quota or sample, unless one moves",
  () => {
    const sample = sampleReading("a", { at: 0 });
    const settled = { sample };
    const lacking = { sample, quota: { missingSince: 0, sampledAt: 0 } };
    const table = ["a", "a", "b", "c", "c", "d"].map((key) => ({ key }));
    const pages = [settled, lacking, {}, lacking, settled, settled];
    const found = (moves: (place: number) => boolean) => [
      ...unsettledQuotas(table, { pages, moves }),
    ];
    assert.deepEqual(found(() => false), ["a", "b", "c"]);
    assert.deepEqual(found((place) => place === 4), ["a", "b"]);
  },
);
