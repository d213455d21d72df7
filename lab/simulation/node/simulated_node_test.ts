import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { seededRandom } from "../../../shared/random.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import { nodeWith, onePod, requests } from "../../../tests/fixtures/lab/one_pod_node.ts";
import { countAbove, latencyQuantile } from "./latency_histogram.ts";
import { createSimulatedNode } from "./simulated_node.ts";

pure("createSimulatedNode() ends a request after its own work when nothing is short", () => {
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

pure("createSimulatedNode() queues requests beyond the threads, first come, first served", () => {
  const node = nodeWith(4, onePod(requests([0, 0, 0, 0], 40), { threads: 2 }));
  node.advance(200);
  const { latency, completed } = node.pod("pod");
  assert.equal(completed, 4);
  assert.ok(Math.abs(latencyQuantile(latency, 0.5) / 40 - 1) <= 0.01);
  assert.ok(Math.abs(latencyQuantile(latency, 1) / 80 - 1) <= 0.01);
});

pure(
  "createSimulatedNode() drops requests that clients have given up, and counts late answers",
  () => {
    // One thread, 40 ms each, clients wait for 70 ms: the second ends at 80 ms, too late; the third
    // starts at once after it, dropped; the fourth came at 50 ms and is done at 120 ms, just in time.
    const node = nodeWith(4, onePod(requests([0, 0, 0, 50], 40), { threads: 1, giveUpMs: 70 }));
    node.advance(200);
    const { latency, completed, open, usageUs } = node.pod("pod");
    assert.deepEqual([latency.failed, completed, open, usageUs], [2, 4, 0, 120_000]);
    assert.deepEqual([countAbove(latency, 71), countAbove(latency, 41)], [0, 3]);
  },
);

pure(
  "createSimulatedNode() divides short cores by weight, and no pod loses quota by waiting",
  () => {
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
);

pure("setContainerRequest() moves the weights of a container and of its pod", () => {
  const node = nodeWith(
    2,
    onePod(busyLoop(4), { uid: "small", request: 1000 }),
    onePod(busyLoop(4), { uid: "large", request: 3000 }),
  );
  node.advance(5000);
  const before = node.pod("small").usageUs;
  assert.ok(Math.abs(before - 5e6 * 2 * 39 / 157) <= 1);
  node.setContainerRequest("c-small", 3000);
  assert.deepEqual([node.container("c-small").weight, node.pod("small").weight], [118, 118]);
  node.advance(10_000);
  assert.ok(Math.abs(node.pod("small").usageUs - before - 5e6) <= 1);
  assert.throws(() => node.setContainerRequest("unknown", 1), RangeError);
});

pure(
  "createSimulatedNode() divides a pod's share among its containers, under the pod's quota",
  () => {
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
    // Four threads use the pod's 100 ms in 25 ms, and up to a tick of credit, then stand still.
    const { usageUs, throttledUs } = node.pod("p");
    assert.ok(usageUs >= 1_040_000 && usageUs < 1_056_000, `${usageUs}`);
    assert.ok(Math.abs(throttledUs - (4_040_000 - usageUs)) <= 2);
    assert.equal(node.container("a").throttledUs, 0);
    assert.equal(node.container("a").usageUs, node.container("b").usageUs);
  },
);

pure(
  "createSimulatedNode() conserves work and CPU for any mix of pods, alone or together",
  () =>
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
            // The period cut off by the drawn phase has a whole quota too; a tick each is on credit.
            assert.ok(pod.usageUs <= limit * 100 * 31 + 4000 * pods[index]!.threads + 1);
            assert.ok(pod.waitedUs <= 3_000_000);
          });
          assert.ok(used <= cores * 3_000_000 + pods.length);
        },
      ),
    ),
);

pure("createSimulatedNode() gives an endless thread of a late pod its CPU from then on", () => {
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
  assert.throws(() => node.container("c-pod"), { name: "RangeError", message: /c-pod/ });
});

pure("advance() refuses to go back", () => {
  const node = nodeWith(1);
  node.advance(100);
  assert.throws(() => node.advance(50), /50 ms is before 100 ms/);
});
