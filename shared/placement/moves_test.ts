import assert from "node:assert/strict";
import { placedPod, placedPods, wholeInput } from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { decideMove, leavesAtOnce, leavesInTurn, type MoveDecisionInput } from "./decide_move.ts";
import type { PlacedPod } from "./placed_pod.ts";
import { cooldownAfter, ineffectiveMoveCount } from "./move_cooldown.ts";
import { forecastStep } from "./forecast_step.ts";
import { nextShortage, type Shortage, shortageDueMs } from "./shortage.ts";

const NOW_MS = Date.parse("2026-05-04T12:00:00Z");
const SPOT = wholeInput(placedPods({ spot: 4 }), { nowMs: NOW_MS });
const ON_DEMAND = wholeInput(placedPods({ "on-demand": 4 }), { nowMs: NOW_MS });
const EVEN = placedPods({ spot: 2, "on-demand": 2 });
const { spec: SPEC, workload: WORKLOAD } = SPOT;
const PAUSED = { ...SPEC, paused: true };
const NIGHT = { ...SPEC, window: { schedule: "0 22 * * *", durationMs: 3_600_000 } };
const SHORT = { untilMs: NOW_MS + 5, rounds: 1 };
const MOVED = "web-spot-x4 to on-demand";

/** `POD to CLASS`, or the reason to wait, which `isLong` extends by the message's numbers and its end in ms. */
function outcome(input: MoveDecisionInput, isLong = false): string {
  const decision = decideMove(input, PLACEMENT_DEFAULTS);
  if ("move" in decision) return `${decision.move.pod.name} to ${decision.move.to}`;
  const { wait, message, untilMs } = decision;
  const end = untilMs === undefined ? "" : ` (+${untilMs - input.nowMs})`;
  return isLong ? [wait, ...message.match(/\S*\d\b/g) ?? []].join(" ") + end : wait;
}

function last(count: number, pods: readonly PlacedPod[], by: Partial<PlacedPod>) {
  return pods.map((pod, index) => index >= pods.length - count ? { ...pod, ...by } : pod);
}

/** StatefulSet `db` of 4 with pod 0 on spot. */
function setInput(minOnDemand: number, changes: Partial<PlacedPod> = {}) {
  const first = placedPod("db-0", { class: "spot", ...changes });
  const pods = [first, ...[1, 2, 3].map((ordinal) => placedPod(`db-${ordinal}`))];
  const workload = { ...WORKLOAD, kind: "StatefulSet" as const };
  return { ...SPOT, pods, workload, spec: { ...SPEC, minOnDemand } };
}

