import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { silentLog } from "../../../shared/log.ts";
import { createAPIBackoff } from "./api_backoff.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function stage() {
  const holds: number[] = [];
  const reported: unknown[] = [];
  const busy = createAPIBackoff({
    turns: { holdUntil: (untilMs) => void holds.push(untilMs) },
    log: { ...silentLog, warn: (_message, fields) => void reported.push(fields) },
  });
  return { busy, holds, reported };
}

const error = new ApiError(503, "ServiceUnavailable", "starting");

test("note() holds all resizes for a pod's first two times only", () => {
  const { busy, holds } = stage();
  const noted = [0, 1000, 3000, 7000].map((nowMs) =>
    busy.note({ podKey: "a/p", error, nowMs, restoring: false })
  );
  assert.deepEqual(noted.map(({ waitMs }) => waitMs), [1000, 2000, 4000, 8000]);
  assert.deepEqual(noted.map(({ lasts }) => lasts), [false, false, true, true]);
  assert.deepEqual(holds, [1000, 2000]);
  busy.note({ podKey: "a/q", error, nowMs: 8000, restoring: false });
  assert.deepEqual(holds, [1000, 2000, 9000]);
});

test("note() holds all resizes for as long as the server asks, each time", () => {
  const { busy, holds } = stage();
  const asking = new ApiError(429, "TooManyRequests", "", { retryAfterMs: 5000 });
  const waits = [0, 5000, 10_000, 15_000].map((nowMs) =>
    busy.note({ podKey: "a/p", error: asking, nowMs, restoring: false }).waitMs
  );
  assert.deepEqual(waits, [5000, 5000, 5000, 5000]);
  assert.deepEqual(holds, [5000, 10_000, 15_000, 20_000]);
});

test("note() lets a restore wait for 5 s at most, and for no attempt of the market", () => {
  const { busy } = stage();
  const hour = new ApiError(503, "ServiceUnavailable", "", { retryAfterMs: 3_600_000 });
  const attempt = { podKey: "a/p", nowMs: 0 };
  assert.equal(busy.note({ ...attempt, error: hour, restoring: false }).waitMs, 60_000);
  const left = (): readonly number[] =>
    [false, true].map((restoring) => busy.leftMs({ ...attempt, restoring }));
  assert.deepEqual(left(), [60_000, 0]);
  assert.equal(busy.note({ ...attempt, error: hour, restoring: true }).waitMs, 5000);
  assert.deepEqual(left(), [5000, 5000]);
});

test("note() lets a pod wait for no more than a minute", () => {
  const { busy } = stage();
  const waits = Array.from(
    { length: 8 },
    () => busy.note({ podKey: "a/p", error, nowMs: 0, restoring: false }).waitMs,
  );
  assert.equal(waits.at(-1), 60_000);
});

test("note() logs one line a minute and says how many it stands for", () => {
  const { busy, reported } = stage();
  for (let second = 0; second <= 60; second++) {
    busy.note({ podKey: `a/p${second}`, error, nowMs: second * 1000, restoring: false });
  }
  assert.partialDeepStrictEqual(reported, [{ pod: "a/p0", unreported: 1 }, {
    pod: "a/p60",
    unreported: 60,
  }]);
});

test("leftMs() is what is left of the wait, and 0 for a pod that is forgotten", () => {
  const { busy } = stage();
  busy.note({ podKey: "a/p", error, nowMs: 0, restoring: false });
  assert.deepEqual(
    [0, 400, 1500].map((nowMs) => busy.leftMs({ podKey: "a/p", nowMs, restoring: false })),
    [1000, 600, 0],
  );
  busy.forget("a/p");
  assert.equal(busy.leftMs({ podKey: "a/p", nowMs: 0, restoring: false }), 0);
  assert.equal(busy.note({ podKey: "a/p", error, nowMs: 0, restoring: false }).waitMs, 1000);
});
