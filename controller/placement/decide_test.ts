import assert from "node:assert/strict";
import { placedPods } from "../../tests/fixtures/placement/placed_pods.ts";
import { PLACEMENT_DEFAULTS } from "../../tests/fixtures/placement/placement_defaults.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { EvictionAnswer } from "../../shared/api/ports.ts";
import { decide, type PlacementSnapshot } from "./decide.ts";
import { createEvictionLog } from "./eviction_memory.ts";
import { createDepartureTimes } from "./watch.ts";

const NOW_MS = 1_000_000_000;
const SPEC = { spotPercentage: 50, minOnDemand: 0, paused: false } as const;
const REPLICAS = { kind: "Deployment", replicas: 4, observed: true, present: 4 } as const;

function snapshot(changes: Partial<PlacementSnapshot> = {}): PlacementSnapshot {
  return {
    workload: sampleWorkload(),
    replicas: { ...REPLICAS, ready: 4, updated: 4 },
    spec: SPEC,
    pods: placedPods({ spot: 4 }),
    denials: new Map(),
    memory: {},
    evictionFromMs: 0,
    nowMs: NOW_MS,
    ...changes,
  };
}

pure("decide() plans a move, what to store of it, and missing deletion costs", () => {
  const { move, memory, isMemoryNew, costs, departing, leftBehind } = decide(
    snapshot(),
    PLACEMENT_DEFAULTS,
  );
  const ineffectiveMoves = { count: 0, misplaced: 2, spec: { spotPercentage: 50, minOnDemand: 0 } };
  assert.deepEqual([move?.pod.name, move?.why], ["web-spot-x4", "to on-demand"]);
  assert.deepEqual(move?.before, { lastMoveAtMs: NOW_MS });
  assert.deepEqual(move?.tried, { lastMoveAtMs: NOW_MS, ineffectiveMoves });
  assert.deepEqual([memory, isMemoryNew, costs.length], [{}, false, 4]);
  assert.deepEqual([departing, leftBehind], [[], []]);
  const again = { lastMoveAtMs: 0, ineffectiveMoves };
  assert.equal(
    decide(snapshot({ memory: again }), PLACEMENT_DEFAULTS).move?.tried?.ineffectiveMoves?.count,
    1,
  );
});

pure("decide() skips denied evictions, and clears ineffective moves at the end", () => {
  const denials = new Map([["uid-web-spot-x4", "no"]]);
  assert.equal(decide(snapshot({ denials }), PLACEMENT_DEFAULTS).move?.pod.name, "web-spot-x3");
  const pods = placedPods({ spot: 2, "on-demand": 2 });
  const ineffectiveMoves = { count: 3, misplaced: 2, spec: SPEC };
  const memory = { lastMoveAtMs: 5, ineffectiveMoves };
  const plan = decide(snapshot({ pods, memory }), PLACEMENT_DEFAULTS);
  assert.ok("wait" in plan.decision && plan.decision.wait === "AsSpecified");
  assert.deepEqual([plan.memory, plan.isMemoryNew, plan.move], [
    { lastMoveAtMs: 5 },
    true,
    undefined,
  ]);
});

pure("decide() evicts pods of departing nodes at once, unless pinned or paused", () => {
  const departs = { gone: true, departs: "taint x" };
  const [first, ...others] = placedPods({ spot: 2 }, departs);
  assert.ok(first !== undefined);
  const pods = [{ ...first, pinned: "an annotation" }, ...others];
  const [only, ...more] = decide(snapshot({ pods }), PLACEMENT_DEFAULTS).departing;
  assert.deepEqual([only?.pod.name, more], ["web-spot-x2", []]);
  assert.match(only?.why ?? "", /\(taint x\)$/);
  const paused = { ...SPEC, paused: true };
  assert.deepEqual(decide(snapshot({ pods, spec: paused }), PLACEMENT_DEFAULTS).departing, []);
});

