import assert from "node:assert/strict";
import {
  autoPolicy,
  clampsOf,
  NOW_MS,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import type { MissingPermission } from "./rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const containers = [templateContainer(), templateContainer({ name: "log" })];

test("samplesLacking() tells of a container without enough beside others, and takes nothing out", () => {
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

test("lastDenialHolds() holds in the engine's words until it may be asked again", () => {
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
