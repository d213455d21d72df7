import assert from "node:assert/strict";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import {
  readRecording,
  type RecordedFrame,
  replay,
} from "../../tests/fixtures/cgroup_recording.ts";
import { createNodeSampler, type NodeSampler } from "./node_sampler.ts";

/** Seconds, summed over a recording. */
interface Totals {
  wall: number;
  used: number;
  throttledMs: number;
  periods: number;
  throttledPeriods: number;
  samples: ContainerSample[];
}

function totalsOf(frames: readonly RecordedFrame[]): Map<string, Totals> {
  let sampler: NodeSampler | undefined;
  const totals = new Map<string, Totals>();
  replay(frames, (tree, at) => {
    sampler ??= createNodeSampler({ tree, cores: 2 });
    for (const [id, sample] of sampler.sample(at, new Set()).containers) {
      if (sample.at !== at) continue;
      const sum = totals.get(id.slice(0, 6)) ??
        { wall: 0, used: 0, throttledMs: 0, periods: 0, throttledPeriods: 0, samples: [] };
      const seconds = sample.intervalMs / 1000;
      sum.wall += seconds;
      sum.used += sample.usage / 1000 * seconds;
      sum.throttledMs += sample.throttledMsPerS / 1000 * seconds;
      sum.periods += sample.periods;
      sum.throttledPeriods += sample.throttledPeriods;
      sum.samples.push(sample);
      totals.set(id.slice(0, 6), sum);
    }
  });
  return totals;
}

function within(actual: number, expected: number, share: number): void {
  assert.ok(
    Math.abs(actual - expected) <= share * expected,
    `${actual.toFixed(2)} is not within ${share * 100} % of ${expected.toFixed(2)}`,
  );
}

function of(totals: Map<string, Totals>, id: string): Totals {
  const found = totals.get(id);
  assert.ok(found, `no samples of ${id}`);
  return found;
}

Deno.test("sample() finds what a kubelet under v1 throttled, at whichever level it was counted", async () => {
  const totals = totalsOf(await readRecording("v1"));
  assert.equal(totals.size, 5);
  // One busy loop: what it did not use, it was kept from.
  for (const id of ["4b4e6a", "146753"]) {
    const { wall, used, throttledMs } = of(totals, id);
    within(wall, 74.75, 0.01);
    within(throttledMs, wall - used, 0.15);
  }
  within(of(totals, "4b4e6a").used, 14.95, 0.01);
  within(of(totals, "146753").used, 11.22, 0.01);
  // All but one of its 748 periods ended without quota.
  within(of(totals, "4b4e6a").throttledPeriods, 748, 0.01);
  // Never throttled, beside a busy one that was, in the same pod.
  assert.equal(of(totals, "af9a2e").throttledMs, 0);
});

Deno.test("sample() shows a quota that was raised while the container ran", async () => {
  const quotas = of(totalsOf(await readRecording("v1")), "26e09f").samples.map((s) => s.quota);
  assert.equal(quotas[0], 200);
  assert.equal(quotas.at(-1), 700);
  assert.equal(new Set(quotas).size, 2);
});

Deno.test("sample() takes a pause that kernel 6.1 counted at both levels once", async () => {
  const totals = totalsOf(await readRecording("v2"));
  // The kernel's own counters over the run, seconds.
  const counted: readonly (readonly [string, number, number])[] = [
    ["111111", 15.50, 45.98],
    ["222222", 18.65, 2.83],
    ["333333", 44.56, 31.60],
    ["444444", 0.126, 0],
    ["555555", 30.53, 23.55],
  ];
  for (const [id, used, throttled] of counted) {
    within(of(totals, id).used, used, 0.02);
    within(of(totals, id).throttledMs, throttled, 0.06);
  }
});

Deno.test("sample() gives PSI as a share of time under v2", async () => {
  const totals = totalsOf(await readRecording("v2"));
  const shares = of(totals, "111111").samples.map(({ pressure }) => pressure ?? NaN);
  assert.ok(shares.every((share) => share >= 0 && share <= 1));
  // Held at 200 m, it waits most of the time; the idle one next to never.
  const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  assert.ok(mean(shares) > 0.6, String(mean(shares)));
  const idle = of(totals, "444444").samples.map(({ pressure }) => pressure ?? NaN);
  assert.ok(mean(idle) < 0.1, String(mean(idle)));
});
