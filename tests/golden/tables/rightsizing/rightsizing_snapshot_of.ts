/**
 * The input of rightsizing's guards, from the API's objects of an input.
 *
 * @module
 */
import { parseResources } from "../../../../adapters/kube/kinds/containers.ts";
import { parseNode } from "../../../../adapters/kube/kinds/nodes.ts";
import { parsePod } from "../../../../adapters/kube/kinds/pods.ts";
import { parseWorkload } from "../../../../adapters/kube/kinds/workloads.ts";
import type { Pod, Resources } from "../../../../shared/api/pod.ts";
import { defined } from "../../../../shared/defined.ts";
import { parseBytes } from "../../../../shared/quantity.ts";
import { validValues } from "../../../../shared/rightsizing/guards/valid_values.ts";
import {
  type RightsizedWorkload,
  rightsizedWorkload,
  type RightsizingSnapshot,
} from "../../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import { byResource } from "../../../../shared/resize/inputs/resources.ts";
import { largestNode, namespaceRules } from "../../../../shared/rightsizing/namespace_bounds.ts";
import { type PolicySpec, readPolicySpec } from "../../../../shared/rightsizing/policy_spec.ts";
import type { ContainerRecommendation } from "../../../../shared/rightsizing/recommend.ts";
import { valuesInForce } from "../../../../shared/rightsizing/workload_record.ts";
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
import type { RawRefusal } from "../market/market_row.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const { namespace: NAMESPACE, nodeName: NODE } = POD_IDENTITY;

/** Requests and limits by container. */
export type RawResourcesByName = Readonly<Record<string, RawResources>>;

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

/** The facts, and the pods as they are: with the market's limits, where it sets some. */
export interface DrawnSnapshot {
  readonly snapshot: RightsizingSnapshot;
  readonly pods: ReadonlyMap<string, Pod>;
}

/** Reads the objects as the controller does. */
export function rightsizingSnapshotOf(input: RightsizingInput): DrawnSnapshot {
  const workload = workloadOf(input);
  const policy = policyOf(input);
  const pods = podsOf(input, {});
  const node = nodeOf(input);
  const autoscalers = given(
    input.hpaOn,
    (resource) => hpaOf("Deployment", { resource, percent: 60 }),
  );
  const verticalAutoscalers = vpasOf(input);
  const rules = namespaceRules({
    limitRanges: given(input.limitRange, limitRangeOf),
    quotas: given(input.quota, quotaOf),
  }, { pods, template: workload.template });
  const largest = largestNode([node]);
  const names = workload.template.containers.map(({ name }) => name);
  const { appliedMinutesAgo, missingPermissionFor, denied } = input;
  const uncounted: RightsizingSnapshot = {
    ...rules,
    unreadable: [...rules.unreadable, ...(input.hpaOn === "unreadable" ? [UNREADABLE] : [])],
    nowMs: NOW_MS,
    policy,
    dryRun: input.dryRun ?? false,
    workload,
    pods,
    nodes: new Map([[NODE, node]]),
    ...(largest === undefined ? {} : { largestNode: largest }),
    recommendations: recommendationsOf(input.recommended),
    samples: new Map(names.map((name) => [name, input.samples?.[name] ?? 100])),
    memoryPeaks: new Map(names.flatMap((name) => {
      const peak = input.memoryPeaks?.[name] ?? "30Mi";
      return peak === "unknown" ? [] : [[name, parseBytes(peak)] as const];
    })),
    autoscalers,
    verticalAutoscalers,
    missingPermissions: missingPermissionFor === undefined
      ? []
      : [{ method: missingPermissionFor, permission: "patch" }],
    ...(denied === undefined ? {} : {
      denial: {
        message: "no",
        recommendations: recommendationsOf(denied),
        retryAtMs: NOW_MS + (input.denialEndsInMinutes ?? 10) * MINUTE_MS,
      },
    }),
    ...(appliedMinutesAgo === undefined
      ? {}
      : { lastAppliedMs: NOW_MS - appliedMinutesAgo * MINUTE_MS }),
    inForce: new Map(),
    ...rememberedOf(input, workload),
    resizeServed: input.server?.resizeServed ?? true,
    lowersMemoryLimits: input.server?.lowersMemoryLimits ?? true,
    marketManages: input.marketLimits !== undefined,
  };
  const current = podsOf(input, input.marketLimits ?? {});
  return {
    snapshot: { ...uncounted, inForce: inForceOf(input, uncounted) },
    pods: new Map(current.map((pod) => [pod.metadata.uid, pod])),
  };
}

function workloadOf(input: RightsizingInput): RightsizedWorkload {
  const { containers, initContainers = [], podResources, pods = 1, paused = false } = input;
  const raw = {
    metadata: rawMetadata("web"),
    spec: {
      replicas: Math.max(1, pods),
      paused,
      template: {
        spec: {
          containers,
          initContainers,
          ...(podResources === undefined ? {} : { resources: podResources }),
        },
      },
    },
    status: input.status ?? { replicas: pods, updatedReplicas: pods },
  };
  const workload = rightsizedWorkload(parseWorkload(raw, "Deployment"));
  if (workload === undefined) throw new RangeError("Cannot decide a row: its template is unread");
  return workload;
}

function podsOf(
  input: RightsizingInput,
  marketLimits: Readonly<Record<string, string>>,
): readonly Pod[] {
  const { initContainers, podResources, pods = 1, os } = input;
  const containers = (input.podContainers ?? input.containers).map((one): RawContainer => {
    const limit = marketLimits[one.name];
    const { requests, limits } = one.resources;
    return limit === undefined || limits === undefined ? one : {
      ...one,
      resources: {
        ...(requests === undefined ? {} : { requests }),
        limits: { ...limits, cpu: limit },
      },
    };
  });
  return Array.from({ length: pods }, (_, index) =>
    parsePod(wholePod({
      metadata: { labels: { "pod-template-hash": "5d9c" } },
      spec: {
        containers,
        ...(initContainers === undefined ? {} : { initContainers }),
        ...(podResources === undefined ? {} : { resources: podResources }),
        ...(os === undefined ? {} : { os: { name: os } }),
      },
    }, {
      name: `web-${index + 1}`,
      owner: {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: "web-5d9c",
        uid: "uid-set",
        controller: true,
      },
    })));
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

/** The guard's message for an object that can't be read; no HPA that a server stores is one. */
const UNREADABLE = 'Cannot read an object of the API: metrics is "\\"none\\""';

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
    return {
      container,
      cpu: requestCPU,
      memory: requestMemory,
      ...(limitCPU === undefined ? {} : { cpuLimit: limitCPU }),
      ...(limitMemory === undefined ? {} : { memoryLimit: limitMemory }),
      explanation: "",
    };
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
  const { cpu: cpuChanged, memory: memoryChanged } = byResource((resource) => {
    const hours = changedHoursAgo[resource];
    return hours === undefined ? undefined : { by: "helm", atMs: NOW_MS - hours * HOUR_MS };
  });
  const container = template.containers[0]?.name ?? "";
  return { recordedTemplate: [defined({ container, cpuChanged, memoryChanged })] };
}
