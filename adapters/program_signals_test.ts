import assert from "node:assert/strict";
import { programSignals } from "./program_signals.ts";

/**
 * Sends this process a SIGTERM and lets the event loop deliver it. (At a SIGINT the test runner
 * itself would end.)
 */
async function terminate(until: () => boolean): Promise<void> {
  await new Deno.Command("sh", { args: ["-c", `kill -TERM ${Deno.pid}`] }).output();
  while (!until()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("programSignals() aborts at the first signal and calls onDeadline at the second", async () => {
  let deadlines = 0;
  using signals = programSignals({ graceMs: 60_000, onDeadline: () => deadlines++ });
  assert.equal(signals.signal.aborted, false);
  await terminate(() => signals.signal.aborted);
  assert.equal(signals.signal.reason, "SIGTERM");
  assert.equal(deadlines, 0);
  await terminate(() => deadlines > 0);
  assert.equal(deadlines, 1);
});

Deno.test("programSignals() calls onDeadline when the grace is over", async () => {
  let over = false;
  using signals = programSignals({ graceMs: 1, onDeadline: () => over = true });
  await terminate(() => over);
  assert.equal(signals.signal.reason, "SIGTERM");
});
