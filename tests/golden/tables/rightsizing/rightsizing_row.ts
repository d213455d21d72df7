/**
 * Decides one input of the decision table of rightsizing, from the API's objects to the patches.
 *
 * @module
 */
import { parseResources } from "../../../../adapters/kube/kinds/containers.ts";
import { parseNode } from "../../../../adapters/kube/kinds/nodes.ts";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import { parseWorkload } from "../../../../adapters/kube/kinds/workloads.ts";
import { type Appliers, applyDecision } from "../../../../controller/rightsizing/apply_decision.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import type { Pod, Resources } from "../../../../shared/api/pod.ts";
import { defined, mapDefined } from "../../../../shared/defined.ts";
import { formatCPU, parseBytes } from "../../../../shared/quantity.ts";
import { byResource } from "../../../../shared/resize/inputs/resources.ts";
import { RIGHTSIZING_MANAGER } from "../../../../shared/resize/original_limits.ts";
import { type ContainerResources, containerResources } from "../../../../shared/resize/patch.ts";
import {
  decideRightsizing,
  retryResize,
  type RightsizingDecision,
} from "../../../../shared/rightsizing/guards/decide_rightsizing.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
  type RightsizingSnapshot,
} from "../../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { validValues } from "../../../../shared/rightsizing/guards/valid_values.ts";
import { largestNode, namespaceRules } from "../../../../shared/rightsizing/namespace_bounds.ts";
import { type PolicySpec, readPolicySpec } from "../../../../shared/rightsizing/policy_spec.ts";
import type { ContainerRecommendation } from "../../../../shared/rightsizing/recommend.ts";
import { templatePatch } from "../../../../shared/rightsizing/template_patch.ts";
import { valuesInForce } from "../../../../shared/rightsizing/workload_record.ts";
import { OWNS_NOTHING } from "../../../fixtures/rightsizing/rightsizing_patches.ts";
import type { Decided, RawRefusal } from "../market/market_row.ts";
import {
  given,
  hpaOf,
  limitRangeOf,
  POD_IDENTITY,
  quotaOf,
  type RawContainer,
  type RawList,
  rawMetadata,
  type RawResources,
  vpaOf,
  wholePod,
} from "../raw_pod.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const { namespace: NAMESPACE, nodeName: NODE } = POD_IDENTITY;
/** The guard's message for an object that can't be read; no HPA that a server stores is one. */
const UNREADABLE = 'Cannot read an object of the API: metrics is "\\"none\\""';

/** Requests and limits by container. */
type RawResourcesByName = Readonly<Record<string, RawResources>>;

/** One input of the table. Absent members are as usual, or are not there. */
export interface RightsizingInput {
  /** Containers of the template of Deployment `web`. */
  readonly containers: readonly RawContainer[];
  readonly initContainers?: readonly RawContainer[];
  /** `spec.resources` of the template. */
  readonly podResources?: RawResources;
  /** Pods that run; one where absent. */
  readonly pods?: number;
  /** Theirs where they differ from the template's. */
  readonly podContainers?: readonly RawContainer[];
  /** `spec.os.name` of the pods. */
  readonly os?: string;
  /** `spec` of the Deployment, and its `status` where its rollout is not over. */
  readonly paused?: true;
  readonly status?: Readonly<Record<string, unknown>>;
  /** Fields of the OptimizationPolicy's `spec`. */
  readonly mode?: "Recommend" | "Disabled";
  readonly updateStrategy?: Readonly<Record<string, unknown>>;
  readonly recommended: RawResourcesByName;
  /** 100 of each container where absent. */
  readonly samples?: Readonly<Record<string, number>>;
  /** Largest memory seen lately, by container: 30Mi where left out, `unknown` where it is not known. */
  readonly memoryPeaks?: RawList;
  readonly limitRange?: readonly Readonly<Record<string, unknown>>[];
  readonly quota?: { readonly hard: RawList; readonly used: RawList };
  /** `averageUtilization` of this resource of a HorizontalPodAutoscaler. */
  readonly hpaOn?: "cpu" | "memory" | "unreadable";
  readonly vpaMode?: string;
  /** `controlledResources` of its policy for all containers; all where absent. */
  readonly vpaResources?: readonly string[];
  /** `status` of the pods' node, which is the only one. */
  readonly node?: {
    readonly allocatable?: RawList;
    readonly pressure?: string;
    readonly kubeletVersion?: string;
  };
  readonly dryRun?: true;
  readonly missingPermissionFor?: "InPlace" | "Recreate";
  /** A policy engine has denied this recommendation; absent: none. */
  readonly denied?: RawResourcesByName;
  /** Until the policy engine may be asked again; 10 where absent. */
  readonly denialEndsInMinutes?: number;
  readonly appliedMinutesAgo?: number;
  /** Values of earlier applications, adopted on the template as it is now. */
  readonly inForce?: RawResourcesByName;
  /** The author has changed the template since. */
  readonly isEditedSince?: true;
  /** Hours since another field manager changed a resource of container `app` in the template. */
  readonly changedHoursAgo?: Readonly<Partial<Record<"cpu" | "memory", number>>>;
  readonly server?: Readonly<Partial<Record<"resizeServed" | "lowersMemoryLimits", false>>>;
  /** The market sets `limits.cpu` of the pods; this is its limit where it differs. */
  readonly marketLimits?: RawList;
  /** The API server's answer to a change; it takes it where absent. */
  readonly refusal?: RawRefusal;
}

