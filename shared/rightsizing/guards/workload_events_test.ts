import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import { remedyFor } from "../../api/reasons/reasons.ts";
import { ApiError } from "../../api/api_error.ts";
import {
  asks,
  autoPolicy,
  type FactsChoice,
  MI,
  NOW_MS,
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

const peaks = { memoryPeaks: new Map([["app", 60 * MI]]) };

pure("decisionEvents() has one event of a hold, and those of some cuts", () => {
  const rows: readonly (readonly [FactsChoice, string])[] = [
    [{}, ""],
    [{ lastAppliedMs: NOW_MS }, ""],
    [asks(100, 64), ""],
    [{ policy: autoPolicy({}, { mode: "Disabled" }) }, ""],
    [{ dryRun: true }, "Normal RecommendationGenerated"],
    [{ samples: new Map(), recommendations: [] }, "Normal WorkloadSkipped"],
    [{ ...asks(150, 8), ...peaks }, "Warning UnsafeMemoryDecrease"],
    [{ resizeServed: false }, "Warning InPlaceResizeUnavailable"],
    [
      { containers: [templateContainer({ restartsOnCPU: true })] },
      "Warning InPlaceResizeUnavailable",
    ],
    [
      { missingPermissions: [{ method: "InPlace", permission: "patch pods/resize" }] },
      "Warning RBACError",
    ],
  ];
  for (const [choice, expected] of rows) {
    const events = decisionEvents(decideRightsizing(rightsizingFacts(choice)));
    assert.equal(events.map(({ type, reason }) => `${type} ${reason}`).join(), expected);
  }
  const containers = [templateContainer({ requests: { cpu: 200 } })];
  const cut = decideRightsizing(rightsizingFacts({ ...asks(300, 8), ...peaks, containers }));
  assert.ok(cut.outcome === "hold" && cut.restOnly);
  assert.equal(decisionEvents(cut).map(({ reason }) => reason).join(), "WorkloadSkipped");
  const isThere = decisionEvents(cut, { isThere: true }).map(({ reason }) => reason);
  assert.equal(isThere.join(), "UnsafeMemoryDecrease");
});

pure("decisionEvents() and failureEvent() end with a suggestion", () => {
  const [event] = decisionEvents(decideRightsizing(rightsizingFacts({ resizeServed: false })));
  assert.ok(event?.message.endsWith(`; ${remedyFor("InPlaceResizeUnavailable")}`), event?.message);
  assert.deepEqual(failureEvent(applyFailure(new ApiError(503, "", "overloaded"))), {
    type: "Warning",
    reason: "UpdateFailed",
    message: `ServerBusy: overloaded; ${remedyFor("ServerBusy")}`,
  });
  for (const status of [404, 409]) {
    assert.equal(failureEvent(applyFailure(new ApiError(status, "", ""))), undefined);
  }
});

pure("heldStatus() is Recommended where nothing is to be applied", () => {
  const statuses = (["RecommendOnly", "DryRun", "UnsafeMemoryDecrease"] as const).map(heldStatus);
  assert.deepEqual(statuses, ["Recommended", "Recommended", "Skipped"]);
  assert.deepEqual(endedEvents([]), []);
  const events = endedEvents(["the VPA", "the bounds"]);
  assert.deepEqual(events.map(({ type, reason }) => `${type} ${reason}`), [
    "Normal WorkloadSkipped",
  ]);
});

const RBAC = (resource: string, group: string, where = ""): string =>
  `${resource} "web" is forbidden: User "system:serviceaccount:mbcas-system:mbcas-controller" ` +
  `cannot patch resource "${resource}" in API group "${group}"${where}`;

pure("applyFailure() classifies answers, and says which permission is missing", () => {
  const inShop = ' in the namespace "shop"';
  const engine = 'admission webhook "guard.example.com" denied the request: ';
  const rows: readonly (readonly [status: number, message: string, expected: string])[] = [
    [
      403,
      RBAC("deployments", "apps", inShop),
      "leave RBACError patch deployments.apps in namespace shop",
    ],
    [403, RBAC("pods/resize", "", inShop), "leave RBACError patch pods/resize in namespace shop"],
    [403, RBAC("nodes", "", " at the cluster scope"), "leave RBACError patch nodes"],
    [403, `${engine}no`, "leave AdmissionDenied "],
    [403, engine + RBAC("pods", ""), "leave AdmissionDenied "],
    [403, "exceeded quota: q", "leave QuotaExceeded "],
    [403, "no", "leave Refused "],
    [404, "", "forget WorkloadGone "],
    [409, "", "fresh Refused "],
    ...[429, 500, 503, 0].map((status) => [status, "", "back-off ServerBusy "] as const),
    [422, "", "leave Refused "],
  ];
  for (const [status, text, expected] of rows) {
    const { next, reason, permission = "" } = applyFailure(new ApiError(status, "", text));
    assert.equal(`${next} ${reason} ${permission}`, expected);
  }
  const asked = new ApiError(429, "", "refused", { retryAfterMs: 2000 });
  assert.equal(applyFailure(asked).retryAfterMs, 2000);
});

pure("applyFailure() tries no 403 again in the cycle, whatever its message and causes", () => {
  const messages = fc.oneof(
    fc.string(),
    fc.tuple(fc.string(), fc.string(), fc.string()).map((parts) => RBAC(...parts)),
    fc.string().map((text) => `admission webhook "w" denied the request: ${text}`),
  );
  const causes = fc.array(fc.string(), { maxLength: 2 });
  fc.assert(fc.property(messages, causes, (message, causes) => {
    const failure = applyFailure(new ApiError(403, "Forbidden", message, { causes }));
    // An unreachable webhook is not a 403, but its message may be quoted in one.
    assert.equal(failure.next, "leave");
    assert.equal(failure.permission !== undefined, failure.reason === "RBACError");
    assert.ok(failure.message.length > 0 || message === "");
  }));
});
