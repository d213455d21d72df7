import assert from "node:assert/strict";
import {
  autoPolicy,
  clampsOf,
  type FactsChoice,
  MI,
  NOW_MS,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import type { MissingPermission, RightsizedWorkload } from "./rightsizing_facts.ts";
import { isWorth } from "./policy_guards.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const containers = [templateContainer(), templateContainer({ name: "log" })];

test("samplesLacking() reports a container without enough beside others, and takes nothing out", () => {
  const facts = {
    containers,
    samples: new Map([["app", 10], ["log", 9]]),
    recommendations: [recommendation()],
  };
  assert.equal(outcomeOf(facts), "InPlace: app cpu 150m, app memory 96Mi");
  assert.deepEqual(clampsOf(facts), [
    "SamplesLacking InsufficientSamples: log has 9 of 10 samples",
  ]);
  assert.deepEqual(clampsOf({ samples: new Map([["app", 10]]) }), []);
  for (
    const hold of [{ policy: autoPolicy({}, { mode: "Recommend" }) }, { dryRun: true }] as const
  ) {
    assert.match(
      outcomeOf({ ...facts, ...hold }),
      / (RecommendOnly|DryRun): .*; InsufficientSamples: log has 9 of 10 samples$/,
    );
  }
});

test("samplesLacking() holds without a recommendation in each mode that looks, and names the samples of all containers", () => {
  const facts = { containers, samples: new Map([["app", 3]]), recommendations: [] };
  const lack = "SamplesLacking InsufficientSamples: " +
    "app has 3 of 10 samples; log has 0 of 10 samples";
  assert.equal(outcomeOf(facts), lack);
  assert.equal(outcomeOf({ ...facts, policy: autoPolicy({}, { mode: "Recommend" }) }), lack);
  assert.equal(outcomeOf({ ...facts, dryRun: true }), lack);
  assert.match(
    outcomeOf({ ...facts, policy: autoPolicy({}, { mode: "Disabled" }) }),
    /^ModeHolds /,
  );
  assert.match(
    outcomeOf({ recommendations: [] }),
    /^SamplesLacking InsufficientSamples: .*recommendation$/,
  );
});

const inMode = (mode: "Auto" | "Recommend" | "Disabled"): string =>
  outcomeOf({ policy: autoPolicy({}, { mode }) });

test("modeHolds() lets only Auto apply", () => {
  assert.equal(inMode("Auto"), "InPlace: app cpu 150m, app memory 96Mi");
  assert.match(inMode("Recommend"), /^ModeHolds RecommendOnly: /);
  assert.match(inMode("Disabled"), /^ModeHolds PolicyDisabled: /);
});

test("dryRunHolds() holds all that would be applied, and nothing when it is off", () => {
  assert.match(outcomeOf({ dryRun: true }), /^DryRunHolds DryRun: /);
  assert.match(outcomeOf({ dryRun: false }), /^InPlace: /);
});

const resize: MissingPermission = { method: "InPlace", permission: "patch pods/resize" };
const patch: MissingPermission = { method: "Recreate", permission: "patch deployments.apps" };
const only = (missingPermissions: readonly MissingPermission[], allowRecreate = false): string =>
  outcomeOf({ missingPermissions, strategy: { allowRecreate } });

test("permissionMissing() names what the method lacks, and does not turn to the other one", () => {
  for (const allowRecreate of [false, true]) {
    assert.match(only([resize], allowRecreate), /^PermissionMissing RBACError: .*pods\/resize$/);
  }
  assert.match(only([patch], true), /^InPlace: /);
  assert.match(only([]), /^InPlace: /);
});

test("permissionMissing() asks for the right to patch workloads where pods must be made anew", () => {
  const containers = [templateContainer({ restartsOnCPU: true })];
  const strategy = { allowRecreate: true };
  const held = outcomeOf({ containers, strategy, missingPermissions: [patch] });
  assert.match(held, /^PermissionMissing RBACError: .*deployments\.apps$/);
  assert.match(outcomeOf({ containers, strategy, missingPermissions: [resize] }), /^Recreate: /);
});

test("lastDenialHolds() holds with the engine's message until it may be asked again", () => {
  const denial = {
    message: "policy cost-guard: no more memory",
    recommendations: [recommendation()],
    retryAtMs: NOW_MS + 60_000,
  };
  const decision = decideRightsizing(rightsizingFacts({ denial }));
  assert.ok(decision.outcome === "hold");
  assert.deepEqual([decision.reason, decision.retryAfterMs], ["AdmissionDenied", 60_000]);
  assert.ok(decision.message.startsWith(denial.message), decision.message);
  assert.match(decision.message, /2027-01-15T08:01:00\.000Z$/);
  assert.match(outcomeOf({ denial: { ...denial, retryAtMs: NOW_MS } }), /^InPlace: /);
  // A difference of 10 % is another request: 150 m and 96 Mi were denied.
  for (const [cpu, isHeld] of [[164, true], [165, false], [135, false], [136, true]] as const) {
    const outcome = outcomeOf({ denial, recommendations: [recommendation({ cpu })] });
    assert.equal(outcome.startsWith("LastDenialHolds "), isHeld, `${cpu}`);
  }
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  assert.match(outcomeOf({ denial, containers }), /^InPlace: /);
});

test("boundUnreadable() holds for whatever can't be read, and says what", () => {
  const unreadable = 'LimitRange r: "-1" is negative';
  assert.equal(
    outcomeOf({ unreadable: [unreadable] }),
    `BoundUnreadable UnreadableBound: ${unreadable}`,
  );
  const verticalAutoscalers = [sampleVPA("Off", { unreadable: "VPA v has no target" })];
  assert.match(outcomeOf({ verticalAutoscalers }), /UnreadableBound: VPA v has no target/);
  assert.match(outcomeOf({ verticalAutoscalers: [sampleVPA("Off")] }), /^InPlace: /);
});

const { workload } = rightsizingFacts();
const withState = (change: Partial<RightsizedWorkload>): string =>
  outcomeOf({ workload: { ...workload, ...change } });

test("rolloutHolds() waits for a rollout to end, and for a paused one to go on", () => {
  const rollout = { updated: 1, total: 3, stands: false };
  assert.match(
    withState({ rollout }),
    /^RolloutHolds RolloutInProgress: Deployment web .*1 of 3 pods /,
  );
  assert.match(withState({ paused: true }), /^RolloutHolds RolloutPaused: .*Deployment web /);
  assert.match(withState({ rollout: { ...rollout, updated: 3 } }), /^InPlace: /);
  assert.match(withState({ rollout: { ...rollout, stands: true } }), /^InPlace: /);
});

const VALUES = { requests: { cpu: 150, memory: 96 * MI }, limits: {} };

/** A workload with the recommendation in its template. */
function recreated(stands: boolean, choice: FactsChoice = {}): FactsChoice {
  return {
    workload: {
      ...workload,
      rollout: { updated: 0, total: 2, stands },
      template: { containers: [templateContainer(VALUES)], initContainers: [] },
    },
    inForce: new Map([["app", VALUES]]),
    strategy: { allowInPlaceResize: false, allowRecreate: true },
    ...choice,
  };
}

test("notRolledOut() reports pods that are not replaced, and holds nothing", () => {
  const decision = decideRightsizing(rightsizingFacts(recreated(true)));
  assert.ok(decision.outcome === "hold" && decision.restOnly);
  assert.equal(decision.reason, "NotRolledOut");
  assert.match(decision.message, /Deployment web .*2 pods .*web-1 /);
  const first = recreated(true, { inForce: new Map() });
  assert.match(
    outcomeOf({
      ...first,
      workload: { ...workload, rollout: { updated: 0, total: 2, stands: true } },
    }),
    /^Recreate: /,
  );
});

test("notRolledOut() says nothing where pods have the values, are being replaced, or are resized", () => {
  const pods = [workloadPod("web-1", [templateContainer(VALUES)])];
  assert.match(outcomeOf(recreated(true, { pods })), /^BelowThreshold /);
  assert.match(outcomeOf(recreated(false)), /^RolloutHolds /);
  assert.deepEqual(clampsOf(recreated(true, { strategy: {} })), []);
});

test("isWorth() asks for the percentage of what is there, and for a difference at all", () => {
  const percent = 10;
  assert.equal(isWorth(100, 110, { percent }), true);
  assert.equal(isWorth(100, 109, { percent }), false);
  assert.equal(isWorth(100, 90, { percent }), true);
  assert.equal(isWorth(100, 91, { percent }), false);
  assert.equal(isWorth(100, 100, { percent: 0 }), false);
  assert.equal(isWorth(100, 101, { percent: 0 }), true);
  assert.equal(isWorth(undefined, 1, { percent }), true);
  assert.equal(isWorth(100, undefined, { percent: 0 }), false);
});

test("belowThreshold() leaves out resources that would hardly change, and holds when all would", () => {
  const recommendations = [recommendation({ cpu: 109, memory: 80 * MI })];
  assert.equal(outcomeOf({ recommendations }), "InPlace: app memory 80Mi");
  const hardly = [recommendation({ cpu: 109, memory: 60 * MI })];
  assert.match(
    outcomeOf({ recommendations: hardly }),
    /^BelowThreshold BelowThreshold: app cpu 109m .* 10 %; app memory 60Mi .* 10 %$/,
  );
  assert.match(
    outcomeOf({ recommendations: hardly, strategy: { changeThresholdPercent: 5 } }),
    /^InPlace: app cpu 109m, app memory 60Mi/,
  );
});

test("belowThreshold() keeps a request with a limit that is worth it", () => {
  const recommendations = [
    recommendation({ cpu: 105, cpuLimit: 300, memory: 64 * MI, memoryLimit: 128 * MI }),
  ];
  const strategy = { updateRequestsOnly: false };
  assert.equal(outcomeOf({ recommendations, strategy }), "InPlace: app cpu 105m (limit 300m)");
});

test("belowThreshold() compares with what is in force, and with pods where nothing is", () => {
  const resized = templateContainer({ requests: { cpu: 150, memory: 96 * MI } });
  const pods = [workloadPod("web-1", [resized])];
  const inForce = new Map([["app", { requests: { cpu: 150, memory: 96 * MI }, limits: {} }]]);
  assert.match(outcomeOf({ pods, inForce }), /^BelowThreshold /);
  assert.match(outcomeOf({ pods }), /^InPlace: /);
  const late = rightsizingFacts().pods;
  assert.match(outcomeOf({ pods: late, inForce }), /^BelowThreshold /);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ pods, inForce, strategy }), /^Recreate: /);
  // Each resource for itself: of CPU nothing is in force.
  const memory = new Map([["app", { requests: { memory: 96 * MI }, limits: {} }]]);
  assert.equal(outcomeOf({ pods: late, inForce: memory }), "InPlace: app cpu 150m");
  // A limit that is to follow a request in force is worth it.
  assert.equal(
    outcomeOf({ pods, inForce, strategy: { updateRequestsOnly: false } }),
    "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)",
  );
});

const MINUTE_MS = 60_000;

test("coolingDown() holds for the rest of the cooldown", () => {
  const at = (lastAppliedMs: number) => decideRightsizing(rightsizingFacts({ lastAppliedMs }));
  const decision = at(NOW_MS - 29 * MINUTE_MS);
  assert.ok(decision.outcome === "hold");
  assert.deepEqual([decision.reason, decision.retryAfterMs], ["Cooldown", MINUTE_MS]);
  assert.equal(at(NOW_MS - 30 * MINUTE_MS).outcome, "apply");
  assert.match(outcomeOf(), /^InPlace: /);
});

test("coolingDown() does not wait for a change in the future, after a clock was set back", () => {
  const decision = decideRightsizing(rightsizingFacts({ lastAppliedMs: NOW_MS + 1e9 }));
  assert.equal(decision.outcome, "apply");
});
