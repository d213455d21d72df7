import { assertLines, assertTexts } from "../../tests/fixtures/assert_sentences.ts";
import { cpuRanges, UNBOUNDED } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  asks,
  autoPolicy,
  bareContainer,
  LIMITS,
  MI,
  NOW_MS,
  recommendation,
  RECREATE,
  rightsizingSnapshot,
  sized,
  type SnapshotChoice,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { largeRecord } from "../../tests/fixtures/rightsizing/workload_records.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import { ApiError } from "../api/api_error.ts";
import { faultText } from "../api/fields.ts";
import {
  buildPolicyStatus,
  type PolicyCycle,
  samplesNote,
  scopeNote,
} from "./build_policy_status.ts";
import { samplesDistribution } from "./distribution.ts";
import { decideRightsizing, decideWanted, STRAGGLER_CHAIN } from "./guards/decide_rightsizing.ts";
import { validValues } from "./guards/valid_values.ts";
import { applyFailure, endedEvents } from "./guards/workload_events.ts";
import { type PolicySelector, readPolicySpec, type UpdateStrategy } from "./policy_spec.ts";
import { type Corrections, estimateRequest, recommend } from "./recommend.ts";
import type { ValuesInForce } from "./workload_record.ts";

/**
 * Compares what guards say of snapshots, each with the reason before a comma; by default of 150 m and
 * 96 Mi for 100 m of 200 m, 64 Mi of 128 Mi.
 */
function assertGuardTexts(
  choices: Readonly<Record<string, SnapshotChoice>>,
  expected: string,
): Promise<void> {
  const makers = Object.entries(choices).map(([code, choice]) => {
    const snapshot = rightsizingSnapshot(choice);
    const decision = code.endsWith("straggler")
      ? decideWanted(snapshot, snapshot.inForce, { chain: STRAGGLER_CHAIN })
      : decideRightsizing(snapshot);
    const all = decision.outcome === "hold" ? [...decision.clamps, decision] : decision.clamps;
    const [reason] = code.split(", ");
    return [code, () => all.find((one) => one.reason === reason)?.message ?? ""] as const;
  });
  return assertLines(Object.fromEntries(makers), expected);
}

const { workload, pods } = rightsizingSnapshot();
const onePod = pods.slice(0, 1);
const rollout = (updated: number, total: number, halted = false) => ({
  workload: { ...workload, rollout: { updated, total, halted } },
});
const upTo = (max: number) => ({ ranges: cpuRanges({ max }) });
const cpuInForce = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);

pure("sentences of the guards about policy and workload", () =>
  assertGuardTexts(
    {
      "InsufficientSamples": { samples: new Map([["app", 3]]), recommendations: [] },
      "InsufficientSamples, none": { recommendations: [] },
      "RecommendOnly": { policy: autoPolicy({}, { mode: "Recommend" }) },
      "DryRun": { dryRun: true },
      "RBACError": {
        missingPermissions: [{ method: "InPlace", permission: "patch pods/resize" }],
      },
      "AdmissionDenied": {
        denial: {
          ...{ message: "no more memory", recommendations: [recommendation()] },
          retryAtMs: NOW_MS + 60_000,
        },
      },
      "UnreadableBound": {
        unreadable: ["LimitRange r: no number", "VerticalPodAutoscaler web-vpa: no target"],
        verticalAutoscalers: [sampleVPA("Off", { unreadable: "no target" })],
      },
      "HPAConflict": { autoscalers: [sampleHPA()] },
      "VPAConflict": { verticalAutoscalers: [sampleVPA("Auto")] },
      "RolloutInProgress": rollout(1, 3),
      "RolloutPaused": { workload: { ...workload, paused: true } },
      "NotRolledOut": { ...rollout(0, 2, true), inForce: cpuInForce, strategy: RECREATE },
      "Cooldown": { lastAppliedMs: NOW_MS - 29 * 60_000 },
    },
    `\
InsufficientSamples: app has 3 of 10 samples
InsufficientSamples, none: there is no recommendation
RecommendOnly: the policy's mode is Recommend
DryRun: the configuration asks for a dry-run
RBACError: missing: patch pods/resize
AdmissionDenied: no more memory; it is asked again at 2027-01-15T08:01:00.000Z
UnreadableBound: LimitRange r: no number; VerticalPodAutoscaler web-vpa: no target
HPAConflict: HPA web-hpa divides the CPU usage of app by its request, which stays
VPAConflict: VPA web-vpa, mode Auto, sets the resources of Deployment web
RolloutInProgress: Deployment web rolls out: 1 of 3 pods are new
RolloutPaused: the rollout of Deployment web is paused
NotRolledOut: the template of Deployment web has values that 2 pods lack, web-1 among them, and nothing replaces them
Cooldown: the next change may come in 60 s
`,
  ));

