import assert from "node:assert/strict";
import { placedPod, placedPods, wholeInput } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { decideMove, leavesAtOnce, leavesInTurn, type MoveDecisionInput } from "./decide_move.ts";
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
  const decision = decideMove(facts);
  if ("wait" in decision) return decision.wait;
  const { pod, to } = decision.move;
  return `${pod.name} to ${to}`;
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

pure("decideMove() takes no on-demand pod of a StatefulSet from the floor", () => {
  const decide = (minOnDemand: number, changes: Partial<PlacedPod>): string => {
    const first = placedPod("db-0", { class: "spot", ...changes });
    const pods = [first, ...[1, 2, 3].map((ordinal) => placedPod(`db-${ordinal}`))];
    const { workload, ...input } = wholeInput(pods, { nowMs: NOW_MS });
    const spec = { ...SPEC, minOnDemand };
    return outcome({ ...input, spec, workload: { ...workload, kind: "StatefulSet" } });
  };
  // Beyond the floor a pod of the wrong class moves to spot, whatever blocks the others.
  assert.equal(decide(2, { pinned: "volume data" }), "db-3 to spot");
  assert.equal(decide(3, { pinned: "volume data" }), "NoneEvictable");
  assert.equal(decide(3, { budget: "budget db" }), "BlockedByPDB");
  assert.equal(decide(3, {}), "db-0 to on-demand");
});

pure("decideMove() waits with the time at which it ends", () => {
  const waits: readonly (readonly [Partial<MoveDecisionInput>, string, number])[] = [
    [{ spec: NIGHT }, "WindowClosed", NOW_MS + 10 * 3_600_000],
    [{ lastMoveAtMs: NOW_MS - 9_999 }, "MoveCooldown", NOW_MS + 1],
    [{ evictionFromMs: NOW_MS + 7 }, "EvictionRate", NOW_MS + 7],
  ];
  for (const [change, reason, untilMs] of waits) {
    const decision = decideMove({ ...SPOT, ...change });
    assert.ok("wait" in decision);
    assert.deepEqual([decision.wait, decision.untilMs], [reason, untilMs]);
    assert.equal(outcome({ ...SPOT, ...change, nowMs: untilMs }), MOVED);
  }
});

pure(
  "decideMove() reports first what is wrong, then what blocks, then what passes by itself",
  () => {
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
  },
);

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
