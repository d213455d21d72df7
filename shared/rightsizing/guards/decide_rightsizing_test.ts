import fc from "fast-check";
import assert from "node:assert/strict";
import { forAll } from "../../../tests/fixtures/for_all.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  asking,
  asks,
  assertDecisions,
  autoPolicy,
  IN_PLACE,
  LIMITS,
  MI,
  NOW_MS,
  recommendation,
  RECREATE,
  RECREATED,
  rightsizingSnapshot,
  sized,
  templateContainer,
  valuesOf,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA } from "../../../tests/fixtures/sample_workloads.ts";
import { pair, type ResourcePair } from "../../resize/inputs/resources.ts";
import { decideRightsizing, RIGHTSIZING_CHAIN, STRAGGLER_CHAIN } from "./decide_rightsizing.ts";
import { leastSafeMemory, liftMemory } from "./memory_decrease.ts";
import { reachesThreshold } from "./policy_guards.ts";

// The decision tables of tests/golden prove each guard; these rows show what they are for.

const log = templateContainer({ name: "log" });
const both = [templateContainer(), log];
const peak = (mebibytes: number) => ({ memoryPeaks: new Map([["app", mebibytes * MI]]) });
const inMode = (mode: "Auto" | "Recommend" | "Disabled") => ({ policy: autoPolicy({}, { mode }) });

pure("RIGHTSIZING_CHAIN keeps its order, STRAGGLER_CHAIN lacks new values' guards", () => {
  const names = RIGHTSIZING_CHAIN.map(({ name }) => name);
  assert.equal(
    names.join(),
    "SamplesLacking,ModeHolds,DryRunHolds,PermissionMissing,LastDenialHolds,BoundUnreadable," +
      "HorizontalAutoscalerConflicts,VerticalAutoscalerConflicts,RolloutHolds,OutsideRanges," +
      "OverQuotas,OverNodes,QoSWouldChange,RequestAboveLimit,UnsafeMemoryDecrease," +
      "NodeUnderPressure,NotRolledOut,BelowThreshold,TakenBack,RecentlyEdited,CoolingDown,NoMethod",
  );
  const stragglers = STRAGGLER_CHAIN.map(({ name }) => name);
  assert.deepEqual(stragglers, [...names.slice(0, -5), "NoWayInPlace"]);
});

pure("decideRightsizing() holds for the policy, its samples and permissions", () => {
  const none = { samples: new Map([["app", 3]]), recommendations: [] };
  const some = { containers: both, samples: new Map([["app", 10], ["log", 9]]), ...asks(150, 96) };
  const patch = [{ method: "Recreate", permission: "patch deployments.apps" }] as const;
  const onLog = [sampleHPA({ cpuTargets: [{ container: "log", utilization: 0.8 }] })];
  const either = { strategy: { allowRecreate: true } };
  const denial = {
    message: "policy cost-guard: no more memory",
    recommendations: [recommendation()],
    retryAtMs: NOW_MS + 60_000,
  };
  const held = [{ denial }, { lastAppliedMs: NOW_MS - 29 * 60_000 }].map((choice) => {
    const decision = decideRightsizing(rightsizingSnapshot(choice));
    return decision.outcome === "hold" && [decision.reason, decision.retryAfterMs];
  });
  assert.deepEqual(held, [["AdmissionDenied", 60_000], ["Cooldown", 60_000]]);
  assertDecisions([
    [{ strategy: LIMITS }, "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)"],
    [some, `${IN_PLACE} - InsufficientSamples`],
    [{ ...none, ...inMode("Disabled") }, "PolicyDisabled"],
    [{ missingPermissions: patch, ...either }, IN_PLACE],
    [{ missingPermissions: patch, ...either, resizeServed: false }, "RBACError"],
    [{ denial: { ...denial, retryAtMs: NOW_MS } }, IN_PLACE],
    [{ denial, ...asks(164, 96) }, "AdmissionDenied"],
    [{ denial, ...asks(165, 96) }, "InPlace: app cpu 165m, app memory 96Mi"],
    [{ denial, containers: both }, `${IN_PLACE}, log cpu 150m, log memory 96Mi`],
    // An HPA on one container's utilisation concerns no other container.
    [{ containers: both, autoscalers: onLog }, `${IN_PLACE}, log memory 96Mi - HPAConflict`],
  ]);
});

