import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";
import { cases } from "../../tests/fixtures/cases.ts";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  countCpus,
  parseCfsPeriod,
  parseCfsQuota,
  parseCpuacctUsage,
  parseCpuMax,
  parseCpuShares,
  parseCpuStatV1,
  parseCpuStatV2,
  parseCpuWeight,
  parsePressure,
  requestOfCurvedWeight,
  requestOfLinearWeight,
} from "./kernel_text.ts";
import { findLayout } from "./layout.ts";
import { ignoresLimits, readNodeCores, readNodeUsage } from "./node_files.ts";
import { listPods } from "./pod_cgroups.ts";

const FIXTURES = new URL("../../tests/fixtures/cgroup-fixtures/fixtures/cgroup/", import.meta.url);
const V2_POD = "kubepods.slice/kubepods-besteffort.slice/" +
  "kubepods-besteffort-pod8712f785_1a3e_41ec_a00b_e2dcc77431cb.slice/" +
  "docker-73051af271105c07e1f493b34856a77e665e3b0b4fc72f76c807dfbffeb881bd.scope";
const V1_DOCKER = "docker/b43d92bf1e5c6f78bb9b7bc6f40721280299855ba692092716e3a1b6c0b86f3f";

const fixture = (path: string) => Deno.readTextFileSync(new URL(path, FIXTURES));

Deno.test("every parser reads real files", () => {
  const v2 = (file: string) => fixture(`${V2_POD}/${file}`);
  const quota = (directory: string) =>
    parseCfsQuota(
      fixture(`cpu/${directory}/cpu.cfs_quota_us`),
      parseCfsPeriod(fixture(`cpu/${directory}/cpu.cfs_period_us`)),
    );
  assert.deepEqual(parseCpuStatV2(v2("cpu.stat")), {
    ...{ usageMs: 3795681.254, periods: 809036, throttledPeriods: 76, throttledMs: 363.166 },
  });
  // Without bandwidth counters.
  assert.deepEqual(parseCpuStatV2(fixture("unified/system.slice/ssh.service/cpu.stat")), {
    ...{ usageMs: 151439.967, periods: 0, throttledPeriods: 0, throttledMs: 0 },
  });
  assert.deepEqual(parseCpuStatV1(fixture(`cpu/${V1_DOCKER}/cpu.stat`)), {
    ...{ periods: 380975143, throttledPeriods: 5583849, throttledMs: 254005032.764376 },
  });
  const usage = fixture(`cpuacct/${V1_DOCKER}/cpuacct.usage`);
  assert.equal(parseCpuacctUsage(usage), 107292866.812141);
  const docker = "docker-ba7b10d15d16e10e3de7a2dcd408a3d971169ae303f46cfad4c5453c6326fee2.scope";
  const unlimited = fixture(`system.slice/${docker}/cpu.max`);
  assert.deepEqual([parseCpuMax(v2("cpu.max")), parseCpuMax(unlimited)], [100, undefined]);
  const quotas = [quota(V1_DOCKER), quota("system.slice/docker.service")];
  assert.deepEqual([...quotas, parseCfsQuota("20000\n", 50)], [1500, undefined, 400]);
  assert.deepEqual(parsePressure(v2("cpu.pressure")), { waitingMs: 465907.442, share: 0 });
  // Before 5.13 there is no line for full at the level of the CPU.
  const old = "some avg10=5.43 avg60=0.98 avg300=100.00 total=938141\n";
  assert.deepEqual(parsePressure(old), { waitingMs: 938.141, share: 5.43 / 100 });
});

Deno.test("parseCpuShares() gives the request that the kubelet wrote", () => {
  for (const [shares, request] of [[2, 0], [1024, 1000], [512, 500], [262144, 256000]]) {
    assert.equal(parseCpuShares(`${shares}\n`), request);
  }
});

