import assert from "node:assert/strict";
import { clockContract } from "../tests/contract/clock_contract.ts";
import { systemClock } from "./system_clock.ts";

clockContract("systemClock", () => ({ clock: systemClock, pass: (ms) => systemClock.sleep(ms) }));

Deno.test({
  name: "sleep() refuses NaN, and takes longer times than a timer can hold",
  permissions: "none",
  async fn() {
    assert.throws(() => systemClock.sleep(NaN), /ms is NaN/);
    const controller = new AbortController();
    let woke = false;
    const sleeping = systemClock.sleep(2 ** 40, controller.signal).then(() => woke = true);
    await systemClock.sleep(2);
    assert.equal(woke, false);
    controller.abort();
    await sleeping;
  },
});
