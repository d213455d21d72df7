import assert from "node:assert/strict";
import { afterChange, newPaceMemory, RECENT_MS } from "./paced_container.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("newPaceMemory() has never been raised and never paid", () => {
  const memory = newPaceMemory(200, 1000);
  assert.equal(memory.limit, 200);
  assert.equal(memory.since, 1000);
  assert.equal(memory.raisedAt, -Infinity);
  assert.equal(memory.fundedAt, -Infinity);
});

pure("afterChange() keeps the limit that was replaced for two seconds", () => {
  const first = afterChange(newPaceMemory(200, 0), { limit: 500, reason: "Throttled", now: 1000 });
  assert.deepEqual(first.recent, [{ until: 1000 + RECENT_MS, limit: 200 }]);
  const second = afterChange(first, { limit: 400, reason: "FundsRaise", now: 2000 });
  assert.deepEqual(second.recent.map(({ limit }) => limit), [200, 500]);
  const third = afterChange(second, { limit: 300, reason: "FundsRaise", now: 3000 });
  assert.deepEqual(third.recent.map(({ limit }) => limit), [500, 400]);
});

pure("afterChange() notes the time of a raise, and forgets waits that are over", () => {
  const waiting = {
    ...newPaceMemory(200, 0),
    raisedAt: 10,
    lower: { since: 0, highest: 100 },
    loan: { since: 0, lowest: 300 },
  };
  const raised = afterChange(waiting, { limit: 300, reason: "DemandRose", now: 50 });
  assert.deepEqual([raised.raisedAt, raised.lower, raised.loan], [50, undefined, undefined]);
  assert.equal(afterChange(waiting, { limit: 100, reason: "DemandFell", now: 50 }).raisedAt, 10);
});

pure("afterChange() remembers a loan until the next change", () => {
  const lent = afterChange(newPaceMemory(200, 0), { limit: 300, reason: "LoanGiven", now: 1 });
  assert.equal(lent.lent, true);
  assert.equal(afterChange(lent, { limit: 250, reason: "LoanTakenBack", now: 2 }).lent, false);
});
