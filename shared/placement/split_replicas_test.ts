import assert from "node:assert/strict";
import { otherClass } from "./node_class.ts";
import { floorOf, splitReplicas } from "./split_replicas.ts";

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

Deno.test({
  name: "splitReplicas() divides as in the examples",
  permissions: "none",
  fn() {
    for (const [replicas, minOnDemand, spotPercentage, spot, onDemand] of EXAMPLES) {
      assert.deepEqual(
        splitReplicas(replicas, { spotPercentage, minOnDemand }),
        { spot, "on-demand": onDemand },
        `${replicas} replicas, floor ${minOnDemand}, ${spotPercentage} %`,
      );
      assert.ok(floorOf(replicas, { spotPercentage, minOnDemand }) <= onDemand);
    }
  },
});

Deno.test({
  name: "floorOf() is the floor, and never more than there are replicas",
  permissions: "none",
  fn() {
    const wish = { spotPercentage: 50, minOnDemand: 3 };
    assert.deepEqual([0, 2, 3, 10].map((replicas) => floorOf(replicas, wish)), [0, 2, 3, 3]);
  },
});

Deno.test({
  name: "otherClass() is the other one",
  permissions: "none",
  fn() {
    assert.equal(otherClass("spot"), "on-demand");
    assert.equal(otherClass("on-demand"), "spot");
  },
});