forAll("requestOfLinearWeight() is at most one step of 26 m off what the kubelet wrote", [
  fc.integer({ min: 2, max: 256_000 }),
], (request) => {
  assert.equal(requestOfLinearWeight(1), 0);
  const shares = Math.floor(request * 1024 / 1000);
  const weight = 1 + Math.floor((Math.max(2, shares) - 2) * 9999 / 262142);
  const read = requestOfLinearWeight(weight);
  assert.ok(read <= request && request - read <= 28, `${request} read as ${read}`);
});

Deno.test("requestOfCurvedWeight() undoes the newer runtimes' curve", () => {
  // Points of the curve: least, default and largest; 102 shares are a request of 100 m.
  for (const [weight, request] of [[1, 0], [100, 1000], [10_000, 256_000], [17, 100]] as const) {
    const read = requestOfCurvedWeight(weight);
    assert.ok(Math.abs(read - request) <= 0.06 * request, `${weight} read as ${read}`);
  }
  assert.equal(parseCpuWeight("0\n"), 1);
});

Deno.test("countCpus() counts lists and ranges", () => {
  for (const [text, count] of [["0-3,8\n", 5], ["0\n", 1], ["\n", 0], ["0-1\n", 2]] as const) {
    assert.equal(countCpus(text, "cpuset.cpus"), count);
  }
});

Deno.test("every parser names file, line and text of what it cannot read", () => {
  const cases: readonly (readonly [() => unknown, RegExp])[] = [
    [() => parseCpuStatV2("usage_usec 1\nnr_periods x\n"), /cpu\.stat: line 2 is "x"/],
    [() => parseCpuStatV2("nr_periods 1\n"), /cpu\.stat.*usage_usec/],
    [() => parseCpuStatV1("nr_periods 1\n\n"), /cpu\.stat: line 2 is ""/],
    [() => parseCpuStatV1("nr_periods 1\n"), /cpu\.stat.*throttled_time/],
    [() => parseCpuacctUsage("-5\n"), /cpuacct\.usage: line 1 is "-5"/],
    [() => parseCpuMax("20000\n"), /cpu\.max: line 1 is "20000\\n"/],
    [() => parseCpuMax("20000 0\n"), /cpu\.max: line 1 is "0".*above 0/],
    [() => parseCfsQuota("-2\n", 100), /cpu\.cfs_quota_us: line 1 is "-2"/],
    [() => parseCfsPeriod("\n"), /cpu\.cfs_period_us: line 1 is ""/],
    [() => parseCfsPeriod("0\n"), /cpu\.cfs_period_us: line 1 is "0".*above 0/],
    [() => parsePressure("some avg10=nan\n"), /cpu\.pressure: line 1 is "some avg10=nan"/],
    [() => parsePressure(""), /cpu\.pressure: line 1/],
    [() => parseCpuShares("1 2\n"), /cpu\.shares: line 1 is "1 2"/],
    [() => parseCpuWeight("10001\n"), /cpu\.weight: line 1 is "10001"/],
    [() => countCpus("3-1\n", "cpuset.cpus"), /cpuset\.cpus: line 1 is "3-1"/],
    [() => parseCpuacctUsage("1\n2\n"), /cpuacct\.usage.*one line/],
    [() => parseCpuacctUsage("9".repeat(200)), /9{80}…/],
  ];
  for (const [parse, message] of cases) assert.throws(parse, { name: "SyntaxError", message });
});

/** Real texts, damaged: a piece cut out, repeated, or replaced by something else. */
const damaged = (text: string) =>
  fc.tuple(fc.nat(text.length), fc.nat(text.length), fc.string(), fc.boolean()).map(
    ([from, to, other, twice]) => text.slice(0, from) + other + text.slice(twice ? 0 : to),
  );

