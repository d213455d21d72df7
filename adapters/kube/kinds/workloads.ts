/**
 * Deployments, StatefulSets and DaemonSets on a real API server, and ReplicaSets, which link pods to
 * Deployments.
 *
 * @module
 */
import { hasAmounts } from "../../../shared/resize/inputs/resources.ts";
import type {
  PodTemplate,
  ReplicaCounts,
  ReplicaSet,
  RolloutState,
  Workload,
  WorkloadKind,
  WorkloadRef,
  WorkloadSpec,
  WorkloadTemplate,
} from "../../../shared/api/workload.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { type KubeConnection, resourcePath } from "../client/connection.ts";
import { present } from "../client/json_fields.ts";
import { listWatchOf, type ListWatchOptions, type OpenListWatch } from "../client/list_watch.ts";
import { parseContainers, parseResources } from "./containers.ts";
import {
  mapOf,
  ownAnnotations,
  parseNamespacedIdentity,
  type PartialObject,
  readOrReport,
} from "./object_fields.ts";
import { parseOwner } from "./pods.ts";
import type { RawObject, RawTemplate, RawWorkload } from "./raw_objects.ts";
import { templateOwners } from "../../../shared/rightsizing/template_patch.ts";

const APPS = { groupVersion: "apps/v1" };

const PLURALS: Readonly<Record<WorkloadKind, string>> = {
  Deployment: "deployments",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
};

/** Prefixes of the annotations of market, rightsizing and placement. */
const PREFIXES = ["mbcas.io", "optipod.io", "spotalis.io"] as const;

/** List-watch of the workloads of a kind. */
export function workloadListWatch(
  connection: KubeConnection,
  { kind, ...options }: ListWatchOptions & { readonly kind: WorkloadKind },
): ListWatch<Workload> {
  const parse = (raw: unknown): Workload => parseWorkload(raw, kind);
  return listWatchOf({ ...APPS, resource: PLURALS[kind], parse })(connection, options);
}

/** The collection of a namespace, by default of all. */
export function workloadCollection(kind: WorkloadKind, namespace?: string): string {
  return resourcePath({ ...APPS, resource: PLURALS[kind], ...present("namespace", namespace) });
}

/** The path of a workload; undefined for a kind that this product does not read. */
export function workloadPath(namespace: string, { kind, name }: WorkloadRef): string | undefined {
  return isWorkloadKind(kind) ? `${workloadCollection(kind, namespace)}/${name}` : undefined;
}

/** True for a kind that this product reads. */
export function isWorkloadKind(kind: string): kind is WorkloadKind {
  return Object.hasOwn(PLURALS, kind);
}

/** Projects a workload; `unreadableTemplate` for a quantity that is too large to be counted. */
export function parseWorkload(raw: unknown, kind: WorkloadKind): Workload {
  const workload = raw as RawWorkload;
  const { metadata } = workload;
  const { unreadable, ...template } = readOrReport<Pick<Workload, "spec"> & PartialObject>(
    () => ({ spec: parseWorkloadSpec(workload, kind) }),
    {},
  );
  return {
    kind,
    metadata: {
      ...parseNamespacedIdentity(raw),
      ...mapOf("labels", metadata.labels),
      annotations: ownAnnotations(metadata.annotations, { prefixes: PREFIXES }),
    },
    rollout: ROLLOUTS[kind](workload),
    ...(kind === "DaemonSet" ? {} : { replicas: replicasOf(workload) }),
    ...template,
    ...present("unreadableTemplate", unreadable),
  };
}

/**
 * The rollout of each kind. A spec that its controller has not observed yet does not matter: the status
 * counts old pods as soon as it has.
 */
