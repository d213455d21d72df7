/**
 * Properties of how replicas are divided.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { splitReplicas } from "../../shared/placement/split.ts";
import { anySplitSpec } from "../fixtures/placement/placement_arbitrary.ts";

const anyReplicas = fc.integer({ min: 0, max: 10_000 });

pure(
  "the split is of whole replicas, keeps the floor, and has no more on spot than the share",
  () => {
    fc.assert(
      fc.property(anyReplicas, anySplitSpec, (replicas, spec) => {
        const { spot, "on-demand": onDemand } = splitReplicas(replicas, spec);
        assert.ok(Number.isInteger(spot) && spot >= 0 && onDemand >= 0);
        assert.equal(spot + onDemand, replicas);
        assert.ok(onDemand >= Math.min(replicas, spec.minOnDemand));
        assert.ok(100 * spot <= replicas * spec.spotPercentage);
        // One more on spot would break one of the two.
        const more = spot + 1;
        assert.ok(
          100 * more > replicas * spec.spotPercentage || replicas - more < spec.minOnDemand,
        );
      }),
    );
  },
);

pure("one replica more is one more in exactly one class", () => {
  fc.assert(
    fc.property(anyReplicas, anySplitSpec, (replicas, spec) => {
      const before = splitReplicas(replicas, spec);
      const after = splitReplicas(replicas + 1, spec);
      const steps = [after.spot - before.spot, after["on-demand"] - before["on-demand"]];
      assert.deepEqual(steps.toSorted(), [0, 1]);
    }),
  );
});

pure("a larger share never takes from spot, a larger floor never gives to it", () => {
  fc.assert(
    fc.property(anyReplicas, anySplitSpec, (replicas, spec) => {
      const { spot } = splitReplicas(replicas, spec);
      const { spotPercentage, minOnDemand } = spec;
      const share = Math.min(100, spotPercentage + 1);
      assert.ok(splitReplicas(replicas, { spotPercentage: share, minOnDemand }).spot >= spot);
      const floor = minOnDemand + 1;
      assert.ok(splitReplicas(replicas, { spotPercentage, minOnDemand: floor }).spot <= spot);
    }),
  );
});
