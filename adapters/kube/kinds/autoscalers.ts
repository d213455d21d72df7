/**
 * Autoscalers of workloads on a real API server: HorizontalPodAutoscalers, and VerticalPodAutoscalers
 * where the server serves the kind.
 *
 * @module
 */
import type {
  CPUPolicy,
  CPUTarget,
  HorizontalPodAutoscaler,
  MemoryTarget,
  VerticalPodAutoscaler,
} from "../../../shared/api/autoscalers.ts";
import { EVERY_WORKLOAD, type WorkloadRef } from "../../../shared/api/workload.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";
import { PUBLISHED_LABEL } from "../../../shared/rightsizing/published_vpa.ts";
import type { KubeConnection } from "../client/connection.ts";
import {
  type JSONObject,
  jsonText,
  listMemberOf,
  listOf,
  memberOf,
  objectOf,
  present,
  someOf,
  textOf,
} from "../client/json_fields.ts";
import {
  listWatchOf,
  type ListWatchOptions,
  type OpenListWatch,
  optionalKind,
} from "../client/list_watch.ts";
import {
  cpuBoundOf,
  ownAnnotations,
  parseNamespacedIdentity,
  parseTime,
  readOrReport,
} from "./object_fields.ts";
import type { RawObject } from "./raw_objects.ts";

/** The window of an HPA without `behavior`: the default flag of kube-controller-manager. */
const DEFAULT_STABILIZATION_S = 300;

/** List-watch of HorizontalPodAutoscalers. */
export const horizontalPodAutoscalerListWatch: OpenListWatch<HorizontalPodAutoscaler> = listWatchOf(
  {
    groupVersion: "autoscaling/v2",
    resource: "horizontalpodautoscalers",
    parse: parseHorizontalPodAutoscaler,
  },
);

type RawAutoscaler = RawObject<{
  scaleTargetRef: WorkloadRef;
  metrics?: { resource?: RawResourceMetric; containerResource?: RawResourceMetric }[];
  behavior?: { scaleDown?: { stabilizationWindowSeconds?: number } };
}, { lastScaleTime?: string | null }>;

/** A metric on the usage of all containers of a pod, or of one. */
interface RawResourceMetric {
  readonly name: string;
  readonly container?: string;
  readonly target: { readonly averageUtilization?: number; readonly averageValue?: string };
}

/** Projects an HPA: its target, and its metrics of CPU and of memory utilization. */
export function parseHorizontalPodAutoscaler(raw: unknown): HorizontalPodAutoscaler {
  const { metadata, spec, status } = raw as RawAutoscaler;
  const { scaleTargetRef: { kind, name }, behavior } = spec;
  const windowS = behavior?.scaleDown?.stabilizationWindowSeconds ?? DEFAULT_STABILIZATION_S;
  const metrics = (spec.metrics ?? []).flatMap((one) =>
    one.resource ?? one.containerResource ?? []
  );
  return {
    metadata: {
      ...parseNamespacedIdentity(raw),
      annotations: ownAnnotations(metadata.annotations),
    },
    target: { kind, name },
    cpuTargets: metrics.flatMap(parseCPUTarget),
    ...someOf("memoryTargets", metrics.flatMap(parseMemoryTarget)),
    ...present("lastScaleMs", parseTime(status?.lastScaleTime)),
    stabilizationMs: 1000 * windowS,
  };
}

function parseCPUTarget({ name, container, target }: RawResourceMetric): readonly CPUTarget[] {
  if (name !== "cpu") return [];
  const { averageUtilization: percent, averageValue } = target;
  const wanted = {
    ...present("utilization", percent === undefined ? undefined : percent / 100),
    ...present(
      "value",
      averageValue === undefined ? undefined : cpuBoundOf({ cpu: averageValue }),
    ),
  };
  if (Object.keys(wanted).length === 0) return [];
  return [{ ...present("container", container), ...wanted }];
}

