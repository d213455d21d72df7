import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { cooldownAfter, ineffectiveMoveCount } from "./move_cooldown.ts";

pure("ineffectiveMoveCount() counts until a move is effective, or the spec changes", () => {
  const spec = { spotPercentage: 50, minOnDemand: 0 };
  const last = { count: 4, misplaced: 3, spec };
  const counts = [
    ineffectiveMoveCount(undefined, { misplaced: 3, spec }),
    ineffectiveMoveCount(last, { misplaced: 2, spec }),
    ineffectiveMoveCount(last, { misplaced: 3, spec: { ...spec } }),
    ineffectiveMoveCount(last, { misplaced: 4, spec }),
    ineffectiveMoveCount(last, { misplaced: 4, spec: { ...spec, spotPercentage: 70 } }),
    ineffectiveMoveCount(last, { misplaced: 4, spec: { ...spec, minOnDemand: 1 } }),
  ];
  assert.deepEqual(counts, [0, 0, 5, 5, 0, 0]);
});

pure("cooldownAfter() doubles up to three minutes, and is never shorter than asked", () => {
  const seconds = [0, 1, 2, 5, 5000].map((count) => cooldownAfter(count, 10_000) / 1000);
  assert.deepEqual(seconds, [10, 20, 40, 180, 180]);
  assert.equal(cooldownAfter(3, 3_600_000), 3_600_000);
  assert.equal(cooldownAfter(3, 0), 0);
});
