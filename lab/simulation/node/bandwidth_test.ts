import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { seededRandom } from "../../../shared/random.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import { nodeWith, onePod, requests } from "../../../tests/fixtures/lab/one_pod_node.ts";
import { latencyQuantile } from "./latency_histogram.ts";
import { createSimulatedNode } from "./simulated_node.ts";

/** Recorded on a real kernel with at least 4 cores; the tolerance is a share of `throttledS`. */
const CLOSED_CASES = [
  {
    name: "150 ms, 4 threads",
    limit: 1500,
    threads: 4,
    throttledS: 25,
    usedS: 15.2,
    tolerance: 0.015,
  },
  {
    name: "100 ms, 2 threads",
    limit: 1000,
    threads: 2,
    throttledS: 9.9,
    usedS: 10,
    tolerance: 0.011,
  },
  { name: "100 ms, 1 thread", limit: 1000, threads: 1, throttledS: 0, usedS: 10, tolerance: 0 },
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

for (const { name, limit, threads, seconds = 10, throttledS, usedS, tolerance } of CLOSED_CASES) {
  pure(`createSimulatedNode() reproduces the recorded closed case ${name}`, () => {
    const node = nodeWith(4, onePod(busyLoop(threads), { limit, threads }));
    // One slice more: the last period is accounted at the refill that ends it.
    node.advance(seconds * 1000 + 10);
    const pod = node.pod("pod");
    const held = pod.totalThrottledUs / 1e6;
    assert.ok(Math.abs(held - throttledS) <= tolerance * throttledS, `throttled ${held} s`);
    const used = pod.usageUs / 1e6;
    assert.ok(Math.abs(used - usedS) <= 0.02 * usedS, `used ${used} s`);
    assert.equal(node.container("c-pod").periods, Math.round(seconds * 10));
  });
}

pure(
  "createSimulatedNode() throttles n × max(0, period − quota / n) a period, at either level",
  () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 10, max: 5000 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 8 }),
        (drawn, threads, cores) => {
          const n = Math.min(threads, cores);
          // Enough to pay in one period for what may be used on credit.
          const limit = Math.max(drawn, 50 * threads);
          const node = nodeWith(cores, onePod(busyLoop(threads), { limit, threads }));
          node.advance(2000);
          const before = node.pod("pod").usageUs;
          node.advance(2010);
          const perPeriod = n * Math.max(0, 100 - limit / 10 / n);
          const pod = node.pod("pod");
          const container = node.container("c-pod");
          // In the end a thread may have run on credit for a tick, or have a slice in hand.
          const distance = pod.totalThrottledUs - 20_000 * perPeriod;
          assert.ok(Math.abs(distance) <= 9000 * threads, `${distance}`);
          // Each is rounded to whole microseconds.
          assert.ok(Math.abs(pod.throttledUs + container.throttledUs - pod.totalThrottledUs) <= 1);
          // A thread that is not throttled runs.
          if (threads <= cores) {
            assert.ok(Math.abs(before + pod.totalThrottledUs - n * 2e6) <= 2);
          }
          const periods = pod.throttledPeriods + container.throttledPeriods;
          // With little to spare one CPU may find nothing while another has a slice in hand. Of
          // several threads the one level may hold a few and the other the rest.
          const enough = limit >= 1050 * n || limit >= 1000 && threads === 1;
          const most = enough ? 0 : threads === 1 ? 20 : 40;
          assert.ok(periods >= (perPeriod >= 5 * n ? 20 : 0) && periods <= most, `${periods}`);
          // A period counts once, whichever level throttled a thread in it.
          const either = Math.max(pod.throttledPeriods, container.throttledPeriods);
          assert.ok(pod.heldPeriods >= either && pod.heldPeriods <= Math.min(20, periods));
          if (perPeriod >= 5 * n) assert.equal(pod.heldPeriods, 20);
          assert.equal(pod.usageUs, container.usageUs);
        },
      ),
    ),
);

pure(
  "createSimulatedNode() holds threads at ticks, and what ran on credit is paid from the next quota",
  () => {
    // 1 ms a period, and the first tick that finds it used up comes within 8 ms: many periods a pause.
    const node = nodeWith(4, onePod(busyLoop(1), { limit: 10, threads: 1 }));
    node.advance(50);
    const first = node.pod("pod").usageUs;
    assert.ok(first > 1000 && first <= 5000, `${first}`);
    const pause = Math.ceil(first / 1000) - 1;
    node.advance(100 * pause);
    assert.equal(node.pod("pod").usageUs, first);
    assert.equal(node.pod("pod").totalThrottledUs, 0);
    node.advance(100 * pause + 10);
    assert.ok(node.pod("pod").usageUs > first);
    assert.equal(node.pod("pod").totalThrottledUs, 100_000 * pause - first);
    const { throttledPeriods } = node.container("c-pod");
    assert.equal(throttledPeriods + node.pod("pod").throttledPeriods, pause);
  },
);

