import { assertSentences, type SentenceRow } from "../../../tests/fixtures/assert_sentences.ts";
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
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { ApiError } from "../../api/api_error.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { validValues } from "./valid_values.ts";
import { decideRightsizing, decideWanted, STRAGGLER_CHAIN } from "./decide_rightsizing.ts";
import { applyFailure, endedEvents } from "./workload_events.ts";

function sentences(name: string, rows: readonly SentenceRow[]): void {
  Deno.test({ name, permissions: "none", fn: () => assertSentences(rows) });
}

/** A row: what the guard with this reason says, by default of 150 m and 96 Mi for 100 m of 200 m, 64 Mi of 128 Mi. */
function row(code: string, choice: SnapshotChoice, sentence: string): SentenceRow {
  const [reason] = code.split(", ");
  const snapshot = rightsizingSnapshot(choice);
  const decision = code.endsWith("straggler")
    ? decideWanted(snapshot, snapshot.inForce, { chain: STRAGGLER_CHAIN })
    : decideRightsizing(snapshot);
  const all = decision.outcome === "hold" ? [...decision.clamps, decision] : decision.clamps;
  return [code, () => all.find((one) => one.reason === reason)?.message ?? "", sentence];
}

const { workload, pods } = rightsizingSnapshot();
const onePod = pods.slice(0, 1);
const ANY = { min: 0, max: Infinity, ratio: Infinity };
const cpuInForce = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);

sentences("sentences of the guards about policy and workload", [
  row(
    "InsufficientSamples",
    { samples: new Map([["app", 3]]), recommendations: [] },
    "app has 3 of 10 samples",
  ),
  row("InsufficientSamples, none", { recommendations: [] }, "there is no recommendation"),
  row(
    "RecommendOnly",
    { policy: autoPolicy({}, { mode: "Recommend" }) },
    "the policy's mode is Recommend",
  ),
  row("DryRun", { dryRun: true }, "the configuration asks for a dry-run"),
  row(
    "RBACError",
    { missingPermissions: [{ method: "InPlace", permission: "patch pods/resize" }] },
    "missing: patch pods/resize",
  ),
  [
    "RBACError, answer",
    () => {
      const message =
        'cannot patch resource "deployments" in API group "apps" in the namespace "shop"';
      return applyFailure(new ApiError(403, "Forbidden", message)).message;
    },
    "missing: patch deployments.apps in namespace shop",
  ],
  row(
    "AdmissionDenied",
    {
      denial: {
        message: "no more memory",
        recommendations: [recommendation()],
        retryAtMs: NOW_MS + 60_000,
      },
    },
    "no more memory; it is asked again at 2027-01-15T08:01:00.000Z",
  ),
  row(
    "UnreadableBound",
    {
      unreadable: ["LimitRange r: no number", "VerticalPodAutoscaler web-vpa: no target"],
      verticalAutoscalers: [sampleVPA("Off", { unreadable: "no target" })],
    },
    "LimitRange r: no number; VerticalPodAutoscaler web-vpa: no target",
  ),
  row(
    "HPAConflict",
    { autoscalers: [sampleHPA()] },
    "HPA web-hpa divides the CPU usage of app by its request, which stays",
  ),
  row(
    "VPAConflict",
    { verticalAutoscalers: [sampleVPA("Auto")] },
    "VPA web-vpa, mode Auto, sets the resources of Deployment web",
  ),
  row(
    "RolloutInProgress",
    { workload: { ...workload, rollout: { updated: 1, total: 3, halted: false } } },
    "Deployment web rolls out: 1 of 3 pods are new",
  ),
  row(
    "RolloutPaused",
    { workload: { ...workload, paused: true } },
    "the rollout of Deployment web is paused",
  ),
  row(
    "NotRolledOut",
    {
      workload: { ...workload, rollout: { updated: 0, total: 2, halted: true } },
      inForce: cpuInForce,
      strategy: RECREATE,
    },
    "the template of Deployment web has values that 2 pods lack, web-1 among them, and " +
      "nothing replaces them",
  ),
  row("Cooldown", { lastAppliedMs: NOW_MS - 29 * 60_000 }, "the next change may come in 60 s"),
  [
    "events of values that no longer apply",
    () => endedEvents(["the VPA", "the bounds"]).map(({ message }) => message).join(),
    "what new pods begin with has changed: the VPA; the bounds; kubectl coalloc recommend " +
    "shows what is in force",
  ],
]);