function parseMemoryTarget({ name, container, target }: RawResourceMetric): MemoryTarget[] {
  if (name !== "memory" || target.averageUtilization === undefined) return [];
  return [present("container", container)];
}

const openVerticalPodAutoscalers = listWatchOf({
  groupVersion: "autoscaling.k8s.io/v1",
  resource: "verticalpodautoscalers",
  parse: parseVerticalPodAutoscaler,
});

/** List-watch of VerticalPodAutoscalers; empty where the server does not serve the kind. */
export function verticalPodAutoscalerListWatch(
  connection: KubeConnection,
  { clock, ...options }: ListWatchOptions & { readonly clock: Clock },
): ListWatch<VerticalPodAutoscaler> {
  return optionalKind(openVerticalPodAutoscalers(connection, options), clock);
}

/**
 * Projects a VPA: its target, mode and policies, or why they can't be read. The schema of the kind is not
 * ours, and may be another version's.
 */
export function parseVerticalPodAutoscaler(raw: unknown): VerticalPodAutoscaler {
  const { kind, name } = targetRefOf(objectOf(raw).spec);
  const blank: VerticalPodAutoscaler = {
    metadata: parseNamespacedIdentity(raw),
    target: kind === undefined || name === undefined ? EVERY_WORKLOAD : { kind, name },
    updateMode: "Off",
  };
  return readOrReport(() => withModeAndPolicies(blank, objectOf(raw)), blank);
}

function targetRefOf(spec: unknown): { readonly [key in keyof WorkloadRef]: string | undefined } {
  const { kind, name } = objectOf(objectOf(spec).targetRef);
  return { kind: textOf(kind), name: textOf(name) };
}

function withModeAndPolicies(
  blank: VerticalPodAutoscaler,
  raw: JSONObject,
): VerticalPodAutoscaler {
  const spec = memberOf(raw, "spec");
  const updateMode = modeOf(memberOf(spec, "updatePolicy"));
  // In mode `Off` a VPA changes nothing, so its other fields need not be readable.
  if (updateMode === "Off") return isPublished(raw) ? { ...blank, published: true } : blank;
  for (const [member, value] of Object.entries(targetRefOf(spec))) {
    if (value === undefined) {
      throw new TypeError(`Cannot read the object: no spec.targetRef.${member}`);
    }
  }
  return { ...blank, updateMode, ...someOf("cpuPolicies", cpuPoliciesOf(spec)) };
}

/** Checks both label and recommender: other clients may set one of them. */
function isPublished({ metadata, spec }: JSONObject): boolean {
  const { recommenders } = objectOf(spec);
  return objectOf(objectOf(metadata).labels)[PUBLISHED_LABEL.name] === PUBLISHED_LABEL.value &&
    listOf(recommenders).some((one) => objectOf(one).name === RIGHTSIZING_MANAGER);
}

/** `Auto` without a mode: "If not specified, all fields … default values" (the API of VPA). */
function modeOf({ updateMode }: JSONObject): string {
  const mode = updateMode ?? "";
  if (typeof mode === "string") return mode === "" ? "Auto" : mode;
  throw new TypeError(`Cannot read an object of the API: updateMode is ${jsonText(mode)}`);
}

/** Containers with a policy; all others count as controlled. */
function cpuPoliciesOf(spec: JSONObject): readonly CPUPolicy[] {
  const policies = listMemberOf(memberOf(spec, "resourcePolicy"), "containerPolicies");
  return policies.flatMap((raw): CPUPolicy[] => {
    const policy = memberOf({ policy: raw }, "policy");
    const { containerName, mode, controlledResources, startupBoost } = policy;
    const container = textOf(containerName);
    if (container === undefined) return [];
    const cpu = (controlledResources ?? undefined) === undefined ||
      listMemberOf(policy, "controlledResources").includes("cpu");
    // A boost is of CPU, whatever the policy controls after the start.
    const boosts = (startupBoost ?? spec["startupBoost"] ?? undefined) !== undefined;
    return [{ container, controlled: boosts || (mode !== "Off" && cpu) }];
  });
}
