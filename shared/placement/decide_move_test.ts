import assert from "node:assert/strict";
import { placedPod, placedPods, wholeInput } from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { decideMove, leavesAtOnce, leavesInTurn, type MoveDecisionInput } from "./decide_move.ts";
import type { PlacedPod } from "./placed_pod.ts";

const NOW_MS = Date.parse("2026-05-04T12:00:00Z");
const SPOT = wholeInput(placedPods({ spot: 4 }), { nowMs: NOW_MS });
const ON_DEMAND = wholeInput(placedPods({ "on-demand": 4 }), { nowMs: NOW_MS });
const EVEN = placedPods({ spot: 2, "on-demand": 2 });
const { spec: SPEC, workload: WORKLOAD } = SPOT;
const PAUSED = { ...SPEC, paused: true };
const NIGHT = { ...SPEC, window: { schedule: "0 22 * * *", durationMs: 3_600_000 } };
const SHORT = { untilMs: NOW_MS + 5, rounds: 1 };
const MOVED = "web-spot-x4 to on-demand";

/** `POD to CLASS`, or the reason to wait, which `isLong` extends by its message and its end in ms. */
function outcome(input: MoveDecisionInput, isLong = false): string {
  const decision = decideMove(input, PLACEMENT_DEFAULTS);
  if ("move" in decision) return `${decision.move.pod.name} to ${decision.move.to}`;
  const { wait, message, untilMs } = decision;
  const end = untilMs === undefined ? "" : ` (+${untilMs - input.nowMs})`;
  return isLong ? `${wait}: ${message}${end}` : wait;
}

/** The last `count` pods with these changes. */
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
  const rows: readonly (readonly [string, Partial<MoveDecisionInput>, MoveDecisionInput?])[] = [
    [MOVED, {}],
    ["web-on-demand-x4 to spot", {}, ON_DEMAND],
    ["AsSpecified: each replica is where it should be", { pods: EVEN }],
    [
      "NotWhole: of 4 replicas 5 are there, 3 Ready, 2 updated; of 4 pods 4 are Ready",
      { workload: { ...WORKLOAD, present: 5, ready: 3, updated: 2 } },
    ],
    ...[{ observed: false }, { present: 5 }, { ready: 3 }, { updated: 3 }, { replicas: 5 }].map((
      change,
    ) => ["NotWhole", { workload: { ...WORKLOAD, ...change } }] as const),
    ["NotWhole", { pods: [{ ...first, gone: true }, ...others] }],
    ["NotWhole", { pods: [{ ...first, ready: false }, ...others] }],
    // A pod that ends beside all that are needed does not count.
    [MOVED, { pods: [...SPOT.pods, ending] }],
    ["PlacementPaused: spotalis.io/paused is set", { spec: PAUSED }],
    ["SpotFallback: spot nodes are short (+5)", { shortage: SHORT }, ON_DEMAND],
    [MOVED, { shortage: SHORT }],
    ["web-on-demand-x4 to spot", { shortage: SHORT, nowMs: SHORT.untilMs }, ON_DEMAND],
    ["WindowClosed: 0 22 * * * opens it (+36000000)", { spec: NIGHT }],
    [MOVED, { spec: NIGHT, nowMs: NOW_MS + 36_000_000 }],
    ["MoveCooldown: it lasts 10 s after a move (+1)", { lastMoveAtMs: NOW_MS - 9_999 }],
    [MOVED, { lastMoveAtMs: NOW_MS - 10_000 }],
    // Ineffective moves double the cooldown; one that has helped does not.
    [
      "MoveCooldown: it lasts 40 s after a move, as 2 in a row have not helped: is the webhook " +
      "asked, and may pods be evicted? (+10000)",
      { ...cooled, ineffectiveMoves },
    ],
    [MOVED, { ...cooled, ineffectiveMoves: { ...ineffectiveMoves, misplaced: 3 } }],
    [MOVED, { ...cooled, ineffectiveMoves, nowMs: NOW_MS + 10_000 }],
    ["EvictionRate: it is used up (+7)", { evictionFromMs: NOW_MS + 7 }],
    [MOVED, { evictionFromMs: NOW_MS }],
    ["web-spot-x2 to on-demand", { pods: last(2, SPOT.pods, { pinned: "its PV" }) }],
    ["web-spot-x2 to on-demand", { pods: last(2, SPOT.pods, { budget: "budget web" }) }],
    [
      "NoneEvictable: pod web-spot-x4: its PV",
      { pods: last(4, SPOT.pods, { pinned: "its PV" }) },
    ],
    [
      "BlockedByPDB: pod web-spot-x4: budget web",
      { pods: last(4, SPOT.pods, { budget: "budget web" }) },
    ],
    // Beyond the floor a StatefulSet's pod moves to spot, whatever blocks the others.
    ["db-3 to spot", setInput(2, { pinned: "its PV" })],
    ["NoneEvictable: pod db-0: its PV", setInput(3, { pinned: "its PV" })],
    ["BlockedByPDB: pod db-0: budget db", setInput(3, { budget: "budget db" })],
    ["db-0 to on-demand", setInput(3)],
    // Its first ordinal has just changed, and all pods are of ordinals that end.
    ["NoneEvictable: pod db-7: the floor needs it", {
      ...setInput(2),
      pods: ["db-4", "db-5", "db-6", "db-7"].map((name, index) =>
        placedPod(name, index < 2 ? { class: "spot" } : {})
      ),
    }],
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
    const found = outcome({ ...base, ...changes }, expected.includes(":"));
    assert.equal(found, expected, JSON.stringify(changes));
  }
});

pure(
  "decideMove() reports faults first, then blocks, then waits that pass, then obstacles of pods",
  () => {
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
  },
);

pure(
  "leavesAtOnce() and leavesInTurn() take pods that are older than the sign of their node",
  () => {
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
  },
);
