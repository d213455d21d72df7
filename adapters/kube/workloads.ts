/**
 * Deployments, StatefulSets and DaemonSets on a real API server: how far their rollouts are.
 *
 * @module
 */
import type {
  RolloutState,
  Workload,
  WorkloadKind,
  WorkloadRef,
} from "../../shared/api/workload.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { type JSONObject, listOf, objectOf, wholeOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";
import { parseNamespacedIdentity } from "./object_identity.ts";
import { ownAnnotations } from "./own_annotations.ts";

const PLURALS: Readonly<Record<WorkloadKind, string>> = {
  Deployment: "deployments",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
};

/** List-watch of the workloads of a kind in all namespaces. */
export function workloadListWatch(
  connection: KubeConnection,
  { kind, ...surroundings }: ListWatchSurroundings & { readonly kind: WorkloadKind },
): ListWatch<Workload> {
  return kubeListWatch(connection, {
    ...surroundings,
    path: `/apis/apps/v1/${PLURALS[kind]}`,
    parse: (raw) => parseWorkload(raw, kind),
  });
}

/** Where a workload of a kind that rolls out stands; undefined for another kind. */
export function workloadPath(namespace: string, { kind, name }: WorkloadRef): string | undefined {
  if (!isWorkloadKind(kind)) return undefined;
  const plural = PLURALS[kind];
  return `/apis/apps/v1/namespaces/${pathPart(namespace)}/${plural}/${pathPart(name)}`;
}

/** True for a kind whose rollouts concern its pods. */
export function isWorkloadKind(kind: string): kind is WorkloadKind {
  return Object.hasOwn(PLURALS, kind);
}

/** The trimmed workload. Throws a `TypeError` without identity. */
export function parseWorkload(raw: unknown, kind: WorkloadKind): Workload {
  const { labels, annotations } = objectOf(objectOf(raw).metadata);
  const ownLabels = ownAnnotations(labels);
  return {
    kind,
    metadata: {
      ...parseNamespacedIdentity(raw),
      ...(Object.keys(ownLabels).length === 0 ? {} : { labels: ownLabels }),
      annotations: ownAnnotations(annotations),
    },
    rollout: rolloutOf(objectOf(raw), kind),
  };
}

/**
 * A spec that its controller has not seen yet is no matter: the counts tell of old pods as soon as it
 * has.
 */
function rolloutOf({ spec, status }: JSONObject, kind: WorkloadKind): RolloutState {
  const counts = kind === "DaemonSet"
    ? daemonSetCounts(objectOf(status))
    : replicaCounts(objectOf(spec), objectOf(status));
  const stands = kind === "Deployment"
    ? objectOf(spec).paused === true || hasGivenUp(status)
    : objectOf(objectOf(spec).updateStrategy).type === "OnDelete";
  return { ...counts, stands };
}

type Counts = Pick<RolloutState, "updated" | "total">;

function daemonSetCounts(status: JSONObject): Counts {
  const { desiredNumberScheduled, currentNumberScheduled, updatedNumberScheduled } = status;
  const wanted = wholeOf(desiredNumberScheduled) ?? 0;
  // A node that must not have the pod any more is no rollout.
  return {
    updated: wholeOf(updatedNumberScheduled) ?? 0,
    total: Math.min(wanted, wholeOf(currentNumberScheduled) ?? 0),
  };
}

/** Of a StatefulSet only the pods from the partition on are to be of the newest template. */
function replicaCounts({ replicas, updateStrategy }: JSONObject, status: JSONObject): Counts {
  const { partition } = objectOf(objectOf(updateStrategy).rollingUpdate);
  const kept = Math.min(wholeOf(replicas) ?? 1, wholeOf(partition) ?? 0);
  const { replicas: all, updatedReplicas, currentRevision, updateRevision } = status;
  const total = Math.max(0, (wholeOf(all) ?? 0) - kept);
  // A StatefulSet whose rollout is over counts its pods as current ones, no longer as updated.
  const isOver = currentRevision !== undefined && currentRevision === updateRevision;
  return { updated: isOver ? total : wholeOf(updatedReplicas) ?? 0, total };
}

function hasGivenUp(status: unknown): boolean {
  return listOf(objectOf(status).conditions).map(objectOf).some(({ type, reason }) =>
    type === "Progressing" && reason === "ProgressDeadlineExceeded"
  );
}
