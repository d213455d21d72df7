import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { NodeClass } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";
import {
  costChanges,
  costOf,
  floorOf,
  misplaced,
  misplacedCount,
  nextClass,
  ordinalClass,
  ordinalOf,
  splitReplicas,
} from "./split.ts";

/** Replicas, floor, share of spot, and what is on spot and on-demand. */
const EXAMPLES = [
  [10, 2, 60, 6, 4],
  [3, 2, 60, 1, 2],
  [4, 3, 75, 1, 3],
  [5, 1, 0, 0, 5],
  [10, 1, 73, 7, 3],
  [10, 4, 90, 6, 4],
  [3, 5, 70, 0, 3],
  [0, 1, 70, 0, 0],
  [10, 0, 100, 10, 0],
  [100, 0, 70, 70, 30],
] as const;

pure("splitReplicas() divides as in the examples, and floorOf() is at most all replicas", () => {
  for (const [replicas, minOnDemand, spotPercentage, spot, onDemand] of EXAMPLES) {
    const spec = { spotPercentage, minOnDemand };
    const name = `${replicas} replicas, floor ${minOnDemand}, ${spotPercentage} %`;
    assert.deepEqual(splitReplicas(replicas, spec), { spot, "on-demand": onDemand }, name);
    assert.ok(floorOf(replicas, spec) <= onDemand, name);
  }
  const floors = [0, 2, 3, 10].map((replicas) =>
    floorOf(replicas, { spotPercentage: 50, minOnDemand: 3 })
  );
  assert.deepEqual(floors, [0, 2, 3, 3]);
});

const SPEC = { spotPercentage: 70, minOnDemand: 2 } as const;

pure("nextClass() fills the floor first, and divides each number on the way", () => {
  const counts = { spot: 0, "on-demand": 0 };
  const order = Array.from({ length: 10 }, () => {
    const next = nextClass(counts, SPEC);
    counts[next]++;
    return next === "spot" ? "s" : "o";
  });
  assert.equal(order.join(""), "oossssosss");
  assert.deepEqual(counts, { spot: 7, "on-demand": 3 });
});
pure("ordinalClass() puts the low ordinals on-demand, counted from the first", () => {
  const classes = (firstOrdinal?: number): string =>
    [0, 1, 2, 3, 4, 5].map((ordinal) =>
      ordinalClass(ordinal, {
        replicas: 5,
        spec: SPEC,
        ...(firstOrdinal === undefined ? {} : { firstOrdinal }),
      })[0]
    ).join("");
  assert.equal(classes(), "oossss");
  assert.equal(classes(3), "ooooos");
});

pure("ordinalOf() reads the end of the name", () => {
  assert.equal(ordinalOf("db-main-12"), 12);
  assert.equal(ordinalOf("db-main-0"), 0);
  for (const name of ["db", "db-", "db-1a", "7", ""]) assert.equal(ordinalOf(name), undefined);
});

const HALF = { spotPercentage: 50, minOnDemand: 0 } as const;

function movesOf(
  pods: readonly PlacedPod[],
  kind: "Deployment" | "StatefulSet" = "Deployment",
): readonly string[] {
  const replicas = pods.filter(({ gone }) => !gone).length;
  return misplaced(pods, { kind, replicas, spec: HALF })
    .map(({ pod, to }) => `${pod.name} to ${to}`);
}

pure("misplaced() has the pods of the class with too many, the youngest first", () => {
  assert.deepEqual(movesOf(placedPods({ spot: 2, "on-demand": 2 })), []);
  assert.deepEqual(movesOf(placedPods({ spot: 3, "on-demand": 1 })), [
    "web-spot-x3 to on-demand",
    "web-spot-x2 to on-demand",
    "web-spot-x1 to on-demand",
  ]);
  assert.deepEqual(movesOf(placedPods({ "on-demand": 1 })), []);
  assert.deepEqual(movesOf(placedPods({ "on-demand": 2 })).at(0), "web-on-demand-x2 to spot");
});
pure("misplaced() has a StatefulSet's pods that are not where their ordinals are to be", () => {
  const pods = ["spot", "spot", "spot", "on-demand", "spot", "on-demand"].map((one, ordinal) =>
    placedPod(`db-${ordinal}`, { class: one as PlacedPod["class"] })
  );
  assert.deepEqual(movesOf(pods, "StatefulSet"), [
    "db-2 to on-demand",
    "db-1 to on-demand",
    "db-0 to on-demand",
    "db-5 to spot",
    "db-3 to spot",
  ]);
  const unready = pods.map((pod) => pod.name === "db-1" ? { ...pod, ready: false } : pod);
  assert.equal(movesOf(unready, "StatefulSet")[0], "db-1 to on-demand");
});

pure("misplacedCount() is the number of moves that are left, by revision and by ordinal", () => {
  const spec = { spotPercentage: 50, minOnDemand: 0 };
  const options = { kind: "Deployment" as const, replicas: 4, spec };
  assert.equal(misplacedCount(placedPods({ spot: 4 }), options), 2);
  assert.equal(misplacedCount(placedPods({ spot: 2, "on-demand": 2 }), options), 0);
  assert.equal(misplacedCount(placedPods({ spot: 4 }, { gone: true }), options), 0);
  const old = placedPods({ spot: 2 }, { revision: "r0" });
  assert.equal(misplacedCount([...placedPods({ "on-demand": 2 }), ...old], options), 2);
  const ordinals = placedPods({ spot: 1, "on-demand": 3 }).map((pod, ordinal) => ({
    ...pod,
    name: `db-${ordinal}`,
  }));
  // 0 and 1 are to be on-demand, 2 and 3 on spot.
  assert.equal(misplacedCount(ordinals, { ...options, kind: "StatefulSet" }), 3);
});

function costs(of: NodeClass, spotPercentage: number, minOnDemand: number): readonly number[] {
  const spec = { spotPercentage, minOnDemand };
  return [1, 2, 3].map((nth) => costOf(nth, { class: of, spec }));
}

pure("costOf() is minus the number of replicas that needs the pod", () => {
  assert.deepEqual(costs("on-demand", 70, 0), [-1, -4, -7]);
  assert.deepEqual(costs("spot", 70, 0), [-2, -3, -5]);
  assert.deepEqual(costs("on-demand", 70, 2), [-1, -2, -7]);
  assert.deepEqual(costs("spot", 70, 2), [-3, -4, -5]);
});
pure("costChanges() adds missing costs, the highest to the oldest pods", () => {
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

pure("costChanges() keeps costs of the set, and uses none twice", () => {
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