/** Reads the objects as the controller does. */
function snapshotOf(input: RightsizingInput): RightsizingSnapshot {
  const workload = workloadOf(input);
  const pods = podsOf(input);
  const node = nodeOf(input);
  const rules = namespaceRules({
    limitRanges: given(input.limitRange, limitRangeOf),
    quotas: given(input.quota, quotaOf),
  }, { pods, template: workload.template });
  const names = workload.template.containers.map(({ name }) => name);
  const { appliedMinutesAgo, missingPermissionFor, denied } = input;
  const uncounted: RightsizingSnapshot = {
    ...rules,
    unreadable: [...rules.unreadable, ...(input.hpaOn === "unreadable" ? [UNREADABLE] : [])],
    nowMs: NOW_MS,
    policy: policyOf(input),
    dryRun: input.dryRun ?? false,
    workload,
    pods,
    nodes: new Map([[NODE, node]]),
    ...defined({
      largestNode: largestNode([node]),
      denial: mapDefined(denied, (recommended) => ({
        message: "no",
        recommendations: recommendationsOf(recommended),
        retryAtMs: NOW_MS + (input.denialEndsInMinutes ?? 10) * MINUTE_MS,
      })),
      lastAppliedMs: mapDefined(appliedMinutesAgo, (ago) => NOW_MS - ago * MINUTE_MS),
    }),
    recommendations: recommendationsOf(input.recommended),
    samples: new Map(names.map((name) => [name, input.samples?.[name] ?? 100])),
    memoryPeaks: new Map(names.flatMap((name) => {
      const peak = input.memoryPeaks?.[name] ?? "30Mi";
      return peak === "unknown" ? [] : [[name, parseBytes(peak)] as const];
    })),
    autoscalers: given(
      input.hpaOn,
      (resource) => hpaOf("Deployment", { resource, percent: 60 }),
    ),
    verticalAutoscalers: vpasOf(input),
    missingPermissions: given(
      missingPermissionFor,
      (method) => ({ method, permission: "patch" }),
    ),
    inForce: new Map(),
    ...rememberedOf(input, workload),
    resizeServed: input.server?.resizeServed ?? true,
    lowersMemoryLimits: input.server?.lowersMemoryLimits ?? true,
    marketManages: input.marketLimits !== undefined,
  };
  return { ...uncounted, inForce: inForceOf(input, uncounted) };
}

function workloadOf(input: RightsizingInput): RightsizedWorkload {
  const { containers, initContainers = [], podResources, pods = 1, paused = false } = input;
  const raw = {
    metadata: rawMetadata("web"),
    spec: {
      replicas: Math.max(1, pods),
      paused,
      template: { spec: { containers, initContainers, ...defined({ resources: podResources }) } },
    },
    status: input.status ?? { replicas: pods, updatedReplicas: pods },
  };
  const workload = rightsizedWorkload(parseWorkload(raw, "Deployment"));
  if (workload === undefined) throw new RangeError("Cannot decide a row: its template is unread");
  return workload;
}