pure("decide() begins a fallback, which evicts the pods that found no spot node", () => {
  const waiting = { scheduled: false, ready: false, unschedulableSinceMs: NOW_MS - 60_000 };
  const pods = placedPods({ spot: 2 }, waiting);
  const plan = decide(snapshot({ pods }), PLACEMENT_DEFAULTS);
  assert.deepEqual([plan.memory.shortage?.rounds, plan.isMemoryNew], [1, true]);
  // People see the fallback that has just begun.
  assert.deepEqual([plan.status.phase, plan.status.readOnly], ["Fallback", undefined]);
  const readOnly = { ...PLACEMENT_DEFAULTS, readOnlyMode: true };
  assert.equal(decide(snapshot({ pods }), readOnly).status.readOnly, true);
  assert.deepEqual(plan.leftBehind.map(({ pod }) => pod.name), ["web-spot-x1", "web-spot-x2"]);
  const before = decide(snapshot({ pods, nowMs: NOW_MS - 1 }), PLACEMENT_DEFAULTS);
  assert.deepEqual([before.memory, before.isMemoryNew, before.leftBehind], [{}, false, []]);
});

const BLOCKED: EvictionAnswer = { is: "blocked", message: "a budget" };
const DENIED: EvictionAnswer = { is: "forbidden", message: "a webhook" };

function evictionStage(placementCooldown = 10_000) {
  let nowMs = 0;
  const log = createEvictionLog({
    clock: { monotonic: () => nowMs },
    settings: () => ({ placementCooldown }),
  });
  return { log, at: (ms: number) => void (nowMs = ms) };
}

pure("createEvictionLog() has a pod from the request until a refusal or the caches", () => {
  const { log, at } = evictionStage();
  for (const uid of ["a", "b"]) log.requested(uid);
  log.answered("a", BLOCKED);
  assert.deepEqual([log.has("a"), log.has("b"), log.has("c")], [false, true, false]);
  at(59_999);
  log.expire();
  assert.equal(log.has("b"), true);
  at(60_000);
  log.expire();
  assert.equal(log.has("b"), false);
});

pure("createEvictionLog() retries after the cooldown, and backs off when denied", () => {
  for (
    const [answer, seconds] of [[BLOCKED, [10, 10]], [DENIED, [10, 20, 40, 80, 160, 180]]] as const
  ) {
    const { log, at } = evictionStage();
    let nowMs = 0;
    for (const wait of seconds) {
      log.answered("a", answer);
      assert.equal(log.retryAfterMs("a"), wait * 1000);
      at(nowMs += wait * 1000);
      assert.equal(log.retryAfterMs("a"), undefined);
    }
  }
  assert.equal(evictionStage().log.retryAfterMs("b"), undefined);
});

pure("createEvictionLog() bounds the wait, whatever the cooldown", () => {
  for (const [cooldownMs, waitMs] of [[0, 1000], [86_400_000, 60_000]] as const) {
    const { log } = evictionStage(cooldownMs);
    log.answered("a", BLOCKED);
    assert.equal(log.retryAfterMs("a"), waitMs);
  }
});

pure("createEvictionLog() knows a repeated refusal for half an hour", () => {
  const { log, at } = evictionStage();
  const again = (...answers: readonly EvictionAnswer[]) =>
    answers.map((answer) => log.answered("a", answer));
  const answers = [BLOCKED, BLOCKED, DENIED, BLOCKED, { is: "evicted" }, BLOCKED] as const;
  assert.deepEqual(again(...answers), [false, true, false, false, false, false]);
  at(1_799_999);
  log.expire();
  assert.deepEqual(again(BLOCKED), [true]);
  at(2 * 1_800_000);
  log.expire();
  assert.deepEqual(again(BLOCKED), [false]);
});

pure("createEvictionLog() has the reason of a denial for half an hour", () => {
  const { log, at } = evictionStage();
  log.answered("a", DENIED);
  log.answered("b", BLOCKED);
  at(1_799_999);
  assert.deepEqual([log.denial("a"), log.denial("b")], ["a webhook", undefined]);
  at(1_800_000);
  assert.equal(log.denial("a"), undefined);
});

Deno.test("createDepartureTimes() keeps the time of a sign while it stays, and not of another", () => {
  let now = 5;
  const times = createDepartureTimes(() => now++);
  const since = (sign: string) => times.sinceMs("a", sign);
  for (let seen = 0; seen < 2; seen++) {
    times.observe("a", "taint x");
    assert.deepEqual([since("taint x"), times.sinceMs("b", "taint x")], [5, 6]);
  }
  times.observe("a", "taint y");
  assert.equal(since("taint y"), 7);
  times.observe("a", undefined);
  assert.equal(since("taint y"), 8);
});
