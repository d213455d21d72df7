import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { leavesAtOnce, leavesInTurn, nextMove, type NextMoveInput } from "./next_move.ts";
import type { PlacedPod } from "./placed_pod.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW_MS = Date.parse("2026-05-04T12:00:00Z");
const SPEC = { spotPercentage: 50, minOnDemand: 0, paused: false } as const;
const NIGHT = { schedule: "0 22 * * *", durationMs: 3_600_000 } as const;
const SHORT = { untilMs: NOW_MS + 5, rounds: 1 } as const;

/** Whole, with all four replicas of the class. */
function all(one: PlacedPod["class"], changes: Partial<PlacedPod> = {}): NextMoveInput {
  return {
    workload: {
      kind: "Deployment",
      replicas: 4,
      observed: true,
      present: 4,
      ready: 4,
      updated: 4,
    },
    spec: SPEC,
    pods: placedPods({ [one]: 4 }, changes),
    evictionFromMs: 0,
    nowMs: NOW_MS,
  };
}

const SPOT = all("spot");
const ON_DEMAND = all("on-demand");

function outcome(facts: NextMoveInput): string {
  const next = nextMove(facts);
  return "move" in next ? `${next.move.pod.name} to ${next.move.to}` : next.wait;
}

test("nextMove() moves one pod of the class with too many", () => {
  assert.equal(outcome(SPOT), "web-spot-x4 to on-demand");
  assert.equal(outcome(ON_DEMAND), "web-on-demand-x4 to spot");
  assert.equal(outcome({ ...SPOT, pods: placedPods({ spot: 2, "on-demand": 2 }) }), "AsSpecified");
});

test("nextMove() moves pods of drained nodes first, one by one", () => {
  const [first, second, ...others] = SPOT.pods;
  assert.ok(first !== undefined && second !== undefined);
  const leaving = { gone: true, departs: "taint x", drained: true } as const;
  const drained = {
    ...SPOT,
    pods: [{ ...first, ...leaving }, { ...second, ...leaving }, ...others],
  };
  assert.equal(outcome(drained), "web-spot-x1 to spot");
  // What was made after the sign was seen counts for nothing, and its workload is not whole.
  const late = { ...first, ...leaving, departsSinceMs: first.createdAtMs - 1 };
  assert.equal(outcome({ ...SPOT, pods: [late, second, ...others] }), "NotWhole");
  assert.equal(outcome({ ...drained, workload: { ...SPOT.workload, ready: 3 } }), "NotWhole");
  assert.equal(outcome({ ...drained, spec: { ...SPEC, paused: true } }), "PlacementPaused");
  assert.equal(outcome({ ...drained, spec: { ...SPEC, window: NIGHT } }), "WindowClosed");
  assert.equal(outcome({ ...drained, lastMoveAtMs: NOW_MS - 1 }), "MoveCooldown");
  assert.equal(outcome({ ...drained, shortage: SHORT }), "SpotFallback");
});

test("nextMove() waits until all replicas are Ready, by status and by pods", () => {
  const workloads = [{ observed: false }, { present: 5 }, { ready: 3 }, { updated: 3 }];
  for (const change of [...workloads, { replicas: 5 }]) {
    assert.equal(outcome({ ...SPOT, workload: { ...SPOT.workload, ...change } }), "NotWhole");
  }
  const [first, ...others] = SPOT.pods;
  assert.ok(first !== undefined);
  for (const change of [{ gone: true }, { ready: false }]) {
    assert.equal(outcome({ ...SPOT, pods: [{ ...first, ...change }, ...others] }), "NotWhole");
  }
  // A pod that ends beside all that are needed does not count.
  const ending = { ...first, uid: "ending", gone: true, ready: false };
  assert.equal(outcome({ ...SPOT, pods: [...SPOT.pods, ending] }), "web-spot-x4 to on-demand");
});

test("nextMove() waits with a reason and a time", () => {
  assert.equal(outcome({ ...SPOT, spec: { ...SPEC, paused: true } }), "PlacementPaused");
  const waits: readonly (readonly [Partial<NextMoveInput>, string, number])[] = [
    [{ spec: { ...SPEC, window: NIGHT } }, "WindowClosed", NOW_MS + 10 * 3_600_000],
    [{ lastMoveAtMs: NOW_MS - 9_999 }, "MoveCooldown", NOW_MS + 1],
    [{ evictionFromMs: NOW_MS + 7 }, "EvictionRate", NOW_MS + 7],
  ];
  for (const [change, reason, untilMs] of waits) {
    const next = nextMove({ ...SPOT, ...change });
    assert.ok("wait" in next);
    assert.deepEqual([next.wait, next.untilMs], [reason, untilMs]);
    assert.equal(outcome({ ...SPOT, ...change, nowMs: untilMs }), "web-spot-x4 to on-demand");
  }
});

