import assert from "node:assert/strict";
import { cpuRanges } from "../../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import {
  asks,
  assertDecisions,
  autoPolicy,
  bareContainer,
  LIMITS,
  MI,
  NOW_MS,
  RECREATE,
  rightsizingSnapshot,
  sized,
  type SnapshotChoice,
  templateContainer,
  valuesOf,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { ApiError } from "../../api/api_error.ts";
import type { ResourceName, Resources } from "../../api/pod.ts";
import { remedyFor } from "../../api/reasons/reasons.ts";
import type { TemplateOwners } from "../../api/workload.ts";
import { defined } from "../../defined.ts";
import { describeWanted, type WantedResources } from "../../resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../../resize/original_limits.ts";
import type { ContainerTemplate, TemplateChange, ValuesInForce } from "../workload_record.ts";
import { validValues } from "./valid_values.ts";
import { decideRightsizing } from "./decide_rightsizing.ts";
import { inPlacePlan } from "./method.ts";
import {
  type AppliedRecord,
  compareTemplate,
  templateWith,
  withUnrecorded,
} from "./template_changes.ts";
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
  const moved = of(valuesOf(sized([150, 96], [150, 96])), equal);
  assert.deepEqual(moved, { original: 150, requests: memory, limits: memory });
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
  ...{ container: "app", cpu: 150, memory: 96 * MI, cpuLimit: 180, memoryLimit: 112 * MI },
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
  const ranges = cpuRanges({ max: 200 });
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
  const found = rows.map(([choice, inForce]) => counting(choice, inForce));
  assert.deepEqual(found, rows.map(([, , expected]) => expected));
});

pure("decisionEvents() has one event of a hold, and those of some cuts", () => {
  const missing = [{ method: "InPlace", permission: "patch pods/resize" }] as const;
  const rows: readonly (readonly [SnapshotChoice, string])[] = [
    [{}, ""],
    [{ lastAppliedMs: NOW_MS }, ""],
    [asks(100, 64), ""],
    [{ policy: autoPolicy({}, { mode: "Disabled" }) }, ""],
    [{ dryRun: true }, "Normal RecommendationGenerated"],
    [{ samples: new Map(), recommendations: [] }, "Normal WorkloadSkipped"],
    [{ ...asks(150, 8), ...peak(60) }, "Warning UnsafeMemoryDecrease"],
    [{ resizeServed: false }, "Warning InPlaceResizeUnavailable"],
    [
      { containers: [templateContainer({ restartsOnCPU: true })] },
      "Warning InPlaceResizeUnavailable",
    ],
    [{ missingPermissions: missing }, "Warning RBACError"],
  ];
  for (const [choice, expected] of rows) {
    const events = decisionEvents(decideRightsizing(rightsizingSnapshot(choice)));
    assert.equal(events.map(({ type, reason }) => `${type} ${reason}`).join(), expected);
  }
  const containers = [templateContainer({ requests: { cpu: 200 } })];
  const cut = decideRightsizing(rightsizingSnapshot({ ...asks(300, 8), ...peak(60), containers }));
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
  const [ended, ...others] = endedEvents(["the VPA", "the bounds"]);
  assert.deepEqual([ended?.type, ended?.reason, others], ["Normal", "WorkloadSkipped", []]);
});

const RBAC = (resource: string, group: string, where = ""): string =>
  `${resource} "web" is forbidden: User "system:serviceaccount:mbcas-system:mbcas-controller" ` +
  `cannot patch resource "${resource}" in API group "${group}"${where}`;