pure("decideMove() moves one pod of the class with too many, or waits", () => {
  const leaving = { gone: true, departs: "taint x", drained: true };
  const [first, ...others] = SPOT.pods;
  assert.ok(first !== undefined);
  const drained = { pods: SPOT.pods.map((pod, index) => index < 2 ? { ...pod, ...leaving } : pod) };
  const late = { ...first, ...leaving, departsSinceMs: first.createdAtMs - 1 };
  const ending = { ...first, uid: "ending", gone: true, ready: false };
  const ineffectiveMoves = { count: 1, misplaced: 2, spec: SPEC };
  const cooled = { lastMoveAtMs: NOW_MS - 30_000 };
  const notWhole = { present: 5, ready: 3, updated: 2 };
  const budget = { budget: "pdb-1" };
  const pinned = { pinned: "pv-1" };
  const rows: readonly (readonly [string, Partial<MoveDecisionInput>, MoveDecisionInput?])[] = [
    [MOVED, {}],
    ["AsSpecified", { pods: EVEN }],
    ["NotWhole 4 5 3 2 4 4", { workload: { ...WORKLOAD, ...notWhole } }],
    ...[{ observed: false }, { present: 5 }, { ready: 3 }, { updated: 3 }, { replicas: 5 }].map(
      (change) => ["NotWhole", { workload: { ...WORKLOAD, ...change } }] as const,
    ),
    ["NotWhole", { pods: [{ ...first, gone: true }, ...others] }],
    ["NotWhole", { pods: [{ ...first, ready: false }, ...others] }],
    // A pod that ends beside all that are needed does not count.
    [MOVED, { pods: [...SPOT.pods, ending] }],
    ["PlacementPaused", { spec: PAUSED }],
    ["SpotFallback (+5)", { shortage: SHORT }, ON_DEMAND],
    [MOVED, { shortage: SHORT }],
    ["web-on-demand-x4 to spot", { shortage: SHORT, nowMs: SHORT.untilMs }, ON_DEMAND],
    ["WindowClosed 0 22 (+36000000)", { spec: NIGHT }],
    [MOVED, { spec: NIGHT, nowMs: NOW_MS + 36_000_000 }],
    ["MoveCooldown 10 (+1)", { lastMoveAtMs: NOW_MS - 9_999 }],
    [MOVED, { lastMoveAtMs: NOW_MS - 10_000 }],
    // Ineffective moves double the cooldown; one that has helped does not.
    ["MoveCooldown 40 2 (+10000)", { ...cooled, ineffectiveMoves }],
    [MOVED, { ...cooled, ineffectiveMoves: { ...ineffectiveMoves, misplaced: 3 } }],
    [MOVED, { ...cooled, ineffectiveMoves, nowMs: NOW_MS + 10_000 }],
    ["EvictionRate (+7)", { evictionFromMs: NOW_MS + 7 }],
    ["web-spot-x2 to on-demand", { pods: last(2, SPOT.pods, pinned) }],
    ["NoneEvictable web-spot-x4 pv-1", { pods: last(4, SPOT.pods, pinned) }],
    ["BlockedByPDB web-spot-x4 pdb-1", { pods: last(4, SPOT.pods, budget) }],
    // Beyond the floor a StatefulSet's pod moves to spot, whatever blocks the others.
    ["db-3 to spot", setInput(2, pinned)],
    ["NoneEvictable db-0 pv-1", setInput(3, pinned)],
    // Its first ordinal has just changed, and all pods are of ordinals that end.
    ["NoneEvictable db-7", {
      ...setInput(2),
      pods: [4, 5, 6, 7].map((ordinal) =>
        placedPod(`db-${ordinal}`, ordinal < 6 ? { class: "spot" } : {})
      ),
    }],
    // Pods of drained nodes go first, one by one, and as other moves do.
    ["web-spot-x1 to spot", drained],
    ["NotWhole", { pods: [late, ...others] }],
    ["NotWhole", { ...drained, workload: { ...WORKLOAD, ready: 3 } }],
    ["WindowClosed", { ...drained, spec: NIGHT }],
    ["SpotFallback", { ...drained, shortage: SHORT }],
  ];
  for (const [expected, changes, base = SPOT] of rows) {
    const found = outcome({ ...base, ...changes }, expected.includes(" "));
    assert.equal(found, expected, JSON.stringify(changes));
  }
});

pure("decideMove() reports faults, then blocks, then waits, then obstacles of pods", () => {
  const blocked = last(4, ON_DEMAND.pods, { budget: "budget web" });
  const removed: readonly (readonly [string, Partial<MoveDecisionInput>])[] = [
    ["NotWhole", { workload: WORKLOAD }],
    ["AsSpecified", { pods: last(4, blocked, { pinned: "its PV" }) }],
    ["PlacementPaused", { spec: { ...NIGHT, paused: false } }],
    ["SpotFallback", { shortage: undefined }],
    ["WindowClosed", { spec: SPEC }],
    ["MoveCooldown", { lastMoveAtMs: undefined }],
    ["EvictionRate", { evictionFromMs: 0 }],
    ["NoneEvictable", { pods: blocked }],
    ["BlockedByPDB", {}],
  ];
  let input: MoveDecisionInput = {
    ...ON_DEMAND,
    workload: { ...WORKLOAD, ready: 3 },
    pods: EVEN,
    spec: { ...NIGHT, paused: true },
    shortage: SHORT,
    lastMoveAtMs: NOW_MS,
    evictionFromMs: NOW_MS + 1,
  };
  for (const [reason, change] of removed) {
    assert.equal(outcome(input), reason);
    input = { ...input, ...change };
  }
});

