import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { ApiError } from "../api/api_error.ts";
import { type BackoffOptions, createBackoff } from "./backoff.ts";
import { seededRandom } from "../random.ts";

/** The waits of failures in a row. */
function waits(options: BackoffOptions, failures: number): number[] {
  const backoff = createBackoff(options);
  return Array.from({ length: failures }, () => backoff.next("a"));
}

pure("createBackoff() doubles from one second and stays at five minutes", () => {
  const all = waits({}, 5000);
  assert.deepEqual(all.slice(0, 3), [1000, 2000, 4000]);
  assert.deepEqual(all.slice(8, 11), [256_000, 300_000, 300_000]);
  assert.equal(all.at(-1), 300_000);
});

forAll("createBackoff() spreads between the shortest wait and twice the plain one", [
  fc.integer({ min: 1, max: 100 }),
  fc.integer(),
  fc.integer({ min: 1, max: 10_000 }),
  fc.integer({ min: 0, max: 100_000 }),
], (failures, seed, minMs, range) => {
  const bounds = { minMs, maxMs: minMs + range };
  const wait = waits({ ...bounds, random: seededRandom(seed) }, failures).at(-1) ?? 0;
  assert.ok(wait >= minMs);
  assert.ok(wait <= Math.min(bounds.maxMs, 2 * (waits(bounds, failures).at(-1) ?? 0)));
}, 1);

pure("createBackoff() counts each key on its own and forgets on reset", () => {
  const backoff = createBackoff();
  assert.deepEqual([backoff.next("a"), backoff.next("a"), backoff.next("b")], [1000, 2000, 1000]);
  backoff.reset("a");
  assert.deepEqual([backoff.next("a"), backoff.next("b")], [1000, 2000]);
});

const unreachable = new ApiError(0, "Unreachable", "connection refused");
const starting = new ApiError(503, "ServiceUnavailable", "starting");

pure("createBackoff() waits five seconds at most for an unreachable server", () => {
  const backoff = createBackoff();
  const all = Array.from({ length: 100 }, () => backoff.next("a", unreachable));
  assert.deepEqual(all.slice(0, 6), [1000, 2000, 4000, 5000, 5000, 5000]);
  assert.equal(Math.max(...all), 5000);
  assert.deepEqual([1, 2].map(() => backoff.next("a", starting)), [8000, 16_000]);
});

pure("createBackoff() waits as long as the server asks for, if that is longer", () => {
  const backoff = createBackoff();
  const asking = new ApiError(429, "TooManyRequests", "", { retryAfterMs: 3000 });
  const all = Array.from({ length: 10 }, () => backoff.next("a", asking));
  assert.deepEqual(all.slice(0, 5), [3000, 3000, 4000, 5000, 5000]);
  assert.equal(all.at(-1), 5000);
  const silent = new ApiError(0, "Timeout", "nothing came for 30000 ms");
  assert.equal(backoff.next("a", silent), 8000);
});

pure("createBackoff() spreads its waits over the whole range, after a brief failure too", () => {
  const backoff = createBackoff({ maxMs: 30_000, random: seededRandom(1) });
  const all = Array.from({ length: 200 }, () => backoff.next("a", unreachable));
  assert.ok(all.every((ms) => ms >= 1000 && ms <= 5000));
  const late = all.slice(10);
  assert.ok(Math.min(...late) < 1500 && Math.max(...late) > 4500, "over the whole range");
  const later = Array.from({ length: 200 }, () => backoff.next("b", starting));
  assert.ok(later.every((ms) => ms >= 1000 && ms <= 30_000));
  assert.ok(Math.max(...later) > 25_000);
});
