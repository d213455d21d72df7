import assert from "node:assert/strict";
import {
  asking,
  asks,
  assertDecisions,
  autoPolicy,
  type FactsChoice,
  IN_PLACE,
  LIMITS,
  MI,
  NOW_MS,
  recommendation,
  RECREATE,
  RECREATED,
  rightsizingFacts,
  sized,
  templateContainer,
  valuesOf,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { decideRightsizing, RIGHTSIZING_CHAIN, STRAGGLER_CHAIN } from "./decide_rightsizing.ts";
import { isWorth } from "./policy_guards.ts";
import type { RightsizedWorkload } from "./rightsizing_facts.ts";

const ALL_LIMITED = "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)";
const EITHER = { allowRecreate: true };
const { workload } = rightsizingFacts();
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
  assert.deepEqual(STRAGGLER_CHAIN.map(({ name }) => name), [
    ...names.slice(0, -5),
    "NoWayInPlace",
  ]);
});

pure("decideRightsizing() changes none of its facts", () => {
  const facts = rightsizingFacts({ strategy: LIMITS });
  const before = structuredClone(facts);
  decideRightsizing(facts);
  assert.deepEqual(facts, before);
});

pure("decideRightsizing() takes limits only if asked", () => {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const recommendations = ["app", "proxy", "gone"].map((container) =>
    recommendation({ container })
  );
  assertDecisions([
    [{}, IN_PLACE],
    [{ strategy: LIMITS }, ALL_LIMITED],
    [{ containers, recommendations }, IN_PLACE],
  ]);
});

pure("decideRightsizing() holds by what cut the most where only a rest is left", () => {
  const choice = {
    containers: both,
    autoscalers: [sampleHPA()],
    samples: new Map([["app", 100]]),
    ...peak(60),
  };
  const cuts = " - InsufficientSamples - HPAConflict";
  assertDecisions([
    [{ ...asks(104, 32), ...peak(60) }, "UnsafeMemoryDecrease - UnsafeMemoryDecrease"],
    [{ ...asks(104, 64), ...peak(60) }, "BelowThreshold"],
    [{ ...choice, ...asks(180, 8) }, `UnsafeMemoryDecrease${cuts}`],
    [{ ...choice, ...asks(180, 65) }, `InsufficientSamples${cuts}`],
  ]);
  const restOnly = [8, 65].map((memory) => {
    const decision = decideRightsizing(rightsizingFacts({ ...choice, ...asks(180, memory) }));
    return decision.outcome === "hold" && [decision.restOnly, decision.message.split("; ").length];
  });
  assert.deepEqual(restOnly, [[undefined, 3], [true, 2]]);
});

pure("decideRightsizing() asks again where a later guard has taken out what made room", () => {
  // The log's decrease pays for the app's raise, and is too small to be done.
  const choice = {
    containers: [templateContainer(), templateContainer({ name: "log", requests: { cpu: 150 } })],
    recommendations: [asking(114, 64), asking(136, 64, { container: "log" })],
    quotas: [{ name: "q", resource: "cpu", of: "requests", room: 0 }] as const,
  };
  assertDecisions([
    [
      { ...choice, strategy: { changeThresholdPercent: 5 } },
      "InPlace: app cpu 114m, log cpu 136m - BelowThreshold",
    ],
    [choice, "QuotaExceeded - BelowThreshold - QuotaExceeded"],
  ]);
});

pure("samplesLacking() reports a container without enough samples", () => {
  const some = {
    containers: both,
    samples: new Map([["app", 10], ["log", 9]]),
    recommendations: [recommendation()],
  };
  const none = { containers: both, samples: new Map([["app", 3]]), recommendations: [] };
  assertDecisions([
    [some, `${IN_PLACE} - InsufficientSamples`],
    [{ samples: new Map([["app", 10]]) }, IN_PLACE],
    [{ ...some, ...inMode("Recommend") }, "RecommendOnly - InsufficientSamples"],
    [{ ...some, dryRun: true }, "DryRun - InsufficientSamples"],
    [none, "InsufficientSamples"],
    [{ ...none, ...inMode("Recommend") }, "InsufficientSamples"],
    [{ ...none, dryRun: true }, "InsufficientSamples"],
    [{ ...none, ...inMode("Disabled") }, "PolicyDisabled"],
    [{ recommendations: [] }, "InsufficientSamples"],
  ]);
});

