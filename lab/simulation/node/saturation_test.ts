import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { seededRandom } from "../../../shared/random.ts";
import { busyLoop } from "../../../tests/fixtures/lab/busy_loop.ts";
import { onePod } from "../../../tests/fixtures/lab/one_pod_node.ts";
import { createWorkload } from "../workload.ts";
import { createSimulatedNode, type PodSpec, type SimulatedNode } from "./simulated_node.ts";

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
  const node = createSimulatedNode({ cores, random: seededRandom(seed) });
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

pure(
  "createSimulatedNode() lets a saturated pod use its whole quota, at either level and at both",
  () => {
    const levels: Record<string, (node: SimulatedNode) => void> = {
      container: (node) => node.setPodQuota("pod", undefined),
      pod: (node) => node.setContainerQuota("c-pod", undefined),
      both: () => {},
    };
    for (const [level, prepare] of Object.entries(levels)) {
      for (const limit of QUOTAS) {
        for (const threads of THREADS) {
          const spec = onePod(busyLoop(threads), { limit, threads });
          const [got = NaN] = used({ cores: 8, seed: 1 }, [spec], prepare);
          const wanted = Math.min(limit, 1000 * threads);
          assert.ok(isAll(got, { wanted, threads }), `${level} ${limit}m x${threads}: ${got}`);
        }
      }
    }
  },
);

pure("createSimulatedNode() lets a pod use its whole quota on requests, however short", () => {
  for (const costMs of [0.5, 4, 60]) {
    for (const limit of [50, 1500]) {
      for (const threads of THREADS) {
        const wanted = Math.min(limit, 1000 * threads);
        // Twice as many requests as it can serve.
        const trace = { name: "t", unit: "cores" as const, stepS: 60 };
        const workload = createWorkload({ ...trace, values: Float64Array.of(wanted / 500) }, {
          random: seededRandom(7),
          costMs,
        });
        const [got = NaN] = used({ cores: 8, seed: 2 }, [onePod(workload, { limit, threads })]);
        assert.ok(isAll(got, { wanted, threads }), `${costMs} ms, ${limit}m x${threads}: ${got}`);
      }
    }
  }
});

pure(
  "createSimulatedNode() wastes nothing of small quotas at two levels, wherever the ticks lie",
  () => {
    for (const limit of [10, 20, 40, 60]) {
      for (const threads of [1, 4, 16]) {
        // Another name, other ticks.
        for (const uid of ["a", "b", "c", "d"]) {
          const spec = onePod(busyLoop(threads), { uid, limit, threads });
          const [got = NaN] = used({ cores: 4, seed: 6 }, [spec]);
          assert.ok(
            isAll(got, { wanted: limit, threads: 4 }),
            `${uid} ${limit}m x${threads}: ${got}`,
          );
        }
      }
    }
  },
);

/** Pods of one container that always want more than they get. */
function greedy(limits: readonly number[], requestOf: (index: number) => number): PodSpec[] {
  return limits.map((limit, index) => {
    const threads = THREADS[(index + 1) % THREADS.length] ?? 1;
    const request = requestOf(index);
    return onePod(busyLoop(threads), { uid: `pod-${index}`, limit, threads, request });
  });
}

pure("createSimulatedNode() lets all pods use their quotas on a node that has as much", () => {
  const limits = [200, 500, 1000, 300, 1500, 700];
  const pods = greedy(limits, () => 100);
  // More threads than cores, but cores for all quotas: no pod lacks more than it loses by waiting.
  const got = used({ cores: 8, seed: 3 }, pods);
  got.forEach((mine, index) => {
    const threads = pods[index]?.containers[0]?.threads ?? NaN;
    const wanted = limits[index] ?? NaN;
    assert.ok(isAll(mine, { wanted, threads }), `${wanted}m x${threads}: ${mine}`);
  });
});

pure(
  "createSimulatedNode() uses all cores of a short node, shared by weight below the quotas",
  () => {
    // Weights 1 : 2 : 3 nearly, of 2 cores; the quotas are more than each one's share.
    const pods = greedy([700, 1500, 4000], (index) => 1000 * (index + 1));
    const weights = [39, 79, 118];
    const got = used({ cores: 2, seed: 4 }, pods);
    got.forEach((mine, index) => {
      const share = 2000 * weights[index]! / 236;
      assert.ok(Math.abs(mine - share) <= 0.02 * share, `${mine} of ${share}`);
    });
    // Where some quotas are less than the share, the others have what these leave.
    const mixed = used({ cores: 2, seed: 5 }, greedy([50, 100, 1500, 4000], () => 500));
    const sum = mixed.reduce((total, mine) => total + mine, 0);
    assert.ok(Math.abs(sum - 2000) <= 2, `${sum}`);
    assert.ok(isAll(mixed[0]!, { wanted: 50, threads: 2 }), `${mixed}`);
    assert.ok(isAll(mixed[1]!, { wanted: 100, threads: 4 }), `${mixed}`);
    assert.ok(Math.abs(mixed[2]! / mixed[3]! - 1) < 0.02, `${mixed}`);
  },
);
