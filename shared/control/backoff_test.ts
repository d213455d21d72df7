import assert from "node:assert/strict";
import fc from "fast-check";
import { backoffDelay, createBackoff, spreadBackoffDelay } from "./backoff.ts";
import { seededRandom } from "../random.ts";

const permissions = "none" as const;

Deno.test({
  name: "backoffDelay() doubles from one second and stays at five minutes",
  permissions,
  fn() {
    assert.deepEqual([1, 2, 3, 9, 10, 11, 5000].map((n) => backoffDelay(n)), [
      1000,
      2000,
      4000,
      256_000,
      300_000,
      300_000,
      300_000,
    ]);
  },
});

Deno.test({
  name: "backoffDelay() names the bound that is wrong",
  permissions,
  fn() {
    assert.throws(() => backoffDelay(0), /failures is 0/);
    assert.throws(() => backoffDelay(1, { minMs: 5, maxMs: 4 }), /minMs is 5 and maxMs is 4/);
    assert.throws(() => backoffDelay(1, { minMs: 0 }), RangeError);
  },
});

Deno.test({
  name: "spreadBackoffDelay() stays between the shortest wait and twice the plain one",
  permissions,
  fn() {
    fc.assert(fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.integer(),
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      (failures, seed, minMs, range) => {
        const options = { minMs, maxMs: minMs + range };
        const wait = spreadBackoffDelay(failures, { ...options, random: seededRandom(seed) });
        assert.ok(wait >= minMs);
        assert.ok(wait <= Math.min(options.maxMs, 2 * backoffDelay(failures, options)));
      },
    ));
  },
});

Deno.test({
  name: "createBackoff() counts each key on its own and forgets on reset",
  permissions,
  fn() {
    const backoff = createBackoff();
    assert.deepEqual([backoff.next("a"), backoff.next("a"), backoff.next("b")], [1000, 2000, 1000]);
    backoff.reset("a");
    assert.deepEqual([backoff.next("a"), backoff.next("b")], [1000, 2000]);
  },
});
