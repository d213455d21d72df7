import { assertSentences } from "../../../tests/fixtures/assert_sentences.ts";
import {
  autoPolicy,
  bareContainer,
  type FactsChoice,
  MI,
  NOW_MS,
  recommendation,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleHPA, sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import { ApiError } from "../../api/api_error.ts";
import { pair, wantedOf, type WantedResources } from "../../resize/inputs/resources.ts";
import { applyFailure, endedEvents } from "./workload_events.ts";
import { unsafeMemoryDecrease } from "./memory_decrease.ts";
import { noMethod, noWayInPlace } from "./method.ts";
import {
  belowThreshold,
  coolingDown,
  dryRunHolds,
  lastDenialHolds,
  modeHolds,
  notRolledOut,
  permissionMissing,
  rolloutHolds,
  samplesLacking,
} from "./policy_guards.ts";
import {
  horizontalAutoscalerConflicts,
  nodeUnderPressure,
  outsideRanges,
  overNodes,
  overQuotas,
  qosWouldChange,
  requestAboveLimit,
  verticalAutoscalerConflicts,
} from "./resize_guards.ts";
import type { Guard } from "./rightsizing_facts.ts";
import { recentlyEdited, takenBack } from "./template_changes.ts";
import type { ValuesInForce } from "../workload_record.ts";
import { countingValues } from "./counting_values.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

/** CPU of container `app`; the template has a request of 100 m and a limit of 200 m. */
function cpu(request: number, limit?: number): WantedResources {
  return wantedOf([{ container: "app", resource: "cpu", pair: pair(request, limit) }]);
}

/** Memory of container `app`; the template has a request of 64 Mi and a limit of 128 Mi. */
function memory(request: number, limit?: number): WantedResources {
  return wantedOf([{ container: "app", resource: "memory", pair: pair(request, limit) }]);
}

/** Message of one guard, for the Deployment `web` with these differences. */
const messageBy =
  (guard: Guard["check"], values: WantedResources, choice: FactsChoice = {}) => (): string =>
    guard(rightsizingFacts(choice), values)?.message ?? "";

const { workload, pods } = rightsizingFacts();
const onePod = pods.slice(0, 1);
const RECREATE = { allowInPlaceResize: false, allowRecreate: true };
const ANY = { min: 0, max: Infinity, ratio: Infinity };

test("sentences of the guards about policy and workload", () =>
  assertSentences([
    [
      "InsufficientSamples",
      messageBy(samplesLacking, cpu(150), { samples: new Map([["app", 3]]) }),
      "app has 3 of 10 samples",
    ],
    [
      "InsufficientSamples, none",
      messageBy(samplesLacking, new Map()),
      "there is no recommendation",
    ],
    [
      "RecommendOnly",
      messageBy(modeHolds, cpu(150), { policy: autoPolicy({}, { mode: "Recommend" }) }),
      "the policy's mode is Recommend",
    ],
    [
      "DryRun",
      messageBy(dryRunHolds, cpu(150), { dryRun: true }),
      "the configuration asks for a dry-run",
    ],
    [
      "RBACError",
      messageBy(permissionMissing, cpu(150), {
        missingPermissions: [{ method: "InPlace", permission: "patch pods/resize" }],
      }),
      "missing: patch pods/resize",
    ],
    [
      "RBACError, answer",
      () => {
        const message =
          'cannot patch resource "deployments" in API group "apps" in the namespace "shop"';
        return applyFailure(new ApiError(403, "Forbidden", message)).message;
      },
      "missing: patch deployments.apps in namespace shop",
    ],
    [
      "AdmissionDenied",
      messageBy(lastDenialHolds, cpu(150), {
        denial: {
          message: "no more memory",
          recommendations: [recommendation()],
          retryAtMs: NOW_MS + 60_000,
        },
      }),
      "no more memory; it is asked again at 2027-01-15T08:01:00.000Z",
    ],
    [
      "HPAConflict",
      messageBy(horizontalAutoscalerConflicts, cpu(150), { autoscalers: [sampleHPA()] }),
      "HPA web-hpa divides the CPU usage of app by its request, which stays",
    ],
    [
      "VPAConflict",
      messageBy(verticalAutoscalerConflicts, cpu(150), {
        verticalAutoscalers: [sampleVPA("Auto")],
      }),
      "VPA web-vpa, mode Auto, sets the resources of Deployment web",
    ],
    [
      "RolloutInProgress",
      messageBy(rolloutHolds, cpu(150), {
        workload: { ...workload, rollout: { updated: 1, total: 3, stands: false } },
      }),
      "Deployment web rolls out: 1 of 3 pods are new",
    ],
    [
      "RolloutPaused",
      messageBy(rolloutHolds, cpu(150), { workload: { ...workload, paused: true } }),
      "the rollout of Deployment web is paused",
    ],
    [
      "NotRolledOut",
      messageBy(notRolledOut, cpu(150), {
        workload: { ...workload, rollout: { updated: 0, total: 2, stands: true } },
        inForce: new Map([["app", { requests: { cpu: 150 }, limits: {} }]]),
        strategy: RECREATE,
      }),
      "the template of Deployment web has values that 2 pods lack, web-1 among them, and " +
      "nothing replaces them",
    ],
    [
      "Cooldown",
      messageBy(coolingDown, cpu(150), { lastAppliedMs: NOW_MS - 29 * 60_000 }),
      "the next change may come in 60 s",
    ],
    [
      "events of values that no longer apply",
      () => endedEvents(["the VPA", "the bounds"]).map(({ message }) => message).join(),
      "what new pods begin with has changed: the VPA; the bounds; kubectl coalloc recommend " +
      "shows what is in force",
    ],
  ]));

const small = new Map([["node-1", { allocatableCPU: 120, pressures: [] }]]);
const guaranteed = {
  containers: [templateContainer({ requests: { cpu: 200, memory: 128 * MI } })],
};

/** A template with pod-level resources, and no pods. */
function podLevel(requestCPU: number): FactsChoice {
  const template = {
    ...workload.template,
    podLevel: { requests: { cpu: requestCPU }, limits: { cpu: 400 } },
  };
  return { workload: { ...workload, template }, pods: [] };
}

test("sentences of the guards about nodes, quotas, classes and limits", () =>
  assertSentences([
    [
      "LimitRange",
      messageBy(outsideRanges, cpu(250, 300), {
        ranges: { cpu: { container: { ...ANY, max: 200 }, pod: ANY } },
      }),
      "the LimitRange allows no more, or no less: app cpu request 250m to 200m, app cpu limit " +
      "300m to 200m",
    ],
    [
      "LimitRange, container",
      messageBy(outsideRanges, cpu(150), {
        ranges: { cpu: { container: { ...ANY, max: 180 }, pod: ANY } },
      }),
      "pod web-1: cpu of container app: the LimitRange allows a limit of 180m, it would be 200m",
    ],
    [
      "LimitRange, all containers",
      messageBy(outsideRanges, cpu(150), {
        ranges: { memory: { container: ANY, pod: { ...ANY, min: 1024 * MI } } },
      }),
      "pod web-1: memory of all containers: the LimitRange asks for 1024Mi, it would be 64Mi",
    ],
    [
      "QuotaExceeded",
      messageBy(overQuotas, cpu(150), {
        quotas: [{ name: "q", resource: "cpu", of: "requests", room: 60 }],
      }),
      "ResourceQuota q leaves 60m of requests.cpu for a raise of 100m in 2 pods",
    ],
    [
      "NodeCapacity",
      messageBy(overNodes, cpu(150), { nodes: small, pods: onePod }),
      "node node-1 has 120m of cpu, pod web-1 would request 150m",
    ],
    [
      "NodeCapacity, pod without the values in force",
      messageBy(overNodes, cpu(150), {
        nodes: small,
        pods: onePod,
        inForce: new Map([["app", { requests: { cpu: 150 }, limits: {} }]]),
      }),
      "node node-1 has 120m of cpu, pod web-1 would request 150m, and stays as it is",
    ],
    [
      "NodeCapacity, new pods",
      messageBy(overNodes, cpu(150), {
        largestNode: { allocatableCPU: 120, allocatableMemory: Infinity },
      }),
      "the largest node has 120m of cpu, new pods would request 150m",
    ],
    [
      "NodePressure",
      messageBy(nodeUnderPressure, cpu(150), {
        nodes: new Map([["node-1", { pressures: ["DiskPressure", "PIDPressure"] }]]),
      }),
      "no raise of app cpu: node node-1 has DiskPressure, PIDPressure",
    ],
    [
      "QoSWouldChange",
      messageBy(qosWouldChange, cpu(150), { containers: [bareContainer("app", {})] }),
      "pod web-1 would turn from BestEffort to Burstable",
    ],
    [
      "QoSWouldChange, request alone",
      messageBy(qosWouldChange, cpu(150), guaranteed),
      "request and limit of app cpu would have to move together, as in any Guaranteed pod, and " +
      "only one of them may",
    ],
    [
      "QoSWouldChange, limit",
      messageBy(qosWouldChange, cpu(150, 180), guaranteed),
      "limits of Guaranteed pods are their requests: app cpu limit 180m to 150m",
    ],
    [
      "QoSWouldChange, to Guaranteed",
      messageBy(qosWouldChange, cpu(200), {
        containers: [templateContainer({ requests: { memory: 128 * MI } })],
        pods: onePod,
      }),
      "new pods would turn Guaranteed: app cpu request 200m to 199m",
    ],
    [
      "RequestAboveLimit",
      messageBy(requestAboveLimit, cpu(500)),
      "a request may not be above its container's limit: app cpu request 500m to 200m",
    ],
    [
      "PodLevelLimit",
      messageBy(requestAboveLimit, cpu(150), podLevel(120)),
      "new pods as a whole requests 120m of cpu, its containers would request 150m",
    ],
    [
      "PodLevelLimit, container",
      messageBy(requestAboveLimit, cpu(300, 500), podLevel(400)),
      "new pods as a whole has a limit of 400m of cpu, container app would have more",
    ],
  ]));

/** An edit of the template by its author. */
const edited = { container: "app", values: {}, changed: { cpu: { by: "helm", atMs: NOW_MS } } };
const unnamed = { ...edited, changed: { cpu: { atMs: NOW_MS } } };

test("sentences of the guards about present values and methods", () =>
  assertSentences([
    [
      "UnsafeMemoryDecrease",
      messageBy(unsafeMemoryDecrease, memory(46 * MI), {
        memoryPeaks: new Map([["app", 60 * MI]]),
      }),
      "app to 46Mi: its recent peak was 60Mi, and the least safe value is 69Mi",
    ],
    [
      "UnsafeMemoryDecrease, unknown peak",
      messageBy(unsafeMemoryDecrease, memory(46 * MI), { memoryPeaks: new Map() }),
      "app to 46Mi: its recent peak is not known",
    ],
    [
      "TakenBack",
      messageBy(takenBack, cpu(150), {
        strategy: RECREATE,
        remembered: [edited],
        lastAppliedMs: 0,
      }),
      "helm has changed the template at 2027-01-15T08:00:00.000Z; it is left alone until " +
      "2027-01-16T08:00:00.000Z",
    ],
    [
      "BelowThreshold",
      messageBy(belowThreshold, cpu(109)),
      "app cpu 109m differs by less than 10 %",
    ],
    [
      "RecentlyEdited",
      messageBy(recentlyEdited, cpu(50), { remembered: [edited] }),
      "app cpu to 50m: helm has changed it in the template at 2027-01-15T08:00:00.000Z, and it is " +
      "not lowered before 2027-01-16T08:00:00.000Z",
    ],
    [
      "RecentlyEdited, unknown manager",
      messageBy(recentlyEdited, cpu(50), { remembered: [unnamed] }),
      "app cpu to 50m: another client has changed it in the template at " +
      "2027-01-15T08:00:00.000Z, and it is not lowered before 2027-01-16T08:00:00.000Z",
    ],
    [
      "MethodNotAllowed",
      messageBy(noMethod, cpu(150), {
        strategy: { allowInPlaceResize: false, allowRecreate: false },
      }),
      "allowInPlaceResize and allowRecreate are both false",
    ],
    [
      "InPlaceResizeUnavailable",
      messageBy(noMethod, cpu(150), { resizeServed: false }),
      "the server does not serve pods/resize, and allowRecreate is false",
    ],
    [
      "RestartPolicy",
      messageBy(noMethod, cpu(150), { containers: [templateContainer({ restartsOnCPU: true })] }),
      "resizePolicy restarts app on a change of cpu",
    ],
    [
      "MemoryLimitLocked",
      messageBy(noMethod, memory(46 * MI, 92 * MI), { lowersMemoryLimits: false }),
      "the server does not lower the memory limit of app in place",
    ],
    [
      "MethodNotAllowed, straggler",
      messageBy(noWayInPlace, cpu(150), { strategy: RECREATE }),
      "allowInPlaceResize is false, and no pod is recreated for what is in force",
    ],
    [
      "InPlaceResizeUnavailable, straggler",
      messageBy(noWayInPlace, cpu(150), { resizeServed: false }),
      "the server does not serve pods/resize, and no pod is recreated for what is in force",
    ],
  ]));

/** Reasons why new pods get other values than those in force. */
const counted = (
  inForce: Partial<ValuesInForce>,
  { strategy = { updateRequestsOnly: false }, ...choice }: FactsChoice = {},
) =>
(): string =>
  countingValues([{ container: "app", ...inForce }], rightsizingFacts({ strategy, ...choice }))
    .messages.join("; ");

Deno.test({
  name: "sentences about values in force that new pods don't get",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["container", counted({ container: "log", cpu: 150 }), "the template has no container log"],
      [
        "edit",
        counted({ cpu: 150, adoptedOn: { cpu: 99, cpuLimit: 200 } }),
        "the template has other cpu values of app by now",
      ],
      [
        "updateRequestsOnly",
        counted({ cpu: 150, cpuLimit: 180 }, { strategy: {} }),
        "the policy updates requests only: app cpu limit 180m left as it is",
      ],
      [
        "bounds",
        counted({ cpu: 150 }, {
          policy: autoPolicy({}, {
            bounds: { cpu: { min: 10, max: 120 }, memory: { min: MI, max: 1024 * MI } },
          }),
        }),
        "the policy's bounds: app cpu request 150m to 120m",
      ],
      [
        "memory peak",
        counted({ memory: 48 * MI }, { memoryPeaks: new Map([["app", 100 * MI]]) }),
        "the recent peak + 15 %: app memory request 48Mi to 64Mi",
      ],
    ]),
});
