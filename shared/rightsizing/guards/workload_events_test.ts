import assert from "node:assert/strict";
import { remedyFor } from "../../api/reasons/reasons.ts";
import { ApiError } from "../../api/api_error.ts";
import {
  autoPolicy,
  type FactsChoice,
  MI,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { applyFailure } from "./apply_failure.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import { decisionEvents, endedEvents, failureEvent, heldStatus } from "./workload_events.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const eventsOf = (choice: FactsChoice): readonly string[] =>
  decisionEvents(decideRightsizing(rightsizingFacts(choice)))
    .map(({ type, reason }) => `${type} ${reason}`);

test("decisionEvents() tells a hold once, and nothing of what is as it should be", () => {
  assert.deepEqual(eventsOf({}), []);
  assert.deepEqual(eventsOf({ lastAppliedMs: 1_800_000_000_000 }), []);
  assert.deepEqual(
    eventsOf({ recommendations: [recommendation({ cpu: 100, memory: 64 * MI })] }),
    [],
  );
  assert.deepEqual(eventsOf({ policy: autoPolicy({}, { mode: "Disabled" }) }), []);
  assert.deepEqual(eventsOf({ dryRun: true }), ["Normal RecommendationGenerated"]);
  assert.deepEqual(eventsOf({ samples: new Map(), recommendations: [] }), [
    "Normal WorkloadSkipped",
  ]);
});

test("decisionEvents() tells no hold where what is left is there, but what was cut in a way of its own", () => {
  const cut = {
    recommendations: [recommendation({ cpu: 300, memory: 8 * MI })],
    containers: [templateContainer({ requests: { cpu: 200 } })],
    memoryPeaks: new Map([["app", 60 * MI]]),
  };
  const decision = decideRightsizing(rightsizingFacts(cut));
  assert.ok(decision.outcome === "hold" && decision.restOnly);
  assert.deepEqual(decisionEvents(decision).map(({ reason }) => reason), ["WorkloadSkipped"]);
  assert.deepEqual(decisionEvents(decision, { isThere: true }).map(({ reason }) => reason), [
    "UnsafeMemoryDecrease",
  ]);
});

test("decisionEvents() warns of unsafe memory, of a missing right and of a missing way", () => {
  const less = [recommendation({ memory: 8 * MI })];
  const memoryPeaks = new Map([["app", 60 * MI]]);
  assert.deepEqual(eventsOf({ recommendations: less, memoryPeaks }), [
    "Warning UnsafeMemoryDecrease",
  ]);
  assert.deepEqual(eventsOf({ resizeServed: false }), ["Warning InPlaceResizeUnavailable"]);
  assert.deepEqual(
    eventsOf({ containers: [templateContainer({ restartsOnCPU: true })] }),
    ["Warning InPlaceResizeUnavailable"],
  );
  const missingPermissions = [{ method: "InPlace", permission: "patch pods/resize" }] as const;
  assert.deepEqual(eventsOf({ missingPermissions }), ["Warning RBACError"]);
});

test("decisionEvents() and failureEvent() end with a suggestion", () => {
  const [event] = decisionEvents(decideRightsizing(rightsizingFacts({ resizeServed: false })));
  assert.ok(event?.message.endsWith(`; ${remedyFor("InPlaceResizeUnavailable")}`), event?.message);
  const failed = failureEvent(applyFailure(new ApiError(503, "", "overloaded")));
  assert.deepEqual(failed, {
    type: "Warning",
    reason: "UpdateFailed",
    message: `ServerBusy: overloaded; ${remedyFor("ServerBusy")}`,
  });
  assert.equal(failureEvent(applyFailure(new ApiError(404, "", ""))), undefined);
  assert.equal(failureEvent(applyFailure(new ApiError(409, "", ""))), undefined);
});

test("heldStatus() is Recommended where nobody wants it applied", () => {
  assert.equal(heldStatus("RecommendOnly"), "Recommended");
  assert.equal(heldStatus("DryRun"), "Recommended");
  assert.equal(heldStatus("UnsafeMemoryDecrease"), "Skipped");
});

test("endedEvents() tell in one event what no longer counts, with what to look at", () => {
  assert.deepEqual(endedEvents([]), []);
  const [event, ...more] = endedEvents(["the VPA", "the bounds"]);
  assert.deepEqual([event?.type, event?.reason, more], ["Normal", "WorkloadSkipped", []]);
  assert.match(event?.message ?? "", /: the VPA; the bounds; .*coalloc/);
});
