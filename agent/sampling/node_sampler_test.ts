import assert from "node:assert/strict";
import type { ContainerSample } from "../../shared/cgroup/sample.ts";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";
import type { Clock } from "../../shared/clock.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import {
  createMemoryTree,
  type MemoryTree,
  readRecording,
  replay,
} from "../../tests/fixtures/memory_tree.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createNodeSampler, type NodeSampler, type NodeSamplerOptions } from "./node_sampler.ts";
import { nodeTable, sampleOnce } from "./sample_once.ts";

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
  const { containers } = sampler.sample(1250, NONE);
  assert.deepEqual(containers.get(ID.hot), {
    ...{ containerID: ID.hot, at: 1250, intervalMs: 250, usage: 200, throttledMsPerS: 400 },
    ...{ periods: 2, throttledPeriods: 2, pressure: 0.5, quota: 200, request: 0 },
  });
  // A sandbox is a container like any other: it has no quota and used nothing.
  assert.equal(containers.get(ID.pause)?.usage, 0);
  assert.equal(containers.get(ID.pause)?.quota, undefined);
});

pure("sample() reads the node's usage and CPUs, and neither without `pressure`", () => {
  const { tree } = node();
  tree.write("cpu.stat", "usage_usec 0\n");
  for (const pressure of [true, false]) {
    const files = new Set<string>();
    const read: CgroupTree["read"] = (file) => {
      files.add(file);
      return tree.read(file);
    };
    const sampler = createNodeSampler({ tree: { ...tree, read }, cores: 2, pressure });
    sampler.sample(1000, NONE);
    assert.equal(sampler.sample(2000, NONE).node !== undefined, pressure);
    assert.equal(files.has("cpu.stat"), pressure);
    assert.equal([...files].some((file) => file.includes("cpuset")), pressure);
  }
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
  const children: CgroupTree["children"] = (directory) => {
    if (directory === "kubepods") listings++;
    return tree.children(directory);
  };
  const sampler = createNodeSampler({ tree: { ...tree, children }, cores: 2 });
  const asked = [[0, 1], [250, 0], [500, 0], [750, 0], [1000, 1], [1250, 0]] as const;
  const wanted = [[1500, 1, ID.cold], [1750, 0, ID.cold], [2000, 0, ID.cold]] as const;
  const another = [[2250, 1, ID.cold, ID.pause]] as const;
  for (const [at, expected, ...ids] of [...asked, ...wanted, ...another]) {
    listings = 0;
    sampler.sample(at, new Set(ids));
    assert.equal(listings, expected, `${at}`);
  }
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

pure("sample() reads idle pods every 250 ms only, and busy ones each time", () => {
  const { tree, sampler } = node();
  put(tree, `kubepods/pod${OTHER}/${ID.cold}`, { quota: "20000" });
  const reads = [[100, 100], [200, 100], [300, 100], [400, 400], [500, 400]] as const;
  sampler.sample(0, NONE);
  for (const [at, coldAt] of reads) {
    put(tree, HOT, { quota: "20000", usage: at * 0.19 });
    const { containers } = sampler.sample(at, NONE);
    assert.deepEqual([containers.get(ID.hot)?.at, containers.get(ID.cold)?.at], [at, coldAt]);
  }
  // Asked again at once, it keeps the last sample.
  const before = sampler.sample(600, NONE).containers.get(ID.hot);
  assert.equal(sampler.sample(605, NONE).containers.get(ID.hot), before);
});

pure("sample() leaves out a container with malformed files, and warns of each once", () => {
  const warnings: (readonly [unknown, unknown])[] = [];
  const warn: Log["warn"] = (_message, { file, error } = {}) => void warnings.push([file, error]);
  const { tree, sampler } = node({ log: { ...silentLog, warn } });
  tree.write(`${HOT}/cpu.stat`, "usage_usec many\n");
  tree.write(`${HOT}/cpu.max`, "much\n");
  tree.write(`${POD}/cpu.weight`, "heavy\n");
  for (const at of [0, 250, 1500]) {
    const { containers } = sampler.sample(at, NONE);
    assert.ok(!containers.has(ID.hot));
    assert.equal(containers.has(ID.pause), at > 0);
  }
  const errors = new Map(warnings);
  const files = [`${HOT}/cpu.max`, `${HOT}/cpu.stat`, `${POD}/cpu.weight`];
  assert.deepEqual([[...errors.keys()].sort(), warnings.length], [files, 3]);
  assert.match(String(errors.get(`${HOT}/cpu.stat`)), /line 1 is "many"/);
});

pure("pressure() reads PSI of node and pods, leaves out a malformed file, and warns once", () => {
  const warned: unknown[] = [];
  const warn: Log["warn"] = (_message, { file } = {}) => void warned.push(file);
  const { tree, sampler } = node({ log: { ...silentLog, warn } });
  sampler.sample(0, NONE);
  const pods = new Map([[UID, { waitingMs: 0, share: 0 }]]);
  assert.deepEqual(sampler.pressure(), { pods });
  tree.write("cpu.pressure", "some avg10=12.50 avg60=0.00 avg300=0.00 total=7000000\n");
  const ofNode = { waitingMs: 7000, share: 0.125 };
  assert.deepEqual(sampler.pressure(), { pods, node: ofNode });
  tree.write(`${POD}/cpu.pressure`, "some of it\n");
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(sampler.pressure(), { pods: new Map(), node: ofNode });
  }
  tree.write("cpu.pressure", "none\n");
  assert.deepEqual(sampler.pressure(), { pods: new Map() });
  assert.deepEqual(warned, [`${POD}/cpu.pressure`, "cpu.pressure"]);
});

pure("sample() passes on that the tree may not be read", () => {
  const read = (): never => {
    throw new TypeError("Cannot read: not permitted");
  };
  const sampler = createNodeSampler({ tree: { ...node().tree, read }, cores: 2 });
  assert.throws(() => sampler.sample(0, NONE), /not permitted/);
});

pure("createNodeSampler() reports its layout and releases the files of what is gone", () => {
  const released: string[] = [];
  const { tree } = node();
  const watched: CgroupTree = { ...tree, release: (directory) => void released.push(directory) };
  const layouts: string[] = [];
  const info: Log["info"] = (_message, fields) => void layouts.push(String(fields?.layout));
  const sampler = createNodeSampler({ tree: watched, cores: 2, log: { ...silentLog, info } });
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

/** Samples and totals of a recording, by the first six digits of a container's id. */
async function recorded(version: "v1" | "v2") {
  let sampler: NodeSampler | undefined;
  const found: ContainerSample[] = [];
  replay(await readRecording(version), (tree, at) => {
    sampler ??= createNodeSampler({ tree, cores: 2 });
    found.push(...sampler.sample(at, NONE).containers.values().filter((one) => one.at === at));
  });
  const byID = Map.groupBy(found, ({ containerID }) => containerID.slice(0, 6));
  assert.equal(byID.size, 5);
  return (id: string) => {
    const samples = byID.get(id) ?? assert.fail(`no samples of ${id}`);
    const sum = (of: (one: ContainerSample) => number) =>
      samples.reduce((total, one) => total + of(one), 0);
    return {
      samples,
      wallS: sum((one) => one.intervalMs) / 1000,
      usedS: sum((one) => one.usage * one.intervalMs) / 1e6,
      throttledS: sum((one) => one.throttledMsPerS * one.intervalMs) / 1e6,
      throttledPeriods: sum((one) => one.throttledPeriods),
    };
  };
}

function assertWithin(actual: number, expected: number, share: number): void {
  const isNear = Math.abs(actual - expected) <= share * expected;
  assert.ok(isNear, `${actual} is not within ${share * 100} % of ${expected}`);
}

function meanPressure(samples: readonly ContainerSample[]): number {
  const shares = samples.map(({ pressure }) => pressure ?? NaN);
  assert.ok(shares.every((share) => share >= 0 && share <= 1));
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

Deno.test("sample() finds what a kubelet under v1 throttled, at whichever level", async () => {
  const of = await recorded("v1");
  // One busy loop each: what it did not use, it was kept from.
  for (const [id, used] of [["4b4e6a", 14.95], ["146753", 11.22]] as const) {
    const { wallS, usedS, throttledS } = of(id);
    assertWithin(wallS, 74.75, 0.01);
    assertWithin(throttledS, wallS - usedS, 0.15);
    assertWithin(usedS, used, 0.01);
  }
  // All but one of its 748 periods ended without quota.
  assertWithin(of("4b4e6a").throttledPeriods, 748, 0.01);
  // Never throttled, beside a busy one that was, in the same pod.
  assert.equal(of("af9a2e").throttledS, 0);
  // A quota was raised while the container ran.
  const quotas = of("26e09f").samples.map(({ quota }) => quota);
  assert.deepEqual([quotas[0], [...new Set(quotas)]], [200, [200, 700]]);
});

Deno.test("sample() takes a pause that kernel 6.1 counted at both levels once", async () => {
  const of = await recorded("v2");
  // The kernel's own counters over the run, seconds.
  const counted: readonly (readonly [string, number, number])[] = [
    ["111111", 15.50, 45.98],
    ["222222", 18.65, 2.83],
    ["333333", 44.56, 31.60],
    ["444444", 0.126, 0],
    ["555555", 30.53, 23.55],
  ];
  for (const [id, used, throttled] of counted) {
    assertWithin(of(id).usedS, used, 0.02);
    assertWithin(of(id).throttledS, throttled, 0.06);
  }
  // PSI: held at 200 m it waits most of the time; the idle one next to never.
  assert.ok(meanPressure(of("111111").samples) > 0.6);
  assert.ok(meanPressure(of("444444").samples) < 0.1);
});

pure("nodeTable() names a pod once and marks what is not known", () => {
  const busy = { usage: 120.4, throttled: 300, quota: 200, periods: 2, pressure: 0.755 };
  const containers = [{ id: "b".repeat(64), ...busy }, { id: "c".repeat(64) }];
  const text = nodeTable({
    ...{ layout: "cgroup v2", cores: 4, intervalMs: 250.4, warnings: [] },
    pods: [
      { uid: "pod-1", request: 99.6, containers },
      { uid: "pod-2", containers: [{ id: "d".repeat(64) }] },
    ],
  });
  const [layout, counts = "", ...lines] = text.split("\n");
  assert.equal(layout, "cgroup v2");
  assert.match(counts, /^2 pods, 3 containers, 4 CPUs, 250 ms /);
  assert.deepEqual(lines, [
    "",
    "POD    CONTAINER     USAGE  THROTTLED  QUOTA  REQUEST  PERIODS  WAITING",
    "pod-1  bbbbbbbbbbbb   120m       300m   200m     100m      0/2      76%",
    "       cccccccccccc      -          -      -                 -        -",
    "pod-2  dddddddddddd      -          -      -        -        -        -",
    "",
  ]);
});

pure("sampleOnce() takes cores from the flag, then the cgroups, then the machine", async () => {
  const clock: Clock = { wall: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const uid = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
  const files = { [`kubepods/pod${uid}/${"a".repeat(64)}/cpu.stat`]: "usage_usec 1\n" };
  const cores = async (more: Record<string, string>, flag = {}) => {
    const parts = { tree: createMemoryTree({ ...files, ...more }), clock, fallbackCores: 3 };
    const view = await sampleOnce(parts, { intervalMs: 250, ...flag });
    // The clock stands: no rates, but the pod is there.
    assert.deepEqual(view.pods, [{ uid, containers: [{ id: "a".repeat(64) }] }]);
    return view.cores;
  };
  const cpuset = { "cpuset.cpus.effective": "0-7\n" };
  assert.equal(await cores(cpuset, { cores: 5 }), 5);
  assert.equal(await cores(cpuset), 8);
  assert.equal(await cores({}), 3);
});