const nodes = new Map([["node-1", { allocatableCPU: 120, pressures: [] }]]);
const small = { nodes, pods: onePod };
const guaranteed = { containers: [sized([200, 128], [200, 128])] };

/** A template with pod-level resources, and no pods. */
function podLevel(requestCPU: number): SnapshotChoice {
  const ofPod = { requests: { cpu: requestCPU }, limits: { cpu: 400 } };
  const template = { ...workload.template, podLevel: ofPod };
  return { workload: { ...workload, template }, pods: [] };
}

pure("sentences of the guards about nodes, quotas, classes and limits", () =>
  assertGuardTexts(
    {
      "LimitRange": { ...asks(250, 96, { cpuLimit: 300 }), strategy: LIMITS, ...upTo(200) },
      "LimitRange, container": upTo(180),
      "LimitRange, all containers": {
        ranges: { memory: { container: UNBOUNDED, pod: { ...UNBOUNDED, min: 1024 * MI } } },
      },
      "QuotaExceeded": { quotas: [{ name: "q", resource: "cpu", side: "requests", room: 60 }] },
      "NodeCapacity": small,
      "NodeCapacity, pod without the values in force": { ...small, inForce: cpuInForce },
      "NodeCapacity, new pods": {
        largestNode: { allocatableCPU: 120, allocatableMemory: Infinity },
      },
      "NodePressure": {
        ...asks(150, 64),
        nodes: new Map([["node-1", { pressures: ["DiskPressure", "PIDPressure"] }]]),
      },
      "QoSWouldChange": { containers: [bareContainer("app", {})] },
      "QoSWouldChange, request alone": guaranteed,
      "QoSWouldChange, limit": { ...guaranteed, strategy: LIMITS },
      "QoSWouldChange, to Guaranteed": {
        ...{ containers: [sized([100, 128], [200, 128])], pods: onePod, ...asks(200, 128) },
      },
      "RequestAboveLimit": asks(500, 96),
      "PodLevelLimit": podLevel(120),
      "PodLevelLimit, container": {
        ...{ ...podLevel(400), ...asks(300, 96, { cpuLimit: 500 }), strategy: LIMITS },
      },
    },
    `\
LimitRange: the LimitRange allows no more, or no less: app cpu request 250m to 200m, app cpu limit 300m to 200m
LimitRange, container: pod web-1: cpu of container app: the LimitRange allows a limit of 180m, it would be 200m
LimitRange, all containers: pod web-1: memory of all containers: the LimitRange asks for 1024Mi, it would be 96Mi
QuotaExceeded: ResourceQuota q leaves 60m of requests.cpu for a raise of 100m in 2 pods
NodeCapacity: node node-1 has 120m of cpu, pod web-1 would request 150m
NodeCapacity, pod without the values in force: node node-1 has 120m of cpu, pod web-1 would request 150m, and stays as it is
NodeCapacity, new pods: the largest node has 120m of cpu, new pods would request 150m
NodePressure: no raise of app cpu: node node-1 has DiskPressure, PIDPressure
QoSWouldChange: pod web-1 would turn from BestEffort to Burstable
QoSWouldChange, request alone: request and limit of app cpu would have to move together, as in any Guaranteed pod, and only one of them may; request and limit of app memory would have to move together, as in any Guaranteed pod, and only one of them may
QoSWouldChange, limit: limits of Guaranteed pods are their requests: app cpu limit 180m to 150m, app memory limit 112Mi to 96Mi
QoSWouldChange, to Guaranteed: pod web-1 would turn Guaranteed: app cpu request 200m to 199m
RequestAboveLimit: a request may not be above its container's limit: app cpu request 500m to 200m
PodLevelLimit: new pods as a whole requests 120m of cpu, its containers would request 150m
PodLevelLimit, container: new pods as a whole has a limit of 400m of cpu, container app would have more
`,
  ));

const peak = (mebibytes: number) => ({ memoryPeaks: new Map([["app", mebibytes * MI]]) });
const changedBy = (by?: string) => ({
  recordedTemplate: [{
    container: "app",
    cpuChanged: { ...(by === undefined ? {} : { by }), atMs: NOW_MS },
  }],
});