pure("decideRightsizing() cuts values to bounds, and leaves out small changes", () => {
  const cpuRoom = { name: "q", resource: "cpu", side: "requests" } as const;
  const restarts = { containers: [templateContainer({ restartsOnMemory: true })] };
  const large = {
    containers: [sized([100, 4096], [200, 4096])],
    ...asks(100, 1018, { cpuLimit: 200, memoryLimit: 1119 }),
    ...peak(1060),
  };
  const pods = [workloadPod("web-1", [templateContainer(sized([150, 96]))])];
  const requests = { cpu: 100, memory: 96 * MI };
  const done = workloadPod("web-1", [templateContainer({ restartsOnMemory: true, requests })]);
  const inForce = valuesOf(sized([150, 96]));
  const lifted = "InPlace: app memory 1219Mi - UnsafeMemoryDecrease - BelowThreshold";
  assertDecisions([
    // The log's decrease pays for the app's raise, and is too small to be done.
    [
      {
        containers: [templateContainer(), { ...log, requests: { cpu: 150, memory: 64 * MI } }],
        recommendations: [asking(114, 64), asking(136, 64, { container: "log" })],
        quotas: [{ ...cpuRoom, room: 0 }],
      },
      "QuotaExceeded - BelowThreshold - QuotaExceeded",
    ],
    // An allocatable of 0 is not known.
    [{ nodes: new Map([["node-1", { allocatableCPU: 0, pressures: [] }]]) }, IN_PLACE],
    // A running pod has a lower limit than the template, which the market has set.
    [
      {
        containers: [templateContainer({ limits: { cpu: 1000 } })],
        pods: [workloadPod("web-1", [templateContainer({ limits: { cpu: 130 } })])],
        marketManages: true,
      },
      "InPlace: app cpu 130m, app memory 96Mi - RequestAboveLimit",
    ],
    // The limit keeps its ratio to the request.
    [{ ...large, strategy: LIMITS }, lifted.replace("1219Mi", "1219Mi (limit 1405031067)")],
    // A request that rises keeps its value beside a limit that falls.
    [
      {
        containers: [sized([100, 128], [200, 1024])],
        ...asks(100, 240, { cpuLimit: 200, memoryLimit: 264 }),
        strategy: LIMITS,
        ...peak(300),
      },
      "InPlace: app memory 240Mi (limit 345Mi) - UnsafeMemoryDecrease - BelowThreshold",
    ],
    [{ pods, inForce }, "BelowThreshold"],
    // A pod lacks the values, or new pods do.
    [{ inForce }, "BelowThreshold"],
    [{ pods }, IN_PLACE],
    // A limit that is to follow a request in force is worth it.
    [
      { pods, inForce, strategy: LIMITS },
      "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)",
    ],
    // A running pod that has the memory already needs no restart.
    [{ ...restarts, pods: [done], strategy: { allowRecreate: true } }, IN_PLACE],
    [{ ...restarts, strategy: { allowRecreate: true } }, RECREATED],
    [{ strategy: RECREATE }, RECREATED],
  ]);
});

pure("decideRightsizing() holds by what cut the most where only a rest is left", () => {
  const choice = {
    containers: both,
    autoscalers: [sampleHPA()],
    samples: new Map([["app", 100]]),
    ...peak(60),
  };
  const onlyBelowThreshold = [8, 65].map((memory) => {
    const snapshot = rightsizingSnapshot({ ...choice, ...asks(180, memory) });
    const before = structuredClone(snapshot);
    const decision = decideRightsizing(snapshot);
    assert.deepEqual(snapshot, before);
    return decision.outcome === "hold" &&
      [decision.reason, decision.onlyBelowThreshold, decision.message.split("; ").length];
  });
  assert.deepEqual(onlyBelowThreshold, [
    ["UnsafeMemoryDecrease", undefined, 3],
    ["InsufficientSamples", true, 2],
  ]);
});