pure("leavesAtOnce() and leavesInTurn() take pods older than the sign of their node", () => {
  const departing = { gone: true, departs: "taint x" };
  const rows: readonly (readonly [Partial<PlacedPod>, boolean])[] = [
    [{}, false],
    [{ gone: true }, false],
    [departing, true],
    // It was created at an unknown time in the second from 1000 on.
    [{ ...departing, departsSinceMs: 999 }, false],
    [{ ...departing, departsSinceMs: 1999 }, false],
    [{ ...departing, departsSinceMs: 2000 }, true],
  ];
  for (const [changes, leaves] of rows) {
    const pod = placedPod("web-1", { createdAtMs: 1000, ...changes });
    assert.deepEqual([leavesAtOnce(pod), leavesInTurn(pod)], [leaves, false]);
    const drained = { ...pod, drained: true };
    assert.deepEqual([leavesAtOnce(drained), leavesInTurn(drained)], [false, leaves]);
  }
});

pure("ineffectiveMoveCount() counts until a move is effective, or the spec changes", () => {
  const spec = { spotPercentage: 50, minOnDemand: 0 };
  const last = { count: 4, misplaced: 3, spec };
  const counts = [
    ineffectiveMoveCount(undefined, { misplaced: 3, spec }),
    ineffectiveMoveCount(last, { misplaced: 2, spec }),
    ineffectiveMoveCount(last, { misplaced: 3, spec: { ...spec } }),
    ineffectiveMoveCount(last, { misplaced: 4, spec }),
    ineffectiveMoveCount(last, { misplaced: 4, spec: { ...spec, spotPercentage: 70 } }),
    ineffectiveMoveCount(last, { misplaced: 4, spec: { ...spec, minOnDemand: 1 } }),
  ];
  assert.deepEqual(counts, [0, 0, 5, 5, 0, 0]);
});

pure("cooldownAfter() doubles up to three minutes, and is never shorter than asked", () => {
  const seconds = [0, 1, 2, 5, 5000].map((count) => cooldownAfter(count, 10_000) / 1000);
  assert.deepEqual(seconds, [10, 20, 40, 180, 180]);
  assert.equal(cooldownAfter(3, 3_600_000), 3_600_000);
  assert.equal(cooldownAfter(3, 0), 0);
});

const NOW = Date.UTC(2026, 0, 1);
const HALF = { spotPercentage: 50, minOnDemand: 0, paused: false };
const FOUR = placedPods({ spot: 4 });

/** The steps of whole Deployments of these pods, half of them for spot; `-`: none. */
function assertSteps(
  rows: readonly (readonly [RegExp, readonly PlacedPod[], Partial<MoveDecisionInput>?])[],
): void {
  for (const [expected, pods, changes = {}] of rows) {
    const input = wholeInput(pods, { nowMs: NOW, evictionFromMs: NOW, ...changes });
    const decision = decideMove(input, PLACEMENT_DEFAULTS);
    const step = forecastStep(input, { decision, settings: PLACEMENT_DEFAULTS });
    const time = step?.notBefore === undefined ? [] : [step.notBefore.slice(11, 23)];
    const parts = [
      step?.action ?? "-",
      ...(step?.to === undefined ? [] : [`=> ${step.to}`]),
      ...time,
    ];
    assert.match(parts.join(" "), expected);
  }
}

pure(
  "forecastStep() has no step where nothing is to be done, or nothing may be",
  () =>
    assertSteps([
      [/^-$/, placedPods({ spot: 1, "on-demand": 1 })],
      [/^-$/, FOUR, { spec: { ...HALF, paused: true } }],
      [/^-$/, FOUR.with(0, placedPod("web-0", { ready: false }))],
      [/^-$/, FOUR.map((pod) => ({ ...pod, budget: "budget web" }))],
    ]),
);