pure("sentences of the guards about present values and methods", () =>
  assertGuardTexts(
    {
      "UnsafeMemoryDecrease": { ...asks(150, 46), ...peak(60) },
      "UnsafeMemoryDecrease, unknown peak": { ...asks(150, 46), memoryPeaks: new Map() },
      "TakenBack": { strategy: RECREATE, ...changedBy("helm"), lastAppliedMs: 0 },
      "BelowThreshold": asks(109, 96),
      "RecentlyEdited": { ...asks(50, 96), ...changedBy("helm") },
      "RecentlyEdited, unknown manager": { ...asks(50, 96), ...changedBy() },
      "MethodNotAllowed": { strategy: { allowInPlaceResize: false, allowRecreate: false } },
      "InPlaceResizeUnavailable": { resizeServed: false },
      "RestartPolicy": { containers: [templateContainer({ restartsOnCPU: true })] },
      "MemoryLimitLocked": { strategy: LIMITS, lowersMemoryLimits: false },
      "MethodNotAllowed, straggler": { strategy: RECREATE, inForce: cpuInForce },
      "InPlaceResizeUnavailable, straggler": { resizeServed: false, inForce: cpuInForce },
    },
    `\
UnsafeMemoryDecrease: app to 46Mi: its recent peak was 60Mi, and the least safe value is 69Mi
UnsafeMemoryDecrease, unknown peak: app to 46Mi: its recent peak is not known
TakenBack: helm has changed the template at 2027-01-15T08:00:00.000Z; it is left alone until 2027-01-16T08:00:00.000Z
BelowThreshold: app cpu 109m differs by less than 10 %
RecentlyEdited: app cpu to 50m: helm has changed it in the template at 2027-01-15T08:00:00.000Z, and it is not lowered before 2027-01-16T08:00:00.000Z
RecentlyEdited, unknown manager: app cpu to 50m: another client has changed it in the template at 2027-01-15T08:00:00.000Z, and it is not lowered before 2027-01-16T08:00:00.000Z
MethodNotAllowed: allowInPlaceResize and allowRecreate are both false
InPlaceResizeUnavailable: the server does not serve pods/resize, and allowRecreate is false
RestartPolicy: resizePolicy restarts app on a change of cpu
MemoryLimitLocked: the server does not lower the memory limit of app in place
MethodNotAllowed, straggler: allowInPlaceResize is false, and no pod is recreated for what is in force
InPlaceResizeUnavailable, straggler: the server does not serve pods/resize, and no pod is recreated for what is in force
`,
  ));

/** Why new pods get other values than these, which are in force. */
const counted =
  (values: Partial<ValuesInForce>, { strategy = LIMITS, ...choice }: SnapshotChoice = {}) =>
  (): string => {
    const snapshot = rightsizingSnapshot({ strategy, ...choice });
    return validValues([{ container: "app", ...values }], snapshot).messages.join("; ");
  };

pure("sentences about values in force, events and answers of the server", () => {
  const bounds = { cpu: { min: 10, max: 120 }, memory: { min: MI, max: 1024 * MI } };
  const refusal = 'cannot patch resource "deployments" in API group "apps" in the namespace "shop"';
  return assertLines(
    {
      "container": counted({ container: "log", cpu: 150 }),
      "edit": counted({ cpu: 150, adoptedOn: { cpu: 99, cpuLimit: 200 } }),
      "updateRequestsOnly": counted({ cpu: 150, cpuLimit: 180 }, { strategy: {} }),
      "bounds": counted({ cpu: 150 }, { policy: autoPolicy({}, { bounds }) }),
      "memory peak": counted({ memory: 48 * MI }, peak(100)),
      "no longer valid": () => endedEvents(["the VPA", "the bounds"])[0]?.message ?? "",
      "RBACError": () => applyFailure(new ApiError(403, "Forbidden", refusal)).message,
    },
    `\
container: the template has no container log
edit: the template has other cpu values of app by now
updateRequestsOnly: the policy updates requests only: app cpu limit 180m left as it is
bounds: the policy's bounds: app cpu request 150m to 120m
memory peak: the recent peak + 15 %: app memory request 48Mi to 64Mi
no longer valid: what new pods begin with has changed: the VPA; the bounds; kubectl coalloc recommend shows what is in force
RBACError: missing: patch deployments.apps in namespace shop
`,
  );
});

const DAY_MS = 86_400_000;

function usage(value: number) {
  return samplesDistribution(Float64Array.of(value), { oldestMs: 1, newestMs: 1 });
}

