import assert from "node:assert/strict";
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
