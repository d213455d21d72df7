import assert from "node:assert/strict";
import { placedPod, placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { PlacedPod } from "./placed_pod.ts";
import { floorOf, ordinalOf, type PlacedWorkload, splitReplicas } from "./split.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import type { MoveDecision, MoveWait } from "./decide_move.ts";
import {
  phaseOf,
  placementStatus,
  readStatus,
  refusedStatus,
  statusKey,
  timeOfDay,
} from "./status.ts";

/** Replicas, floor, share of spot, and what is on spot and on-demand. */
const EXAMPLES = [
  [10, 2, 60, 6, 4],
  [3, 2, 60, 1, 2],
  [4, 3, 75, 1, 3],
  [5, 1, 0, 0, 5],
  [10, 1, 73, 7, 3],
  [10, 4, 90, 6, 4],
  [3, 5, 70, 0, 3],
  [0, 1, 70, 0, 0],
  [10, 0, 100, 10, 0],
  [100, 0, 70, 70, 30],
] as const;

pure("splitReplicas() divides as in the examples, and floorOf() is at most all replicas", () => {
  for (const [replicas, minOnDemand, spotPercentage, spot, onDemand] of EXAMPLES) {
    const spec = { spotPercentage, minOnDemand };
    const name = `${replicas} replicas, floor ${minOnDemand}, ${spotPercentage} %`;
    assert.deepEqual(splitReplicas(replicas, spec), { spot, "on-demand": onDemand }, name);
    assert.ok(floorOf(replicas, spec) <= onDemand, name);
  }
  const floors = [0, 2, 3, 10].map((replicas) =>
    floorOf(replicas, { spotPercentage: 50, minOnDemand: 3 })
  );
  assert.deepEqual(floors, [0, 2, 3, 3]);
});

pure("ordinalOf() reads the end of the name", () => {
  assert.equal(ordinalOf("db-main-12"), 12);
  assert.equal(ordinalOf("db-main-0"), 0);
  for (const name of ["db", "db-", "db-1a", "7", ""]) assert.equal(ordinalOf(name), undefined);
});

const NOW = Date.UTC(2026, 0, 1, 12);
const MOVE: MoveDecision = { move: { pod: placedPod("web-0"), to: "spot" } };
const HALF_SPEC = { spotPercentage: 50, minOnDemand: 0, paused: false };

const PENDING = { class: "spot", node: "", scheduled: false, ready: false } as const;

function wait(reason: MoveWait["wait"], untilMs?: number): MoveWait {
  return { wait: reason, message: "so", ...(untilMs === undefined ? {} : { untilMs }) };
}

function statusWith(
  pods: readonly PlacedPod[],
  kind: PlacedWorkload["kind"] = "Deployment",
  replicas = pods.length,
) {
  const workload = { kind, replicas, observed: true, present: 0, ready: 0, updated: 0 };
  const times = { evictionFromMs: NOW, nowMs: NOW };
  return placementStatus({ workload, spec: HALF_SPEC, pods, ...times }, PLACEMENT_DEFAULTS);
}

pure("phaseOf() names a phase for each reason, with its end", () => {
  const phase = (decision: MoveDecision) =>
    phaseOf({ decision, shortage: undefined, nowMs: NOW }).phase;
  const phases = {
    AsSpecified: "AsSpecified",
    PlacementPaused: "Paused",
    WindowClosed: "OutsideWindow",
    MoveCooldown: "Cooldown",
    EvictionRate: "Cooldown",
    NotWhole: "NotWhole",
    NoneEvictable: "Bound",
    BlockedByPDB: "BlockedByBudget",
  } as const;
  for (const [reason, expected] of Object.entries(phases)) {
    assert.equal(phase(wait(reason as MoveWait["wait"])), expected, reason);
  }
  assert.equal(phase(MOVE), "Converging");
  const cooldown = wait("MoveCooldown", NOW + 5000);
  const found = phaseOf({ decision: cooldown, shortage: undefined, nowMs: NOW });
  const until = "2026-01-01T12:00:05.000Z";
  assert.deepEqual(found, { phase: "Cooldown", until, reason: "MoveCooldown", message: "so" });
});

pure("phaseOf() reports a fallback whatever else holds, and the return from it", () => {
  const during = { untilMs: NOW + 60_000, rounds: 2 };
  const found = phaseOf({ decision: wait("NotWhole"), shortage: during, nowMs: NOW });
  const until = "2026-01-01T12:01:00.000Z";
  assert.partialDeepStrictEqual(found, { phase: "Fallback", until, reason: "SpotFallback" });
  assert.match(found.message ?? "", /^fallback 2 .*; so$/);
  const after = { untilMs: NOW, rounds: 2 };
  const phase = (decision: MoveDecision) =>
    phaseOf({ decision, shortage: after, nowMs: NOW }).phase;
  for (const decision of [MOVE, wait("MoveCooldown", NOW + 1), wait("NotWhole")]) {
    assert.equal(phase(decision), "Returning");
  }
  // Only the phases that delay the return take its place.
  assert.equal(phase(wait("PlacementPaused")), "Paused");
  assert.equal(phase(wait("BlockedByPDB")), "BlockedByBudget");
});

pure("placementStatus() divides each revision by itself, the newest first", () => {
  const pods = [
    ...placedPods({ spot: 3, "on-demand": 1 }, { revision: "old" }),
    ...placedPods({ "on-demand": 1 }, { revision: "new", createdAtMs: 9_000_000 }),
    placedPod("new-2", { revision: "new", class: "spot", scheduled: false }),
    placedPod("gone", { revision: "new", gone: true }),
  ];
  const { revisions: [newest, old], actual, pending } = statusWith(pods);
  assert.deepEqual(newest, {
    revision: "new",
    desired: { spot: 1, "on-demand": 1 },
    actual: { spot: 0, "on-demand": 1 },
    pending: { spot: 1, "on-demand": 0 },
  });
  assert.deepEqual(old?.desired, { spot: 2, "on-demand": 2 });
  assert.deepEqual([actual, pending], [{ spot: 3, "on-demand": 2 }, { spot: 1, "on-demand": 0 }]);
});

pure("placementStatus() divides by ordinals, and counts drained nodes' pods", () => {
  const split = { spot: 1, "on-demand": 1 };
  const ordinals = [0, 2].map((ordinal) => placedPod(`db-${ordinal}`, { class: "spot" }));
  assert.deepEqual(statusWith(ordinals, "StatefulSet", 4).revisions[0]?.desired, split);
  const drained = { gone: true, departs: "taint disrupted", drained: true };
  const pods = [...placedPods({ spot: 1 }), ...placedPods({ "on-demand": 1 }, drained)];
  const [all] = statusWith(pods).revisions;
  assert.deepEqual([all?.desired, all?.actual], [split, split]);
});

pure("refusedStatus() has the pods of invalid workloads, each with what keeps it there", () => {
  const placed = [
    placedPod("web-10", { pinned: "its affinity allows none", budget: "budget web allows none" }),
    placedPod("web-9", { cordoned: true, ready: false }),
    placedPod("new", PENDING),
    placedPod("late", { ...PENDING, unschedulableSinceMs: NOW }),
    placedPod("dying", { gone: true, departs: "taint x" }),
    placedPod("gone", { gone: true }),
  ];
  const pods = () => ({ pods: placed, nowMs: NOW });
  const invalid = refusedStatus({ reason: "ConfigurationError", message: "" }, pods);
  const texts = invalid.pods.map(({ name, node, notes }) => `${name} ${node} ${notes.length}`);
  assert.equal(texts.join(), "late  1,new  1,dying node-1 1,web-9 node-1 2,web-10 node-1 2");
  const { phase, pods: none } = refusedStatus({ reason: "PlacementOff", message: "" }, pods);
  assert.deepEqual([phase, none], ["LeftAlone", []]);
});

pure("readStatus() reads what was published, and no other text", () => {
  const status = statusWith(placedPods({ spot: 2 }));
  assert.deepEqual(readStatus(JSON.stringify(status)), status);
  const newer = { ...status, reason: "Newer" };
  assert.deepEqual(readStatus(JSON.stringify(newer)), newer);
  const damages = [
    ...[{ phase: "Newer" }, { pods: [{}] }, { revisions: {} }, { until: "soon" }],
    ...[{ spec: null }, { pending: null }],
  ];
  const others = [{ phase: "Paused" }, ...damages.map((damage) => ({ ...status, ...damage }))]
    .map((one) => JSON.stringify(one));
  for (const text of ["", "{", "null", "[]", "{}", ...others]) {
    assert.equal(readStatus(text).phase, "Unknown");
  }
});
pure("statusKey() can be a key of a ConfigMap", () => {
  const key = statusKey({ kind: "StatefulSet", name: "db.main-1" });
  assert.match(key, /^[-._a-zA-Z0-9]{1,253}$/);
});

pure("timeOfDay() names the day only if it is another one, and is never too early", () => {
  assert.equal(timeOfDay("2026-01-01T12:00:10.000Z", NOW), "12:00:10Z");
  assert.equal(timeOfDay("2026-01-01T12:00:10.001Z", NOW), "12:00:11Z");
  assert.equal(timeOfDay("2026-01-02T02:00:00.000Z", NOW), "2026-01-02 02:00:00Z");
});