/** The pods with these limits of the market. */
function podsOf(input: RightsizingInput, marketLimits: RawList = {}): readonly Pod[] {
  const { initContainers, podResources, pods = 1, os } = input;
  const containers = (input.podContainers ?? input.containers).map((one): RawContainer => {
    const limit = marketLimits[one.name];
    const { requests, limits } = one.resources;
    return limit === undefined || limits === undefined
      ? one
      : { ...one, resources: defined({ requests, limits: { ...limits, cpu: limit } }) };
  });
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5d9c", uid: "uid-set" };
  return Array.from({ length: pods }, (_, index) =>
    parsePod(wholePod({
      metadata: { labels: { "pod-template-hash": "5d9c" } },
      spec: {
        containers,
        ...defined({
          initContainers,
          resources: podResources,
          os: mapDefined(os, (name) => ({ name })),
        }),
      },
    }, { name: `web-${index + 1}`, owner: { ...owner, controller: true } })));
}

function policyOf({ mode, updateStrategy = {} }: RightsizingInput): PolicySpec {
  const { spec, faults } = readPolicySpec({
    mode: mode ?? "Auto",
    selector: { namespaces: { allow: [NAMESPACE] } },
    metricsConfig: { provider: "prometheus" },
    resourceBounds: {
      cpu: { min: "10m", max: "4" },
      memory: { min: "1Mi", max: "4Gi" },
    },
    updateStrategy,
  });
  if (spec !== undefined) return spec;
  throw new RangeError(`Cannot decide a row: its policy has faults: ${JSON.stringify(faults)}`);
}

function nodeOf({ node: { allocatable, pressure, kubeletVersion } = {} }: RightsizingInput) {
  return parseNode({
    metadata: rawMetadata(NODE),
    status: {
      allocatable: { cpu: "8", memory: "16Gi", ...allocatable },
      conditions: pressure === undefined ? [] : [{ type: pressure, status: "True" }],
      nodeInfo: { kubeletVersion: kubeletVersion ?? "v1.36.0" },
    },
  });
}

function vpasOf(
  { vpaMode, vpaResources }: RightsizingInput,
): RightsizingSnapshot["verticalAutoscalers"] {
  const containerPolicies = [{ containerName: "*", controlledResources: vpaResources }];
  const policy = vpaResources === undefined ? {} : { resourcePolicy: { containerPolicies } };
  return given(vpaMode, (updateMode) => vpaOf("Deployment", { updateMode, ...policy }));
}

function recommendationsOf(recommended: RawResourcesByName): readonly ContainerRecommendation[] {
  return Object.entries(recommended).map(([container, raw]) => {
    const {
      requests: { cpu: requestCPU = 0, memory: requestMemory = 0 },
      limits: { cpu: limitCPU, memory: limitMemory },
    } = parseResources(raw);
    const limits = defined({ cpuLimit: limitCPU, memoryLimit: limitMemory });
    return { container, cpu: requestCPU, memory: requestMemory, ...limits, explanation: "" };
  });
}

function inForceOf(
  { inForce = {}, isEditedSince }: RightsizingInput,
  snapshot: RightsizingSnapshot,
): ReadonlyMap<string, Resources> {
  const { containers } = snapshot.workload.template;
  const adoptedOn = containers.map((one) =>
    isEditedSince === true
      ? { ...one, requests: { ...one.requests, cpu: (one.requests.cpu ?? 0) + 1 } }
      : one
  );
  const values = Object.entries(inForce).map(([name, raw]) => [name, parseResources(raw)] as const);
  return validValues(valuesInForce(new Map(values), adoptedOn), snapshot).values;
}

function rememberedOf(
  { changedHoursAgo }: RightsizingInput,
  { template }: RightsizedWorkload,
): Pick<RightsizingSnapshot, "recordedTemplate"> {
  if (changedHoursAgo === undefined) return {};
  const { cpu: cpuChanged, memory: memoryChanged } = byResource((resource) =>
    mapDefined(
      changedHoursAgo[resource],
      (hours) => ({ by: "helm", atMs: NOW_MS - hours * HOUR_MS }),
    )
  );
  const container = template.containers[0]?.name ?? "";
  return { recordedTemplate: [defined({ container, cpuChanged, memoryChanged })] };
}

type ResourcesByName = Readonly<Record<string, ContainerResources["resources"]>>;

