import fc from "fast-check";
import assert from "node:assert/strict";
import { seededRandom } from "../../../shared/random.ts";
import { nodeWith, onePod } from "../../../tests/fixtures/lab/one_pod_node.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { endlessWork } from "../workload.ts";
import { type PodSpec, SimulatedNode } from "./simulated_node.ts";

/** Recorded on a real kernel with at least 4 cores; the tolerance is a share of `throttledS`. */
const CLOSED_CASES = [
  {
    ...{ name: "150 ms, 4 threads", limit: 1500, threads: 4, seconds: 10 },
    ...{ throttledS: 25, usedS: 15.2, tolerance: 0.015 },
  },
  {
    ...{ name: "100 ms, 2 threads", limit: 1000, threads: 2, seconds: 10 },
    ...{ throttledS: 9.9, usedS: 10, tolerance: 0.011 },
  },
  {
    ...{ name: "100 ms, 1 thread", limit: 1000, threads: 1, seconds: 10 },
    ...{ throttledS: 0, usedS: 10, tolerance: 0 },
  },
  // Ideal: 1276 × 50 ms = 63.8 s. The kernel's quota slices left 3.5 % less.
  {
    ...{ name: "50 ms, 1 thread", limit: 500, threads: 1, seconds: 127.6 },
    ...{ throttledS: 61.6, usedS: 63.8, tolerance: 0.036 },
  },
];

for (const { name, limit, threads, seconds, throttledS, usedS, tolerance } of CLOSED_CASES) {
  pure(`SimulatedNode reproduces the recorded closed case ${name}`, () => {
    const node = nodeWith(4, onePod(endlessWork(threads), { limit, threads }));
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
  "SimulatedNode throttles n × max(0, period − quota / n), at either level",
  () =>
    fc.assert(fc.property(
      fc.integer({ min: 10, max: 5000 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 8 }),
      (drawn, threads, cores) => {
        const n = Math.min(threads, cores);
        // Enough to pay in one period for what may be used on credit.
        const limit = Math.max(drawn, 50 * threads);
        const node = nodeWith(cores, onePod(endlessWork(threads), { limit, threads }));
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
        // With little to spare one CPU may find nothing while another has a slice in hand. One level
        // may hold a few of several threads and the other the rest.
        const enough = limit >= 1050 * n || limit >= 1000 && threads === 1;
        const most = enough ? 0 : threads === 1 ? 20 : 40;
        assert.ok(periods >= (perPeriod >= 5 * n ? 20 : 0) && periods <= most, `${periods}`);
        // A period counts once, whichever level throttled a thread in it.
        const either = Math.max(pod.throttledPeriods, container.throttledPeriods);
        assert.ok(pod.heldPeriods >= either && pod.heldPeriods <= Math.min(20, periods));
        if (perPeriod >= 5 * n) assert.equal(pod.heldPeriods, 20);
        assert.equal(pod.usageUs, container.usageUs);
      },
    )),
);

pure("setContainerQuota() and setPodQuota() count at once, as a whole quota anew", () => {
  const node = nodeWith(4, onePod(endlessWork(1), { limit: 200 }));
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

const QUOTAS = [50, 100, 200, 500, 1000, 1500, 2000, 4000];
const THREADS = [1, 2, 4, 8];
const WARM_UP_MS = 1000;
/** So long that what runs on credit at its ends is little beside the smallest quota. */
const MEASURED_MS = 20_000;

/** Mean CPU of each pod after a second, millicores. */
function used(
  { cores, seed }: { cores: number; seed: number },
  pods: readonly PodSpec[],
  prepare: (node: SimulatedNode) => void = () => {},
): number[] {
  const node = new SimulatedNode({ cores, random: seededRandom(seed) });
  for (const pod of pods) node.addPod(pod);
  prepare(node);
  node.advance(WARM_UP_MS);
  const before = pods.map(({ uid }) => node.pod(uid).usageUs);
  node.advance(WARM_UP_MS + MEASURED_MS);
  return pods.map(({ uid }, index) => (node.pod(uid).usageUs - before[index]!) / MEASURED_MS);
}

/** Each may run on credit for a tick, or have a slice in hand, at either end. */
function isAll(got: number, { wanted, threads }: { wanted: number; threads: number }): boolean {
  return Math.abs(got - wanted) <= 0.01 * wanted + 9 * threads * 1000 / MEASURED_MS;
}

pure("SimulatedNode lets a saturated pod use its whole quota at each level", () => {
  const levels: Record<string, (node: SimulatedNode) => void> = {
    container: (node) => node.setPodQuota("pod", undefined),
    pod: (node) => node.setContainerQuota("c-pod", undefined),
    both: () => {},
  };
  for (const [level, prepare] of Object.entries(levels)) {
    for (const limit of QUOTAS) {
      for (const threads of THREADS) {
        const spec = onePod(endlessWork(threads), { limit, threads });
        const [got = NaN] = used({ cores: 8, seed: 1 }, [spec], prepare);
        const wanted = Math.min(limit, 1000 * threads);
        assert.ok(isAll(got, { wanted, threads }), `${level} ${limit}m x${threads}: ${got}`);
      }
    }
  }
});
