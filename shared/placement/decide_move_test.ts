import assert from "node:assert/strict";
import { placedPod, placedPods, wholeInput } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { cooldownAfter, ineffectiveMoveCount } from "./move_cooldown.ts";
import { leavesAtOnce, leavesInTurn, decideMove, type MoveDecisionInput } from "./decide_move.ts";
import { forecastStep } from "./forecast_step.ts";
import type { PlacedPod } from "./placed_pod.ts";

const NOW_MS = Date.parse("2026-05-04T12:00:00Z");
const SPOT = wholeInput(placedPods({ spot: 4 }), { nowMs: NOW_MS });
const ON_DEMAND = wholeInput(placedPods({ "on-demand": 4 }), { nowMs: NOW_MS });
const { spec: SPEC, workload: WORKLOAD } = SPOT;
const PAUSED = { ...SPEC, paused: true };
const NIGHT = { ...SPEC, window: { schedule: "0 22 * * *", durationMs: 3_600_000 } };
const SHORT = { untilMs: NOW_MS + 5, rounds: 1 };
const MOVED = "web-spot-x4 to on-demand";

function outcome(facts: MoveDecisionInput): string {
  const next = decideMove(facts);
  return "move" in next ? `${next.move.pod.name} to ${next.move.to}` : next.wait;
}

/** The last `count` pods with these changes. */
function last(count: number, pods: readonly PlacedPod[], by: Partial<PlacedPod>) {
  return pods.map((pod, index) => index >= pods.length - count ? { ...pod, ...by } : pod);
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
  const rows: readonly (readonly [string, Partial<MoveDecisionInput>, MoveDecisionInput?])[] = [
    [MOVED, {}],
    ["web-on-demand-x4 to spot", {}, ON_DEMAND],
    ["AsSpecified", { pods: placedPods({ spot: 2, "on-demand": 2 }) }],
    ...[{ observed: false }, { present: 5 }, { ready: 3 }, { updated: 3 }, { replicas: 5 }].map((
      change,
    ) => ["NotWhole", { workload: { ...WORKLOAD, ...change } }] as const),
    ["NotWhole", { pods: [{ ...first, gone: true }, ...others] }],
    ["NotWhole", { pods: [{ ...first, ready: false }, ...others] }],
    // A pod that ends beside all that are needed does not count.
    [MOVED, { pods: [...SPOT.pods, ending] }],
    ["PlacementPaused", { spec: PAUSED }],
    ["SpotFallback", { shortage: SHORT }, ON_DEMAND],
    [MOVED, { shortage: SHORT }],
    ["web-on-demand-x4 to spot", { shortage: SHORT, nowMs: SHORT.untilMs }, ON_DEMAND],
    ["web-spot-x2 to on-demand", { pods: last(2, SPOT.pods, { pinned: "volume data" }) }],
    ["web-spot-x2 to on-demand", { pods: last(2, SPOT.pods, { budget: "budget web" }) }],
    ["NoneEvictable", { pods: last(4, SPOT.pods, { pinned: "volume data" }) }],
    // Ineffective moves double the cooldown; one that has helped does not.
    ["MoveCooldown", { ...cooled, ineffectiveMoves }],
    [MOVED, { ...cooled, ineffectiveMoves: { ...ineffectiveMoves, misplaced: 3 } }],
    [MOVED, { ...cooled, ineffectiveMoves, nowMs: NOW_MS + 10_000 }],
    // Pods of drained nodes go first, one by one.
    ["web-spot-x1 to spot", drained],
    ["NotWhole", { pods: [late, ...others] }],
    ["NotWhole", { ...drained, workload: { ...WORKLOAD, ready: 3 } }],
    ["PlacementPaused", { ...drained, spec: PAUSED }],
    ["WindowClosed", { ...drained, spec: NIGHT }],
    ["MoveCooldown", { ...drained, lastMoveAtMs: NOW_MS - 1 }],
    ["SpotFallback", { ...drained, shortage: SHORT }],
  ];
  for (const [expected, changes, base = SPOT] of rows) {
    assert.equal(outcome({ ...base, ...changes }), expected, JSON.stringify(changes));
  }
});

pure("decideMove() waits with the time at which it ends", () => {
  const waits: readonly (readonly [Partial<MoveDecisionInput>, string, number])[] = [
    [{ spec: NIGHT }, "WindowClosed", NOW_MS + 10 * 3_600_000],
    [{ lastMoveAtMs: NOW_MS - 9_999 }, "MoveCooldown", NOW_MS + 1],
    [{ evictionFromMs: NOW_MS + 7 }, "EvictionRate", NOW_MS + 7],
  ];
  for (const [change, reason, untilMs] of waits) {
    const next = decideMove({ ...SPOT, ...change });
    assert.ok("wait" in next);
    assert.deepEqual([next.wait, next.untilMs], [reason, untilMs]);
    assert.equal(outcome({ ...SPOT, ...change, nowMs: untilMs }), MOVED);
  }
});

pure("decideMove() reports first what is wrong, then what blocks, then what passes by itself", () => {
  const blocked = last(4, ON_DEMAND.pods, { budget: "budget web" });
  const removed: readonly (readonly [string, Partial<MoveDecisionInput>])[] = [
    ["NotWhole", { workload: WORKLOAD }],
    ["AsSpecified", { pods: blocked }],
    ["PlacementPaused", { spec: { ...NIGHT, paused: false } }],
    ["SpotFallback", { shortage: undefined }],
    ["WindowClosed", { spec: SPEC }],
    ["MoveCooldown", { lastMoveAtMs: undefined }],
    ["EvictionRate", { evictionFromMs: 0 }],
    ["BlockedByPDB", {}],
  ];
  let facts: MoveDecisionInput = {
    ...ON_DEMAND,
    workload: { ...WORKLOAD, ready: 3 },
    pods: placedPods({ spot: 2, "on-demand": 2 }),
    spec: { ...NIGHT, paused: true },
    shortage: SHORT,
    lastMoveAtMs: NOW_MS,
    evictionFromMs: NOW_MS + 1,
  };
  for (const [reason, change] of removed) {
    assert.equal(outcome(facts), reason);
    facts = { ...facts, ...change };
  }
});

pure("leavesAtOnce() and leavesInTurn() distinguish lost and drained nodes", () => {
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
    const { step } = forecastStep(input, { cooldownMs: 10_000, shortage: {} });
    const time = step?.notBefore === undefined ? [] : [step.notBefore.slice(11, 23)];
    const parts = [
      step?.action ?? "-",
      ...(step?.to === undefined ? [] : [`=> ${step.to}`]),
      ...time,
    ];
    assert.match(parts.join(" "), expected);
  }
}

pure("forecastStep() has no step where nothing is to be done, or nothing may be", () =>
  assertSteps([
    [/^-$/, placedPods({ spot: 1, "on-demand": 1 })],
    [/^-$/, FOUR, { spec: { ...HALF, paused: true } }],
    [/^-$/, FOUR.with(0, placedPod("web-0", { ready: false }))],
    [/^-$/, FOUR.map((pod) => ({ ...pod, budget: "budget web" }))],
  ]));

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
    [/^new pods .* unless pod web-0 .* 00:00:40\.000$/, [
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