const small = {
  nodes: new Map([["node-1", { allocatableCPU: 120, pressures: [] }]]),
  pods: onePod,
};
const guaranteed = { containers: [sized([200, 128], [200, 128])] };

/** A template with pod-level resources, and no pods. */
function podLevel(requestCPU: number): SnapshotChoice {
  const ofPod = { requests: { cpu: requestCPU }, limits: { cpu: 400 } };
  const template = { ...workload.template, podLevel: ofPod };
  return { workload: { ...workload, template }, pods: [] };
}

sentences("sentences of the guards about nodes, quotas, classes and limits", [
  row(
    "LimitRange",
    {
      ...asks(250, 96, { cpuLimit: 300 }),
      strategy: LIMITS,
      ranges: { cpu: { container: { ...ANY, max: 200 }, pod: ANY } },
    },
    "the LimitRange allows no more, or no less: app cpu request 250m to 200m, app cpu limit " +
      "300m to 200m",
  ),
  row(
    "LimitRange, container",
    { ranges: { cpu: { container: { ...ANY, max: 180 }, pod: ANY } } },
    "pod web-1: cpu of container app: the LimitRange allows a limit of 180m, it would be 200m",
  ),
  row(
    "LimitRange, all containers",
    { ranges: { memory: { container: ANY, pod: { ...ANY, min: 1024 * MI } } } },
    "pod web-1: memory of all containers: the LimitRange asks for 1024Mi, it would be 96Mi",
  ),
  row(
    "QuotaExceeded",
    { quotas: [{ name: "q", resource: "cpu", side: "requests", room: 60 }] },
    "ResourceQuota q leaves 60m of requests.cpu for a raise of 100m in 2 pods",
  ),
  row("NodeCapacity", small, "node node-1 has 120m of cpu, pod web-1 would request 150m"),
  row(
    "NodeCapacity, pod without the values in force",
    { ...small, inForce: cpuInForce },
    "node node-1 has 120m of cpu, pod web-1 would request 150m, and stays as it is",
  ),
  row(
    "NodeCapacity, new pods",
    { largestNode: { allocatableCPU: 120, allocatableMemory: Infinity } },
    "the largest node has 120m of cpu, new pods would request 150m",
  ),
  row(
    "NodePressure",
    {
      ...asks(150, 64),
      nodes: new Map([["node-1", { pressures: ["DiskPressure", "PIDPressure"] }]]),
    },
    "no raise of app cpu: node node-1 has DiskPressure, PIDPressure",
  ),
  row(
    "QoSWouldChange",
    { containers: [bareContainer("app", {})] },
    "pod web-1 would turn from BestEffort to Burstable",
  ),
  row(
    "QoSWouldChange, request alone",
    guaranteed,
    ["cpu", "memory"].map((resource) =>
      `request and limit of app ${resource} would have to move together, as in any Guaranteed ` +
      "pod, and only one of them may"
    ).join("; "),
  ),
  row(
    "QoSWouldChange, limit",
    { ...guaranteed, strategy: LIMITS },
    "limits of Guaranteed pods are their requests: app cpu limit 180m to 150m, app memory " +
      "limit 112Mi to 96Mi",
  ),
  row(
    "QoSWouldChange, to Guaranteed",
    { containers: [sized([100, 128], [200, 128])], pods: onePod, ...asks(200, 128) },
    "pod web-1 would turn Guaranteed: app cpu request 200m to 199m",
  ),
  row(
    "RequestAboveLimit",
    asks(500, 96),
    "a request may not be above its container's limit: app cpu request 500m to 200m",
  ),
  row(
    "PodLevelLimit",
    podLevel(120),
    "new pods as a whole requests 120m of cpu, its containers would request 150m",
  ),
  row(
    "PodLevelLimit, container",
    { ...podLevel(400), ...asks(300, 96, { cpuLimit: 500 }), strategy: LIMITS },
    "new pods as a whole has a limit of 400m of cpu, container app would have more",
  ),
]);

