/**
 * Pods on a real API server.
 *
 * @module
 */
import type { Pod, PodOwner, QOSClass } from "../../shared/api/pod.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { jsonText, listOf, objectOf, present, textOf, textsOf, wholeOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseTime } from "./micro_time.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { parseResources } from "./pod_container_fields.ts";
import { parseContainers } from "./pod_containers.ts";
import { holds, holdsSince, parseResizeConditions } from "./resize_condition_fields.ts";

/** Which pods. */
export interface PodSelection extends ListWatchSurroundings {
  /** Only pods of this node. */
  readonly nodeName?: string;
  /** Only pods of this namespace. */
  readonly namespace?: string;
  readonly labelSelector?: string;
}

/** List-watch of pods, by default of all. */
export function podListWatch(
  connection: KubeConnection,
  { nodeName, namespace, ...rest }: PodSelection = {},
): ListWatch<Pod> {
  return kubeListWatch(connection, {
    ...rest,
    path: namespace === undefined
      ? "/api/v1/pods"
      : `/api/v1/namespaces/${pathPart(namespace)}/pods`,
    ...(nodeName === undefined ? {} : { fieldSelector: `spec.nodeName=${nodeName}` }),
    parse: parsePod,
  });
}

const PHASES: readonly Pod["phase"][] = ["Pending", "Running", "Succeeded", "Failed"];
/** `int32`. */
const PRIORITIES = { least: -(2 ** 31), most: 2 ** 31 - 1 };
const CLASSES: readonly QOSClass[] = ["Guaranteed", "Burstable", "BestEffort"];

/** The trimmed pod. Throws a `TypeError` or `SyntaxError` that names what can't be read. */
export function parsePod(raw: unknown): Pod {
  const { metadata, spec, status } = objectOf(raw);
  const { labels, annotations, deletionTimestamp, generation, ownerReferences } = objectOf(
    metadata,
  );
  const { nodeName, priority, priorityClassName, activeDeadlineSeconds, os, resources, overhead } =
    objectOf(spec);
  const { phase, qosClass, conditions, startTime, nodeAllocatableResourceClaimStatuses } = objectOf(
    status,
  );
  const ownQOSClass = CLASSES.find((one) => one === qosClass);
  const identity = parseNamespacedIdentity(raw);
  if (ownQOSClass === undefined) {
    throw new TypeError(
      `Cannot read pod ${quotedText(identity.name)}: status.qosClass is ${jsonText(qosClass)}`,
    );
  }
  const resizeConditions = parseResizeConditions(conditions);
  const { containers, initContainers } = parseContainers(raw, {
    // Worth its memory only where it must stand in for a generation, or tells what is not done.
    keepAllocated: resizeConditions.some(({ type, reason, observedGeneration }) =>
      observedGeneration === undefined || type === "PodResizePending" || reason === "Error"
    ),
  });
  const podLevel = parseResources(resources);
  return {
    metadata: {
      ...identity,
      labels: textsOf(labels),
      annotations: textsOf(annotations),
      terminating: (deletionTimestamp ?? undefined) !== undefined,
      ...present("generation", wholeOf(generation)),
      ...present("owner", parseOwner(ownerReferences)),
    },
    nodeName: textOf(nodeName) ?? "",
    phase: PHASES.find((one) => one === phase) ?? "Unknown",
    qosClass: ownQOSClass,
    priority: wholeOf(priority, PRIORITIES) ?? 0,
    ...present("priorityClassName", textOf(priorityClassName)),
    ...present("startedAtMs", parseTime(startTime)),
    ...(wholeOf(activeDeadlineSeconds) === undefined ? {} : { hasDeadline: true }),
    ready: holds(conditions, "Ready"),
    ...present("readySinceMs", holdsSince(conditions, "Ready")),
    containers,
    initContainers,
    resizeConditions,
    ...(Object.keys(podLevel).length === 0 ? {} : { podLevel }),
    ...present("overheadCPU", parseResources({ requests: overhead }).requestCPU),
    ...(objectOf(os).name === "windows" ? { windows: true } : {}),
    ...(listOf(nodeAllocatableResourceClaimStatuses).length === 0
      ? {}
      : { claimsNodeResources: true }),
  };
}

function parseOwner(ownerReferences: unknown): PodOwner | undefined {
  const found = listOf(ownerReferences).map(objectOf).find(({ controller }) => controller === true);
  const { apiVersion, kind, name, uid } = found ?? {};
  const owner = {
    apiVersion: textOf(apiVersion),
    kind: textOf(kind),
    name: textOf(name),
    uid: textOf(uid),
  };
  return Object.values(owner).includes(undefined) ? undefined : owner as PodOwner;
}