pure("forecastStep() looks beyond cooldown, window and fallback", () => {
  const lastMoveAtMs = NOW - 4000;
  const window = { schedule: "0 2 * * *", durationMs: 3_600_000 };
  const blocked = FOUR.map((pod) => ({ ...pod, budget: "budget web allows none" }));
  assertSteps([
    [/ web-spot-x4 .* => on-demand 00:00:06\.000$/, FOUR, { lastMoveAtMs }],
    [/ web-spot-x4 .* => on-demand 02:00:00\.000$/, FOUR, {
      lastMoveAtMs,
      spec: { ...HALF, window },
    }],
    [/ web-on-demand-x2 .* => spot 00:01:00\.000$/, placedPods({ "on-demand": 2 }), {
      shortage: { untilMs: NOW + 60_000, rounds: 1 },
    }],
    [/^wait .*\(pod web-spot-x4: budget web .*\) 00:00:06\.000$/, blocked, { lastMoveAtMs }],
  ]);
});

pure("forecastStep() reports shortages, and pods that wait for a spot node", () => {
  const pending = { class: "spot", scheduled: false, ready: false } as const;
  const waiting = (sinceMs: number, createdAtMs = 0) =>
    placedPod("web-0", { ...pending, unschedulableSinceMs: sinceMs, createdAtMs });
  const shortage = { sinceMs: NOW - 1, untilMs: NOW + 60_000, rounds: 1 };
  const long = { ...shortage, untilMs: NOW + 240_000 };
  const remade = { atMs: NOW - 1, count: 1 };
  assertSteps([
    [/^-$/, [placedPod("web-0", pending)]],
    [/^new .* web-0 .* 00:00:40\.000$/, [
      waiting(NOW - 20_000),
      placedPod("web-1"),
    ]],
    [/^fall .* web-0 .* 00:02:00\.000$/, [waiting(NOW, NOW)], { shortage }],
    [/^make pod web-0 again .* 00:01:00\.000$/, [waiting(NOW, NOW)], { shortage: long }],
    [/^make pod web-0 again .*webhook.* 00:01:59\.999$/, [waiting(NOW, NOW)], {
      shortage: { ...long, remade },
    }],
    [/^evict pod web-0 .* => on-demand$/, [waiting(NOW)], { shortage }],
  ]);
});

pure("forecastStep() evicts pods of a leaving node first, unless they are to stay", () => {
  const departs = "taint spot-itn";
  const dying = placedPod("web-9", { gone: true, departs, departsSinceMs: NOW });
  const even = placedPods({ spot: 1, "on-demand": 1 });
  const drained = { ...dying, drained: true };
  assertSteps([
    [/^evict pod web-9 .*\(taint spot-itn\)$/, [...FOUR, dying]],
    [/pod web-9 .*\(taint spot-itn\).*: budget web$/, [
      ...FOUR,
      { ...dying, budget: "budget web" },
    ]],
    [/^-$/, [...FOUR, dying], { spec: { ...HALF, paused: true } }],
    [/^-$/, [...even, { ...dying, pinned: "annotation" }]],
    // In turn: while all others are there it is not whole, as there is one too many.
    [/^-$/, [...FOUR, drained]],
    [/^evict pod web-9 .*\(taint spot-itn\)$/, FOUR.with(0, drained), {
      workload: wholeInput(FOUR).workload,
    }],
  ]);
});

const MINUTE_MS = 60_000;

/** Spot pods that have waited for a node since the times given. */
function waiting(...sinceMs: readonly number[]) {
  const pending = { class: "spot", scheduled: false, ready: false } as const;
  return sinceMs.map((unschedulableSinceMs, index) =>
    placedPod(`web-${index}`, { ...pending, unschedulableSinceMs })
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
  const first = { sinceMs: 60_000, untilMs: 60_000 + 2 * MINUTE_MS, rounds: 1 };
  assert.deepEqual(next(undefined, 60_000, { since: 0 }), first);
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