/** The decision on an input. */
export interface RightsizingResult {
  /** Why nothing is applied; null: something is. */
  readonly reason: string | null;
  /** Reasons of what was cut out of the recommendation, or reported; absent: nothing. */
  readonly cuts?: readonly string[];
  /** True where pods get what is in force, instead of what is recommended. */
  readonly stragglers?: true;
  readonly patch: readonly Readonly<Record<string, unknown>>[];
  /** The class of a change that the server has refused. */
  readonly failure?: string;
  readonly retryAfterMs?: number;
  /** The values in force before that count. */
  readonly counted?: ResourcesByName;
  /** The values of new pods afterwards; absent where they are those of the first patch. */
  readonly inForce?: ResourcesByName;
}

/** Decides what happens to the workload. */
export async function rightsizingResult(
  input: RightsizingInput,
): Promise<Decided<RightsizingResult>> {
  const snapshot = snapshotOf(input);
  const first = decideRightsizing(snapshot);
  const stragglers = retryResize(snapshot, first);
  const decision = stragglers ?? first;
  const cuts = [...new Set([...first.clamps, ...decision.clamps].map(({ reason }) => reason))];
  const base = {
    ...(cuts.length === 0 ? {} : { cuts }),
    ...(stragglers === undefined ? {} : { stragglers: true as const }),
    ...(input.inForce === undefined ? {} : { counted: rawOf(snapshot.inForce) }),
  };
  const by = [
    ...decidedBy(first, "rightsizing"),
    ...(stragglers ? decidedBy(stragglers, "stragglers") : []),
  ];
  if (decision.outcome === "hold") {
    const { reason, retryAfterMs } = decision;
    return { result: { reason, ...base, patch: [], ...defined({ retryAfterMs }) }, by };
  }
  const patch: Readonly<Record<string, unknown>>[] = [];
  const appliers = recordingAppliers(input, patch);
  const current = podsOf(input, input.marketLimits);
  const pods = new Map(current.map((pod) => [pod.metadata.uid, pod]));
  const { failure, inForce } = await applyDecision(snapshot, decision, { pods, appliers });
  return {
    result: {
      reason: null,
      ...base,
      patch,
      ...defined({ failure: failure?.reason }),
      ...inForceAfter(inForce, patch),
    },
    by,
  };
}

/** The guards that held or changed something, as `chain/guard`. */
function decidedBy(decision: RightsizingDecision, chain: string): readonly string[] {
  const names = decision.clamps.map(({ by }) => by);
  if (decision.outcome === "hold") names.push(decision.by);
  return [...new Set(names)].map((name) => `${chain}/${name}`);
}

/** Writes down what is sent, and answers as the input says. */
function recordingAppliers(
  input: RightsizingInput,
  patch: Readonly<Record<string, unknown>>[],
): Appliers {
  const answer = <T>(value: T): Promise<T> => {
    const { refusal } = input;
    if (refusal === undefined) return Promise.resolve(value);
    return Promise.reject(new ApiError(refusal.code, "", refusal.message));
  };
  const resizer: Appliers["resizer"] = {
    resize(_namespace, pod, { spec }, { manager = "" } = {}) {
      const by = manager === RIGHTSIZING_MANAGER ? "rightsizing" : "market";
      patch.push({ by, ...(input.pods === undefined ? {} : { pod }), ...spec });
      return answer("8");
    },
  };
  return {
    resizer,
    workloads: {
      recreate(workload, wanted, options) {
        const change = { wanted, owned: OWNS_NOTHING };
        patch.push({ template: templatePatch(workload, change, options).body.spec.template.spec });
        return answer(undefined);
      },
      annotate: () => Promise.resolve(),
    },
    setOriginalLimits({ metadata }, limits) {
      const own = [...limits].map(([name, limit]) => [name, formatCPU(limit)]);
      patch.push({ pod: metadata.name, originalLimits: Object.fromEntries(own) });
      return Promise.resolve();
    },
  };
}

function inForceAfter(
  inForce: ReadonlyMap<string, Resources> | undefined,
  [first]: readonly Readonly<Record<string, unknown>>[],
): Pick<RightsizingResult, "inForce"> {
  if (inForce === undefined) return {};
  const sent = [...inForce].map(([name, one]) => containerResources({ name, ...one }));
  const isReported = JSON.stringify(first?.["containers"]) === JSON.stringify(sent);
  return isReported ? {} : { inForce: rawOf(inForce) };
}

function rawOf(values: ReadonlyMap<string, Resources>): ResourcesByName {
  return Object.fromEntries(
    [...values].map(([name, one]) => [name, containerResources({ name, ...one }).resources]),
  );
}
