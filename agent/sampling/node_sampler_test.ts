import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { createMemoryTree, type MemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { createNodeSampler, type NodeSampler, type NodeSamplerOptions } from "./node_sampler.ts";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import {
  readRecording,
  type RecordedFrame,
  replay,
} from "../../tests/fixtures/cgroup_recording.ts";

const ID = { hot: "a".repeat(64), cold: "b".repeat(64), pause: "c".repeat(64) };
const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const OTHER = "7be2d9a0-44c1-4a3e-8b7d-52d0e3f4a502";
const NONE: ReadonlySet<string> = new Set();

/** Writes one cgroup's version 2 files; times in milliseconds. */
function put(
  tree: MemoryTree,
  directory: string,
  { usage = 0, throttled = 0, periods = 0, quota = "max", weight = 1, pressure = 0 } = {},
): void {
  tree.write(
    `${directory}/cpu.stat`,
    `usage_usec ${usage * 1000}\nnr_periods ${periods}\nnr_throttled ${periods}\n` +
      `throttled_usec ${throttled * 1000}\n`,
  );
  tree.write(`${directory}/cpu.max`, `${quota} 100000\n`);
  tree.write(`${directory}/cpu.weight`, `${weight}\n`);
  const total = `total=${pressure * 1000}`;
  tree.write(`${directory}/cpu.pressure`, `some avg10=0.00 avg60=0.00 avg300=0.00 ${total}\n`);
}

const POD = `kubepods/burstable/pod${UID}`;
const HOT = `${POD}/${ID.hot}`;

function node(options: Partial<NodeSamplerOptions> = {}) {
  const tree = createMemoryTree();
  put(tree, POD);
  put(tree, HOT, { quota: "20000" });
  put(tree, `${POD}/${ID.pause}`);
  return { tree, sampler: createNodeSampler({ tree, cores: 2, ...options }) };
}

pure("sample() gives rates after the second sample, in millicores", () => {
  const { tree, sampler } = node();
  assert.equal(sampler.sample(1000, NONE).containers.size, 0);
  put(tree, HOT, { quota: "20000", usage: 50, throttled: 100, periods: 2, pressure: 125 });
  const { at, containers } = sampler.sample(1250, NONE);
  assert.equal(at, 1250);
  assert.deepEqual(containers.get(ID.hot), {
    podUID: UID,
    containerID: ID.hot,
    at: 1250,
    intervalMs: 250,
    usage: 200,
    throttledMsPerS: 400,
    periods: 2,
    throttledPeriods: 2,
    pressure: 0.5,
    quota: 200,
    request: 0,
  });
  // A sandbox is a container like any other: it has no quota and used nothing.
  assert.equal(containers.get(ID.pause)?.usage, 0);
  assert.equal(containers.get(ID.pause)?.quota, undefined);
});

pure("sample() gives none across a reset, a jump of the clock or a vanished file", () => {
  const { tree, sampler } = node();
  const usageAt = (at: number, usage: number) => {
    put(tree, HOT, { quota: "20000", usage });
    return sampler.sample(at, NONE).containers.get(ID.hot)?.usage;
  };
  usageAt(1000, 100);
  assert.equal(usageAt(1250, 150), 200);
  assert.equal(usageAt(1500, 20), undefined, "counters began anew");
  assert.equal(usageAt(1750, 70), 200);
  assert.equal(usageAt(500, 80), undefined, "clock went back");
  assert.equal(usageAt(750, 130), 200);
  assert.equal(usageAt(200_000, 180), undefined, "clock jumped ahead");
  assert.equal(usageAt(200_250, 230), 200);
  assert.equal(usageAt(200_500, 9000), undefined, "more CPU than there is");
  assert.equal(usageAt(200_750, 9050), 200);
  tree.remove(`${HOT}/cpu.stat`);
  assert.equal(sampler.sample(201_000, NONE).containers.get(ID.hot), undefined);
  assert.equal(usageAt(201_250, 9150), undefined, "first sample after it came back");
  assert.equal(usageAt(201_500, 9200), 200);
});

pure("sample() sees a container restart as one gone and one new", () => {
  const { tree, sampler } = node();
  sampler.sample(1000, NONE);
  assert.ok(sampler.sample(1250, NONE).containers.has(ID.hot));
  tree.remove(HOT);
  put(tree, `${POD}/${ID.cold}`, { quota: "20000", usage: 10_000 });
  // Asked for by its id, it is found at once, without waiting for the next listing.
  const first = sampler.sample(1500, new Set([ID.cold])).containers;
  assert.deepEqual([first.has(ID.hot), first.has(ID.cold)], [false, false]);
  put(tree, `${POD}/${ID.cold}`, { quota: "20000", usage: 10_025 });
  assert.equal(sampler.sample(1750, new Set([ID.cold])).containers.get(ID.cold)?.usage, 100);
});

pure("sample() lists directories once a second, and once for an id that is nowhere", () => {
  const tree = createMemoryTree();
  put(tree, HOT);
  let listings = 0;
  const counting: CgroupTree = {
    ...tree,
    children: (directory) => {
      if (directory === "kubepods") listings++;
      return tree.children(directory);
    },
  };
  const sampler = createNodeSampler({ tree: counting, cores: 2 });
  const listed = (at: number, ids: string[] = []) => {
    listings = 0;
    sampler.sample(at, new Set(ids));
    return listings;
  };
  assert.deepEqual([0, 250, 500, 750, 1000, 1250].map((at) => listed(at)), [1, 0, 0, 0, 1, 0]);
  assert.deepEqual([1500, 1750, 2000].map((at) => listed(at, [ID.cold])), [1, 0, 0]);
  assert.equal(listed(2250, [ID.cold, ID.pause]), 1);
});

pure("sample() finds a pod that has taken another one's place within a second", () => {
  const tree = createMemoryTree();
  for (const directory of [POD, HOT]) put(tree, directory);
  const sampler = createNodeSampler({ tree, cores: 2 });
  let at = 0;
  const goOn = (untilMs: number): void => {
    for (; at <= untilMs; at += 250) sampler.sample(at, NONE);
  };
  goOn(40_000);
  tree.remove(HOT);
  goOn(44_000);
  tree.remove(POD);
  const other = `kubepods/burstable/pod${OTHER}`;
  for (const directory of [other, `${other}/${ID.cold}`]) put(tree, directory);
  goOn(47_000);
  assert.deepEqual(sampler.pods().map(({ uid }) => uid), [OTHER]);
});

pure("sample() reads anew, now and then, what a pod that stays has been set to", () => {
  const { tree, sampler } = node();
  const before = sampler.sample(0, NONE).unmanaged;
  for (const directory of [POD, HOT]) put(tree, directory, { quota: "20000", weight: 500 });
  assert.equal(sampler.sample(2000, NONE).unmanaged, before);
  assert.ok(sampler.sample(61_000, NONE).unmanaged > before + 1000, "its request was raised");
});

pure("sample() reads idle pods every 250 ms only, and at busy ones each time", () => {
  const { tree, sampler } = node();
  const cold = `kubepods/pod${OTHER}/${ID.cold}`;
  put(tree, cold, { quota: "20000" });
  const stamps = [0, 100, 200, 300, 400, 500, 600].map((at) => {
    put(tree, HOT, { quota: "20000", usage: at * 0.19 });
    const { containers } = sampler.sample(at, NONE);
    return [containers.get(ID.hot)?.at, containers.get(ID.cold)?.at];
  });
  assert.deepEqual(stamps, [
    [undefined, undefined],
    [100, 100],
    [200, 100],
    [300, 100],
    [400, 400],
    [500, 400],
    [600, 400],
  ]);
});

pure("sample() keeps the last sample when it is asked again at once", () => {
  const { tree, sampler } = node();
  sampler.sample(0, NONE);
  put(tree, HOT, { quota: "20000", usage: 50 });
  const sample = sampler.sample(250, NONE).containers.get(ID.hot);
  assert.equal(sampler.sample(255, NONE).containers.get(ID.hot), sample);
});

pure("sample() leaves out a container with a malformed file, and warns once", () => {
  const warnings: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (message, fields) => void warnings.push(`${message}: ${fields?.error}`),
  };
  const { tree, sampler } = node({ log });
  tree.write(`${HOT}/cpu.stat`, "usage_usec many\n");
  for (const at of [0, 250, 500]) {
    const { containers } = sampler.sample(at, NONE);
    assert.ok(!containers.has(ID.hot));
    assert.equal(containers.has(ID.pause), at > 0);
  }
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /line 1 is "many"/);
});

