import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Desired } from "../../shared/api/pod_allocation.ts";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { boundedAllocation } from "../../tests/fixtures/market/sample_participants.ts";
import type { DesiredWrite } from "./desired.ts";
import { createOutbox } from "./outbox.ts";

/** Time of a request. */
const LATENCY_MS = 100;

function writeOf(pod: string, desiredCPULimit: string): DesiredWrite {
  return { key: `shop/${pod}`, allocation: boundedAllocation(pod), desired: { desiredCPULimit } };
}

/** A running outbox before a server that fails as `fail` returns for the n-th request. */
function stage(fail: (request: number) => unknown = () => undefined) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sent: string[] = [];
  let underWay = 0;
  let most = 0;
  const writer = {
    async writeDesired({ name }: { name: string }, { desiredCPULimit }: Desired): Promise<string> {
      const error = fail(sent.push(`${clock.monotonic()} ${name} ${desiredCPULimit}`));
      most = Math.max(most, ++underWay);
      await clock.sleep(LATENCY_MS);
      underWay--;
      if (error !== undefined) throw error;
      return `after ${sent.length}`;
    },
  };
  const outbox = createOutbox({ writer, clock, log: silentLog });
  const abort = new AbortController();
  const ended = outbox.run(abort.signal);
  const stop = async (): Promise<void> => {
    abort.abort();
    await clock.runUntil(clock.monotonic() + LATENCY_MS);
    await ended;
  };
  return { clock, sent, outbox, ended, stop, most: () => most };
}

pure("createOutbox() sends one write of an allocation at a time, and the newest next", async () => {
  const { clock, sent, outbox, stop, most } = stage();
  for (const limit of ["1", "2"]) outbox.put(writeOf("a", limit));
  await clock.runUntil(10);
  for (const limit of ["3", "4"]) outbox.put(writeOf("a", limit));
  await clock.runUntil(1000);
  assert.deepEqual(sent, ["0 a 2", "100 a 4"]);
  assert.equal(outbox.written.get("shop/a")?.desired.desiredCPULimit, "4");
  assert.equal(most(), 1);
  await stop();
});

pure("createOutbox() shows when the server has taken what was last put, and as what", async () => {
  const { clock, outbox, stop } = stage((request) =>
    request === 1 ? new ApiError(500, "InternalError", "") : undefined
  );
  outbox.put(writeOf("a", "1"));
  await clock.runUntil(400);
  assert.equal(outbox.written.get("shop/a")?.sent, undefined);
  await clock.runUntil(650);
  // The second attempt is under way when another value is put.
  outbox.put(writeOf("a", "2"));
  await clock.runUntil(700);
  assert.equal(outbox.written.get("shop/a")?.sent, undefined);
  await clock.runUntil(1000);
  assert.deepEqual(outbox.written.get("shop/a")?.sent, { at: 800, version: "after 3" });
  await stop();
});

pure(
  "createOutbox() remembers how often something was written again, until the allocation is gone",
  async () => {
    const { outbox, stop } = stage();
    const repeatsOf = () => outbox.written.get("shop/a")?.repeats;
    outbox.put(writeOf("a", "1"));
    assert.equal(repeatsOf(), undefined);
    outbox.put({ ...writeOf("a", "1"), repeat: { count: 1, at: 5000 } });
    outbox.put(writeOf("a", "2"));
    assert.deepEqual(repeatsOf(), { count: 1, at: 5000 });
    const { allocation, ...write } = writeOf("a", "2");
    const metadata = { ...allocation.metadata, uid: "of-a-namesake" };
    outbox.put({ ...write, allocation: { ...allocation, metadata } });
    assert.equal(repeatsOf(), undefined);
    await stop();
  },
);

pure("createOutbox() lets allocations not wait for each other", async () => {
  const { clock, sent, outbox, stop } = stage();
  outbox.put(writeOf("a", "1"));
  await clock.runUntil(50);
  outbox.put(writeOf("b", "1"));
  await clock.runUntil(1000);
  assert.deepEqual(sent, ["0 a 1", "50 b 1"]);
  await stop();
});

pure("createOutbox() tries again later and later, and then sends the newest", async () => {
  const { clock, sent, outbox, stop } = stage((request) =>
    request <= 3 ? new ApiError(500, "InternalError", "") : undefined
  );
  outbox.put(writeOf("a", "1"));
  await clock.runUntil(2000);
  outbox.put(writeOf("a", "2"));
  await clock.runUntil(60_000);
  assert.deepEqual(sent, ["0 a 1", "600 a 1", "1700 a 1", "3800 a 2"]);
  await stop();
});

pure("createOutbox() waits as long as the server asks for", async () => {
  const { clock, sent, outbox, stop } = stage((request) =>
    request === 1 ? new ApiError(429, "TooManyRequests", "", { retryAfterMs: 7000 }) : undefined
  );
  outbox.put(writeOf("a", "1"));
  await clock.runUntil(60_000);
  assert.deepEqual(sent, ["0 a 1", "7100 a 1"]);
  await stop();
});

pure(
  "createOutbox() sends within seconds of an outage's end, also when the server then starts",
  async () => {
    const { clock, sent, outbox, stop } = stage((request) => {
      if (request < 20) return new ApiError(0, "Unreachable", "connection refused");
      return request === 20 ? new ApiError(503, "ServiceUnavailable", "") : undefined;
    });
    outbox.put(writeOf("a", "1"));
    await clock.runUntil(200_000);
    const times = sent.map((one) => Number(one.split(" ")[0]));
    assert.equal(times.length, 21);
    assert.ok(Number(times[19]) > 60_000, "a long outage");
    const waits = times.slice(1).map((at, index) => at - Number(times[index]) - LATENCY_MS);
    assert.ok(Math.max(...waits) <= 8000, `waits were ${waits}`);
    await stop();
  },
);

pure("createOutbox() forgets a write with an allocation that is gone", async () => {
  const { clock, sent, outbox, stop } = stage(() => new ApiError(404, "NotFound", ""));
  outbox.put(writeOf("a", "1"));
  await clock.runUntil(60_000);
  assert.equal(sent.length, 1);
  await stop();
});

pure("keepOnly() drops what was to be sent to allocations that are gone", async () => {
  const { clock, sent, outbox, stop } = stage(() => new ApiError(500, "InternalError", ""));
  outbox.put(writeOf("a", "1"));
  outbox.put(writeOf("b", "1"));
  await clock.runUntil(200);
  outbox.keepOnly(new Set(["shop/b"]));
  await clock.runUntil(700);
  assert.deepEqual(sent, ["0 a 1", "0 b 1", "600 b 1"]);
  assert.deepEqual([...outbox.written.keys()], ["shop/b"]);
  await stop();
});

pure(
  "run() ends with an error that the API did not answer, also while other requests are in flight",
  async () => {
    const { clock, outbox, ended } = stage((request) =>
      request === 1 ? new TypeError("a slip") : undefined
    );
    outbox.put(writeOf("a", "1"));
    await clock.runUntil(50);
    outbox.put(writeOf("b", "1"));
    const refused = assert.rejects(ended, /a slip/);
    await clock.runUntil(1000);
    await refused;
  },
);

pure("run() ends on abort: after the write under way, without one that waits", async () => {
  const { clock, sent, outbox, stop } = stage();
  outbox.put(writeOf("a", "1"));
  await clock.runUntil(10);
  outbox.put(writeOf("a", "2"));
  await stop();
  assert.deepEqual(sent, ["0 a 1"]);
});
