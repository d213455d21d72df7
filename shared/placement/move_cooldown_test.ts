import assert from "node:assert/strict";
import { placedPods } from "../../tests/fixtures/placed_pods.ts";
import { misplacedCount } from "./split.ts";
import { cooldownAfter, ineffectiveMoveCount } from "./move_cooldown.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("ineffectiveMoveCount() counts until a move is effective, or the spec changes", () => {
  const spec = { spotPercentage: 50, minOnDemand: 0 };
  const last = { count: 4, misplaced: 3, spec };
  assert.equal(ineffectiveMoveCount(undefined, { misplaced: 3, spec }), 0);
  assert.equal(ineffectiveMoveCount(last, { misplaced: 2, spec }), 0);
  assert.equal(ineffectiveMoveCount(last, { misplaced: 3, spec: { ...spec } }), 5);
  assert.equal(ineffectiveMoveCount(last, { misplaced: 4, spec }), 5);
  assert.equal(
    ineffectiveMoveCount(last, { misplaced: 4, spec: { ...spec, spotPercentage: 70 } }),
    0,
  );
  assert.equal(ineffectiveMoveCount(last, { misplaced: 4, spec: { ...spec, minOnDemand: 1 } }), 0);
});

test("cooldownAfter() doubles up to three minutes, and is never shorter than asked", () => {
  assert.deepEqual([0, 1, 2, 5, 5000].map((count) => cooldownAfter(count, 10_000)), [
    10_000,
    20_000,
    40_000,
    180_000,
    180_000,
  ]);
  assert.equal(cooldownAfter(3, 3_600_000), 3_600_000);
  assert.equal(cooldownAfter(3, 0), 0);
});

test("misplacedCount() is the number of moves that are left, by revision and by ordinal", () => {
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
