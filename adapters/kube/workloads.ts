/**
 * Deployments, StatefulSets and DaemonSets on a real API server: how far their rollouts are, and what
 * they make pods of.
 *
 * @module
 */
import type {
  ReplicaCounts,
  RolloutState,
  Workload,
  WorkloadKind,
  WorkloadRef,
} from "../../shared/api/workload.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import {
  type JSONObject,
  listOf,
  memberOf,
  objectOf,
  textsOf,
  wholeMemberOf,
} from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { ownAnnotations } from "./own_annotations.ts";
import { readOrTell } from "./partial_object.ts";
import { parseMadePods } from "./pod_template.ts";

const PLURALS: Readonly<Record<WorkloadKind, string>> = {
  Deployment: "deployments",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
};

/** Which workloads. */
export interface WorkloadSelection extends ListWatchSurroundings {
  readonly kind: WorkloadKind;
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** List-watch of the workloads of a kind, by default of all namespaces. */
export function workloadListWatch(
  connection: KubeConnection,
  { kind, namespace, ...surroundings }: WorkloadSelection,
): ListWatch<Workload> {
  return kubeListWatch(connection, {
    ...surroundings,
    path: workloadCollection(kind, namespace),
    parse: (raw) => parseWorkload(raw, kind),
  });
}

/** The collection of a namespace, or of all without one. */
export function workloadCollection(kind: WorkloadKind, namespace?: string): string {
  const place = namespace === undefined ? "" : `/namespaces/${pathPart(namespace)}`;
  return `/apis/apps/v1${place}/${PLURALS[kind]}`;
}

/** Where a workload of a kind that rolls out stands; undefined for another kind. */
export function workloadPath(namespace: string, { kind, name }: WorkloadRef): string | undefined {
  if (!isWorkloadKind(kind)) return undefined;
  return `${workloadCollection(kind, namespace)}/${pathPart(name)}`;
}

/** For instance `deployments`. */
export function workloadPlural(kind: WorkloadKind): string {
  return PLURALS[kind];
}

/** True for a kind whose rollouts concern its pods. */
export function isWorkloadKind(kind: string): kind is WorkloadKind {
  return Object.hasOwn(PLURALS, kind);
}

/** Those of the market, of rightsizing, and of placement. */
const PREFIXES = ["mbcas.io", "optipod.io", "spotalis.io"] as const;

/**
 * The trimmed workload. Rollout and template are read apart, so that one that can't be read leaves the
 * other. Throws a `TypeError` without identity.
 */
export function parseWorkload(raw: unknown, kind: WorkloadKind): Workload {
  const { labels, annotations } = objectOf(objectOf(raw).metadata);
  const allLabels = textsOf(labels);
  const blank: Workload = {
    kind,
    metadata: {
      ...parseNamespacedIdentity(raw),
      ...(Object.keys(allLabels).length === 0 ? {} : { labels: allLabels }),
      annotations: ownAnnotations(annotations, { prefixes: PREFIXES }),
    },
    rollout: { updated: 0, total: 0, stands: false },
  };
  return {
    ...readOrTell(() => ({ ...blank, rollout: rolloutOf(objectOf(raw), kind) }), blank),
    ...readReplicas(objectOf(raw), kind),
    ...readMadePods(objectOf(raw), kind),
  };
}

function readMadePods(
  raw: JSONObject,
  kind: WorkloadKind,
): Pick<Workload, "makes" | "unreadableTemplate"> {
  const { unreadable, ...read } = readOrTell<Pick<Workload, "makes" | "unreadable">>(
    () => ({ makes: parseMadePods(raw, kind) }),
    {},
  );
  return unreadable === undefined ? read : { unreadableTemplate: unreadable };
}

/** Whose counts can't be read is not placed, which is no matter of the others. */
function readReplicas(raw: JSONObject, kind: WorkloadKind): Pick<Workload, "replicas"> {
  if (kind === "DaemonSet") return {};
  const { unreadable: _why, ...read } = readOrTell<Pick<Workload, "replicas" | "unreadable">>(
    () => ({ replicas: replicasOf(raw) }),
    {},
  );
  return read;
}

/**
 * A spec that its controller has not seen yet is no matter: the counts tell of old pods as soon as it
 * has.
 */
function rolloutOf(raw: JSONObject, kind: WorkloadKind): RolloutState {
  const spec = memberOf(raw, "spec");
  const status = memberOf(raw, "status");
  const counts = kind === "DaemonSet" ? daemonSetCounts(status) : replicaCounts(spec, status);
  const stands = kind === "Deployment"
    ? spec["paused"] === true || hasGivenUp(status)
    : memberOf(spec, "updateStrategy")["type"] === "OnDelete";
  return { ...counts, stands };
}

type Counts = Pick<RolloutState, "updated" | "total">;

function daemonSetCounts(status: JSONObject): Counts {
  const wanted = wholeMemberOf(status, "desiredNumberScheduled") ?? 0;
  // A node that must not have the pod any more is no rollout.
  return {
    updated: wholeMemberOf(status, "updatedNumberScheduled") ?? 0,
    total: Math.min(wanted, wholeMemberOf(status, "currentNumberScheduled") ?? 0),
  };
}

/** Of a StatefulSet only the pods from the partition on are to be of the newest template. */
function replicaCounts(spec: JSONObject, status: JSONObject): Counts {
  const rolling = memberOf(memberOf(spec, "updateStrategy"), "rollingUpdate");
  const wanted = wholeMemberOf(spec, "replicas") ?? 1;
  const kept = Math.min(wanted, wholeMemberOf(rolling, "partition") ?? 0);
  const { currentRevision, updateRevision } = status;
  const total = Math.max(0, (wholeMemberOf(status, "replicas") ?? 0) - kept);
  // A StatefulSet whose rollout is over counts its pods as current ones, no longer as updated.
  const isOver = currentRevision !== undefined && currentRevision === updateRevision;
  return { updated: isOver ? total : wholeMemberOf(status, "updatedReplicas") ?? 0, total };
}

function replicasOf(raw: JSONObject): ReplicaCounts {
  const spec = memberOf(raw, "spec");
  const status = memberOf(raw, "status");
  const { currentRevision, updateRevision } = status;
  const there = wholeMemberOf(status, "replicas") ?? 0;
  const isOver = currentRevision !== undefined && currentRevision === updateRevision;
  const firstOrdinal = wholeMemberOf(memberOf(spec, "ordinals"), "start") ?? 0;
  return {
    wanted: wholeMemberOf(spec, "replicas") ?? 1,
    observed: (wholeMemberOf(status, "observedGeneration") ?? 0) >=
      (wholeMemberOf(memberOf(raw, "metadata"), "generation") ?? 0),
    present: there,
    ready: wholeMemberOf(status, "readyReplicas") ?? 0,
    updated: isOver ? there : wholeMemberOf(status, "updatedReplicas") ?? 0,
    ...(firstOrdinal === 0 ? {} : { firstOrdinal }),
  };
}

function hasGivenUp(status: unknown): boolean {
  return listOf(objectOf(status).conditions).map(objectOf).some(({ type, reason }) =>
    type === "Progressing" && reason === "ProgressDeadlineExceeded"
  );
}
