import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { silentLog } from "../../../shared/log.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { createAPIBackoff } from "./api_backoff.ts";

const ERROR = new ApiError(503, "ServiceUnavailable", "starting");
const asking = (retryAfterMs: number): ApiError => new ApiError(429, "", "", { retryAfterMs });

function stage() {
  const holds: number[] = [];
  const reported: unknown[] = [];
  const { note, reset } = createAPIBackoff({
    turns: { holdUntil: (untilMs) => void holds.push(untilMs) },
    log: { ...silentLog, warn: (_message, fields) => void reported.push(fields) },
  });
  const memories = new Map<string, { busyTimes: number }>();
  const busy = (nowMs: number, podKey = "a/p", error = ERROR, restoring = false) => {
    const memory = memories.get(podKey) ?? { busyTimes: 0 };
    memories.set(podKey, memory);
    return note({ podKey, memory, error, nowMs, restoring });
  };
  return { busy, holds, reported, reset };
}

pure("note() holds all resizes for a pod's first two times, and the pod for a minute", () => {
  const { busy, holds, reset } = stage();
  const noted = [0, 1000, 3000, 7000].map((nowMs) => busy(nowMs));
  assert.deepEqual(noted.map(({ waitMs }) => waitMs), [1000, 2000, 4000, 8000]);
  assert.deepEqual(noted.map(({ lasts }) => lasts), [false, false, true, true]);
  busy(8000, "a/q");
  assert.deepEqual(holds, [1000, 2000, 9000]);
  const more = Array.from({ length: 4 }, () => busy(0).waitMs);
  assert.deepEqual(more, [16_000, 32_000, 60_000, 60_000]);
  reset("a/p");
  assert.equal(busy(0).waitMs, 1000);
});

pure("note() holds all resizes for as long as the server asks, each time", () => {
  const { busy, holds } = stage();
  const waits = [0, 5000, 10_000, 15_000].map((nowMs) => busy(nowMs, "a/p", asking(5000)).waitMs);
  assert.deepEqual(waits, [5000, 5000, 5000, 5000]);
  assert.deepEqual(holds, [5000, 10_000, 15_000, 20_000]);
});

pure("note() lets a restore wait for 5 s at most", () => {
  const { busy } = stage();
  assert.equal(busy(0, "a/p", asking(60_000)).waitMs, 60_000);
  assert.equal(busy(0, "a/p", asking(60_000), true).waitMs, 5000);
});

pure("note() logs one line a minute and says how many it stands for", () => {
  const { busy, reported } = stage();
  for (let second = 0; second <= 60; second++) busy(second * 1000, `a/p${second}`);
  const lines = [{ pod: "a/p0", unreported: 1 }, { pod: "a/p60", unreported: 60 }];
  assert.partialDeepStrictEqual(reported, lines);
  assert.equal(reported.length, lines.length);
});
