import assert from "node:assert/strict";
import { seededRandom } from "../../shared/random.ts";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createNodeCPU, type NodeReading } from "./node_cpu.ts";
import { createNodeSampler } from "./node_sampler.ts";

/**
 * Takes readings of a node with two CPUs; gives its idle CPU, what others use, and idle CPU by the
 * shorter mean, in whole millicores.
 */
function reader(usual: Partial<NodeReading> = {}) {
  const nodeCPU = createNodeCPU();
  return (at: number, usedMs: number | undefined, change: Partial<NodeReading> = {}) => {
    const read = { cores: 2, managed: 0, yielding: 0, ...usual, ...change, at, usedMs };
    const found = nodeCPU(read);
    return found &&
      [found.idle, found.unmanagedUsage, found.idle400ms].map((one) => Math.round(one));
  };
}

pure("createNodeCPU() gives idle CPU, fading with 1 s, from the second reading on", () => {
  const read = reader();
  assert.equal(read(1000, 500), undefined);
  // 0.4 of 2 CPUs in the first interval; then 2 for a second: 1600 / e, and 1600 / e^2.5.
  assert.equal(read(1500, 700)?.[0], 1600);
  const full = read(2500, 2700);
  assert.deepEqual([full?.[0], full?.[2]], [589, 131]);
  // A counter that begins anew, and a reading at once, change nothing.
  assert.equal(read(3500, 0)?.[0], 589);
  assert.equal(read(3505, 10)?.[0], 589);
  assert.equal(read(4500, 0)?.[0], Math.round(2000 - 1411 / Math.E));
  // Without a counter nothing is known, until there are two again.
  assert.deepEqual([read(6500, undefined), read(7500, 0)], [undefined, undefined]);
  const anew = read(8500, 1000);
  assert.deepEqual([anew?.[0], anew?.[2]], [1000, 1000]);
});

pure("createNodeCPU() finds no idle CPU on a full node, by a coarse counter read late", () => {
  const random = seededRandom(1);
  const read = reader({ cores: 8 });
  let sum = 0;
  for (let i = 1; i <= 3000; i++) {
    const at = 100 * i;
    const readAt = at + 5 * random.next();
    // A counter of ticks, 4 ms on all CPUs at once.
    sum += read(at, 8 * 4 * Math.floor(readAt / 4))?.[0] ?? 0;
  }
  assert.ok(sum / 3000 < 20, `${sum / 3000} of 8000`);
});

pure("createNodeCPU() finds no idle CPU where more is used than it knows CPUs", () => {
  const read = reader();
  read(0, 0);
  read(1000, 500);
  for (let second = 2; second <= 8; second++) read(1000 * second, 4000 * second);
  const found = read(9000, 36_000);
  assert.deepEqual([found?.[0], found?.[2]], [0, 0]);
});

pure("createNodeCPU() counts CPU as idle that pods use which give way", () => {
  const read = reader({ yielding: 700 });
  read(0, 0);
  assert.deepEqual(read(1000, 900), [1800, 200, 1800]);
});

pure("createNodeCPU() keeps what others use in bursts, and not what the market uses", () => {
  const read = reader({ managed: 300 });
  let usedMs = 0;
  let last: number[] | undefined;
  for (let second = 0; second <= 200; second++) {
    usedMs += 300 + (second % 20 < 10 ? 1000 : 100);
    last = read(1000 * second, usedMs);
  }
  const others = last?.[1] ?? 0;
  assert.ok(others > 850 && others <= 1000, `${others}`);
});

const ID = "a".repeat(64);
const HOT = `kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01/${ID}`;

