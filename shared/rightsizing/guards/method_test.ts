import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  asks,
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingSnapshot,
  sized,
  type SnapshotChoice,
  templateContainer,
  valuesOf,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { ApiError } from "../../api/api_error.ts";
import { remedyFor } from "../../api/reasons/reasons.ts";
import { describeWanted, type WantedResources } from "../../resize/inputs/resources.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { validValues } from "./valid_values.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import { inPlacePlan } from "./method.ts";
import {
  applyFailure,
  decisionEvents,
  endedEvents,
  failureEvents,
  heldStatus,
} from "./workload_events.ts";

const WANTED: WantedResources = new Map([
  ["app", { requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 180 } }],
]);
const ONLY_MEMORY = new Map([["app", { requests: { memory: 96 * MI }, limits: {} }]]);

/** By pod what changes in its containers. */
function changesOf(choice: SnapshotChoice, wanted = WANTED): Readonly<Record<string, unknown>> {
  const { pods } = inPlacePlan(rightsizingSnapshot(choice), wanted);
  return Object.fromEntries(
    pods.map(({ pod: { metadata: { name } }, changes }) => [name, changes]),
  );
}

pure("inPlacePlan() leaves out pods that would not fit on their node", () => {
  const pods = [
    workloadPod("short", [templateContainer()]),
    workloadPod("above", [templateContainer({ requests: { cpu: 200 } })]),
  ];
  const nodes = new Map([["node-1", { allocatableCPU: 149, pressures: [] }]]);
  assert.deepEqual(Object.keys(changesOf({ pods, nodes })), ["above"]);
  assert.deepEqual(Object.keys(changesOf({ pods, nodes }, ONLY_MEMORY)), ["short", "above"]);
});

pure("inPlacePlan() leaves CPU limits to the market where it owns them", () => {
  const of = (wanted: WantedResources, choice: SnapshotChoice = {}) => {
    const snapshot = rightsizingSnapshot({ marketManages: true, ...choice });
    const { originalLimits, pods: [first] } = inPlacePlan(snapshot, wanted);
    const [{ requests, limits } = { requests: {}, limits: {} }] = first?.changes ?? [];
    return { original: originalLimits.get("app"), requests, limits };
  };
  const memory = { memory: 96 * MI };
  assert.deepEqual(of(WANTED), { original: 180, requests: { cpu: 150, ...memory }, limits: {} });
  assert.deepEqual(of(ONLY_MEMORY), { original: undefined, requests: memory, limits: {} });
  const equal = { containers: [sized([200, 128], [200, 128])] };
  assert.deepEqual(of(valuesOf(sized([150, 96], [150, 96])), equal), {
    original: 150,
    requests: memory,
    limits: memory,
  });
  assert.equal(inPlacePlan(rightsizingSnapshot(), WANTED).originalLimits.size, 0);
});

pure("inPlacePlan() puts its values into force for new pods, and keeps those of before", () => {
  const log = { requests: { cpu: 20 }, limits: {} };
  const inForce = new Map([
    ["app", { requests: { cpu: 90 }, limits: { memory: 256 * MI } }],
    ["log", log],
  ]);
  const plan = inPlacePlan(rightsizingSnapshot({ inForce, pods: [] }), WANTED);
  assert.deepEqual([plan.pods, Object.fromEntries(plan.inForce)], [[], {
    app: { requests: { cpu: 150, memory: 96 * MI }, limits: { memory: 256 * MI, cpu: 180 } },
    log,
  }]);
});

const LIMITED = { strategy: { updateRequestsOnly: false } };
const IN_FORCE: ValuesInForce = {
  container: "app",
  cpu: 150,
  memory: 96 * MI,
  cpuLimit: 180,
  memoryLimit: 112 * MI,
};
const ADOPTED = {
  ...IN_FORCE,
  adoptedOn: { cpu: 100, memory: 64 * MI, cpuLimit: 200, memoryLimit: 128 * MI },
};
const CPU = "app cpu 150m (limit 180m)";
const MEMORY = "app memory 96Mi (limit 112Mi)";
const peak = (mebibytes: number) => ({ memoryPeaks: new Map([["app", mebibytes * MI]]) });

/** The values that count, and the number of messages. */
function counting(choice: SnapshotChoice = LIMITED, inForce: ValuesInForce = ADOPTED): string {
  const { values, messages } = validValues([inForce], rightsizingSnapshot(choice));
  return `${messages.length}: ${describeWanted(values)}`;
}

