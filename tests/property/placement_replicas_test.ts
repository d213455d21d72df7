/**
 * Properties of the leader's decisions about new pods: bursts end exactly divided, and a leader that dies in
 * the middle costs placements, but neither errors nor too many spot pods.
 *
 * @module
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../fixtures/cases.ts";
import type { CountablePod } from "../../shared/placement/placed_pod.ts";
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import { splitReplicas } from "../../shared/placement/split.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { webDeployment } from "../fixtures/placement/placement_caches.ts";
import { type BurstPod, PlacementReplicas } from "../fixtures/placement/placement_replicas.ts";

const REPLICAS = 2;
/** After this a new leader decides. */
const SETTLED_MS = 2000;
/** Copies are behind by less than a leader settles for, and than a reservation lasts. */
const LATEST_MS = 1500;

/** Pods that are made within so long. */
function anyBurst(pods: number, withinMs: number): fc.Arbitrary<readonly BurstPod[]> {
  const pod = fc.record({
    atMs: fc.integer({ min: 0, max: withinMs }),
    storedAfterMs: fc.integer({ min: 0, max: 100 }),
    seenAfterMs: fc.array(fc.integer({ min: 0, max: LATEST_MS }), {
      minLength: REPLICAS,
      maxLength: REPLICAS,
    }),
  });
  return fc.array(pod, { minLength: pods, maxLength: pods });
}

function countOf(pods: readonly CountablePod[], capacity: string | undefined): number {
  return pods.filter(({ metadata }) => metadata.labels[CAPACITY] === capacity).length;
}

/** Delays of messages, over and over. */
function anyDelays(latestMs: number): fc.Arbitrary<() => number> {
  return fc.array(fc.integer({ min: 0, max: latestMs }), { minLength: 1, maxLength: 40 }).map(
    (delays) => {
      let next = 0;
      return () => delays[next++ % delays.length]!;
    },
  );
}

function stage(wanted: number, { floor, delayMs }: {
  readonly floor: number;
  readonly delayMs: () => number;
}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const deployment = webDeployment(wanted, {
    "spotalis.io/spot-percentage": "70%",
    "spotalis.io/min-on-demand": `${floor}`,
  });
  const world = new PlacementReplicas({ clock, deployment, replicas: REPLICAS, delayMs });
  return { clock, world };
}

Deno.test("a hundred pods at once are 70 and 30, the floor first", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyBurst(100, 50),
      fc.integer({ min: 0, max: 30 }),
      anyDelays(900),
      async (burst, floor, delayMs) => {
        const { clock, world } = stage(100, { floor, delayMs });
        const counter = world.lead(0);
        await clock.runUntil(SETTLED_MS);
        const made = Promise.all(burst.map((pod) => world.make(pod)));
        await clock.runUntil(SETTLED_MS + 10_000);
        await made;
        const { stored, decided, failures } = world;
        assert.deepEqual(failures, []);
        assert.deepEqual([countOf(stored, "spot"), countOf(stored, "on-demand")], [70, 30]);
        // Each number on the way is divided as it is to be, beginning with the floor.
        const spec = { spotPercentage: 70, minOnDemand: floor };
        for (let pods = 1, spot = 0; pods <= decided.length; pods++) {
          if (decided[pods - 1] === "spot") spot++;
          assert.equal(spot, splitReplicas(pods, spec).spot, `${spot} of ${pods}`);
        }
        assert.equal(counter.reserved, 0);
      },
    ),
    cases(0.4),
  );
});

Deno.test("a leader that dies in a burst costs placements, and no error, floor or share", async () => {
  await fc.assert(
    fc.asyncProperty(
      anyBurst(100, 6000),
      fc.nat({ max: 6000 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 0, max: 30 }),
      anyDelays(70),
      async (burst, diesAtMs, withoutLeaderMs, floor, delayMs) => {
        const { clock, world } = stage(100, { floor, delayMs });
        world.lead(0);
        await clock.runUntil(SETTLED_MS);
        const made = Promise.all(burst.map((pod) => world.make(pod)));
        await clock.runUntil(SETTLED_MS + diesAtMs);
        world.kill();
        await clock.runUntil(SETTLED_MS + diesAtMs + withoutLeaderMs);
        const next = world.lead(1);
        await clock.runUntil(clock.monotonic() + 20_000);
        await made;
        const { stored, decided, results, failures } = world;
        assert.deepEqual([failures, stored.length], [[], 100]);
        const reasons = new Set(results).difference(new Set(["Placed", "LeaderUnsettled"]));
        assert.deepEqual(reasons, new Set());
        const unplaced = countOf(stored, undefined);
        // Decided, but the answer was lost with the leader.
        const lost = decided.length - (100 - unplaced);
        assert.ok(lost >= 0);
        // No pod is counted twice, or too few were sent to spot; none is forgotten, or too many were.
        const spot = countOf(stored, "spot");
        const spec = { spotPercentage: 70, minOnDemand: floor };
        const least = splitReplicas(100 - unplaced, spec).spot - lost;
        assert.ok(spot >= least && spot <= 70, `${spot} on spot, at least ${least}`);
        assert.equal(next.reserved, 0);
      },
    ),
  );
});