pure("every parser gives finite numbers or a SyntaxError, whatever the text", () => {
  const parsers: readonly (readonly [(text: string) => unknown, string])[] = [
    [parseCpuStatV2, "usage_usec 1\nnr_periods 2\nnr_throttled 0\nthrottled_usec 5\n"],
    [parseCpuStatV1, "nr_periods 2\nnr_throttled 0\nthrottled_time 5\n"],
    [parseCpuacctUsage, "107292866812141\n"],
    [parseCpuMax, "20000 100000\n"],
    [parseCpuMax, "max 100000\n"],
    [(text) => parseCfsQuota(text, 100), "20000\n"],
    [parseCfsPeriod, "100000\n"],
    [parsePressure, "some avg10=5.43 avg60=0.98 avg300=0.20 total=938141\n"],
    [parseCpuShares, "1024\n"],
    [(text) => requestOfLinearWeight(parseCpuWeight(text)), "39\n"],
    [(text) => requestOfCurvedWeight(parseCpuWeight(text)), "39\n"],
    [(text) => countCpus(text, "cpuset.cpus"), "0-3,8\n"],
  ];
  for (const [parse, valid] of parsers) {
    const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }), damaged(valid));
    fc.assert(fc.property(text, (garbage) => checkOutcome(() => parse(garbage))), cases(5));
  }
});

function checkOutcome(parse: () => unknown): void {
  let value: unknown;
  try {
    value = parse();
  } catch (error) {
    assert.ok(error instanceof SyntaxError, String(error));
    return;
  }
  // undefined stands for "no quota" only; JSON would turn NaN and Infinity into null.
  assert.ok(value === undefined || !/null/.test(JSON.stringify(value)), JSON.stringify(value));
  assert.ok(!/:-|^-/.test(JSON.stringify(value) ?? ""), JSON.stringify(value));
}

pure("readNodeUsage() reads the root's CPU time in either version, at any mount point", () => {
  const of = (layout: Parameters<typeof readNodeUsage>[1], files: Record<string, string>) =>
    readNodeUsage(createMemoryTree(files), layout);
  const v1 = { version: 1, cpu: "cpu", cpuacct: "cpuacct" } as const;
  const v2 = { version: 2, cpu: "", cpuacct: "" } as const;
  assert.equal(of(v1, { "cpuacct/cpuacct.usage": "2500000\n" }), 2.5);
  // The root has no bandwidth counters.
  assert.equal(of(v2, { "cpu.stat": "usage_usec 7000\nuser_usec 5000\nsystem_usec 2000\n" }), 7);
  assert.equal(of({ ...v2, cpu: "unified" }, { "unified/cpu.stat": "usage_usec 9000\n" }), 9);
  assert.equal(of(v1, { "cpu.stat": "usage_usec 7000\n" }), undefined);
  assert.throws(() => of(v2, { "cpu.stat": "usage 7\n" }), SyntaxError);
});

pure("readNodeCores() counts the root's CPUs in either version", () => {
  const of = (files: Record<string, string>) => readNodeCores(createMemoryTree(files));
  assert.equal(of({ "cpuset.cpus.effective": "0-3,8\n" }), 5);
  assert.equal(of({ "cpuset/cpuset.effective_cpus": "0-1\n" }), 2);
  assert.equal(of({ "cpuset/cpuset.effective_cpus": "\n", "cpuset/cpuset.cpus": "0-7\n" }), 8);
  assert.equal(of({}), undefined);
  assert.throws(() => of({ "cpuset/cpuset.cpus": "all\n" }), /cpuset\.cpus: line 1 is "all"/);
});

