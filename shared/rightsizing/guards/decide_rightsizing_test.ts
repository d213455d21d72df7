import assert from "node:assert/strict";
import {
  MI,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleHPA } from "../../../tests/fixtures/sample_workloads.ts";
import { decideRightsizing, RIGHTSIZING_CHAIN, STRAGGLER_CHAIN } from "./decide_rightsizing.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

Deno.test({
  name: "RIGHTSIZING_CHAIN keeps its order",
  permissions: "none",
  fn() {
    assert.deepEqual(RIGHTSIZING_CHAIN.map(({ name }) => name), [
      "SamplesLacking",
      "ModeHolds",
      "DryRunHolds",
      "PermissionMissing",
      "LastDenialHolds",
      "BoundUnreadable",
      "HorizontalAutoscalerConflicts",
      "VerticalAutoscalerConflicts",
      "RolloutHolds",
      "OutsideRanges",
      "OverQuotas",
      "OverNodes",
      "QoSWouldChange",
      "RequestAboveLimit",
      "UnsafeMemoryDecrease",
      "NodeUnderPressure",
      "NotRolledOut",
      "BelowThreshold",
      "TakenBack",
      "RecentlyEdited",
      "CoolingDown",
      "NoMethod",
    ]);
    const names = STRAGGLER_CHAIN.map(({ name }) => name);
    assert.deepEqual(RIGHTSIZING_CHAIN.filter(({ name }) => !names.includes(name)), [
      RIGHTSIZING_CHAIN.find(({ name }) => name === "BelowThreshold"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "TakenBack"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "RecentlyEdited"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "CoolingDown"),
      RIGHTSIZING_CHAIN.find(({ name }) => name === "NoMethod"),
    ]);
  },
});

test("decideRightsizing() takes recommendations for the template's containers, limits only if asked", () => {
  assert.equal(outcomeOf(), "InPlace: app cpu 150m, app memory 96Mi");
  assert.equal(
    outcomeOf({ strategy: { updateRequestsOnly: false } }),
    "InPlace: app cpu 150m (limit 180m), app memory 96Mi (limit 112Mi)",
  );
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const recommendations = ["app", "proxy", "gone"].map((container) =>
    recommendation({ container })
  );
  assert.equal(
    outcomeOf({ containers, recommendations }),
    "InPlace: app cpu 150m, app memory 96Mi",
  );
});

test("decideRightsizing() reports the guard that cut the most where only a rest is left", () => {
  const recommendations = [recommendation({ cpu: 104, memory: 32 * MI })];
  const memoryPeaks = new Map([["app", 60 * MI]]);
  assert.match(outcomeOf({ recommendations, memoryPeaks }), /^UnsafeMemoryDecrease /);
  assert.match(
    outcomeOf({ recommendations: [recommendation({ cpu: 104, memory: 64 * MI })], memoryPeaks }),
    /^BelowThreshold /,
  );
});

test("decideRightsizing() reports all cuts, under the first one's reason where a rest is left", () => {
  const containers = [templateContainer(), templateContainer({ name: "log" })];
  const facts = rightsizingFacts({
    containers,
    autoscalers: [sampleHPA()],
    recommendations: [recommendation({ cpu: 180, memory: 8 * MI })],
    samples: new Map([["app", 100]]),
    memoryPeaks: new Map([["app", 60 * MI]]),
  });
  const decision = decideRightsizing(facts);
  assert.ok(decision.outcome === "hold");
  assert.equal(decision.reason, "UnsafeMemoryDecrease");
  assert.match(
    decision.message,
    /^app to 8Mi: .*; InsufficientSamples: log has 0 of 10 samples; HPAConflict: .*web-hpa/,
  );
  assert.equal(decision.restOnly, undefined);
  const rest = decideRightsizing({
    ...facts,
    recommendations: [recommendation({ cpu: 180, memory: 65 * MI })],
  });
  assert.ok(rest.outcome === "hold" && rest.restOnly);
  assert.match(rest.message, /^log has 0 of 10 samples; HPAConflict: .*web-hpa/);
});

test("decideRightsizing() asks again where a later guard has taken out what made room", () => {
  // The log's decrease pays for the app's raise, and is too small to be done.
  const containers = [
    templateContainer(),
    templateContainer({ name: "log", requests: { cpu: 150 } }),
  ];
  const recommendations = [
    recommendation({ cpu: 114, memory: 64 * MI }),
    recommendation({ container: "log", cpu: 136, memory: 64 * MI }),
  ];
  const quotas = [{ name: "q", resource: "cpu", of: "requests", room: 0 }] as const;
  const both = { containers, recommendations, quotas };
  assert.match(
    outcomeOf({ ...both, strategy: { changeThresholdPercent: 5 } }),
    /app cpu 114m, log/,
  );
  assert.match(outcomeOf(both), /^OverQuotas QuotaExceeded: /);
});

test("decideRightsizing() changes none of its facts", () => {
  const facts = rightsizingFacts({ strategy: { updateRequestsOnly: false } });
  const before = structuredClone(facts);
  decideRightsizing(facts);
  assert.deepEqual(facts, before);
});
