import fc from "fast-check";
import assert from "node:assert/strict";
import {
  cgroupFiles,
  readCounters,
  readQuota,
  readRequest,
} from "../../../shared/cgroup/cgroup_files.ts";
import { findLayout } from "../../../shared/cgroup/layout.ts";
import { readNodeCores } from "../../../shared/cgroup/node_files.ts";
import { listPods } from "../../../shared/cgroup/pod_cgroups.ts";
import { seededRandom } from "../../../shared/random.ts";
import { endlessWork } from "../workload.ts";
import { nodeWith, onePod, requests } from "../../../tests/fixtures/lab/one_pod_node.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { cgroupView } from "./cgroup_view.ts";
import {
  countAbove,
  createLatencyHistogram,
  latencyQuantile,
  mergedLatencies,
  recordLatency,
} from "./latency_histogram.ts";
import { SimulatedNode } from "./simulated_node.ts";
import { cpuWeight, createClaims, shareByWeight } from "./cpu_slices.ts";

pure("SimulatedNode ends a request after its own work when nothing is short", () => {
  const node = nodeWith(2, onePod(requests([3, 100, 101], 25), { limit: 2000 }));
  node.advance(200);
  const { latency, completed, open, usageUs, offeredUs, throttledUs } = node.pod("pod");
  assert.deepEqual({ completed, open, usageUs, offeredUs, throttledUs }, {
    completed: 3,
    open: 0,
    usageUs: 75_000,
    offeredUs: 75_000,
    throttledUs: 0,
  });
  assert.ok(Math.abs(latencyQuantile(latency, 1) / 25 - 1) <= 0.01);
});

pure("SimulatedNode queues requests beyond the threads, first come, first served", () => {
  const node = nodeWith(4, onePod(requests([0, 0, 0, 0], 40), { threads: 2 }));
  node.advance(200);
  const { latency, completed } = node.pod("pod");
  assert.equal(completed, 4);
  assert.ok(Math.abs(latencyQuantile(latency, 0.5) / 40 - 1) <= 0.01);
  assert.ok(Math.abs(latencyQuantile(latency, 1) / 80 - 1) <= 0.01);
});

pure("SimulatedNode drops requests that clients gave up, and counts late ones", () => {
  // One thread, 40 ms each, clients wait for 70 ms: the second ends at 80 ms, too late; the third
  // starts at once after it, dropped; the fourth came at 50 ms and is done at 120 ms, just in time.
  const node = nodeWith(4, onePod(requests([0, 0, 0, 50], 40), { threads: 1, giveUpMs: 70 }));
  node.advance(200);
  const { latency, completed, open, usageUs } = node.pod("pod");
  assert.deepEqual([latency.failed, completed, open, usageUs], [2, 4, 0, 120_000]);
  assert.deepEqual([countAbove(latency, 71), countAbove(latency, 41)], [0, 3]);
});

pure("SimulatedNode divides short cores by weight, which setContainerRequest() moves", () => {
  // Weights 39 and 118 of 2 cores: 2 × 39 / 157 = 0.497 and 1.503 cores.
  const [small, large] = [{ uid: "small", request: 1000 }, { uid: "large", request: 3000 }];
  const node = nodeWith(2, onePod(endlessWork(4), small), onePod(endlessWork(4), large));
  node.advance(5000);
  const { usageUs: before, waitedUs, throttledUs } = node.pod("small");
  assert.ok(Math.abs(before - 5e6 * 2 * 39 / 157) <= 1);
  assert.ok(Math.abs(node.pod("large").usageUs - 5e6 * 2 * 118 / 157) <= 1);
  // No pod loses quota by waiting.
  assert.deepEqual([waitedUs, throttledUs], [5_000_000, 0]);
  node.setContainerRequest("c-small", 3000);
  assert.deepEqual([node.container("c-small").weight, node.pod("small").weight], [118, 118]);
  node.advance(10_000);
  assert.ok(Math.abs(node.pod("small").usageUs - before - 5e6) <= 1);
  assert.throws(() => node.setContainerRequest("unknown", 1), RangeError);
});

