import assert from "node:assert/strict";
import fc from "fast-check";
import { seededRandom } from "../../shared/random.ts";
import { busyLoop } from "../../tests/fixtures/busy_loop.ts";
import { latencyQuantile } from "./latency_histogram.ts";
import type { ArrivalProcess } from "./request_server.ts";
import { createSimulatedNode, type PodSpec, type SimulatedNode } from "./simulated_node.ts";

/** Requests at given times, each with the same cost, ms. */
function requests(times: readonly number[], costMs: number): ArrivalProcess {
  let index = 0;
  return {
    nextAt: times[0] ?? Infinity,
    nextCost: costMs,
    next() {
      this.nextAt = times[++index] ?? Infinity;
    },
  };
}

function onePod(
  workload: ArrivalProcess,
  options: { limit?: number; threads?: number; uid?: string; request?: number } = {},
): PodSpec {
  const { threads = 4, uid = "pod", request = 100, limit } = options;
  const container = { id: `c-${uid}`, request, threads, workload };
  return {
    uid,
    phaseMs: 0,
    containers: [limit === undefined ? container : { ...container, limit }],
  };
}

function nodeWith(cores: number, ...pods: readonly PodSpec[]): SimulatedNode {
  const node = createSimulatedNode({ cores, random: seededRandom(1) });
  for (const pod of pods) node.addPod(pod);
  return node;
}

interface Case {
  readonly name: string;
  readonly limit: number;
  readonly threads: number;
  readonly seconds: number;
  /** Recorded on a real kernel with at least 4 cores, s. */
  readonly throttledS: number;
  readonly usedS: number;
  /** Share of the recorded value. */
  readonly tolerance: number;
}

const CLOSED_CASES: readonly Case[] = [
  {
    name: "150 ms, 4 threads",
    limit: 1500,
    threads: 4,
    seconds: 10,
    throttledS: 25,
    usedS: 15.2,
    tolerance: 0.015,
  },
  {
    name: "100 ms, 2 threads",
    limit: 1000,
    threads: 2,
    seconds: 10,
    throttledS: 9.9,
    usedS: 10,
    tolerance: 0.011,
  },
  {
    name: "100 ms, 1 thread",
    limit: 1000,
    threads: 1,
    seconds: 10,
    throttledS: 0,
    usedS: 10,
    tolerance: 0,
  },
  // Ideal: 1276 × 50 ms = 63.8 s. The kernel's quota slices left 3.5 % less.
  {
    name: "50 ms, 1 thread",
    limit: 500,
    threads: 1,
    seconds: 127.6,
    throttledS: 61.6,
    usedS: 63.8,
    tolerance: 0.036,
  },
];

for (const { name, limit, threads, seconds, throttledS, usedS, tolerance } of CLOSED_CASES) {
  Deno.test({
    name: `createSimulatedNode() reproduces the recorded closed case ${name}`,
    permissions: "none",
    fn() {
      const node = nodeWith(4, onePod(busyLoop(threads), { limit, threads }));
      // One slice more: the last period is accounted at the refill that ends it.
      node.advance(seconds * 1000 + 10);
      const pod = node.pod("pod");
      const held = pod.heldBackUs / 1e6;
      assert.ok(Math.abs(held - throttledS) <= tolerance * throttledS, `throttled ${held} s`);
      const used = pod.usageUs / 1e6;
      assert.ok(Math.abs(used - usedS) <= 0.02 * usedS, `used ${used} s`);
      assert.equal(node.container("c-pod").periods, Math.round(seconds * 10));
    },
  });
}

Deno.test({
  name: "createSimulatedNode() holds back n × max(0, period − quota / n) a period, at either level",
  permissions: "none",
  fn: () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 5000 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 8 }),
        (limit, threads, cores) => {
          const node = nodeWith(cores, onePod(busyLoop(threads), { limit, threads }));
          node.advance(2010);
          const n = Math.min(threads, cores);
          const perPeriod = n * Math.max(0, 100 - limit / 10 / n);
          const pod = node.pod("pod");
          const container = node.container("c-pod");
          assert.ok(Math.abs(pod.heldBackUs - 20_000 * perPeriod) <= 2);
          assert.equal(pod.throttledUs + container.throttledUs, pod.heldBackUs);
          assert.equal(pod.throttledPeriods + container.throttledPeriods, perPeriod > 0 ? 20 : 0);
          assert.equal(pod.usageUs, container.usageUs);
        },
      ),
      { numRuns: 200 },
    ),
});

Deno.test({
  name: "createSimulatedNode() ends a request after its own work when nothing is short",
  permissions: "none",
  fn() {
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
  },
});

Deno.test({
  name: "createSimulatedNode() queues requests beyond the threads, first come, first served",
  permissions: "none",
  fn() {
    const node = nodeWith(4, onePod(requests([0, 0, 0, 0], 40), { threads: 2 }));
    node.advance(200);
    const { latency, completed } = node.pod("pod");
    assert.equal(completed, 4);
    assert.ok(Math.abs(latencyQuantile(latency, 0.5) / 40 - 1) <= 0.01);
    assert.ok(Math.abs(latencyQuantile(latency, 1) / 80 - 1) <= 0.01);
  },
});

Deno.test({
  name: "createSimulatedNode() lets a held request wait for the refills it needs",
  permissions: "none",
  fn() {
    // 20 ms a period: 50 ms of work end after 10 ms of the third period, at 210 ms.
    const node = nodeWith(4, onePod(requests([0], 50), { limit: 200 }));
    node.advance(400);
    const { latency, heldBackUs, waitedUs } = node.pod("pod");
    assert.ok(Math.abs(latencyQuantile(latency, 1) / 210 - 1) <= 0.01);
    assert.equal(heldBackUs, 160_000);
    assert.equal(waitedUs, 160_000);
  },
});