pure("sample() names each malformed file of a cgroup by its path", () => {
  const files: unknown[] = [];
  const log: Log = { ...silentLog, warn: (_message, fields) => void files.push(fields?.file) };
  const { tree, sampler } = node({ log });
  tree.write(`${HOT}/cpu.stat`, "usage_usec many\n");
  tree.write(`${HOT}/cpu.max`, "much\n");
  tree.write(`${POD}/cpu.weight`, "heavy\n");
  for (const at of [0, 250, 1500]) sampler.sample(at, NONE);
  assert.deepEqual(files.sort(), [`${HOT}/cpu.max`, `${HOT}/cpu.stat`, `${POD}/cpu.weight`]);
});

pure("sample() passes on that the tree may not be read", () => {
  const { tree } = node();
  const forbidden: CgroupTree = {
    ...tree,
    read: () => {
      throw new TypeError("Cannot read: not permitted");
    },
  };
  const sampler = createNodeSampler({ tree: forbidden, cores: 2 });
  assert.throws(() => sampler.sample(0, NONE), /not permitted/);
});

pure("createNodeSampler() reports its layout and releases the files of what is gone", () => {
  const released: string[] = [];
  const { tree } = node();
  const watched: CgroupTree = { ...tree, release: (directory) => void released.push(directory) };
  const layouts: string[] = [];
  const log: Log = {
    ...silentLog,
    info: (_message, fields) => void layouts.push(String(fields?.layout)),
  };
  const sampler = createNodeSampler({ tree: watched, cores: 2, log });
  assertMatches(layouts, [/^cgroup v2, cgroupfs .* kubepods$/]);
  sampler.sample(0, NONE);
  tree.remove(HOT);
  sampler.sample(1000, NONE);
  assert.deepEqual(released, [HOT]);
  tree.remove(POD);
  sampler.sample(2000, NONE);
  assert.deepEqual(released, [HOT, `${POD}/${ID.pause}`, POD]);
  assert.equal(sampler.pods().length, 0);
  sampler.close();
  assert.equal(released.at(-1), "");
});

pure("createNodeSampler() refuses a node without CPUs or pods", () => {
  assert.throws(() => node({ cores: 0 }), { name: "RangeError", message: /cores is 0/ });
  assert.throws(() => createNodeSampler({ tree: createMemoryTree(), cores: 2 }), /Cannot find/);
});

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
