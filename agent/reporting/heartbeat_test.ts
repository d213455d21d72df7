import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { type Log, silentLog } from "../../shared/log.ts";
import { type Random, seededRandom } from "../../shared/random.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { sampleNode } from "../../tests/contract/support/sample_objects.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { runHeartbeat } from "./heartbeat.ts";

const MINUTE_MS = 60_000;
/** Time of a request. */
const LATENCY_MS = 10;

/** So many agents that start at once, before a server that may fail for a time. */
function stage(
  randoms: readonly Random[],
  options: { readonly heartbeatMs?: number } = {},
) {
  const clock = createVirtualClock({ wallStart: 0 });
  const abort = new AbortController();
  /** When each agent's requests were sent. */
  const readings: number[][] = [];
  const renewals: number[][] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  let failure: ApiError | undefined;
  let onlyLeases = false;
  const answer = async (isLease = false): Promise<void> => {
    await clock.sleep(LATENCY_MS);
    if (failure !== undefined && (isLease || !onlyLeases)) throw failure;
  };
  const ended = Promise.all(randoms.map((random) => {
    const [read, renewed]: [number[], number[]] = [[], []];
    readings.push(read);
    renewals.push(renewed);
    const link = {
      async node() {
        read.push(clock.monotonic());
        await answer();
        return sampleNode("node-1");
      },
      async renewLease() {
        renewed.push(clock.monotonic());
        await answer(true);
      },
    };
    const seen = (): void => {};
    return runHeartbeat({ link, clock, random, log }, abort.signal, {
      ...options,
      seen,
    });
  }));
  const stop = async (): Promise<void> => {
    abort.abort();
    await clock.runUntil(clock.monotonic() + MINUTE_MS);
    await ended;
  };
  const fail = (error?: ApiError, { leases = false } = {}): void => {
    failure = error;
    onlyLeases = leases;
  };
  return { clock, readings, renewals, warnings, fail, stop };
}

const AGENTS = 200;
const seeded = (): Random[] => Array.from({ length: AGENTS }, (_, i) => seededRandom(i));
/** All draw the same, so that they stay in step. */
const alike = (): Random[] => Array.from({ length: AGENTS }, () => ({ next: () => 0.5 }));