pure("SimulatedNode divides a pod's share among its containers, by its quota", () => {
  const container = (id: string, request: number) => ({
    id,
    request,
    limit: 1000,
    threads: 2,
    workload: endlessWork(2),
  });
  const spec = { uid: "p", phaseMs: 0, containers: [container("a", 1000), container("b", 1000)] };
  const node = nodeWith(8, { ...spec, podLimit: 1000 });
  node.advance(1010);
  // Four threads use the pod's 100 ms in 25 ms, and up to a tick of credit, then stand still.
  const { usageUs, throttledUs } = node.pod("p");
  assert.ok(usageUs >= 1_040_000 && usageUs < 1_056_000, `${usageUs}`);
  assert.ok(Math.abs(throttledUs - (4_040_000 - usageUs)) <= 2);
  assert.equal(node.container("a").throttledUs, 0);
  assert.equal(node.container("a").usageUs, node.container("b").usageUs);
});

pure(
  "SimulatedNode conserves work and CPU for any mix of pods, alone or together",
  () =>
    fc.assert(fc.property(
      fc.integer({ min: 1, max: 6 }),
      fc.array(
        fc.record({
          times: fc.array(fc.double({ min: 0, max: 2900, noNaN: true }), { maxLength: 40 }),
          costMs: fc.double({ min: 0.1, max: 80, noNaN: true }),
          limit: fc.option(fc.integer({ min: 50, max: 4000 }), { nil: undefined }),
          threads: fc.integer({ min: 1, max: 6 }),
          request: fc.integer({ min: 0, max: 4000 }),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      (cores, pods) => {
        const node = new SimulatedNode({ cores, random: seededRandom(5) });
        pods.forEach(({ times, costMs, limit, threads, request }, index) => {
          const workload = requests(times.toSorted((a, b) => a - b), costMs);
          const base = { id: `c${index}`, request, threads, workload };
          node.addPod({
            uid: `p${index}`,
            containers: [limit === undefined ? base : { ...base, limit }],
          });
        });
        node.advance(3000);
        let used = 0;
        pods.forEach(({ times, costMs, limit = Infinity }, index) => {
          const pod = node.pod(`p${index}`);
          used += pod.usageUs;
          assert.equal(pod.completed + pod.open, times.length);
          assert.ok(Math.abs(pod.offeredUs - times.length * costMs * 1000) <= 1);
          assert.ok(pod.usageUs <= pod.offeredUs + 1);
          assert.ok(pod.usageUs >= pod.completed * costMs * 1000 - 1);
          // The period cut off by the drawn phase has a whole quota too; a tick each is on credit.
          assert.ok(pod.usageUs <= limit * 100 * 31 + 4000 * pods[index]!.threads + 1);
          assert.ok(pod.waitedUs <= 3_000_000);
        });
        assert.ok(used <= cores * 3_000_000 + pods.length);
      },
    )),
);

pure("SimulatedNode gives an endless thread of a late pod its CPU from then on", () => {
  const node = nodeWith(2);
  node.advance(1000);
  node.addPod(onePod(endlessWork(1)));
  node.addPod(onePod(requests([400, 1600], 10), { uid: "late" }));
  node.advance(3000);
  assert.equal(node.pod("pod").usageUs, 2_000_000);
  assert.equal(node.pod("pod").offeredUs, 2_000_000);
  assert.equal(node.pod("late").completed, 1);
  node.removePod("pod");
  assert.deepEqual(node.pods(), [{ uid: "late", containerIDs: ["c-late"] }]);
  assert.throws(() => node.container("c-pod"), { name: "RangeError", message: /c-pod/ });
});

pure("advance() refuses to go back", () => {
  const node = nodeWith(1);
  node.advance(100);
  assert.throws(() => node.advance(50), /50 ms is before 100 ms/);
});

const UID = "0a4f7c1e-5d0b-4f6e-9a51-1c0f6a7b8d01";
const ID = "1f".repeat(32);
const POD = "kubepods.slice/kubepods-burstable.slice/" +
  "kubepods-burstable-pod0a4f7c1e_5d0b_4f6e_9a51_1c0f6a7b8d01.slice";

function busyNode() {
  const node = new SimulatedNode({ cores: 2, random: seededRandom(1) });
  node.addPod({
    uid: UID,
    podLimit: 400,
    phaseMs: 0,
    containers: [{ id: ID, request: 100, limit: 200, threads: 1, workload: endlessWork(1) }],
  });
  node.advance(310);
  return node;
}

pure("cgroupView() shows each file of a container with the kernel's keys and units", () => {
  const node = busyNode();
  const tree = cgroupView(node);
  const read = (file: string) => tree.read(`${POD}/cri-containerd-${ID}.scope/${file}`);
  // Three whole periods of 20 ms at 1 thread, 10 ms of the fourth, and up to a tick on credit.
  const { usageUs } = node.container(ID);
  assert.ok(usageUs >= 70_000 && usageUs < 74_000);
  const heldUs = 310_000 - usageUs;
  assert.equal(
    read("cpu.stat"),
    `usage_usec ${usageUs}\nuser_usec ${usageUs}\nsystem_usec 0\nnr_periods 3\nnr_throttled 3\n` +
      `throttled_usec ${heldUs}\nnr_bursts 0\nburst_usec 0\n`,
  );
  assert.equal(read("cpu.max"), "20000 100000\n");
  assert.equal(read("cpu.weight"), "4\n");
  assert.match(
    read("cpu.pressure") ?? "",
    new RegExp(`^some avg10=0\\.00 .* total=${heldUs}\nfull `),
  );
  assert.equal(tree.read(`${POD}/cpu.max`), "40000 100000\n");
  assert.match(tree.read(`${POD}/cpu.stat`) ?? "", /nr_periods 3\nnr_throttled 0\n/);
  assert.equal(tree.read(`${POD}/memory.max`), undefined);
});

pure("cgroupView() lists the directories and follows pods that come and go", () => {
  const node = busyNode();
  const tree = cgroupView(node);
  assert.deepEqual(tree.children(""), ["kubepods.slice"]);
  assert.deepEqual(tree.children(POD), [`cri-containerd-${ID}.scope`]);
  assert.deepEqual(tree.children(`${POD}/cri-containerd-${ID}.scope`), []);
  assert.notEqual(tree.read("cgroup.controllers"), undefined);
  node.setContainerQuota(ID, undefined);
  assert.equal(tree.read(`${POD}/cri-containerd-${ID}.scope/cpu.max`), "max 100000\n");
  node.removePod(UID);
  assert.equal(tree.children(POD), undefined);
  assert.equal(tree.read(`${POD}/cpu.max`), undefined);
  assert.deepEqual(tree.children("kubepods.slice/kubepods-burstable.slice"), []);
});

pure("cgroupView() is read by the agent's own readers, both levels and the node's CPUs", () => {
  const node = busyNode();
  const tree = cgroupView(node);
  assert.equal(readNodeCores(tree), 2);
  const layout = findLayout(tree);
  assert.equal(layout.version, 2);
  const pods = listPods(tree, layout);
  assert.deepEqual(pods.map(({ uid }) => uid), [UID]);
  const container = pods[0]?.containers[0] ?? assert.fail("no container");
  assert.equal(container.id, ID);
  const files = cgroupFiles(layout, container.directory);
  const { usageUs } = node.container(ID);
  assert.deepEqual(readCounters(tree, files, { at: 310, pressure: true }), {
    at: 310,
    usageMs: usageUs / 1000,
    periods: 3,
    throttledPeriods: 3,
    throttledMs: (310_000 - usageUs) / 1000,
    pressureMs: (310_000 - usageUs) / 1000,
  });
  assert.equal(readQuota(tree, files, { periodMs: 100 }), 200);
  const podFiles = cgroupFiles(layout, pods[0]?.directory ?? "");
  assert.equal(readQuota(tree, podFiles, { periodMs: 100 }), 400);
  // 100 m is weight 4, which reads back as at most 26 m less.
  const request = readRequest(tree, podFiles)?.linear ?? NaN;
  assert.ok(request <= 100 && request > 74, `${request}`);
});

function shares(claims: readonly (readonly [wanted: number, weight: number])[], capacity: number) {
  const table = createClaims(claims.length);
  table.count = claims.length;
  claims.forEach(([wanted, weight], index) => {
    table.wanted[index] = wanted;
    table.weights[index] = weight;
  });
  shareByWeight(table, capacity);
  return [...table.given];
}

pure(
  "shareByWeight() is work-conserving, bounded and weighted max-min fair",
  () =>
    fc.assert(fc.property(
      fc.array(
        fc.tuple(
          fc.double({ min: 0, max: 16, noNaN: true }),
          fc.double({ min: 0.5, max: 1000, noNaN: true }),
        ),
        { minLength: 1, maxLength: 30 },
      ),
      fc.double({ min: 0.1, max: 64, noNaN: true }),
      (claims, capacity) => {
        const given = shares(claims, capacity);
        const wanted = claims.reduce((sum, [want]) => sum + want, 0);
        const used = given.reduce((sum, share) => sum + share, 0);
        assert.ok(Math.abs(used - Math.min(wanted, capacity)) <= 1e-9 * Math.max(1, wanted));
        const levels = claims.map(([want, weight], index) => {
          const share = given[index] ?? NaN;
          assert.ok(share >= 0 && share <= want);
          return { level: share / weight, short: share < want - 1e-9 };
        });
        for (const short of levels.filter((one) => one.short)) {
          for (const other of levels) assert.ok(other.level <= short.level + 1e-9);
        }
      },
    )),
);

pure("cpuWeight() maps requests as kubelet and runtime do", () => {
  assert.deepEqual(
    [0, 1, 100, 1000, 4000, 255_000, 1e9].map(cpuWeight),
    [1, 1, 4, 39, 157, 9960, 10_000],
  );
});

pure("latencyQuantile() stays within 1 % of the nearest-rank value", () =>
  fc.assert(fc.property(
    fc.array(fc.double({ min: 0.011, max: 1e8, noNaN: true }), { minLength: 1 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (values, quantile) => {
      const histogram = createLatencyHistogram();
      for (const value of values) recordLatency(histogram, value);
      const sorted = values.toSorted((a, b) => a - b);
      const rank = Math.max(1, Math.ceil(quantile * values.length));
      const expected = sorted[rank - 1] ?? NaN;
      const error = Math.abs(latencyQuantile(histogram, quantile) / expected - 1);
      assert.ok(error <= 0.01 + 1e-9, `error ${error}`);
    },
  )));

pure("latencyQuantile() is 0 without values and refuses a share outside 0 to 1", () => {
  assert.equal(latencyQuantile(createLatencyHistogram(), 0.5), 0);
  assert.throws(() => latencyQuantile(createLatencyHistogram(), 1.1), /1\.1 is not between/);
});

pure("recordLatency() keeps what lies outside its range in the outermost buckets", () => {
  const histogram = createLatencyHistogram();
  recordLatency(histogram, 0);
  recordLatency(histogram, 1e12);
  assert.equal(histogram.total, 2);
  assert.ok(latencyQuantile(histogram, 0.5) < 0.0102);
  assert.ok(latencyQuantile(histogram, 1) > 1e8);
});

pure("mergedLatencies() counts as if all values had been recorded in one", () => {
  const [left, right, both] = [1, 2, 3].map(createLatencyHistogram);
  assert.ok(left && right && both);
  for (let ms = 1; ms <= 100; ms++) {
    recordLatency(ms % 3 === 0 ? left : right, ms);
    recordLatency(both, ms);
  }
  assert.deepEqual(mergedLatencies([left, right]), both);
});
