/**
 * Pods on a real API server.
 *
 * @module
 */
import { hasAmounts } from "../../../shared/resize/inputs/resources.ts";
import { nodeTermsOf } from "../../../shared/api/node.ts";
import type { Pod, PodOwner, QOSClass, ResizeCondition } from "../../../shared/api/pod.ts";
import { mapDefined } from "../../../shared/defined.ts";
import { present, someOf } from "../client/json_fields.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";
import { parseContainers, parseResources } from "./containers.ts";
import { mapOf, parseNamespacedIdentity, parseTime, trueCondition } from "./object_fields.ts";
import type { RawCondition, RawObject, RawOwner, RawPodSpec, RawPodStatus } from "./raw_objects.ts";

/** List-watch of pods. */
export const podListWatch: OpenListWatch<Pod> = listWatchOf({
  groupVersion: "v1",
  resource: "pods",
  parse: parsePod,
});

/** Projects a pod. Throws a `SyntaxError` for a quantity that is too large to be counted. */
export function parsePod(raw: unknown): Pod {
  const { metadata, spec, status } = raw as RawObject<RawPodSpec, RawPodStatus>;
  const conditions = status?.conditions ?? [];
  const resizeConditions = parseResizeConditions(conditions);
  const { containers, initContainers } = parseContainers({ metadata, spec, status }, {
    // Needed only where a condition lacks the generation, or a resize is pending or has failed.
    keepAllocated: resizeConditions.some(({ type, reason, observedGeneration }) =>
      observedGeneration === undefined || type === "PodResizePending" || reason === "Error"
    ),
  });
  const ready = trueCondition(conditions, "Ready");
  const podLevel = parseResources(spec.resources);
  return {
    metadata: {
      ...parseNamespacedIdentity(raw),
      labels: metadata.labels ?? {},
      annotations: metadata.annotations ?? {},
      terminating: metadata.deletionTimestamp !== undefined,
      ...present("generation", metadata.generation),
      ...present("owner", parseOwner(metadata.ownerReferences)),
    },
    nodeName: spec.nodeName ?? "",
    ...present("ip", status?.podIP),
    phase: (status?.phase ?? "Unknown") as Pod["phase"],
    qosClass: status?.qosClass as QOSClass,
    priority: spec.priority ?? 0,
    ...present("priorityClassName", spec.priorityClassName),
    ...present("startTimeMs", parseTime(status?.startTime)),
    ...(spec.activeDeadlineSeconds === undefined ? {} : { hasDeadline: true }),
    ready: ready !== undefined,
    ...present("readySinceMs", parseTime(ready?.lastTransitionTime)),
    containers,
    initContainers,
    resizeConditions,
    ...(hasAmounts(podLevel) ? { podLevel } : {}),
    ...present("overheadCPU", parseResources({ requests: spec.overhead ?? {} }).requests.cpu),
    ...(spec.os?.name === "windows" ? { windows: true } : {}),
    ...(status?.nodeAllocatableResourceClaimStatuses?.length ? { claimsNodeResources: true } : {}),
    ...present("createdAtMs", parseTime(metadata.creationTimestamp)),
    ...mapOf("nodeSelector", spec.nodeSelector),
    ...present(
      "requiredNodes",
      mapDefined(
        spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution,
        nodeTermsOf,
      ),
    ),
    ...someOf(
      "claims",
      (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) =>
        persistentVolumeClaim?.claimName ?? []
      ),
    ),
    ...present("unschedulableSinceMs", unschedulableSince(conditions)),
  };
}

/** Conditions of a resize that is pending or in progress. */
function parseResizeConditions(conditions: readonly RawCondition[]): readonly ResizeCondition[] {
  return conditions.flatMap(({ type, status, reason = "", message = "", observedGeneration }) => {
    if (type !== "PodResizePending" && type !== "PodResizeInProgress") return [];
    if (status === "False") return [];
    return [{ type, reason, message, ...present("observedGeneration", observedGeneration) }];
  });
}

function unschedulableSince(conditions: readonly RawCondition[]): number | undefined {
  const found = conditions.find(({ type, status, reason }) =>
    type === "PodScheduled" && status === "False" && reason === "Unschedulable"
  );
  return parseTime(found?.lastTransitionTime);
}

/** The owner reference that is marked as controller. */
export function parseOwner(
  ownerReferences: readonly RawOwner[] | undefined,
): PodOwner | undefined {
  const found = ownerReferences?.find(({ controller }) => controller === true);
  if (found === undefined) return undefined;
  const { apiVersion, kind, name, uid } = found;
  return { apiVersion, kind, name, uid };
}