/** The most requests that fell into one second of a time. */
function busiestSecond(times: readonly number[][], { from, to }: { from: number; to: number }) {
  const counts = new Map<number, number>();
  for (const at of times.flat()) {
    if (at < from || at >= to) continue;
    const second = Math.floor(at / 1000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  return Math.max(...counts.values());
}

/** The times between the requests of each agent, without the first of them. */
function gaps(times: readonly number[][], from: number): number[] {
  return times.flatMap((own) => {
    const late = own.filter((at) => at >= from);
    return late.slice(1).map((at, index) => at - (late[index] ?? NaN));
  });
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

pure(
  "runHeartbeat() spreads agents that start together, from the first quarter of a minute on",
  async () => {
    const { clock, readings, renewals, stop } = stage(seeded());
    await clock.runUntil(4 * MINUTE_MS);
    // Evenly spread, 13 to 17 of 200 read in a second, and 3 renew; chance adds its part.
    for (const from of [1000, MINUTE_MS, 3 * MINUTE_MS]) {
      const during = { from, to: from + MINUTE_MS };
      assert.ok(
        busiestSecond(readings, during) <= 40,
        `${busiestSecond(readings, during)} readings`,
      );
      assert.ok(
        busiestSecond(renewals, during) <= 15,
        `${busiestSecond(renewals, during)} renewals`,
      );
    }
    await stop();
  },
);

pure(
  "runHeartbeat() keeps agents with equal random numbers in step: the spread is random alone",
  async () => {
    const { clock, readings, renewals, stop } = stage(alike());
    await clock.runUntil(3 * MINUTE_MS);
    const during = { from: MINUTE_MS, to: 3 * MINUTE_MS };
    assert.equal(busiestSecond(readings, during), AGENTS);
    assert.equal(busiestSecond(renewals, during), AGENTS);
    await stop();
  },
);

pure(
  "runHeartbeat() reads the node every 12 to 15 s, and renews its lease once a minute on average",
  async () => {
    for (const [heartbeatMs, most] of [[60_000, 66_000], [5000, 5500]] as const) {
      const { clock, readings, renewals, stop } = stage(seeded(), { heartbeatMs });
      await clock.runUntil(11 * MINUTE_MS);
      const between = gaps(readings, MINUTE_MS);
      assert.ok(Math.min(...between) >= 12_000, `${Math.min(...between)}`);
      assert.ok(Math.max(...between) <= 15_000 + 2 * LATENCY_MS, `${Math.max(...between)}`);
      assert.ok(Math.abs(mean(between) - 13_500) < 100, `${mean(between)}`);
      const leases = gaps(renewals, MINUTE_MS);
      assert.ok(Math.abs(mean(leases) - heartbeatMs) < heartbeatMs / 100, `${mean(leases)}`);
      assert.ok(Math.max(...leases) <= most + 3 * LATENCY_MS, `${Math.max(...leases)}`);
      await stop();
    }
  },
);

pure("runHeartbeat() spreads agents that an outage has brought into step", async () => {
  const { clock, readings, renewals, fail, stop } = stage(seeded());
  await clock.runUntil(MINUTE_MS);
  fail(new ApiError(503, "ServiceUnavailable", "", { retryAfterMs: 20_000 }));
  await clock.runUntil(2 * MINUTE_MS);
  fail(new ApiError(0, "Unreachable", ""));
  const renewed = renewals.flat().length;
  await clock.runUntil(4 * MINUTE_MS);
  assert.equal(renewals.flat().length, renewed, "no agent renews a lease without its node");
  fail();
  await clock.runUntil(4 * MINUTE_MS + 6000);
  for (const own of renewals) {
    assert.ok((own.at(-1) ?? 0) >= 4 * MINUTE_MS - 2 * LATENCY_MS, "overdue ones come at once");
  }
  await clock.runUntil(7 * MINUTE_MS);
  const during = { from: 4 * MINUTE_MS + 6000, to: 7 * MINUTE_MS };
  assert.ok(busiestSecond(readings, during) <= 40, `${busiestSecond(readings, during)} readings`);
  assert.ok(busiestSecond(renewals, during) <= 15, `${busiestSecond(renewals, during)} renewals`);
  await stop();
});

pure("runHeartbeat() comes when the server asks for it", async () => {
  const { clock, readings, fail, stop } = stage([seededRandom(1)]);
  fail(new ApiError(429, "TooManyRequests", "", { retryAfterMs: 7000 }));
  await clock.runUntil(8000);
  assert.deepEqual(readings, [[0, 7000 + LATENCY_MS]]);
  await stop();
});

pure(
  "runHeartbeat() waits half a lease's time at most, however long the server asks for",
  async () => {
    for (const heartbeatMs of [MINUTE_MS, 20_000]) {
      const { clock, readings, renewals, fail, stop } = stage([seededRandom(1)], { heartbeatMs });
      await clock.runUntil(MINUTE_MS);
      const [read = [], renewed = []] = [...readings, ...renewals];
      fail(new ApiError(503, "ServiceUnavailable", "", { retryAfterMs: 3_600_000 }));
      await clock.runUntil(5 * MINUTE_MS);
      const during = gaps([read], 2 * MINUTE_MS);
      assert.ok(during.length > 1, `${during.length} readings`);
      assert.ok(during.every((gap) => gap === heartbeatMs / 2 + LATENCY_MS), `${during}`);
      fail();
      const before = renewed.length;
      await clock.runUntil(5 * MINUTE_MS + heartbeatMs / 2 + 2 * LATENCY_MS);
      assert.ok(renewed.length > before, "the lease is renewed at the first reading that succeeds");
      await stop();
    }
  },
);

pure(
  "runHeartbeat() logs an outage once, and each refusal",
  async () => {
    const { clock, renewals, warnings, fail, stop } = stage([seededRandom(1)]);
    await clock.runUntil(MINUTE_MS);
    for (let outage = 1; outage <= 2; outage++) {
      fail(new ApiError(0, "Unreachable", ""));
      await clock.runUntil(clock.monotonic() + 2 * MINUTE_MS);
      assertMatches(warnings, Array(outage).fill(/ read .* node$/));
      fail();
      await clock.runUntil(clock.monotonic() + MINUTE_MS);
    }
    warnings.length = 0;
    const before = renewals.flat().length;
    fail(new ApiError(403, "Forbidden", ""), { leases: true });
    await clock.runUntil(clock.monotonic() + 3 * MINUTE_MS);
    const tried = renewals.flat().length - before;
    assert.ok(tried > 20, `${tried} renewals`);
    assertMatches(warnings, Array(tried).fill(/ renew .*lease$/));
    await stop();
  },
);
