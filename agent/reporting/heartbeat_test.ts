import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { runHeartbeat } from "./heartbeat.ts";

const MINUTE_MS = 60_000;
/** Time of a request. */
const LATENCY_MS = 10;
const UNREACHABLE = new ApiError(0, "Unreachable", "");

function retryAfter(retryAfterMs: number): ApiError {
  return new ApiError(503, "ServiceUnavailable", "", { retryAfterMs });
}

/** So many agents that start at once, before a server that answers with the `failure`. */
function stage({ agents = 1, heartbeatMs = MINUTE_MS } = {}) {
  const clock = createVirtualClock({ wallStart: 0 });
  const abort = new AbortController();
  /** When each agent's requests were sent. */
  const readings: number[][] = [];
  const renewals: number[][] = [];
  const warnings: string[] = [];
  const server: { failure?: ApiError | undefined; leaseFailure?: ApiError } = {};
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const answer = async (failure: ApiError | undefined): Promise<void> => {
    await clock.sleep(LATENCY_MS);
    if (failure !== undefined) throw failure;
  };
  const ended = Promise.all(Array.from({ length: agents }, (_, seed) => {
    const read: number[] = [];
    const renewed: number[] = [];
    readings.push(read);
    renewals.push(renewed);
    const link = {
      async node() {
        read.push(clock.monotonic());
        await answer(server.failure);
        return sampleNode("node-1");
      },
      async renewLease() {
        renewed.push(clock.monotonic());
        await answer(server.failure ?? server.leaseFailure);
      },
    };
    const parts = { link, clock, random: seededRandom(seed), log };
    return runHeartbeat(parts, abort.signal, { heartbeatMs, seen: () => {} });
  }));
  return {
    ...{ clock, readings, renewals, warnings, server },
    pass: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await clock.runUntil(clock.monotonic() + MINUTE_MS);
      await ended;
    },
  };
}

/** Fails where more than these requests fell into one second of a time. */
function assertSpread(times: readonly number[][], most: number, [from, to]: [number, number]) {
  const during = times.flat().filter((at) => at >= from && at < to);
  const counts = Map.groupBy(during, (at) => Math.floor(at / 1000)).values();
  const busiest = Math.max(...counts.map((one) => one.length));
  assert.ok(busiest > 0 && busiest <= most, `${busiest} in a second`);
}

/** The times between the requests of each agent from then on. */
function gaps(times: readonly number[][], from = 0): number[] {
  return times.flatMap((own) => {
    const late = own.filter((at) => at >= from);
    return late.slice(1).map((at, index) => at - (late[index] ?? NaN));
  });
}

function assertMean(values: readonly number[], expected: number): void {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  assert.ok(Math.abs(mean - expected) < expected / 100, `${mean}`);
}

pure(
  "runHeartbeat() spreads agents that start together, or that an outage brought in step",
  async () => {
    await using scene = stage({ agents: 200 });
    const { readings, renewals, server, pass } = scene;
    await pass(4 * MINUTE_MS);
    // Evenly spread, 13 to 17 of 200 read in a second, and 3 renew; chance adds its part.
    for (const from of [1000, MINUTE_MS, 3 * MINUTE_MS]) {
      assertSpread(readings, 40, [from, from + MINUTE_MS]);
      assertSpread(renewals, 15, [from, from + MINUTE_MS]);
    }
    server.failure = retryAfter(20_000);
    await pass(MINUTE_MS);
    server.failure = UNREACHABLE;
    const renewed = renewals.flat().length;
    await pass(2 * MINUTE_MS);
    assert.equal(renewals.flat().length, renewed, "no agent renews a lease without its node");
    server.failure = undefined;
    await pass(6000);
    for (const own of renewals) {
      assert.ok((own.at(-1) ?? 0) >= 7 * MINUTE_MS - 2 * LATENCY_MS, "overdue ones come at once");
    }
    await pass(3 * MINUTE_MS);
    assertSpread(readings, 40, [7 * MINUTE_MS + 6000, 10 * MINUTE_MS]);
    assertSpread(renewals, 15, [7 * MINUTE_MS + 6000, 10 * MINUTE_MS]);
  },
);

for (const [heartbeatMs, most] of [[60_000, 66_000], [5000, 5500]] as const) {
  pure(
    `runHeartbeat() reads every 12 to 15 s, and renews every ${heartbeatMs} ms on average`,
    async () => {
      await using scene = stage({ agents: 200, heartbeatMs });
      await scene.pass(11 * MINUTE_MS);
      const between = gaps(scene.readings, MINUTE_MS);
      assert.ok(Math.min(...between) >= 12_000, `${Math.min(...between)}`);
      assert.ok(Math.max(...between) <= 15_000 + 2 * LATENCY_MS, `${Math.max(...between)}`);
      assertMean(between, 13_500);
      const leases = gaps(scene.renewals, MINUTE_MS);
      assertMean(leases, heartbeatMs);
      assert.ok(Math.max(...leases) <= most + 3 * LATENCY_MS, `${Math.max(...leases)}`);
    },
  );
}

// The server's time counts, but half a lease's at most; without one a retry comes in 2.5 to 5 s.
const WAITS = [[7000, MINUTE_MS, 7000], [3_600_000, MINUTE_MS, 30_000], [
  3_600_000,
  20_000,
  10_000,
]];
for (const [askedMs = 0, heartbeatMs = 0, waitMs = 0] of WAITS) {
  pure(`runHeartbeat() waits ${waitMs} ms where the server asks for ${askedMs}`, async () => {
    await using scene = stage({ heartbeatMs });
    const { readings, renewals, server, pass } = scene;
    await pass(MINUTE_MS);
    server.failure = retryAfter(askedMs);
    await pass(4 * MINUTE_MS);
    const during = gaps(readings, 2 * MINUTE_MS);
    assert.ok(during.length > 1, `${during.length} readings`);
    assert.deepEqual(new Set(during), new Set([waitMs + LATENCY_MS]));
    server.failure = undefined;
    const before = renewals.flat().length;
    await pass(waitMs + 3 * LATENCY_MS);
    assert.ok(renewals.flat().length > before, "renewed at the first reading that succeeds");
  });
}

pure("runHeartbeat() logs an outage once, and each refusal; it retries in 2.5 to 5 s", async () => {
  await using scene = stage();
  const { readings, renewals, warnings, server, pass } = scene;
  await pass(MINUTE_MS);
  for (let outage = 1; outage <= 2; outage++) {
    server.failure = UNREACHABLE;
    await pass(MINUTE_MS);
    const from = scene.clock.monotonic();
    await pass(MINUTE_MS);
    const between = gaps(readings, from);
    assert.ok(between.every((gap) => gap >= 2500 && gap <= 5010), `${between}`);
    assert.deepEqual(warnings, Array(outage).fill("Cannot read the node"));
    server.failure = undefined;
    await pass(MINUTE_MS);
  }
  warnings.length = 0;
  const before = renewals.flat().length;
  server.leaseFailure = new ApiError(403, "Forbidden", "");
  await pass(3 * MINUTE_MS);
  const tried = renewals.flat().length - before;
  assert.ok(tried > 20, `${tried} renewals`);
  assert.deepEqual(warnings, Array(tried).fill("Cannot renew the lease"));
});