// The decision tables of tests/golden have more of these.
pure("validValues() drops what another party has changed, and cuts to what is allowed", () => {
  const edited = [templateContainer({ requests: { memory: 1024 * MI } })];
  const memoryBounds = { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 80 * MI } };
  const narrow = { policy: autoPolicy(LIMITED.strategy, { bounds: memoryBounds }) };
  const cpu = { container: "app", cpu: 500 };
  const open = { containers: [sized([100, 64])] };
  const any = { min: 0, max: Infinity, ratio: Infinity };
  const ranges = { cpu: { container: { ...any, max: 200 }, pod: any } };
  const quota = (room: number) => ({
    quotas: [{ name: "q", resource: "cpu", side: "requests", room } as const],
  });
  const rows: readonly (readonly [SnapshotChoice, ValuesInForce, string])[] = [
    [LIMITED, ADOPTED, `0: ${CPU}, ${MEMORY}`],
    [{}, ADOPTED, "1: app cpu 150m, app memory 96Mi"],
    [{ ...LIMITED, containers: edited }, ADOPTED, `1: ${CPU}`],
    [{ ...LIMITED, containers: [templateContainer({ name: "web" })] }, ADOPTED, "1: "],
    [{ ...LIMITED, containers: edited }, IN_FORCE, `0: ${CPU}, ${MEMORY}`],
    // Memory is lowered for narrower bounds only where the recent peak allows it.
    [{ ...narrow, ...peak(60) }, ADOPTED, `1: ${CPU}, app memory 80Mi (limit 88Mi)`],
    [{ ...narrow, ...peak(75) }, ADOPTED, `0: ${CPU}, ${MEMORY}`],
    [{ ...LIMITED, verticalAutoscalers: [sampleVPA("Initial")] }, ADOPTED, "1: "],
    [{ ...LIMITED, autoscalers: [sampleHPA()] }, ADOPTED, `1: ${MEMORY}`],
    // Whatever holds for running pods.
    [{ ...open, resizeServed: false, dryRun: true, pods: [] }, cpu, "0: app cpu 500m"],
    [
      { ...LIMITED, containers: [sized([100, 64], [150])], ranges },
      { ...cpu, cpuLimit: 600 },
      "1: app cpu 200m (limit 200m)",
    ],
    [{ ...open, ...quota(500) }, cpu, "0: app cpu 500m"],
    [{ ...open, ...quota(499) }, cpu, "1: app cpu 499m"],
    // The template's own request takes all.
    [{ ...open, ...quota(-7) }, cpu, "1: app cpu 100m"],
    [{ containers: [sized([100, 1], [100, 1])] }, cpu, "1: "],
  ];
  assert.deepEqual(
    rows.map(([choice, inForce]) => counting(choice, inForce)),
    rows.map(([, , expected]) => expected),
  );
});

const peaks = { memoryPeaks: new Map([["app", 60 * MI]]) };

pure("decisionEvents() has one event of a hold, and those of some cuts", () => {
  const rows: readonly (readonly [SnapshotChoice, string])[] = [
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
    const events = decisionEvents(decideRightsizing(rightsizingSnapshot(choice)));
    assert.equal(events.map(({ type, reason }) => `${type} ${reason}`).join(), expected);
  }
  const containers = [templateContainer({ requests: { cpu: 200 } })];
  const cut = decideRightsizing(rightsizingSnapshot({ ...asks(300, 8), ...peaks, containers }));
  assert.ok(cut.outcome === "hold" && cut.onlyBelowThreshold);
  assert.equal(decisionEvents(cut).map(({ reason }) => reason).join(), "WorkloadSkipped");
  const isInForce = decisionEvents(cut, { isInForce: true }).map(({ reason }) => reason);
  assert.equal(isInForce.join(), "UnsafeMemoryDecrease");
});

pure("decisionEvents() and failureEvents() end with a suggestion", () => {
  const [event] = decisionEvents(decideRightsizing(rightsizingSnapshot({ resizeServed: false })));
  assert.ok(event?.message.endsWith(`; ${remedyFor("InPlaceResizeUnavailable")}`), event?.message);
  assert.deepEqual(failureEvents(applyFailure(new ApiError(503, "", "overloaded"))), [{
    type: "Warning",
    reason: "UpdateFailed",
    message: `ServerBusy: overloaded; ${remedyFor("ServerBusy")}`,
  }]);
  for (const status of [404, 409]) {
    assert.deepEqual(failureEvents(applyFailure(new ApiError(status, "", ""))), []);
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