/** Explanation of a recommendation by P90, a line for each sentence. */
const explained =
  (cpu: number, memoryMebi: number, { corrections = {}, ...strategy }: Partial<UpdateStrategy> & {
    readonly corrections?: Corrections;
  } = {}) =>
  (): string => {
    const bounds = { cpu: { min: 50, max: 2000 }, memory: { min: 64 * MI, max: 1024 * MI } };
    const policy = autoPolicy(strategy, { minSamples: 1, bounds });
    const used = { container: "app", cpu: usage(cpu), memory: usage(memoryMebi * MI) };
    return (recommend(used, { policy, corrections })?.explanation ?? "").replaceAll(". ", ".\n");
  };

function windowText(windowMs: number): string {
  const policy = autoPolicy({}, { percentile: "P50", windowMs });
  return estimateRequest(usage(2), { resource: "cpu", policy, corrections: {} }).steps[0] ?? "";
}

pure("sentences about recommendations", () =>
  assertTexts(
    {
      "bounds": explained(10, 2048),
      "limits": explained(280, 100, { updateRequestsOnly: false }),
      "OOM kill, throttling": explained(200, 200, {
        corrections: {
          oomKills: [{ hadBytes: 256 * MI }],
          throttling: { share: 0.4, demand: 500 },
        },
      }),
      "throttling, unknown demand": explained(200, 200, {
        corrections: { throttling: { share: 0.25 } },
      }),
      "windows": () => [7 * DAY_MS, 1.5 * DAY_MS, DAY_MS / 48].map(windowText).join("\n"),
    },
    `\
bounds
  CPU 50m: P90 of 1 sample in 24h is 10m, times 1.2 is 12m, raised to the minimum of bounds 50m to 2.
  Memory 1024Mi: P90 of 1 sample in 24h is 2048Mi, times 1.2 is 2576980377, lowered to the maximum of bounds 64Mi to 1024Mi
limits
  CPU 336m: P90 of 1 sample in 24h is 280m, times 1.2 is 336m, within bounds 50m to 2.
  Memory 120Mi: P90 of 1 sample in 24h is 100Mi, times 1.2 is 120Mi, within bounds 64Mi to 1024Mi.
  Limits: CPU 336m, request times 1; memory 132Mi, request times 1.1
OOM kill, throttling
  CPU 600m: P90 of 1 sample in 24h is 200m, raised to 500m since its limit ran out in 40 % of the periods (the market saw that much wanted), times 1.2 is 600m, within bounds 50m to 2.
  Memory 356Mi: P90 of 1 sample in 24h is 200Mi, times 1.2 is 240Mi, killed for lack of memory at 256Mi, so raised to 356Mi, within bounds 64Mi to 1024Mi
throttling, unknown demand
  CPU 300m: P90 of 1 sample in 24h is 200m, raised to 250m since its limit ran out in 25 % of the periods (more was wanted, how much is unknown), times 1.2 is 300m, within bounds 50m to 2.
  Memory 240Mi: P90 of 1 sample in 24h is 200Mi, times 1.2 is 240Mi, within bounds 64Mi to 1024Mi
windows
  P50 of 1 sample in 7d is 2m
  P50 of 1 sample in 36h is 2m
  P50 of 1 sample in 30m is 2m
`,
  ));

/** Faults of a policy with these fields beside the required ones. */
const fault = (fields: Readonly<Record<string, unknown>>) => (): string =>
  faultsOf({
    ...{ mode: "Recommend", selector: { workloadSelector: {} } },
    metricsConfig: { provider: "prometheus" },
    resourceBounds: { cpu: { min: "100m", max: 2 }, memory: { min: "128Mi", max: "1Gi" } },
    ...fields,
  });

const faultsOf = (spec: unknown): string => readPolicySpec(spec).faults.map(faultText).join("; ");

const termFault = (term: unknown) =>
  fault({ selector: { workloadSelector: { matchExpressions: [term] } } });

