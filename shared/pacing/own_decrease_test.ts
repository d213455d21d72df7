import assert from "node:assert/strict";
import { followLowerTarget } from "./own_decrease.ts";
import { DEFAULT_PACE } from "./pace_options.ts";
import { pacedSample } from "../../tests/fixtures/paced_sample.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Plays targets, one a second from second 0; the answers. */
function play(targets: readonly number[], since = -1_000_000): (number | undefined)[] {
  let container = pacedSample({}, { since });
  return targets.map((target, second) => {
    const { lower, limit } = followLowerTarget(
      { ...container, target },
      second * 1000,
      DEFAULT_PACE,
    );
    container = { ...container, memory: { ...container.memory, lower } };
    return limit;
  });
}

pure("followLowerTarget() lowers after 30 s, to the highest target of that time", () => {
  const targets = Array.from({ length: 31 }, (_, second) => second === 12 ? 260 : 200);
  const limits = play(targets);
  assert.deepEqual(limits.slice(0, 30), Array(30).fill(undefined));
  assert.equal(limits[30], 260);
});

pure(
  "followLowerTarget() begins again when the target was back within a tenth of the limit",
  () => {
    const targets = Array.from({ length: 60 }, (_, second) => second === 29 ? 450 : 200);
    assert.deepEqual(play(targets), Array(60).fill(undefined));
  },
);

pure("followLowerTarget() does not lower while the container warms up", () => {
  const limits = play(Array(45).fill(200), 25_000);
  assert.equal(limits[34], undefined);
  assert.equal(limits[35], 200);
});
