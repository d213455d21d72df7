/** Properties of deletion costs, with the choice that a ReplicaSet makes by them. */
import fc from "fast-check";
import assert from "node:assert/strict";
import { decodeMemory, memoryAt } from "../../controller/placement/store.ts";
import { countByClass, type PlacedPod } from "../../shared/placement/placed_pod.ts";
import { nextShortage, type Shortage, shortagePhase } from "../../shared/placement/shortage.ts";
import {
  costChanges,
  costOf,
  nextClass,
  splitReplicas,
  type SplitSpec,
} from "../../shared/placement/split.ts";
import { anySplitSpec, placedPod, placedPods } from "../fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../fixtures/placement/placement_defaults.ts";
import { pure } from "../fixtures/pure.ts";

/** The pods with what was to be written. */
function withCosts(pods: readonly PlacedPod[], spec: SplitSpec): readonly PlacedPod[] {
  const changes = new Map(costChanges(pods, spec).map(({ pod, cost }) => [pod, cost]));
  return pods.map((pod) => {
    const cost = changes.get(pod);
    return cost === undefined ? pod : { ...pod, deletionCost: cost };
  });
}

/** The pods left when a ReplicaSet has taken one away; all are equally ready. */
function scaledDown(pods: readonly PlacedPod[]): readonly PlacedPod[] {
  return pods.toSorted((a, b) => (a.deletionCost ?? 0) - (b.deletionCost ?? 0)).slice(1);
}

function surplus(pods: readonly PlacedPod[], spec: SplitSpec): number {
  return Math.abs(countByClass(pods).spot - splitReplicas(pods.length, spec).spot);
}

const anyCounts = fc.record({
  spot: fc.integer({ min: 0, max: 25 }),
  "on-demand": fc.integer({ min: 0, max: 25 }),
});

pure("costs are whole, of 32 bits, and no two pods of a split have the same", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 200 }), anySplitSpec, (replicas, spec) => {
      const split = splitReplicas(replicas, spec);
      const costs = (["spot", "on-demand"] as const).flatMap((one) =>
        Array.from({ length: split[one] }, (_, index) => costOf(index + 1, { class: one, spec }))
      );
      const expected = Array.from({ length: replicas }, (_, index) => -replicas + index);
      assert.deepEqual(costs.toSorted((a, b) => a - b), expected);
      for (const nth of [1, 1000, 1_000_000]) {
        for (const one of ["spot", "on-demand"] as const) {
          const cost = costOf(nth, { class: one, spec });
          assert.ok(Number.isInteger(cost) && cost < 0 && cost >= -(2 ** 31));
        }
      }
    }),
  );
});

pure("a scale-down takes what is too many first, and keeps the split from then on", () => {
  let [ran, uneven] = [0, 0];
  fc.assert(
    fc.property(anyCounts, anySplitSpec, (counts, spec) => {
      ran++;
      let pods = withCosts(placedPods(counts), spec);
      let before = surplus(pods, spec);
      if (before > 0) uneven++;
      while (pods.length > 0) {
        pods = scaledDown(pods);
        const after = surplus(pods, spec);
        assert.ok(after <= before, `${before} to ${after} at ${pods.length}`);
        // As long as a class has too many, the next pod to go is of that class.
        const { spot, "on-demand": onDemand } = countByClass(pods);
        if (after > 0) assert.ok(spot === counts.spot || onDemand === counts["on-demand"]);
        before = after;
      }
    }),
  );
  assert.ok(uneven > ran / 2, `${uneven} of ${ran}`);
});

pure("a pod more is one cost to write, and nothing is written twice", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 }), anySplitSpec, (replicas, spec) => {
      const pods = withCosts(placedPods(splitReplicas(replicas, spec)), spec);
      assert.deepEqual(costChanges(pods, spec), []);
      const next = placedPod("new", { class: nextClass(countByClass(pods), spec) });
      assert.deepEqual(costChanges([...pods, next], spec).map(({ pod, cost }) => [pod, cost]), [
        [next, -replicas - 1],
      ]);
    }),
  );
});

pure("after pods have gone, those that are left need no more writes than have gone", () => {
  fc.assert(
    fc.property(anyCounts, anySplitSpec, fc.infiniteStream(fc.boolean()), (counts, spec, goes) => {
      const pods = withCosts(placedPods(counts), spec);
      const left = pods.filter(() => !goes.next().value);
      const changes = costChanges(left, spec);
      assert.ok(changes.length <= pods.length - left.length);
      assert.deepEqual(costChanges(withCosts(left, spec), spec), []);
    }),
  );
});

const TIMEOUT_MS = 60_000;
const FIRST_MS = 120_000;
const LONGEST_MS = 1_800_000;

const anyLooks = fc.array(
  fc.record({
    laterMs: fc.integer({ min: 0, max: 400_000 }),
    waitsForMs: fc.option(fc.integer({ min: 0, max: 120_000 }), { nil: undefined }),
    asSpecified: fc.boolean(),
  }),
  { minLength: 1, maxLength: 40 },
);

pure("a fallback begins after the timeout, lasts 2 to 30 minutes, and outlives a restart", () => {
  const phases = new Set<string>();
  fc.assert(
    fc.property(anyLooks, (looks) => {
      let nowMs = 1_000_000;
      let shortage: Shortage | undefined;
      for (const { laterMs, waitsForMs, asSpecified } of looks) {
        nowMs += laterMs;
        const waiting = waitsForMs === undefined ? {} : {
          scheduled: false,
          unschedulableSinceMs: nowMs - waitsForMs,
        };
        const pods = [placedPod("web", { class: "spot", ...waiting })];
        const before = shortagePhase(shortage, nowMs);
        const after = nextShortage({ pods, shortage, asSpecified, nowMs }, PLACEMENT_DEFAULTS);
        const phase = shortagePhase(after, nowMs);
        phases.add(`${before} to ${phase}`);
        if (before === "fallback") assert.equal(after, shortage);
        if (before !== "fallback" && phase === "fallback") {
          assert.ok(waitsForMs !== undefined && waitsForMs >= TIMEOUT_MS);
          const lastsMs = (after?.untilMs ?? 0) - nowMs;
          assert.equal(
            lastsMs,
            Math.min(LONGEST_MS, FIRST_MS * 2 ** (shortage?.rounds ?? 0)),
          );
          assert.equal(after?.rounds, (shortage?.rounds ?? 0) + 1);
        }
        if (before === "none") assert.notEqual(phase, "returning");
        const memory = after === undefined ? {} : { shortage: after };
        const stored: unknown = JSON.parse(JSON.stringify(memory));
        assert.deepEqual(memoryAt(decodeMemory(stored), nowMs), memory);
        shortage = after;
      }
    }),
  );
  const all = ["none to none", "none to fallback", "fallback to fallback"];
  for (const step of [...all, "returning to fallback", "returning to none"]) {
    assert.ok(phases.has(step), step);
  }
});