Deno.test({
  name: "setContainerQuota() and setPodQuota() count from the next refill",
  permissions: "none",
  fn() {
    const node = nodeWith(4, onePod(busyLoop(1), { limit: 200 }));
    node.advance(50);
    node.setContainerQuota("c-pod", 700);
    node.setPodQuota("pod", 700);
    assert.equal(node.container("c-pod").quota, 700);
    node.advance(100);
    assert.equal(node.pod("pod").usageUs, 20_000);
    node.advance(200);
    assert.equal(node.pod("pod").usageUs, 90_000);
    node.setContainerQuota("c-pod", undefined);
    node.advance(300);
    assert.equal(node.pod("pod").usageUs, 160_000);
    assert.equal(node.container("c-pod").quota, undefined);
  },
});

Deno.test({
  name: "createSimulatedNode() counts no periods of an idle group",
  permissions: "none",
  fn() {
    const node = nodeWith(4, onePod(requests([1000], 30), { limit: 200 }));
    node.advance(5000);
    // 30 ms at 20 ms a period: two periods, throttled in the first.
    const { periods } = node.container("c-pod");
    assert.equal(periods, 2);
    const both = node.container("c-pod").throttledPeriods + node.pod("pod").throttledPeriods;
    assert.equal(both, 1);
  },
});

Deno.test({
  name: "createSimulatedNode() divides short cores by weight, and nobody loses quota by waiting",
  permissions: "none",
  fn() {
    // Weights 39 and 118 of 2 cores: 2 × 39 / 157 = 0.497 and 1.503 cores.
    const node = nodeWith(
      2,
      onePod(busyLoop(4), { uid: "small", request: 1000 }),
      onePod(busyLoop(4), { uid: "large", request: 3000 }),
    );
    node.advance(10_000);
    assert.ok(Math.abs(node.pod("small").usageUs - 10e6 * 2 * 39 / 157) <= 1);
    assert.ok(Math.abs(node.pod("large").usageUs - 10e6 * 2 * 118 / 157) <= 1);
    assert.equal(node.pod("small").waitedUs, 10_000_000);
    assert.equal(node.pod("small").throttledUs, 0);
  },
});

Deno.test({
  name: "createSimulatedNode() divides a pod's share among its containers, under the pod's quota",
  permissions: "none",
  fn() {
    const container = (id: string, request: number) => ({
      id,
      request,
      limit: 1000,
      threads: 2,
      workload: busyLoop(2),
    });
    const spec = { uid: "p", phaseMs: 0, containers: [container("a", 1000), container("b", 1000)] };
    const node = nodeWith(8, { ...spec, podLimit: 1000 });
    node.advance(1010);
    // Four threads use the pod's 100 ms in 25 ms, then stand still for 75 ms.
    assert.equal(node.pod("p").usageUs, 1_000_000 + 40_000);
    assert.equal(node.pod("p").throttledUs, 3_000_000);
    assert.equal(node.container("a").throttledUs, 0);
    assert.equal(node.container("a").usageUs, node.container("b").usageUs);
  },
});

Deno.test({
  name: "createSimulatedNode() conserves work and CPU for any mix of pods, alone or together",
  permissions: "none",
  fn: () =>
    fc.assert(
      fc.property(
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
          const node = createSimulatedNode({ cores, random: seededRandom(5) });
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
            // The period cut off by the drawn phase has a whole quota too.
            assert.ok(pod.usageUs <= limit * 100 * 31 + 1);
            assert.ok(pod.waitedUs <= 3_000_000);
          });
          assert.ok(used <= cores * 3_000_000 + pods.length);
        },
      ),
      { numRuns: 200 },
    ),
});

Deno.test({
  name: "createSimulatedNode() gives an endless thread of a late pod its CPU from then on",
  permissions: "none",
  fn() {
    const node = nodeWith(2);
    node.advance(1000);
    node.addPod(onePod(busyLoop(1)));
    node.addPod(onePod(requests([400, 1600], 10), { uid: "late" }));
    node.advance(3000);
    assert.equal(node.pod("pod").usageUs, 2_000_000);
    assert.equal(node.pod("pod").offeredUs, 2_000_000);
    assert.equal(node.pod("late").completed, 1);
    node.removePod("pod");
    assert.deepEqual(node.pods(), [{ uid: "late", containerIDs: ["c-late"] }]);
    assert.throws(() => node.container("c-pod"), /c-pod: it is not on the node/);
  },
});

Deno.test({
  name: "createSimulatedNode() names what is wrong with a node, a pod or a quota",
  permissions: "none",
  fn() {
    const random = seededRandom(1);
    assert.throws(() => createSimulatedNode({ cores: 0, random }), /cores is 0/);
    assert.throws(() => createSimulatedNode({ cores: 1, random, sliceMs: 30 }), /does not divide/);
    const node = nodeWith(1, onePod(busyLoop(1)));
    assert.throws(() => node.addPod(onePod(busyLoop(1))), /already on the node/);
    assert.throws(
      () => node.addPod(onePod(busyLoop(1), { uid: "x", threads: 0 })),
      /threads of container c-x is 0/,
    );
    assert.throws(() => node.setPodQuota("pod", NaN), /NaN is not a number/);
    node.advance(100);
    assert.throws(() => node.advance(50), /50 ms is before 100 ms/);
  },
});