pure("sample() reads the root's usage, and the CPUs that containers share", () => {
  const tree = createMemoryTree({ [`${HOT}/cpu.stat`]: "usage_usec 0\n" });
  const sampler = createNodeSampler({ tree, cores: 8 });
  const nodeAt = (at: number, usedMs: number | string) => {
    tree.write("cpu.stat", typeof usedMs === "string" ? usedMs : `usage_usec ${usedMs * 1000}\n`);
    return sampler.sample(at, new Set([ID])).node;
  };
  nodeAt(0, 0);
  assert.deepEqual(nodeAt(2000, 2000), {
    ...{ shared: 8000, idle: 7000, idle400ms: 7000, unmanagedUsage: 1000 },
  });
  // A static CPU manager gave four CPUs to another container, which leaves them idle.
  tree.write(`${HOT}/cpuset.cpus.effective`, "0-1,6-7\n");
  const { shared, idle = 0 } = nodeAt(20_000, 20_000) ?? {};
  assert.deepEqual([shared, Math.round(idle)], [4000, 3000]);
  assert.equal(nodeAt(21_000, "usage\n"), undefined);
});

const A = "a".repeat(64);
const B = "b".repeat(64);
const PAUSE = "c".repeat(64);
const POD = "kubepods/burstable/pod0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";

/** Version 1 files of one cgroup; usage in milliseconds. */
function files(directory: string, { usage = 0, shares = 2, quota = -1 } = {}) {
  return {
    [`cpu/${directory}/cpu.stat`]: "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
    [`cpu/${directory}/cpu.cfs_quota_us`]: `${quota}\n`,
    [`cpu/${directory}/cpu.cfs_period_us`]: "100000\n",
    [`cpu/${directory}/cpu.shares`]: `${shares}\n`,
    [`cpuacct/${directory}/cpuacct.usage`]: `${usage * 1e6}\n`,
  };
}

type Changing = (at: number) => Record<string, string>;

/** Samples a node with files that are a function of time; returns the unmanaged CPU at the end. */
function unmanaged(changing: Changing, named: readonly string[], { forMs = 5000 } = {}): number {
  const tree = createMemoryTree(changing(0));
  const sampler = createNodeSampler({ tree, cores: 8 });
  let held = NaN;
  for (let at = 0; at <= forMs; at += 250) {
    for (const [path, text] of Object.entries(changing(at))) tree.write(path, text);
    held = sampler.sample(at, new Set(named)).unmanaged;
  }
  return Math.round(held * 100) / 100;
}

/** A pod that requests 500 m and uses the given millicores, with a sandbox. */
const pod = (millicores: number): Changing => (at) => ({
  ...files(POD, { usage: millicores * at / 1000, shares: 512 }),
  ...files(`${POD}/${A}`, { usage: millicores * at / 1000, shares: 512, quota: 100_000 }),
  ...files(`${POD}/${PAUSE}`),
});

/** A container beside the managed one; that has a quota, or the market would not know it. */
const beside = (millicores: number, quota = -1): Changing => (at) => ({
  ...pod(100)(at),
  ...files(`${POD}/${B}`, { usage: millicores * at / 1000, shares: 256, quota }),
});
const [SECOND, THIRD] = [POD.replace(/1$/, "2"), POD.replace(/1$/, "3")];
/** A pod that uses 6 of 8 CPUs beside others that request 1500 m. */
const crowded = (shares: number): Changing => (at) => ({
  ...files(POD, { usage: 6 * at, shares }),
  ...files(SECOND, { shares: 1024 }),
  ...files(THIRD, { shares: 512 }),
});
/** 2000 m in one second of 40: below the 95th percentile. */
const bursty: Changing = (at) => {
  const burstMs = Math.floor(at / 40_000) * 1000 + Math.min(1000, at % 40_000);
  return files(POD, { usage: burstMs * 2 + at * 0.1, shares: 2 });
};
const ORPHAN = "system.slice/containerd.service/" +
  `kubepods-burstable-pod0a4f7c1e_5d0b_4f6e_9a51_1c0f6a7b8d01.slice:cri-containerd:${A}`;
const orphaned: Changing = (at) => ({
  ...files(POD, { shares: 102 }),
  ...files(ORPHAN, { usage: at * 0.3, shares: 102 }),
});

