import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../api/api_error.ts";
import { backoffDelay, createBackoff, spreadBackoffDelay } from "./backoff.ts";
import { seededRandom } from "../random.ts";

pure("backoffDelay() doubles from one second and stays at five minutes", () => {
  assert.deepEqual([1, 2, 3, 9, 10, 11, 5000].map((n) => backoffDelay(n)), [
    1000,
    2000,
    4000,
    256_000,
    300_000,
    300_000,
    300_000,
  ]);
});

pure("backoffDelay() names the bound that is wrong", () => {
  assert.throws(() => backoffDelay(0), /failures is 0/);
  assert.throws(() => backoffDelay(1, { minMs: 5, maxMs: 4 }), /minMs is 5 and maxMs is 4/);
  assert.throws(() => backoffDelay(1, { minMs: 0 }), RangeError);
});

pure("spreadBackoffDelay() stays between the shortest wait and twice the plain one", () => {
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
});

pure("createBackoff() counts each key on its own and forgets on reset", () => {
  const backoff = createBackoff();
  assert.deepEqual([backoff.next("a"), backoff.next("a"), backoff.next("b")], [1000, 2000, 1000]);
  backoff.reset("a");
  assert.deepEqual([backoff.next("a"), backoff.next("b")], [1000, 2000]);
});

const unreachable = new ApiError(0, "Unreachable", "connection refused");
const starting = new ApiError(503, "ServiceUnavailable", "starting");

pure(
  "createBackoff() waits five seconds at most for an unreachable server, and little after that",
  () => {
    const backoff = createBackoff();
    const waits = Array.from({ length: 100 }, () => backoff.next("a", unreachable));
    assert.deepEqual(waits.slice(0, 6), [1000, 2000, 4000, 5000, 5000, 5000]);
    assert.equal(Math.max(...waits), 5000);
    assert.deepEqual([1, 2].map(() => backoff.next("a", starting)), [8000, 16_000]);
  },
);

pure("createBackoff() waits as long as the server asks for, if that is longer", () => {
  const backoff = createBackoff();
  const asking = new ApiError(429, "TooManyRequests", "", { retryAfterMs: 3000 });
  const waits = Array.from({ length: 10 }, () => backoff.next("a", asking));
  assert.deepEqual(waits.slice(0, 5), [3000, 3000, 4000, 5000, 5000]);
  assert.equal(waits.at(-1), 5000);
  const silent = new ApiError(0, "Timeout", "nothing came for 30000 ms");
  assert.equal(backoff.next("a", silent), 8000);
});

pure("createBackoff() spreads its waits between the shortest and twice the plain one", () => {
  const backoff = createBackoff({ maxMs: 30_000, random: seededRandom(1) });
  const waits = Array.from({ length: 200 }, () => backoff.next("a", unreachable));
  assert.ok(waits.every((ms) => ms >= 1000 && ms <= 5000));
  const late = waits.slice(10);
  assert.ok(Math.min(...late) < 1500 && Math.max(...late) > 4500, "over the whole range");
  const later = Array.from({ length: 200 }, () => backoff.next("b", starting));
  assert.ok(later.every((ms) => ms >= 1000 && ms <= 30_000));
  assert.ok(Math.max(...later) > 25_000);
});
