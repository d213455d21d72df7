import assert from "node:assert/strict";
import fc from "fast-check";
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
import {
  applyFailure,
  decisionEvents,
  endedEvents,
  failureEvent,
  heldStatus,
} from "./workload_events.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const eventsOf = (choice: FactsChoice): readonly string[] =>
  decisionEvents(decideRightsizing(rightsizingFacts(choice)))
    .map(({ type, reason }) => `${type} ${reason}`);

test("decisionEvents() reports a hold once, and nothing where the values are in force", () => {
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

test("decisionEvents() reports cuts with an event of their own, and no hold where the rest is in force", () => {
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

test("heldStatus() is Recommended where it is not to be applied", () => {
  assert.equal(heldStatus("RecommendOnly"), "Recommended");
  assert.equal(heldStatus("DryRun"), "Recommended");
  assert.equal(heldStatus("UnsafeMemoryDecrease"), "Skipped");
});

test("endedEvents() report in one event what no longer counts, and what to look at", () => {
  assert.deepEqual(endedEvents([]), []);
  const [event, ...more] = endedEvents(["the VPA", "the bounds"]);
  assert.deepEqual([event?.type, event?.reason, more], ["Normal", "WorkloadSkipped", []]);
  assert.match(event?.message ?? "", /: the VPA; the bounds; .*coalloc/);
});

const RBAC = (resource: string, group: string, where: string): string =>
  `${resource} "web" is forbidden: User "system:serviceaccount:mbcas-system:mbcas-controller" ` +
  `cannot patch resource "${resource}" in API group "${group}"${where}`;

test("applyFailure() says which permission is missing", () => {
  const inShop = ' in the namespace "shop"';
  const denied = (...about: Parameters<typeof RBAC>) => {
    const failure = applyFailure(new ApiError(403, "Forbidden", RBAC(...about)));
    const { next, reason, message, permission = "" } = failure;
    assert.deepEqual([next, reason, message], ["leave", "RBACError", `missing: ${permission}`]);
    return permission;
  };
  assert.match(denied("deployments", "apps", inShop), /^patch deployments\.apps .*shop$/);
  assert.match(denied("pods/resize", "", inShop), /^patch pods\/resize .*shop$/);
  const inCluster = " at the cluster scope";
  assert.equal(denied("nodes", "", inCluster), "patch nodes");
});

test("applyFailure() distinguishes a policy engine's refusal, a quota and a missing permission", () => {
  const of = (message: string) => {
    const { next, reason, permission } = applyFailure(new ApiError(403, "Forbidden", message));
    return [next, reason, permission];
  };
  const engine = 'admission webhook "guard.example.com" denied the request: ';
  assert.deepEqual(of(`${engine}no`), ["leave", "AdmissionDenied", undefined]);
  assert.deepEqual(of(engine + RBAC("pods", "", "")), ["leave", "AdmissionDenied", undefined]);
  assert.deepEqual(of("exceeded quota: q"), ["leave", "QuotaExceeded", undefined]);
  assert.deepEqual(of("no"), ["leave", "Refused", undefined]);
});

test("applyFailure() forgets 404, reads anew after 409, and backs off after 429 and 5xx", () => {
  const next = (status: number) => applyFailure(new ApiError(status, "", "refused"));
  assert.deepEqual([next(404).next, next(404).reason], ["forget", "WorkloadGone"]);
  assert.equal(next(409).next, "fresh");
  for (const status of [429, 500, 503, 0]) {
    assert.deepEqual([next(status).next, next(status).reason], ["back-off", "ServerBusy"]);
  }
  const asked = new ApiError(429, "", "refused", { retryAfterMs: 2000 });
  assert.equal(applyFailure(asked).retryAfterMs, 2000);
  assert.equal(next(422).next, "leave");
});

test("applyFailure() tries no 403 again in the cycle, whatever its message and causes", () => {
  const messages = fc.oneof(
    fc.string(),
    fc.tuple(fc.string(), fc.string(), fc.string()).map(([resource, group, where]) =>
      RBAC(resource, group, where)
    ),
    fc.string().map((text) => `admission webhook "w" denied the request: ${text}`),
  );
  const anything = fc.tuple(messages, fc.array(fc.string(), { maxLength: 2 }));
  fc.assert(
    fc.property(anything, ([message, causes]) => {
      const failure = applyFailure(new ApiError(403, "Forbidden", message, { causes }));
      // An unreachable webhook is not a 403, but its message may be quoted in one.
      assert.equal(failure.next, "leave");
      assert.equal(failure.permission !== undefined, failure.reason === "RBACError");
      assert.ok(failure.message.length > 0 || message === "");
    }),
  );
});
