import assert from "node:assert/strict";
import { type Log, silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { keepRecord } from "./keep_record.ts";

Deno.test({
  name: "keepRecord() writes every five seconds until the end, whatever the store throws",
  permissions: "none",
  async fn() {
    const clock = createVirtualClock({ wallStart: 0 });
    const end = new AbortController();
    let writes = 0;
    const warnings: unknown[] = [];
    const log: Log = { ...silentLog, warn: (_message, fields) => void warnings.push(fields) };
    const book = {
      flushApplied() {
        writes++;
        return writes === 2 ? Promise.reject(new SyntaxError("no JSON")) : Promise.resolve();
      },
    };
    const running = keepRecord({ book, clock, log }, end.signal);
    await clock.runUntil(16_000);
    assert.deepEqual([writes, warnings], [3, [{ error: "SyntaxError: no JSON" }]]);
    end.abort();
    await clock.runUntil(60_000);
    await running;
    assert.equal(writes, 3);
  },
});
