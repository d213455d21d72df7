import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { clockContract, countingSignal } from "../tests/contract/clock_contract.ts";
import { systemClock } from "./system_clock.ts";

clockContract("systemClock", () => ({ clock: systemClock, pass: (ms) => systemClock.sleep(ms) }));

pure("sleep() listens once to a signal, however many sleep on it", async () => {
  const { signal, listeners } = countingSignal();
  const sleeping = [systemClock.sleep(1, signal), systemClock.sleep(2, signal)];
  assert.equal(listeners(), 1);
  await Promise.all(sleeping);
  assert.equal(listeners(), 0);
});

pure("sleep() refuses NaN, and takes longer times than a timer can hold", async () => {
  assert.throws(() => systemClock.sleep(NaN), /ms is NaN/);
  const controller = new AbortController();
  let woke = false;
  const sleeping = systemClock.sleep(2 ** 40, controller.signal).then(() => woke = true);
  await systemClock.sleep(2);
  assert.equal(woke, false);
  controller.abort();
  await sleeping;
});