pure("sentences about invalid policies", () =>
  assertLines(
    {
      "no object": () => faultsOf([]),
      "missing": () => faultsOf(undefined),
      "one of": fault({ mode: "Sometimes" }),
      "selector": fault({ selector: { workloadTypes: {} } }),
      "label keys": fault({ selector: { workloadSelector: { matchLabels: { "-": "" } } } }),
      "label key": termFault({ key: "-", operator: "Exists" }),
      "values": termFault({ key: "app", operator: "In" }),
      "no values": termFault({ key: "app", operator: "Exists", values: ["a"] }),
      "numbers": fault({
        metricsConfig: { provider: "prometheus", safetyFactor: 0.5, minSamples: 1.5 },
      }),
      "bounds": fault({
        resourceBounds: { cpu: { min: "3", max: 2 }, memory: { min: 0, max: 1 } },
      }),
      "custom source": fault({ metricsConfig: { provider: "custom" } }),
    },
    `\
no object: spec is a list of 0: must be an object
missing: spec is missing: must be an object
one of: spec.mode is "Sometimes": must be one of Auto, Recommend, Disabled
selector: spec.selector is an object: must have at least one of namespaceSelector, workloadSelector and namespaces
label keys: spec.selector.workloadSelector.matchLabels is an object: must have labels' keys, for instance app or example.com/tier
label key: spec.selector.workloadSelector.matchExpressions[0].key is "-": must be a label's key, for instance app or example.com/tier
values: spec.selector.workloadSelector.matchExpressions[0].values is missing: must have at least one value where operator is In or NotIn
no values: spec.selector.workloadSelector.matchExpressions[0].values is a list of 1: must be empty where operator is Exists or DoesNotExist
numbers: spec.metricsConfig.safetyFactor is 0.5: must be at least 1; spec.metricsConfig.minSamples is 1.5: must be a whole number
bounds: spec.resourceBounds.cpu.min is "3": must not be above max; spec.resourceBounds.memory.min is 0: must be a quantity above 0, for instance 128Mi or 1Gi
custom source: spec.metricsConfig.custom is missing: must name a provider of the controller's configuration where provider is custom
`,
  ));

const condition = (type: string, cycle: Partial<PolicyCycle> = {}) => (): string => {
  const usual = { nowMs: 1, generation: 1, before: {}, dryRun: false, workloads: [] };
  const { conditions = [] } = buildPolicyStatus({ ...usual, ...cycle });
  return conditions.find((one) => one.type === type)?.message ?? "";
};

/** Note about the reach of a policy in namespace `shop`. */
const noted = (selector: Partial<PolicySelector>, matched = 1) => (): string =>
  scopeNote({ workloadKinds: ["Deployment"], ...selector }, {
    ...{ policyNamespace: "shop", policyNamespaces: [], matched },
  }) ?? "";

const lacking = ["a", "b", "c", "d", "e", "f"].map((name) => ({
  ...largeRecord(name, { containers: 1, explanation: 1 }),
  reason: "MetricsMissing",
}));

function shortWindowNote(): string {
  const spec = { provider: "metrics-server", windowMs: 300_000, minSamples: 10 } as const;
  return samplesNote(spec, { intervalMs: 30_000, size: 16 }) ?? "";
}

pure("sentences about valid policies", () =>
  assertLines(
    {
      "PolicyValid": condition("Ready"),
      "PolicyValid, notes": condition("Ready", { notes: ["it matches no workload"] }),
      "window too short": shortWindowNote,
      "MetricsPresent": condition("MetricsMissing"),
      "MetricsMissing": condition("MetricsMissing", { workloads: lacking }),
      "Live": condition("DryRun"),
      "DryRun": condition("DryRun", { dryRun: true }),
      "namespaces": noted({ namespaces: { allow: [..."abcdefg"], deny: [] } }),
      "namespaceSelector": noted({
        namespaceSelector: { matchLabels: { team: "a" }, matchExpressions: [] },
      }),
      "no workload": noted({}, 0),
    },
    `\
PolicyValid: each field of the policy is valid
PolicyValid, notes: each field of the policy is valid; it matches no workload
window too short: its rollingWindow of 5m holds 8 samples of one pod for sure, read every 30s, and minSamples is 10: a longer window, a smaller minSamples or the controller's setting rightsizing.samplerInterval helps
MetricsPresent: no workload lacks metrics
MetricsMissing: 6 of 6 workloads: shop/Deployment/a, shop/Deployment/b, shop/Deployment/c, shop/Deployment/d, shop/Deployment/e and 1 more
Live: the controller's setting dryRun is off
DryRun: the controller's setting dryRun is on: nothing is applied
namespaces: its selector asks for a, b, c, d, e and 2 more; it acts on its own namespace shop alone, since the controller's setting policyNamespaces does not have that
namespaceSelector: it has a namespaceSelector; it acts on its own namespace shop alone, since the controller's setting policyNamespaces does not have that
no workload: it matches no workload; it acts on its own namespace shop alone, since the controller's setting policyNamespaces does not have that
`,
  ));