test("nextMove() keeps pods off spot nodes that are short, and moves others to on-demand", () => {
  assert.equal(outcome({ ...ON_DEMAND, shortage: SHORT }), "SpotFallback");
  assert.equal(outcome({ ...SPOT, shortage: SHORT }), "web-spot-x4 to on-demand");
  assert.equal(
    outcome({ ...ON_DEMAND, shortage: SHORT, nowMs: SHORT.untilMs }),
    "web-on-demand-x4 to spot",
  );
});

test("nextMove() skips pinned pods, and waits if all are", () => {
  const bind = (count: number, facts: NextMoveInput, by: Partial<PlacedPod>): NextMoveInput => ({
    ...facts,
    pods: facts.pods.map((pod, index) => index >= 4 - count ? { ...pod, ...by } : pod),
  });
  const pinned = { pinned: "volume data" };
  assert.equal(outcome(bind(2, SPOT, pinned)), "web-spot-x2 to on-demand");
  assert.deepEqual(nextMove(bind(4, SPOT, pinned)), {
    wait: "NoneEvictable",
    message: "pod web-spot-x4: volume data",
  });
  const budget = { budget: "budget web" };
  assert.equal(outcome(bind(2, SPOT, budget)), "web-spot-x2 to on-demand");
  const blocked = nextMove(bind(1, bind(4, SPOT, budget), pinned));
  assert.deepEqual(blocked, {
    wait: "BlockedByPDB",
    message: "pod web-spot-x3: budget web",
  });
});

test("nextMove() reports first what is wrong, then what blocks, then what passes by itself", () => {
  const facts: NextMoveInput = {
    ...all("on-demand", { budget: "budget web" }),
    spec: { ...SPEC, paused: true, window: NIGHT },
    shortage: { untilMs: NOW_MS + 1, rounds: 1 },
    lastMoveAtMs: NOW_MS,
    evictionFromMs: NOW_MS + 1,
  };
  const order: string[] = [outcome({ ...facts, workload: { ...facts.workload, ready: 3 } })];
  const { shortage: _, lastMoveAtMs: __, ...others } = facts;
  order.push(
    outcome({ ...facts, pods: placedPods({ spot: 2, "on-demand": 2 }) }),
    outcome(facts),
    outcome({ ...facts, spec: { ...SPEC, window: NIGHT } }),
    outcome({ ...others, lastMoveAtMs: NOW_MS, spec: { ...SPEC, window: NIGHT } }),
    outcome({ ...others, lastMoveAtMs: NOW_MS, spec: SPEC }),
    outcome({ ...others, spec: SPEC }),
    outcome({ ...others, spec: SPEC, evictionFromMs: 0 }),
  );
  assert.deepEqual(order, [
    "NotWhole",
    "AsSpecified",
    "PlacementPaused",
    "SpotFallback",
    "WindowClosed",
    "MoveCooldown",
    "EvictionRate",
    "BlockedByPDB",
  ]);
});

test("nextMove() waits longer after ineffective moves, with a message", () => {
  const ineffectiveMoves = { count: 1, misplaced: 2, spec: SPEC };
  const facts = { ...SPOT, lastMoveAtMs: NOW_MS - 30_000, ineffectiveMoves };
  const next = nextMove(facts);
  assert.ok("wait" in next);
  assert.deepEqual([next.wait, next.untilMs], ["MoveCooldown", NOW_MS + 10_000]);
  assert.match(next.message, / 40 s .* 2 /);
  // One that has helped: of three that were misplaced two are left.
  assert.equal(
    outcome({ ...facts, ineffectiveMoves: { ...ineffectiveMoves, misplaced: 3 } }),
    "web-spot-x4 to on-demand",
  );
  assert.equal(outcome({ ...facts, nowMs: NOW_MS + 10_000 }), "web-spot-x4 to on-demand");
});

function answers(changes: Partial<PlacedPod>): readonly boolean[] {
  const pod = placedPod("web-1", { createdAtMs: 1000, ...changes });
  return [leavesAtOnce(pod), leavesInTurn(pod)];
}

Deno.test("leavesAtOnce() and leavesInTurn() distinguish nodes that are gone in a moment from drained ones", () => {
  const departs = "taint x";
  assert.deepEqual(answers({}), [false, false]);
  assert.deepEqual(answers({ gone: true }), [false, false]);
  assert.deepEqual(answers({ gone: true, departs }), [true, false]);
  assert.deepEqual(answers({ gone: true, departs, drained: true }), [false, true]);
});

Deno.test("leavesAtOnce() and leavesInTurn() leave pods that were created after the sign", () => {
  const facts = { gone: true, departs: "taint x" };
  // It was created at an unknown time in the second from 1000 on.
  for (const [departsSinceMs, leaves] of [[999, false], [1999, false], [2000, true]] as const) {
    assert.deepEqual(answers({ ...facts, departsSinceMs }), [leaves, false]);
    assert.deepEqual(answers({ ...facts, departsSinceMs, drained: true }), [false, leaves]);
  }
});