Deno.test("ignoresLimits() follows the state of sched_ext in a tree of files", async () => {
  const root = await Deno.makeTempDir({ prefix: "kernel-" });
  try {
    using kernel = openCgroupTree(root);
    using absent = openCgroupTree(`${root}/nowhere`);
    assert.equal(ignoresLimits(kernel), false);
    await Deno.mkdir(`${root}/sched_ext`);
    assert.equal(ignoresLimits(kernel), false);
    for (const state of ["disabled", "enabling", "enabled", "disabling", "disabled"]) {
      await Deno.writeTextFile(`${root}/sched_ext/state`, `${state}\n`);
      assert.equal(ignoresLimits(kernel), state !== "disabled", state);
    }
    assert.equal(ignoresLimits(absent), false);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

const trees = (...directories: string[]) =>
  createMemoryTree(Object.fromEntries(directories.map((path) => [`${path}/cpu.stat`, ""])));

pure("findLayout() distinguishes the versions by what is there", () => {
  const cases: readonly (readonly [string[], 1 | 2, string, string])[] = [
    [["kubepods.slice", "system.slice"], 2, "", ""],
    [["cpu/kubepods", "cpuacct/kubepods", "memory/kubepods"], 1, "cpu", "cpuacct"],
    [["cpu,cpuacct/kubepods", "cpu", "cpuacct"], 1, "cpu,cpuacct", "cpu,cpuacct"],
    [["cpuacct,cpu/kubepods"], 1, "cpuacct,cpu", "cpuacct,cpu"],
    // Hybrid: systemd keeps the same directories in version 2, without the cpu controller.
    [["cpu/kubepods", "cpuacct/kubepods", "unified/kubepods"], 1, "cpu", "cpuacct"],
    [["unified/kubepods.slice", "memory/x"], 2, "unified", "unified"],
  ];
  for (const [directories, version, cpu, cpuacct] of cases) {
    const layout = findLayout(trees(...directories));
    assert.deepEqual([layout.version, layout.cpu, layout.cpuacct], [version, cpu, cpuacct]);
  }
});

pure("findLayout() takes the nearest root, not those of nodes nested in this one", () => {
  const nested = "system.slice/docker-a.scope/kubelet.slice/kubelet-kubepods.slice";
  assert.deepEqual(findLayout(trees("kubepods.slice", nested)).roots, ["kubepods.slice"]);
  assert.deepEqual(findLayout(trees(nested)).roots, [nested]);
});

pure("findLayout() lists what it tried when there is none, or of another controller only", () => {
  assert.throws(() => findLayout(trees("memory/kubepods", "cpuset/kubepods")), /Cannot find/);
  assert.throws(() => findLayout(trees("cpu/docker/x", "cpuacct/docker/x", "system.slice")), {
    name: "Error",
    message: /joined \(not mounted\).*apart \(.*: 3\).*cgroup v2 \(.*: 2\).*\/sys\/fs\/cgroup/,
  });
});

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const U = UID.replaceAll("-", "_");
const C = "c0".repeat(32);
const STATIC = "5f".repeat(16);

/** Each layout: the container's directory, and what is to be found. */
interface Case {
  readonly directory: string;
  readonly uid?: string;
  /** Where the container is read; absent: the directory itself. */
  readonly read?: string;
  /** Absent: the directory above the container's. `null`: the pod has none. */
  readonly pod?: string | null;
  /** Directories beside it that are none of its. */
  readonly beside?: readonly string[];
}

const SLICE = "kubepods.slice/kubepods";
const SYSTEMD = `${SLICE}-burstable.slice/kubepods-burstable-pod${U}.slice`;

const CASES: readonly Case[] = [
  ...["cri-containerd-", "crio-", "docker-", "pouch-"].map((prefix) => ({
    directory: `${SYSTEMD}/${prefix}${C}.scope`,
  })),
  {
    directory:
      `${SLICE}-besteffort.slice/kubepods-besteffort-pod${U}.slice/cri-containerd-${C}.scope`,
  },
  { directory: `kubepods.slice/kubepods-pod${U}.slice/cri-containerd-${C}.scope` },
  { directory: `kubepods/burstable/pod${UID}/${C}` },
  { directory: `kubepods/besteffort/pod${UID}/${C}` },
  { directory: `kubepods/pod${UID}/${C}` },
  { directory: `kubepods/pod${UID}/crio-${C}` },
  {
    directory: "kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/" +
      `kubelet-kubepods-burstable-pod${U}.slice/cri-containerd-${C}.scope`,
  },
  {
    directory: "kubelet.slice/kubelet-kubepods.slice/" +
      `kubelet-kubepods-pod${U}.slice/cri-containerd-${C}.scope`,
  },
  { directory: `kubelet/kubepods/burstable/pod${UID}/${C}` },
  {
    directory: `${SYSTEMD}/crio-${C}.scope`,
    read: `${SYSTEMD}/crio-${C}.scope/container`,
    beside: [`${SYSTEMD}/crio-${C}.scope/container`, `${SYSTEMD}/crio-conmon-${C}.scope`],
  },
  {
    directory:
      `system.slice/containerd.service/kubepods-burstable-pod${U}.slice:cri-containerd:${C}`,
    pod: SYSTEMD,
    beside: [SYSTEMD],
  },
  {
    directory: `system.slice/crio.service/kubepods-pod${U}.slice:crio:${C}`,
    pod: null,
    beside: ["kubepods.slice"],
  },
  {
    directory: `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${STATIC}.slice/` +
      `cri-containerd-${C}.scope`,
    uid: STATIC,
  },
  { directory: `kubepods/burstable/pod${STATIC}/${C}`, uid: STATIC },
  {
    directory: "system.slice/docker-NODE.scope/kubelet.slice/kubelet-kubepods.slice/" +
      `kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod${U}.slice/` +
      `cri-containerd-${C}.scope`,
  },
  {
    directory: "system.slice/docker-NODE.scope/system.slice/containerd.service/" +
      `kubelet-kubepods-burstable-pod${U}.slice:cri-containerd:${C}`,
    pod: null,
    beside: ["system.slice/docker-NODE.scope/kubelet.slice/kubelet-kubepods.slice"],
  },
  { directory: `docker/${"ab".repeat(32)}/kubelet/kubepods/burstable/pod${UID}/${C}` },
];

const MOUNTS = [
  { name: "v2", cpu: "", others: [""] },
  { name: "v1 apart", cpu: "cpu/", others: ["cpuacct/", "memory/"] },
  { name: "v1 joined", cpu: "cpu,cpuacct/", others: ["memory/"] },
  { name: "hybrid", cpu: "cpu/", others: ["cpuacct/", "unified/"] },
];

for (const { name, cpu, others } of MOUNTS) {
  pure(`listPods() finds pod and container in every known layout (${name})`, () => {
    for (const { directory, uid = UID, read = directory, pod, beside = [] } of CASES) {
      const tree = createMemoryTree();
      for (const mount of [cpu, ...others]) {
        for (const path of [directory, ...beside]) tree.write(`${mount}${path}/cpu.stat`, "");
        tree.write(`${mount}system.slice/ssh.service/cpu.stat`, "");
      }
      const above = directory.slice(0, directory.lastIndexOf("/"));
      const own = pod === null ? {} : { directory: pod ?? above };
      const expected = [{ uid, ...own, containers: [{ id: C, directory: read }] }];
      assert.deepEqual(listPods(tree, findLayout(tree)), expected, directory);
    }
  });
}

pure("listPods() lists several containers, pods that have none yet, and none that is gone", () => {
  const tree = createMemoryTree({
    [`kubepods/pod${UID}/${C}/cpu.stat`]: "",
    [`kubepods/pod${UID}/${"d1".repeat(32)}/cpu.stat`]: "",
    [`kubepods/burstable/pod${STATIC}/cpu.stat`]: "",
    "kubepods/burstable/cpu.stat": "",
    "kubepods/besteffort/podless/not-an-id/cpu.stat": "",
    "kubepods/other/cpu.stat": "",
  });
  const layout = findLayout(tree);
  const found = listPods(tree, layout).map(({ uid, containers }) => [uid, containers.length]);
  assert.deepEqual(found.sort(), [[UID, 2], [STATIC, 0]].sort());
  tree.remove("kubepods");
  assert.deepEqual(listPods(tree, layout), []);
});