pure("applyFailure() classifies answers, and says which permission is missing", () => {
  const inShop = ' in the namespace "shop"';
  const engine = 'admission webhook "guard.example.com" denied the request: ';
  const rows: readonly (readonly [status: number, message: string, expected: string])[] = [
    [403, RBAC("pods/resize", "", inShop), "leave RBACError patch pods/resize in namespace shop"],
    [403, RBAC("deployments", "apps"), "leave RBACError patch deployments.apps"],
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

const HOUR_MS = 3_600_000;
const AN_HOUR_AGO = NOW_MS - HOUR_MS;
const AUTHOR = sized([100, 64]);
const WRITTEN = sized([180, 64]);
const KNOWN: ContainerTemplate = { container: "app", cpu: 100, memory: 64 * MI };
const KNOWN_LIMIT = [{ ...KNOWN, cpuLimit: 200 }];

function owned(requests: string, limits = requests, atMs = AN_HOUR_AGO): TemplateOwners {
  const [request, limit] = [{ manager: requests, atMs }, { manager: limits, atMs }];
  return {
    app: {
      ...{ "requests.cpu": request, "requests.memory": request },
      ...{ "limits.cpu": limit, "limits.memory": limit },
    },
  };
}

const OURS = RIGHTSIZING_MANAGER;
const CPU_NOW = { cpu: { atMs: NOW_MS } };
const BY_HELM = { cpu: { by: "helm", atMs: AN_HOUR_AGO } };
const BY_HELM_NOW = { cpu: { by: "helm", atMs: NOW_MS } };
const CPU_WRITTEN = { app: { requests: { cpu: 180 }, limits: {} } };

function compared(
  resources: Resources,
  { known = [KNOWN], owners, nowMs = NOW_MS }: {
    readonly known?: readonly ContainerTemplate[];
    readonly owners?: TemplateOwners;
    readonly nowMs?: number;
  } = {},
) {
  const containers = [bareContainer("app", resources), templateContainer({ sidecar: true })];
  return compareTemplate(known, { containers, owners, nowMs });
}

function recordedChanges(
  { cpuChanged: cpu, memoryChanged: memory }: Partial<ContainerTemplate> = {},
) {
  return defined({ cpu, memory });
}

pure("compareTemplate() finds changes by managers, and unrecorded ones of ours", () => {
  const withoutRequest = { requests: { memory: 64 * MI }, limits: { cpu: 200 } };
  const halves = sized([180, 64], [300]);
  const rows: readonly (readonly [
    Resources,
    NonNullable<Parameters<typeof compared>[1]>,
    Partial<Record<ResourceName, TemplateChange>>,
    unknown,
  ])[] = [
    // A template that is new, or as it was recorded.
    [AUTHOR, { known: [] }, {}, {}],
    [AUTHOR, { owners: owned("helm") }, {}, {}],
    [WRITTEN, { owners: owned("helm") }, BY_HELM, {}],
    [WRITTEN, { owners: owned("helm", "helm", NOW_MS + 1) }, BY_HELM_NOW, {}],
    [sized([100, 64], [undefined, 1]), {}, { memory: { atMs: NOW_MS } }, {}],
    [{ requests: { cpu: 100 }, limits: {} }, {}, { memory: { atMs: NOW_MS } }, {}],
    [WRITTEN, { owners: owned(OURS) }, {}, CPU_WRITTEN],
    // A request or limit that is gone is a change, whatever owns the other half.
    [AUTHOR, { known: KNOWN_LIMIT, owners: owned(OURS) }, CPU_NOW, {}],
    [withoutRequest, { known: KNOWN_LIMIT, owners: owned("helm") }, CPU_NOW, {}],
    // Each half for its own manager's.
    [halves, { known: KNOWN_LIMIT, owners: owned(OURS, "helm") }, BY_HELM, CPU_WRITTEN],
  ];
  for (const [resources, choice, changed, expected] of rows) {
    const { template: [app], unrecorded } = compared(resources, choice);
    assert.deepEqual([recordedChanges(app), Object.fromEntries(unrecorded)], [changed, expected]);
  }
  const template = templateWith(new Map(Object.entries(CPU_WRITTEN)), [KNOWN]);
  const again = compared(WRITTEN, { known: template, owners: owned(OURS) });
  assert.deepEqual(again, { template, unrecorded: new Map() });
  assert.deepEqual(recordedChanges(compared(AUTHOR, { known: template }).template[0]), CPU_NOW);
});

pure("compareTemplate() keeps a change for a day", () => {
  const [known = assert.fail()] = compared(WRITTEN).template;
  const after = (hours: number) =>
    compared(WRITTEN, { known: [known], nowMs: NOW_MS + hours * HOUR_MS }).template[0];
  assert.deepEqual(after(23.9), known);
  assert.deepEqual(recordedChanges(after(-2)), { cpu: { atMs: NOW_MS - 2 * HOUR_MS } });
  assert.deepEqual(after(24), { container: "app", cpu: 180, memory: 64 * MI });
});

pure("withUnrecorded() counts unrecorded values as applied now", () => {
  const adopted = { cpu: 100, memory: 64 * MI };
  const app = { container: "app", cpu: 120, cpuLimit: 300, memory: 70 * MI, adoptedOn: adopted };
  const log = { container: "log", cpu: 10 };
  const inForce = [app, log];
  const record: AppliedRecord = { inForce, appliedAtMs: NOW_MS - 9000, method: "InPlace" };
  const now = { containers: [sized([180, 64], [undefined, 128])], nowMs: NOW_MS };
  assert.equal(withUnrecorded(record, new Map(), now), record);
  const cpu = new Map([["app", { requests: { cpu: 180 }, limits: {} }]]);
  // The author's new memory limit ends the memory values in force.
  const written = { ...app, cpu: 180, adoptedOn: { cpu: 180, memory: 64 * MI } };
  assert.deepEqual(withUnrecorded(record, cpu, now), {
    ...{ inForce: [log, written], appliedAtMs: NOW_MS, method: "Recreate" },
  });
  const adoptedOn = { cpu: 180, memory: 64 * MI, memoryLimit: 128 * MI };
  assert.deepEqual(withUnrecorded({ ...record, inForce: [] }, cpu, now).inForce, [
    { container: "app", cpu: 180, adoptedOn },
  ]);
});

/** Changed by another manager: the template has 100 m and 64 Mi of `app` since then. */
function edited(hoursAgo: number, choice: SnapshotChoice = {}): SnapshotChoice {
  const change = { atMs: NOW_MS - hoursAgo * HOUR_MS };
  const recordedTemplate = [{ ...KNOWN, cpuChanged: change, memoryChanged: change }];
  return { ...asks(150, 32), recordedTemplate, ...choice };
}

pure("recentlyEdited() lowers nothing for a day after a change", () => {
  const of = (limits: readonly number[], strategy = {}, present = [200, 512]) =>
    edited(1, {
      ...asks(600, 960, { cpuLimit: 700, memoryLimit: 1056 }),
      containers: [sized([present[0] ?? 0, present[1] ?? 0], limits)],
      strategy: { ...LIMITS, ...strategy },
      memoryPeaks: new Map([["app", 800 * MI]]),
    });
  const smallChanges = { changeThresholdPercent: 1 };
  const limitOnly = { ...asks(100, 64, { memoryLimit: 96 }), strategy: LIMITS };
  const twoDaysAgo = NOW_MS - 48 * HOUR_MS;
  const limits = "app cpu limit 700m, app memory limit 1056Mi";
  const raised = "app cpu 600m, app memory 960Mi - RecentlyEdited";
  assertDecisions([
    [edited(1), "InPlace: app cpu 150m - RecentlyEdited"],
    [edited(24), "InPlace: app cpu 150m, app memory 32Mi"],
    // No limit comes where there was none.
    [of([]), `InPlace: ${raised}`],
    [of([800, 2048]), `InPlace: ${raised}`],
    [of([650, 1000]), "InPlace: app cpu 600m (limit 700m), app memory 960Mi (limit 1056Mi)"],
    [of([650, 1000], smallChanges, [640, 990]), `InPlace: ${limits} - RecentlyEdited`],
    [edited(1, limitOnly), "RecentlyEdited - RecentlyEdited"],
    // A value that another manager has changed after rightsizing's own is left alone for a day.
    [
      edited(23.9, { ...asks(150, 96), strategy: RECREATE, lastAppliedMs: twoDaysAgo }),
      "TakenBack",
    ],
  ]);
});