pure("modeHolds() lets only Auto apply, dryRunHolds() nothing", () => {
  assertDecisions([
    [inMode("Auto"), IN_PLACE],
    [inMode("Recommend"), "RecommendOnly"],
    [inMode("Disabled"), "PolicyDisabled"],
    [{ dryRun: true }, "DryRun"],
  ]);
});

pure("permissionMissing() holds for the method's own permission", () => {
  const resize = [{ method: "InPlace", permission: "patch pods/resize" }] as const;
  const patch = [{ method: "Recreate", permission: "patch deployments.apps" }] as const;
  const restarts = { containers: [templateContainer({ restartsOnCPU: true })], strategy: EITHER };
  assertDecisions([
    [{ missingPermissions: resize }, "RBACError"],
    [{ missingPermissions: resize, strategy: EITHER }, "RBACError"],
    [{ missingPermissions: patch, strategy: EITHER }, IN_PLACE],
    [{ missingPermissions: patch, ...restarts }, "RBACError"],
    [{ missingPermissions: resize, ...restarts }, RECREATED],
  ]);
});

pure("lastDenialHolds() holds until it ends, or the request differs", () => {
  const denial = {
    message: "policy cost-guard: no more memory",
    recommendations: [recommendation()],
    retryAtMs: NOW_MS + 60_000,
  };
  const decision = decideRightsizing(rightsizingFacts({ denial }));
  assert.equal(decision.outcome === "hold" && decision.retryAfterMs, 60_000);
  assertDecisions([
    [{ denial: { ...denial, retryAtMs: NOW_MS } }, IN_PLACE],
    [{ denial, ...asks(164, 96) }, "AdmissionDenied"],
    [{ denial, ...asks(165, 96) }, "InPlace: app cpu 165m, app memory 96Mi"],
    [{ denial, ...asks(135, 96) }, "InPlace: app cpu 135m, app memory 96Mi"],
    [{ denial, ...asks(136, 96) }, "AdmissionDenied"],
    [{ denial, containers: both }, `${IN_PLACE}, log cpu 150m, log memory 96Mi`],
  ]);
});

pure("boundUnreadable() holds for whatever can't be read", () => {
  assertDecisions([
    [{ unreadable: ["LimitRange r"] }, "UnreadableBound"],
    [{ verticalAutoscalers: [sampleVPA("Off", { unreadable: "no target" })] }, "UnreadableBound"],
    [{ verticalAutoscalers: [sampleVPA("Off")] }, IN_PLACE],
  ]);
});

pure("rolloutHolds() waits for a rollout to end, and for a paused one to go on", () => {
  const rollout = { updated: 1, total: 3, stands: false };
  const of = (change: Partial<RightsizedWorkload>) => ({ workload: { ...workload, ...change } });
  assertDecisions([
    [of({ rollout }), "RolloutInProgress"],
    [of({ paused: true }), "RolloutPaused"],
    [of({ rollout: { ...rollout, updated: 3 } }), IN_PLACE],
    [of({ rollout: { ...rollout, stands: true } }), IN_PLACE],
  ]);
});

