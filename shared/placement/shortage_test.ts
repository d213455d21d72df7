import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { placedPod } from "../../tests/fixtures/placement/placed_pods.ts";
import {
  fallbackDueMs,
  isLeftBehind,
  nextShortage,
  remakeDueMs,
  type Shortage,
  shortageDueMs,
  shortagePhase,
  strandedPods,
  unplacedInFallback,
} from "./shortage.ts";

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
  return nextShortage(shortage, { pods, asSpecified, nowMs });
}

pure("nextShortage() falls back after the timeout, and not before", () => {
  assert.equal(next(undefined, 59_999, { since: 0 }), undefined);
  assert.deepEqual(next(undefined, 60_000, { since: 0 }), {
    sinceMs: 60_000,
    untilMs: 60_000 + 2 * MINUTE_MS,
    rounds: 1,
  });
});

pure("nextShortage() counts pods that wait for a spot node, and no others", () => {
  const [pod] = waiting(0);
  assert.ok(pod !== undefined);
  const others = [
    { ...pod, class: "on-demand" as const },
    { ...pod, gone: true },
    { ...pod, scheduled: true },
    { ...pod, name: "pinned", pinned: "its volume data" },
    placedPod("new", { class: "spot", scheduled: false }),
  ];
  const facts = { pods: others, asSpecified: false, nowMs: 10 * MINUTE_MS };
  assert.equal(nextShortage(undefined, facts), undefined);
  assert.deepEqual(strandedPods([...others, pod]).map(({ name }) => name), [
    "pinned",
    "new",
    "web-0",
  ]);
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

pure("nextShortage() keeps a fallback, and gives its pods their time after it", () => {
  const shortage = { sinceMs: MINUTE_MS, untilMs: 3 * MINUTE_MS, rounds: 1 };
  assert.equal(next(shortage, 2 * MINUTE_MS, { since: 0, asSpecified: true }), shortage);
  assert.equal(next(shortage, 3 * MINUTE_MS, { since: 0 }), shortage);
  assert.equal(next(shortage, 4 * MINUTE_MS - 1, { since: 0 }), shortage);
  assert.equal(next(shortage, 4 * MINUTE_MS, { since: 0 })?.rounds, 2);
});

pure("nextShortage() ends once all is as specified", () => {
  const shortage = { untilMs: MINUTE_MS, rounds: 3 };
  assert.equal(next(shortage, MINUTE_MS), shortage);
  assert.equal(next(shortage, MINUTE_MS, { asSpecified: true }), undefined);
});

pure("nextShortage() ends once a pod made after the fallback is placed", () => {
  const shortage = { untilMs: 3 * MINUTE_MS, rounds: 2 };
  const after = (pod: Parameters<typeof placedPod>[1], ...others: ReturnType<typeof waiting>) =>
    nextShortage(shortage, {
      pods: [placedPod("new", { class: "spot", createdAtMs: 3 * MINUTE_MS, ...pod }), ...others],
      asSpecified: false,
      nowMs: 4 * MINUTE_MS,
    });
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

pure("nextShortage() ends when no pod has waited for as long as the fallback lasted", () => {
  const shortage = { untilMs: 10 * MINUTE_MS, rounds: 2 };
  assert.equal(next(shortage, 14 * MINUTE_MS - 1), shortage);
  assert.equal(next(shortage, 14 * MINUTE_MS), undefined);
  const nowMs = 14 * MINUTE_MS;
  const facts = { pods: waiting(nowMs - 1000), asSpecified: false, nowMs };
  assert.equal(nextShortage(shortage, facts), shortage);
});

pure("shortagePhase() goes from fallback to returning", () => {
  const shortage = { untilMs: MINUTE_MS, rounds: 1 };
  assert.equal(shortagePhase(undefined, 0), "none");
  assert.equal(shortagePhase(shortage, MINUTE_MS - 1), "fallback");
  assert.equal(shortagePhase(shortage, MINUTE_MS), "returning");
});

pure("isLeftBehind() leaves pods that were made in the fallback", () => {
  const [pod] = waiting(0);
  assert.ok(pod !== undefined);
  const shortage = { sinceMs: 2400, untilMs: MINUTE_MS, rounds: 1 };
  const before = { ...pod, createdAtMs: 1000 };
  // At an unknown time in the second from 2000 on.
  const since = { ...pod, createdAtMs: 2000 };
  const found = { ...since, scheduled: true };
  const pods = [
    before,
    since,
    found,
    placedPod("new", { class: "spot", scheduled: false, createdAtMs: 2000 }),
  ];
  const left = (nowMs: number): readonly boolean[] =>
    pods.map((one) => isLeftBehind(one, { shortage, nowMs }));
  assert.deepEqual(left(2401), [true, false, false, false]);
  // All that are there when it begins were made before.
  assert.deepEqual(left(2400), [true, true, false, true]);
  // An earlier version has not written when it began.
  assert.equal(isLeftBehind(before, { shortage: {}, nowMs: 2400 }), false);
  assert.deepEqual(unplacedInFallback(pods, { shortage, nowMs: MINUTE_MS - 1 }), [since]);
  assert.deepEqual(unplacedInFallback(pods, { shortage, nowMs: MINUTE_MS }), []);
  const pinned = pods.map((one) => ({ ...one, pinned: "its affinity" }));
  assert.deepEqual(unplacedInFallback(pinned, { shortage, nowMs: 0 }), []);
  // In the reconcile that begins it all of them were created before.
  assert.deepEqual(unplacedInFallback(pods, { shortage, nowMs: 2400 }), []);
  assert.deepEqual(unplacedInFallback(pods, { shortage: undefined, nowMs: 0 }), []);
});

pure("nextShortage() recreates pods that were made for spot in a fallback, with back-off", () => {
  const since = 100_000;
  let shortage: Shortage | undefined = { sinceMs: since, untilMs: 20 * MINUTE_MS, rounds: 4 };
  const rounds: number[] = [];
  // They come back as they are a second after each time.
  let madeAt = since + 1000;
  for (let nowMs = since; nowMs < 20 * MINUTE_MS; nowMs += 500) {
    const pods = waiting(madeAt + 1000).map((pod) => ({ ...pod, createdAtMs: madeAt }));
    const dueMs = remakeDueMs(pods, { shortage, nowMs });
    const next = nextShortage(shortage, { pods, asSpecified: false, nowMs });
    assert.equal(next !== shortage, nowMs >= dueMs, `${nowMs}`);
    if (next !== shortage) {
      assert.ok(pods.every((pod) => isLeftBehind(pod, { shortage: next!, nowMs })));
      rounds.push(nowMs - since);
      madeAt = nowMs + 1000;
    }
    shortage = next;
  }
  // The first after the timeout of a pod that began to wait after two seconds.
  const [first = 0, ...others] = rounds.map((ms) => ms / 1000);
  assert.equal(first, 62);
  assert.deepEqual(others, [182, 362, 542, 722, 902, 1082]);
  assert.equal(shortage?.remade?.count, 7);
});

pure("remakeDueMs() counts pods that were created in the fallback, while it lasts", () => {
  const shortage = { sinceMs: 2400, untilMs: 2 * MINUTE_MS, rounds: 1 };
  const due = (created: number, sinceMs: number, { nowMs = 3000, ...change } = {}): number => {
    const pods = waiting(sinceMs).map((pod) => ({ ...pod, createdAtMs: created }));
    return remakeDueMs(pods, { shortage: { ...shortage, ...change }, nowMs });
  };
  assert.equal(due(2000, 2000), 62_400);
  assert.equal(due(5000, 9000), 69_000);
  // It is made again already, by the beginning of the fallback.
  assert.equal(due(1000, 2000), Infinity);
  // The next fallback is before.
  assert.equal(due(50_000, MINUTE_MS), Infinity);
  assert.equal(due(2000, 2000, { nowMs: 2 * MINUTE_MS }), Infinity);
  assert.equal(remakeDueMs(waiting(0), { shortage: undefined, nowMs: 0 }), Infinity);
  // Without a beginning any pod that waits for too long is recreated.
  const { sinceMs: _since, ...earlier } = shortage;
  assert.equal(remakeDueMs(waiting(7000), { shortage: earlier, nowMs: 8000 }), 67_000);
});

pure("fallbackDueMs() is the moment at which nextShortage() falls back", () => {
  const pods = waiting(5000, 3000);
  assert.equal(fallbackDueMs(undefined, pods), 63_000);
  assert.equal(fallbackDueMs(undefined, []), Infinity);
  const over = { untilMs: 10_000, rounds: 1 };
  const dueMs = fallbackDueMs(over, pods, { scheduleTimeoutMs: 1000 });
  assert.equal(dueMs, 11_000);
  const at = (nowMs: number) =>
    nextShortage(over, { pods, asSpecified: false, nowMs }, { scheduleTimeoutMs: 1000 })?.rounds;
  assert.deepEqual([at(dueMs - 1), at(dueMs)], [1, 2]);
});

pure("shortageDueMs() is when a fallback ends, begins, or recreates pods", () => {
  const nowMs = 10 * MINUTE_MS;
  const due = (shortage: Shortage | undefined, ...sinceMs: readonly number[]) =>
    shortageDueMs(waiting(...sinceMs), { shortage, nowMs });
  assert.deepEqual([due(undefined), due(undefined, nowMs - 1)], [Infinity, nowMs - 1 + MINUTE_MS]);
  const untilMs = nowMs + 5 * MINUTE_MS;
  const during = { sinceMs: nowMs - 2 * MINUTE_MS, untilMs, rounds: 1 };
  assert.equal(due(during), untilMs);
  // A pod that was created before the fallback is evicted at once, and the next one waits for its end.
  assert.equal(due({ ...during, sinceMs: nowMs }, nowMs), untilMs);
  assert.equal(due({ ...during, untilMs: nowMs - 1 }), Infinity);
});
