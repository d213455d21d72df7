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

const ERROR = new ApiError(500, "InternalError", "");

/** A running outbox before a server that answers the n-th request with this error, if any. */
function stage(fail: (request: number) => unknown = () => undefined) {
  const clock = createVirtualClock({ wallStart: 0 });
  const sent: string[] = [];
  const writer = {
    async writeDesired({ name }: { name: string }, { desiredCPULimit }: Desired): Promise<string> {
      const error = fail(sent.push(`${clock.monotonic()} ${name} ${desiredCPULimit}`));
      await clock.sleep(LATENCY_MS);
      if (error !== undefined) throw error;
      return `after ${sent.length}`;
    },
  };
  const outbox = createOutbox({ writer, clock, log: silentLog });
  const abort = new AbortController();
  const ended = outbox.run(abort.signal);
  return {
    ...{ clock, sent, outbox, ended },
    put: (pod: string, limit: string) => outbox.put(writeOf(pod, limit)),
    written: () => outbox.written.get("shop/a"),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await clock.runUntil(clock.monotonic() + LATENCY_MS);
      await ended;
    },
  };
}

type Stage = ReturnType<typeof stage>;

/** Writes that are put at a time, ms, and what is sent. */
interface SendCase {
  readonly name: string;
  readonly puts: readonly (readonly [atMs: number, pod: string, limit: string])[];
  readonly fail?: (request: number) => unknown;
  readonly sent: readonly string[];
}

const TOO_MANY = new ApiError(429, "TooManyRequests", "", { retryAfterMs: 7000 });
const SENDS: readonly SendCase[] = [
  {
    name: "sends one write of an allocation at a time, and the newest next",
    puts: [[0, "a", "1"], [0, "a", "2"], [10, "a", "3"], [10, "a", "4"]],
    sent: ["0 a 2", "100 a 4"],
  },
  {
    name: "lets allocations not wait for each other",
    puts: [[0, "a", "1"], [50, "b", "1"]],
    sent: ["0 a 1", "50 b 1"],
  },
  {
    name: "tries again later and later, and then sends the newest",
    puts: [[0, "a", "1"], [2000, "a", "2"]],
    fail: (request) => request <= 3 ? ERROR : undefined,
    sent: ["0 a 1", "600 a 1", "1700 a 1", "3800 a 2"],
  },
  {
    name: "waits as long as the server asks for",
    puts: [[0, "a", "1"]],
    fail: (request) => request === 1 ? TOO_MANY : undefined,
    sent: ["0 a 1", "7100 a 1"],
  },
  {
    name: "tries again where the server does not know an allocation that the copy has",
    puts: [[0, "a", "1"]],
    fail: (request) => request === 1 ? new ApiError(404, "NotFound", "") : undefined,
    sent: ["0 a 1", "600 a 1"],
  },
];

for (const { name, puts, fail, sent } of SENDS) {
  pure(`createOutbox() ${name}`, async () => {
    await using scene = stage(fail);
    for (const [atMs, pod, limit] of puts) {
      if (atMs > scene.clock.monotonic()) await scene.clock.runUntil(atMs);
      scene.put(pod, limit);
    }
    await scene.clock.runUntil(60_000);
    assert.deepEqual(scene.sent, sent);
    const last = puts.at(-1)?.[2];
    assert.equal(scene.written()?.desired.desiredCPULimit, last);
  });
}

pure("createOutbox() shows when the server has taken what was last put, and as what", async () => {
  await using scene: Stage = stage((request) => request === 1 ? ERROR : undefined);
  const sentAt = async (atMs: number) => {
    await scene.clock.runUntil(atMs);
    return scene.written()?.sent;
  };
  scene.put("a", "1");
  assert.equal(await sentAt(400), undefined);
  await scene.clock.runUntil(650);
  // The second attempt is under way when another value is put.
  scene.put("a", "2");
  assert.equal(await sentAt(700), undefined);
  assert.deepEqual(await sentAt(1000), { at: 800, version: "after 3" });
});

pure("createOutbox() remembers repeats until the allocation is gone", async () => {
  await using scene = stage();
  const repeat = { count: 1, at: 5000 };
  const { allocation, ...write } = writeOf("a", "2");
  const metadata = { ...allocation.metadata, uid: "of-a-namesake" };
  const namesake = { ...write, allocation: { ...allocation, metadata } };
  const first = writeOf("a", "1");
  const steps = [[first, undefined], [{ ...first, repeat }, repeat], [first, repeat], [
    namesake,
    undefined,
  ]] as const;
  for (const [one, repeats] of steps) {
    scene.outbox.put(one);
    assert.deepEqual(scene.written()?.repeats, repeats);
  }
});

pure("createOutbox() sends within seconds of the end of a long outage", async () => {
  await using scene = stage((request) => {
    if (request < 20) return new ApiError(0, "Unreachable", "connection refused");
    return request === 20 ? new ApiError(503, "ServiceUnavailable", "") : undefined;
  });
  scene.put("a", "1");
  await scene.clock.runUntil(200_000);
  const times = scene.sent.map((one) => Number(one.split(" ")[0]));
  assert.equal(times.length, 21);
  assert.ok(Number(times[19]) > 60_000, "a long outage");
  const waits = times.slice(1).map((at, index) => at - Number(times[index]) - LATENCY_MS);
  assert.ok(Math.max(...waits) <= 8000, `waits were ${waits}`);
});

pure("keepOnly() drops what was to be sent to allocations that are gone", async () => {
  await using scene = stage(() => ERROR);
  for (const pod of ["a", "b"]) scene.put(pod, "1");
  await scene.clock.runUntil(200);
  scene.outbox.keepOnly(new Set(["shop/b"]));
  await scene.clock.runUntil(700);
  assert.deepEqual(scene.sent, ["0 a 1", "0 b 1", "600 b 1"]);
  assert.deepEqual([...scene.outbox.written.keys()], ["shop/b"]);
});

pure("run() ends with an error that is not the API's, after the other requests", async () => {
  const { clock, put, ended } = stage((request) =>
    request === 1 ? new TypeError("a slip") : undefined
  );
  put("a", "1");
  await clock.runUntil(50);
  put("b", "1");
  const refused = assert.rejects(ended, /a slip/);
  await clock.runUntil(1000);
  await refused;
});

pure("run() ends on abort: after the write under way, without one that waits", async () => {
  const sent = await (async () => {
    await using scene = stage();
    scene.put("a", "1");
    await scene.clock.runUntil(10);
    scene.put("a", "2");
    return scene.sent;
  })();
  assert.deepEqual(sent, ["0 a 1"]);
});