pure("notRolledOut() reports pods that are not replaced, and holds nothing", () => {
  const values = sized([150, 96]);
  const state = (stands: boolean) => ({ ...workload, rollout: { updated: 0, total: 2, stands } });
  /** A workload with the recommendation in its template. */
  const recreated = (stands: boolean): FactsChoice => ({
    workload: {
      ...state(stands),
      template: { containers: [templateContainer(values)], initContainers: [] },
    },
    inForce: valuesOf(values),
    strategy: RECREATE,
  });
  const pods = [workloadPod("web-1", [templateContainer(values)])];
  assertDecisions([
    [recreated(true), "NotRolledOut - NotRolledOut"],
    [{ ...recreated(true), inForce: new Map(), workload: state(true) }, RECREATED],
    [{ ...recreated(true), pods }, "BelowThreshold"],
    [recreated(false), "RolloutInProgress"],
    [{ ...recreated(true), strategy: {} }, "BelowThreshold"],
  ]);
});

pure("isWorth() asks for the percentage of what is there, and for a difference at all", () => {
  const rows = [
    [100, 110, 10, true],
    [100, 109, 10, false],
    [100, 90, 10, true],
    [100, 91, 10, false],
    [100, 100, 0, false],
    [100, 101, 0, true],
    [undefined, 1, 10, true],
    [100, undefined, 0, false],
  ] as const;
  for (const [from, to, percent, expected] of rows) {
    assert.equal(isWorth(from, to, { percent }), expected, `${from} to ${to} by ${percent} %`);
  }
});

pure("belowThreshold() leaves out what would hardly change, against what is in force", () => {
  const pods = [workloadPod("web-1", [templateContainer(sized([150, 96]))])];
  const inForce = valuesOf(sized([150, 96]));
  const memory = new Map([["app", { requests: { memory: 96 * MI }, limits: {} }]]);
  const limit = asks(105, 64, { cpuLimit: 300, memoryLimit: 128 });
  assertDecisions([
    [asks(109, 80), "InPlace: app memory 80Mi - BelowThreshold"],
    [asks(109, 60), "BelowThreshold"],
    [
      { ...asks(109, 60), strategy: { changeThresholdPercent: 5 } },
      "InPlace: app cpu 109m, app memory 60Mi",
    ],
    [{ ...limit, strategy: LIMITS }, "InPlace: app cpu 105m (limit 300m) - BelowThreshold"],
    [{ pods, inForce }, "BelowThreshold"],
    [{ pods }, IN_PLACE],
    [{ inForce }, "BelowThreshold"],
    [{ pods, inForce, strategy: RECREATE }, RECREATED],
    // Each resource for itself: of CPU nothing is in force.
    [{ inForce: memory }, "InPlace: app cpu 150m - BelowThreshold"],
    // A limit that is to follow a request in force is worth it.
    [{ pods, inForce, strategy: LIMITS }, ALL_LIMITED],
  ]);
});

pure("coolingDown() holds for the rest of the cooldown, and for no change in the future", () => {
  const decision = decideRightsizing(rightsizingFacts({ lastAppliedMs: NOW_MS - 29 * 60_000 }));
  assert.equal(decision.outcome === "hold" && decision.retryAfterMs, 60_000);
  assertDecisions([
    [{ lastAppliedMs: NOW_MS - 29 * 60_000 }, "Cooldown"],
    [{ lastAppliedMs: NOW_MS - 30 * 60_000 }, IN_PLACE],
    [{ lastAppliedMs: NOW_MS + 1e9 }, IN_PLACE],
  ]);
});

pure("verticalAutoscalerConflicts() leaves to a VPA in any mode but Off what it controls", () => {
  const cpuPolicies = [{ container: "*", controlled: false }];
  assertDecisions([
    ...["Initial", "Recreate", "InPlaceOrRecreate", "Auto", "SomethingNew"].map((mode) =>
      [{ verticalAutoscalers: [sampleVPA(mode)] }, "VPAConflict"] as const
    ),
    [{ verticalAutoscalers: [sampleVPA("Off")] }, IN_PLACE],
    [
      { verticalAutoscalers: [sampleVPA("Auto", { cpuPolicies })] },
      "InPlace: app cpu 150m - VPAConflict",
    ],
  ]);
});
