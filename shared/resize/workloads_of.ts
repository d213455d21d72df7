/**
 * The workloads that a pod belongs to.
 *
 * @module
 */
import type { Pod } from "../api/pod.ts";
import {
  EVERY_WORKLOAD,
  type ReplicaSet,
  type Workload,
  type WorkloadRef,
} from "../api/workload.ts";

/** The fields of a pod that show its owners. */
export interface OwnedPod {
  readonly metadata: Pick<Pod["metadata"], "owner" | "labels">;
}

/** Labels of pods of a ReplicaSet, and the kind of workload that owns such a ReplicaSet. */
const TEMPLATE_HASHES: readonly (readonly [label: string, kind: string])[] = [
  ["pod-template-hash", "Deployment"],
  ["rollouts-pod-template-hash", "Rollout"],
];

/**
 * The pod's controller and the owner of that; empty for a bare pod. The owner is by name: a ReplicaSet of
 * a Deployment is named `<deployment>-<pod-template-hash>`, a Job of a CronJob
 * `<cronjob>-<minutes since 1970>`. Source: Kubernetes' deployment controller (`getNewReplicaSet`) and
 * cronjob controller (`getJobName`).
 */
export function workloadsOf({ metadata: { owner, labels } }: OwnedPod): readonly WorkloadRef[] {
  if (owner === undefined) return [];
  const { kind, name } = owner;
  const own = { kind, name };
  if (kind === "ReplicaSet") {
    for (const [label, above] of TEMPLATE_HASHES) {
      const ending = `-${labels[label] ?? ""}`;
      if (ending.length > 1 && name.endsWith(ending) && name.length > ending.length) {
        return [own, { kind: above, name: name.slice(0, -ending.length) }];
      }
    }
  }
  const [, cronJob] = kind === "Job" ? /^(.+)-\d{8,}$/.exec(name) ?? [] : [];
  return cronJob === undefined ? [own] : [own, { kind: "CronJob", name: cronJob }];
}

/** True when the pod belongs to the workload; any pod belongs to `EVERY_WORKLOAD`. */
export function belongsTo(pod: OwnedPod, { kind, name }: WorkloadRef): boolean {
  if (kind === EVERY_WORKLOAD.kind && name === EVERY_WORKLOAD.name) return true;
  return workloadsOf(pod).some((one) => one.kind === kind && one.name === name);
}

/**
 * True when the workload controls the pod, directly or by a ReplicaSet. A ReplicaSet that is not cached
 * yet is matched by its name.
 */
export function controls(
  { kind, metadata: { namespace, name, uid } }: Pick<Workload, "kind" | "metadata">,
  pod: OwnedPod & { readonly metadata: Pick<Pod["metadata"], "namespace"> },
  { replicaSet }: {
    /** The cached ReplicaSet under `namespace/name`. */
    readonly replicaSet: (key: string) => ReplicaSet | undefined;
  },
): boolean {
  const { owner } = pod.metadata;
  if (owner === undefined || pod.metadata.namespace !== namespace) return false;
  if (kind !== "Deployment") return owner.uid === uid;
  const cached = replicaSet(`${namespace}/${owner.name}`);
  return owner.kind === "ReplicaSet" && cached?.metadata.uid === owner.uid
    ? cached.deployment?.uid === uid
    : belongsTo(pod, { kind, name });
}