pure(
  "createSimulatedNode() leaves a CPU a millisecond when it falls idle, and a debt to the next quota",
  () => {
    // Each 8 ms need the whole quota of 5, what is in hand, and up to 3 ms of credit.
    const node = nodeWith(4, onePod(requests([10, 410, 810, 1210], 8), { limit: 50, threads: 1 }));
    node.advance(2000);
    const { completed, usageUs } = node.pod("pod");
    assert.deepEqual({ completed, usageUs }, { completed: 4, usageUs: 32_000 });
    // Throttled by each of them, even without threads.
    const both = node.container("c-pod").throttledPeriods + node.pod("pod").throttledPeriods;
    assert.ok(both >= 4, `${both}`);
    assert.ok(node.pod("pod").totalThrottledUs < 4 * 90_000);
  },
);

pure("createSimulatedNode() may hold one thread while another has quota in hand", () => {
  // Of 8 ms one CPU takes 5 and the other 3: one has done its 4.5 ms while the other waits.
  const node = createSimulatedNode({ cores: 2, random: seededRandom(1), tickMs: 1 });
  node.addPod(onePod(requests([10, 10], 4.5), { limit: 80, threads: 2 }));
  node.setPodQuota("pod", undefined);
  node.advance(90);
  assert.equal(node.pod("pod").completed, 1);
  node.advance(200);
  const { completed, usageUs } = node.pod("pod");
  assert.deepEqual({ completed, usageUs }, { completed: 2, usageUs: 9000 });
  assert.equal(node.container("c-pod").throttledPeriods, 1);
});

pure("createSimulatedNode() lets a held request wait for the refills it needs", () => {
  // 20 ms a period: 50 ms of work end after 10 ms of the third period, at 210 ms; less what the
  // last tick of the second let it run on credit.
  const node = nodeWith(4, onePod(requests([0], 50), { limit: 200 }));
  node.advance(400);
  const { latency, totalThrottledUs, waitedUs } = node.pod("pod");
  const end = latencyQuantile(latency, 1);
  assert.ok(end > 206 * 0.99 && end < 210 * 1.01, `${end}`);
  assert.ok(totalThrottledUs > 156_000 && totalThrottledUs <= 160_000, `${totalThrottledUs}`);
  assert.equal(waitedUs, totalThrottledUs);
});

pure("setContainerQuota() and setPodQuota() count at once, as a whole quota anew", () => {
  const node = nodeWith(4, onePod(busyLoop(1), { limit: 200 }));
  node.advance(50);
  const held = node.pod("pod").usageUs;
  assert.ok(held >= 20_000 && held < 24_000);
  assert.equal(node.pod("pod").totalThrottledUs, 0);
  node.setContainerQuota("c-pod", 700);
  node.setPodQuota("pod", 700);
  assert.equal(node.container("c-pod").quota, 700);
  // The pause ends here and is counted; the period is not, since no thread is throttled at its end.
  assert.equal(node.pod("pod").totalThrottledUs, 50_000 - held);
  node.advance(100);
  assert.equal(node.pod("pod").usageUs, held + 50_000);
  node.advance(110);
  assert.equal(node.container("c-pod").throttledPeriods + node.pod("pod").throttledPeriods, 0);
  // A smaller one, too, is there as a whole, whatever was used before.
  node.setContainerQuota("c-pod", 100);
  node.setPodQuota("pod", 100);
  node.advance(200);
  const used = node.pod("pod").usageUs - held - 60_000;
  assert.ok(used >= 10_000 && used < 14_000);
  node.setContainerQuota("c-pod", undefined);
  node.setPodQuota("pod", undefined);
  node.advance(300);
  assert.equal(node.pod("pod").usageUs, held + 160_000 + used);
  assert.equal(node.container("c-pod").quota, undefined);
});

pure(
  "setContainerQuota() does not let go what the pod's quota holds, and the other way round",
  () => {
    const node = nodeWith(4, onePod(busyLoop(1), { limit: 200 }));
    node.setPodQuota("pod", 100);
    node.advance(50);
    const used = node.pod("pod").usageUs;
    node.setContainerQuota("c-pod", 300);
    node.advance(90);
    assert.equal(node.pod("pod").usageUs, used);
    node.setContainerQuota("c-pod", 50);
    node.setPodQuota("pod", 900);
    node.advance(100);
    assert.ok(node.pod("pod").usageUs > used + 5000);
    node.advance(150);
    const later = node.pod("pod").usageUs;
    node.setPodQuota("pod", 800);
    node.advance(190);
    assert.equal(node.pod("pod").usageUs, later);
  },
);

pure("createSimulatedNode() counts the first idle period of a group, then none", () => {
  const node = nodeWith(4, onePod(requests([1000], 30), { limit: 200 }));
  node.advance(5000);
  // 30 ms at 20 ms a period: two periods, throttled in the first, and one to see that no thread comes.
  const { periods } = node.container("c-pod");
  assert.equal(periods, 3);
  const both = node.container("c-pod").throttledPeriods + node.pod("pod").throttledPeriods;
  assert.equal(both, 1);
});