const ROLLOUTS: Readonly<Record<WorkloadKind, (raw: RawWorkload) => RolloutState>> = {
  Deployment({ spec, status }) {
    const hasFailed = status?.conditions?.some(({ type, reason }) =>
      type === "Progressing" && reason === "ProgressDeadlineExceeded"
    );
    return {
      updated: status?.updatedReplicas ?? 0,
      total: status?.replicas ?? 0,
      halted: spec.paused === true || hasFailed === true,
    };
  },
  StatefulSet({ spec, status }) {
    // Only pods with an ordinal from the partition on get the newest template.
    const { partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
    const total = Math.max(0, (status?.replicas ?? 0) - Math.min(spec.replicas ?? 1, partition));
    return {
      updated: isRolledOut(status) ? total : status?.updatedReplicas ?? 0,
      total,
      halted: spec.updateStrategy?.type === "OnDelete",
    };
  },
  DaemonSet({ spec, status }) {
    return {
      updated: status?.updatedNumberScheduled ?? 0,
      // The deletion of a pod from a node that no longer matches is no rollout.
      total: Math.min(status?.desiredNumberScheduled ?? 0, status?.currentNumberScheduled ?? 0),
      halted: spec.updateStrategy?.type === "OnDelete",
    };
  },
};

/** After its rollout a StatefulSet counts its pods as current ones, no longer as updated. */
function isRolledOut(status: RawWorkload["status"]): boolean {
  return status?.currentRevision !== undefined && status.currentRevision === status.updateRevision;
}

/** Counts of a Deployment, which has neither revisions nor ordinals, or of a StatefulSet. */
function replicasOf({ metadata, spec, status }: RawWorkload): ReplicaCounts {
  const statusReplicas = status?.replicas ?? 0;
  const firstOrdinal = spec.ordinals?.start ?? 0;
  return {
    replicas: spec.replicas ?? 1,
    observed: (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
    present: statusReplicas,
    ready: status?.readyReplicas ?? 0,
    updated: isRolledOut(status) ? statusReplicas : status?.updatedReplicas ?? 0,
    ...(firstOrdinal === 0 ? {} : { firstOrdinal }),
  };
}

function parseWorkloadSpec(
  { metadata, spec, status }: RawWorkload,
  kind: WorkloadKind,
): WorkloadSpec {
  return {
    paused: spec.paused ?? false,
    replicas: kind === "DaemonSet" ? status?.desiredNumberScheduled ?? 0 : spec.replicas ?? 1,
    template: parseTemplate(spec.template),
    ...present("owners", templateOwners(metadata.managedFields)),
  };
}

/** Reads a pod that was sent for admission, or the template of pods. Throws as `parseContainers()` does. */
export function parseTemplate({ spec }: RawTemplate): PodTemplate {
  const { resources, priorityClassName, activeDeadlineSeconds, ...containers } = spec;
  const podLevel = parseResources(resources);
  return {
    ...parseContainers({ spec: containers }),
    ...(hasAmounts(podLevel) ? { podLevel } : {}),
    ...present("priorityClassName", priorityClassName),
    ...(activeDeadlineSeconds === undefined ? {} : { hasDeadline: true }),
  };
}

/**
 * The template of a workload with the defaults that the server writes into pods: the limit is the
 * request where there is none.
 */
export function templateOf(
  { kind, metadata, spec, unreadableTemplate }: Workload,
): WorkloadTemplate {
  const { name, namespace, uid, resourceVersion } = metadata;
  const containers = spec?.template.containers ?? [];
  return {
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    replicas: spec?.replicas ?? 0,
    containers: containers.map(({ name, sidecar, requests, limits }) => ({
      name,
      sidecar,
      requests: { ...limits, ...requests },
      limits,
    })),
    ...present("unreadable", unreadableTemplate),
  };
}

/** List-watch of ReplicaSets. */
export const replicaSetListWatch: OpenListWatch<ReplicaSet> = listWatchOf({
  ...APPS,
  resource: "replicasets",
  parse: parseReplicaSet,
});

/** Projects a ReplicaSet to few bytes: a Deployment keeps ten old ReplicaSets. */
export function parseReplicaSet(raw: unknown): ReplicaSet {
  const metadata = parseNamespacedIdentity(raw);
  const owner = parseOwner((raw as RawObject<unknown>).metadata.ownerReferences);
  if (owner?.kind !== "Deployment" || !owner.apiVersion.startsWith("apps/")) return { metadata };
  return { metadata, deployment: { name: owner.name, uid: owner.uid } };
}
