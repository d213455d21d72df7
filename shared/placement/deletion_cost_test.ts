import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { costChanges, costOf } from "./deletion_cost.ts";
import type { NodeClass } from "./node_classes.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function costs(of: NodeClass, spotPercentage: number, minOnDemand: number): readonly number[] {
  const spec = { spotPercentage, minOnDemand };
  return [1, 2, 3].map((nth) => costOf(nth, { class: of, spec }));
}

test("costOf() is minus the number of replicas that needs the pod", () => {
  assert.deepEqual(costs("on-demand", 70, 0), [-1, -4, -7]);
  assert.deepEqual(costs("spot", 70, 0), [-2, -3, -5]);
  assert.deepEqual(costs("on-demand", 70, 2), [-1, -2, -7]);
  assert.deepEqual(costs("spot", 70, 2), [-3, -4, -5]);
});

test("costOf() makes pods that are never needed go first", () => {
  for (const [of, share] of [["spot", 0], ["on-demand", 100]] as const) {
    const found = costs(of, share, 0);
    assert.deepEqual(found, found.toSorted((a, b) => b - a));
    assert.ok(found.every((cost) => cost < -1_000_000 && cost >= -(2 ** 31)));
  }
});

test("costChanges() adds missing costs, the highest to the oldest pods", () => {
  const spec = { spotPercentage: 70, minOnDemand: 0 };
  assert.deepEqual(
    costChanges(placedPods({ spot: 3, "on-demand": 2 }), spec)
      .map(({ pod, cost }) => `${pod.name} ${cost}`),
    [
      "web-spot-x1 -2",
      "web-spot-x2 -3",
      "web-spot-x3 -5",
      "web-on-demand-x1 -1",
      "web-on-demand-x2 -4",
    ],
  );
});

test("costChanges() keeps costs of the set, and uses none twice", () => {
  const spec = { spotPercentage: 50, minOnDemand: 0 };
  const pods = [
    placedPod("a", { deletionCost: -3 }),
    placedPod("b", { deletionCost: -3 }),
    placedPod("c", { deletionCost: -9 }),
    placedPod("d", { deletionCost: -3, gone: true }),
  ];
  assert.deepEqual(costChanges(pods, spec).map(({ pod, cost }) => [pod.name, cost]), [
    ["b", -1],
    ["c", -5],
  ]);
});
