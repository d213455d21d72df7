import assert from "node:assert/strict";
import fc from "fast-check";
import { waitByWeight, type WeighedUsage } from "./wait_by_weight.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const weighed = ([usage = 0, request = 0]: readonly number[]): WeighedUsage => ({ usage, request });
const waits = (...pairs: readonly (readonly number[])[]): boolean[] =>
  waitByWeight(pairs.map(weighed));

pure(
  "waitByWeight() leaves out containers that use clearly less than their weights give them",
  () => {
    assert.deepEqual(waits([100, 100], [900, 100], [1000, 100]), [false, true, true]);
    // A burst that has only begun to be seen uses nearly what its request gives it, a sixth.
    assert.deepEqual(waits([1400, 500], [231, 100]), [true, false]);
    assert.deepEqual(waits([1400, 500], [232, 100]), [true, true]);
    // Idle containers have most of the requests, and leave their CPU to the others.
    assert.deepEqual(waits([1, 1000], [1, 1000], [1500, 500], [300, 100]), [
      false,
      false,
      true,
      true,
    ]);
  },
);

pure("waitByWeight() counts nothing for a container with a request that is not known", () => {
  assert.deepEqual(waits([500, 0], [900, 100]), [false, true]);
  assert.deepEqual(waits([500, 0]), [false]);
  assert.deepEqual(waits(), []);
});

const any = fc.record({ usage: fc.nat(4000), request: fc.nat(2000) });

pure("waitByWeight() finds the containers that use most for their weights", () => {
  fc.assert(fc.property(fc.array(any, { minLength: 1, maxLength: 20 }), (containers) => {
    const waiting = waitByWeight(containers);
    const known = containers.filter(({ request }) => request > 0);
    assert.equal(waiting.some(Boolean), known.length > 0);
    const ratio = ({ usage, request }: WeighedUsage): number => usage / request;
    const least = Math.min(...containers.filter((_, i) => waiting[i]).map(ratio));
    containers.forEach((one, i) => {
      if (waiting[i] === false && one.request > 0) assert.ok(ratio(one) < least);
    });
  }));
});
