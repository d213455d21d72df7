import assert from "node:assert/strict";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { aborted, within } from "./time_limit.ts";

pure("within() ends its wait with the work, whether that succeeds or fails", async () => {
  const waits: AbortSignal[] = [];
  const sleep = (_ms: number, signal = new AbortController().signal) => {
    waits.push(signal);
    return new Promise<void>(() => {});
  };
  const limit = { clock: { sleep }, ms: 1000, late: () => "late" };
  assert.equal(await within(() => Promise.resolve("done"), limit), "done");
  await assert.rejects(within(() => Promise.reject(new TypeError("broken")), limit), TypeError);
  assert.deepEqual(waits.map((wait) => wait.aborted), [true, true]);
});

pure("within() aborts late work, and ignores its failure", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const work = async (signal: AbortSignal): Promise<string> => {
    await aborted(signal);
    throw new TypeError("too late");
  };
  const result = within(work, { clock, ms: 1000, late: () => "late" });
  await clock.runUntil(1000);
  assert.equal(await result, "late");
});

pure("aborted() resolves at once for a signal that is aborted already", async () => {
  await aborted(AbortSignal.abort());
});