const peak = (mebibytes: number) => ({ memoryPeaks: new Map([["app", mebibytes * MI]]) });
const changedBy = (by?: string) => ({
  recordedTemplate: [{
    container: "app",
    cpuChanged: { ...(by === undefined ? {} : { by }), atMs: NOW_MS },
  }],
});

sentences("sentences of the guards about present values and methods", [
  row(
    "UnsafeMemoryDecrease",
    { ...asks(150, 46), ...peak(60) },
    "app to 46Mi: its recent peak was 60Mi, and the least safe value is 69Mi",
  ),
  row(
    "UnsafeMemoryDecrease, unknown peak",
    { ...asks(150, 46), memoryPeaks: new Map() },
    "app to 46Mi: its recent peak is not known",
  ),
  row(
    "TakenBack",
    { strategy: RECREATE, ...changedBy("helm"), lastAppliedMs: 0 },
    "helm has changed the template at 2027-01-15T08:00:00.000Z; it is left alone until " +
      "2027-01-16T08:00:00.000Z",
  ),
  row("BelowThreshold", asks(109, 96), "app cpu 109m differs by less than 10 %"),
  row(
    "RecentlyEdited",
    { ...asks(50, 96), ...changedBy("helm") },
    "app cpu to 50m: helm has changed it in the template at 2027-01-15T08:00:00.000Z, and it is " +
      "not lowered before 2027-01-16T08:00:00.000Z",
  ),
  row(
    "RecentlyEdited, unknown manager",
    { ...asks(50, 96), ...changedBy() },
    "app cpu to 50m: another client has changed it in the template at " +
      "2027-01-15T08:00:00.000Z, and it is not lowered before 2027-01-16T08:00:00.000Z",
  ),
  row(
    "MethodNotAllowed",
    { strategy: { allowInPlaceResize: false, allowRecreate: false } },
    "allowInPlaceResize and allowRecreate are both false",
  ),
  row(
    "InPlaceResizeUnavailable",
    { resizeServed: false },
    "the server does not serve pods/resize, and allowRecreate is false",
  ),
  row(
    "RestartPolicy",
    { containers: [templateContainer({ restartsOnCPU: true })] },
    "resizePolicy restarts app on a change of cpu",
  ),
  row(
    "MemoryLimitLocked",
    { strategy: LIMITS, lowersMemoryLimits: false },
    "the server does not lower the memory limit of app in place",
  ),
  row(
    "MethodNotAllowed, straggler",
    { strategy: RECREATE, inForce: cpuInForce },
    "allowInPlaceResize is false, and no pod is recreated for what is in force",
  ),
  row(
    "InPlaceResizeUnavailable, straggler",
    { resizeServed: false, inForce: cpuInForce },
    "the server does not serve pods/resize, and no pod is recreated for what is in force",
  ),
]);

/** A row: why new pods get other values than those in force. */
function counted(
  code: string,
  { strategy = LIMITS, ...choice }: SnapshotChoice,
  [values, sentence]: readonly [Partial<ValuesInForce>, string],
): SentenceRow {
  const snapshot = rightsizingSnapshot({ strategy, ...choice });
  const { messages } = validValues([{ container: "app", ...values }], snapshot);
  return [code, () => messages.join("; "), sentence];
}

const bounds = { cpu: { min: 10, max: 120 }, memory: { min: MI, max: 1024 * MI } };

sentences("sentences about values in force that new pods don't get", [
  counted("container", {}, [{ container: "log", cpu: 150 }, "the template has no container log"]),
  counted("edit", {}, [
    { cpu: 150, adoptedOn: { cpu: 99, cpuLimit: 200 } },
    "the template has other cpu values of app by now",
  ]),
  counted("updateRequestsOnly", { strategy: {} }, [
    { cpu: 150, cpuLimit: 180 },
    "the policy updates requests only: app cpu limit 180m left as it is",
  ]),
  counted("bounds", { policy: autoPolicy({}, { bounds }) }, [
    { cpu: 150 },
    "the policy's bounds: app cpu request 150m to 120m",
  ]),
  counted("memory peak", peak(100), [
    { memory: 48 * MI },
    "the recent peak + 15 %: app memory request 48Mi to 64Mi",
  ]),
]);
