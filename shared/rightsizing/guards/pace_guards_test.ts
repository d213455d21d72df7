import assert from "node:assert/strict";
import {
  MI,
  NOW_MS,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import { isWorth } from "./pace_guards.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

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
  const resized = templateContainer({ requestCPU: 150, requestMemory: 96 * MI });
  const pods = [workloadPod("web-1", [resized])];
  const inForce = new Map([["app", { requestCPU: 150, requestMemory: 96 * MI }]]);
  assert.match(outcomeOf({ pods, inForce }), /^BelowThreshold /);
  assert.match(outcomeOf({ pods }), /^InPlace: /);
  const late = rightsizingFacts().pods;
  assert.match(outcomeOf({ pods: late, inForce }), /^BelowThreshold /);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ pods, inForce, strategy }), /^Recreate: /);
  // Each resource for itself: of CPU nothing is in force.
  const memory = new Map([["app", { requestMemory: 96 * MI }]]);
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