/** A node, the containers that bounds name, and the CPU that others hold. */
const HELD: readonly (readonly [string, Changing, readonly string[], number])[] = [
  ["the request of a pod that uses less", pod(200), [], 500],
  ["the usage of a pod that uses more", pod(800), [], 800],
  ["nothing of a managed pod: it bids", pod(800), [A], 0],
  // Weights leave it a quarter of 8 CPUs, or nothing worth speaking of.
  ["usage as far as weights defend it", crowded(512), [], 2000 + 1500],
  ["no usage that goes as soon as requests are used", crowded(2), [], 1500],
  ["the request of an unlimited sibling", beside(100), [A], 250],
  ["the usage of an unlimited sibling", beside(400), [A], 400],
  ["no sibling that the bounds name", beside(400), [A, B], 0],
  ["no sibling with a quota: it will bid", beside(1000, 50_000), [A], 0],
  ["containers outside of their pod's cgroup", orphaned, [], 300],
];

for (const [what, changing, named, expected] of HELD) {
  pure(`unmanagedCPU() counts ${what}`, () => assert.equal(unmanaged(changing, named), expected));
}

pure(
  "unmanagedCPU() does not follow a neighbour's short bursts",
  () => assert.equal(unmanaged(bursty, [], { forMs: 120_000 }), 100),
);

const GUARANTEED = "5c1d2f6e-1d0b-4f6e-9a51-1c0f6a7b8d02";
const SLICE = `kubepods.slice/kubepods-pod${GUARANTEED.replaceAll("-", "_")}.slice`;

const ROOTS = [[`kubepods/pod${GUARANTEED}`, B], [SLICE, `cri-containerd-${B}.scope`]] as const;

for (const [root, name] of ROOTS) {
  const container = `${root}/${name}`;
  pure(`unmanagedCPU() counts no request of a managed Guaranteed pod in ${root}`, () => {
    // 300 m of 300 m at first, of 900 m from the third second on.
    const moving: Changing = (at) => {
      const [shares, quota] = at < 3000 ? [307, 30_000] : [921, 90_000];
      const counters = { usage: 0.3 * at, shares, quota };
      return {
        ...files(root, counters),
        ...files(container, counters),
        ...files(`${root}/${PAUSE}`),
      };
    };
    for (const forMs of [5000, 130_000]) assert.equal(unmanaged(moving, [B], { forMs }), 0);
    // Outside of the market it is the demand at present.
    const left = unmanaged(moving, [], { forMs: 130_000 });
    assert.ok(Math.abs(left - 900) <= 1, `${left}`);
  });
}

pure("isManaged() holds while the only container restarts under its old bounds", () => {
  const tree = createMemoryTree(pod(800)(0));
  const sampler = createNodeSampler({ tree, cores: 8 });
  const held = (at: number, ...named: readonly string[]): number =>
    sampler.sample(at, new Set(named)).unmanaged;
  assert.equal(held(0, A), 0);
  for (const controller of ["cpu", "cpuacct"]) tree.remove(`${controller}/${POD}/${A}`);
  for (const [path, text] of Object.entries(files(`${POD}/${B}`, { quota: 100_000 }))) {
    tree.write(path, text);
  }
  assert.deepEqual([held(1000, A), held(2000, B)], [0, 0]);
  // Its bounds are gone: the pod left the market.
  assert.equal(held(3000), 500);
});

/** Weights of a pod of 600 m (614 shares, weight 24) and its containers of 500 m and 100 m. */
const weighed = (app: number, side: number): Changing => () => {
  const group = (directory: string, weight: number, quota = "max") => ({
    [`${directory}/cpu.stat`]: "usage_usec 0\n",
    [`${directory}/cpu.max`]: `${quota} 100000\n`,
    [`${directory}/cpu.weight`]: `${weight}\n`,
  });
  return {
    ...group(POD, 24),
    ...group(`${POD}/${A}`, app, "60000"),
    ...group(`${POD}/${B}`, side),
    ...group(`${POD}/${PAUSE}`, 1),
  };
};

for (const [formula, app, side] of [["line", 20, 4], ["curve", 59, 17]] as const) {
  pure(`unmanagedCPU() finds by the sum that weights follow the ${formula}`, () => {
    const held = unmanaged(weighed(app, side), [A]);
    assert.ok(Math.abs(held - 100) < 26, `${held}`);
  });
}