pure("reachesThreshold() asks for the percentage of what is there, and a difference", () => {
  const rows = [
    ...[[100, 110, 10, true], [100, 109, 10, false], [100, 90, 10, true], [100, 91, 10, false]],
    ...[[100, 100, 0, false], [100, 101, 0, true], [undefined, 1, 10, true]],
    [100, undefined, 0, false],
  ] as const;
  for (const [from, to, percent, expected] of rows) {
    assert.equal(reachesThreshold(from, to, { percent }), expected, `${from} to ${to}`);
  }
});

interface Choice {
  readonly peak: number;
  readonly own: ResourcePair;
  readonly percent: number;
  readonly max: number;
}

/** The pair after the lift, in Mi as all values. */
function lifted(
  { request, limit }: ResourcePair,
  { peak, own, percent, max }: Choice,
): ResourcePair {
  const mebi = (value: number | undefined) => value === undefined ? undefined : value * MI;
  const side = (value: number | undefined) => value === undefined ? {} : { memory: value * MI };
  const asked = pair(mebi(request), mebi(limit));
  const bounds = { cpu: { min: 1, max: 1000 }, memory: { min: 1, max: max * MI } };
  const next = liftMemory({ container: "app", resource: "memory", pair: asked }, {
    peak: peak * MI,
    author: { requests: side(own.request), limits: side(own.limit) },
    policy: autoPolicy({ changeThresholdPercent: percent }, { bounds }),
  }).pair;
  return pair(next.request && next.request / MI, next.limit && next.limit / MI);
}

const amount = fc.integer({ min: 1, max: 4096 });
const wholePair = fc.tuple(amount, amount).map(([one, other]) => ({
  request: Math.min(one, other),
  limit: Math.max(one, other),
}));

const moves = (least: number) =>
  fc.array(fc.integer({ min: least, max: 20 }), { minLength: 50, maxLength: 200 });

forAll("liftMemory() is safe, and lasts until a peak has grown by a step", [fc.record({
  first: wholePair,
  own: wholePair,
  percent: fc.integer({ min: 0, max: 100 }),
  max: fc.oneof(amount, fc.constant(2 ** 20)),
  // A leak, noise, or both: each peak is some thousandths more or less than the one before.
  from: amount,
  moves: fc.oneof(moves(0), moves(-20)),
})], ({ first, own, percent, max, from, moves }) => {
  let peak = from;
  let value: ResourcePair = first;
  const seen = [from];
  let changes = 0;
  for (const thousandths of moves) {
    peak = Math.ceil(peak * MI * (1000 + thousandths) / 1000) / MI;
    seen.push(peak);
    const next = lifted(value, { peak, own, percent, max });
    for (const side of ["request", "limit"] as const) {
      const [was = 0, is = 0] = [value[side], next[side]];
      assert.ok(is >= was && is >= Math.min(leastSafeMemory(peak * MI) / MI, own[side]));
      assert.ok(is === was || is <= own[side], "the author has said how much");
    }
    assert.ok((next.request ?? 0) <= (next.limit ?? 0));
    if (next.request !== value.request || next.limit !== value.limit) changes++;
    value = next;
  }
  const growth = Math.log(Math.max(...seen) / Math.min(...seen));
  const steps = growth / Math.log1p(Math.max(percent, 5) / 100);
  // One more where the first is only up to the bounds, or a limit is all that is left to lift.
  assert.ok(changes <= Math.floor(steps) + 2, `${changes} of ${steps}`);
}, 1);
