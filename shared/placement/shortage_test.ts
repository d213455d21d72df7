import assert from "node:assert/strict";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { nextShortage, type Shortage, shortageDueMs, shortagePhase } from "./shortage.ts";

const MINUTE_MS = 60_000;

/** Spot pods that have waited for a node since the times given. */
function waiting(...sinceMs: readonly number[]) {
  return sinceMs.map((unschedulableSinceMs, index) =>
    placedPod(`web-${index}`, {
      class: "spot",
      scheduled: false,
      ready: false,
      unschedulableSinceMs,
    })
  );
}

function next(
  shortage: Shortage | undefined,
  nowMs: number,
  { since, asSpecified = false }: { readonly since?: number; readonly asSpecified?: boolean } = {},
): Shortage | undefined {
  const pods = since === undefined ? [] : waiting(since);
  return nextShortage({ pods, shortage, asSpecified, nowMs }, PLACEMENT_DEFAULTS);
}

pure("nextShortage() falls back after the timeout, and not before", () => {
  assert.equal(next(undefined, 59_999, { since: 0 }), undefined);
  assert.deepEqual(next(undefined, 60_000, { since: 0 }), {
    sinceMs: 60_000,
    untilMs: 60_000 + 2 * MINUTE_MS,
    rounds: 1,
  });
});
pure("nextShortage() doubles from one fallback to the next, up to the longest", () => {
  const lasted: number[] = [];
  let shortage: Shortage | undefined;
  let now = 0;
  for (let round = 0; round < 7; round++) {
    shortage = next(shortage, now + MINUTE_MS, { since: now });
    assert.ok(shortage !== undefined);
    lasted.push((shortage.untilMs - now - MINUTE_MS) / MINUTE_MS);
    now = shortage.untilMs;
  }
  assert.deepEqual(lasted, [2, 4, 8, 16, 30, 30, 30]);
});
pure("nextShortage() ends once a pod made after the fallback is placed", () => {
  const shortage = { untilMs: 3 * MINUTE_MS, rounds: 2 };
  const after = (pod: Parameters<typeof placedPod>[1], ...others: ReturnType<typeof waiting>) =>
    nextShortage({
      shortage,
      pods: [placedPod("new", { class: "spot", createdAtMs: 3 * MINUTE_MS, ...pod }), ...others],
      asSpecified: false,
      nowMs: 4 * MINUTE_MS,
    }, PLACEMENT_DEFAULTS);
  assert.equal(after({}), undefined);
  const unchanged = [
    { createdAtMs: 3 * MINUTE_MS - 1 },
    { class: "on-demand" as const },
    { scheduled: false },
    { gone: true },
  ];
  for (const pod of unchanged) assert.equal(after(pod), shortage, JSON.stringify(pod));
  // The next pod that finds none still counts.
  assert.equal(after({}, ...waiting(3 * MINUTE_MS))?.rounds, 3);
});
pure("shortagePhase() goes from fallback to returning", () => {
  const shortage = { untilMs: MINUTE_MS, rounds: 1 };
  assert.equal(shortagePhase(undefined, 0), "none");
  assert.equal(shortagePhase(shortage, MINUTE_MS - 1), "fallback");
  assert.equal(shortagePhase(shortage, MINUTE_MS), "returning");
});
pure("shortageDueMs() is when a fallback ends, begins, or recreates pods", () => {
  const nowMs = 10 * MINUTE_MS;
  const due = (shortage: Shortage | undefined, ...sinceMs: readonly number[]) =>
    shortageDueMs({ pods: waiting(...sinceMs), shortage, nowMs }, PLACEMENT_DEFAULTS);
  assert.deepEqual([due(undefined), due(undefined, nowMs - 1)], [Infinity, nowMs - 1 + MINUTE_MS]);
  const untilMs = nowMs + 5 * MINUTE_MS;
  const during = { sinceMs: nowMs - 2 * MINUTE_MS, untilMs, rounds: 1 };
  assert.equal(due(during), untilMs);
  // A pod that was created before the fallback is evicted at once, and the next one waits for its end.
  assert.equal(due({ ...during, sinceMs: nowMs }, nowMs), untilMs);
  assert.equal(due({ ...during, untilMs: nowMs - 1 }), Infinity);
});
