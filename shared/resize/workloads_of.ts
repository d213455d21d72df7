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

/** A pod, as far as it names its owners. */
export interface OwnedPod {
  readonly metadata: Pick<Pod["metadata"], "owner" | "labels">;
}

/** A label of pods made by a ReplicaSet, and the kind of workload that such ReplicaSets belong to. */
const TEMPLATE_HASHES: readonly (readonly [label: string, kind: string])[] = [
  ["pod-template-hash", "Deployment"],
  ["rollouts-pod-template-hash", "Rollout"],
];

/**
 * The pod's controller, and what that belongs to, the nearest first; empty for a bare pod. A
 * ReplicaSet of a Deployment is named `<deployment>-<pod-template-hash>`, a Job of a CronJob
 * `<cronjob>-<minutes since 1970>`, so that neither need be read for it. Source: Kubernetes'
 * deployment controller (`getNewReplicaSet`) and cronjob controller (`getJobName`).
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

/** True when the pod belongs to the workload; any pod does to `EVERY_WORKLOAD`. */
export function belongsTo(pod: OwnedPod, { kind, name }: WorkloadRef): boolean {
  if (kind === EVERY_WORKLOAD.kind && name === EVERY_WORKLOAD.name) return true;
  return workloadsOf(pod).some((one) => one.kind === kind && one.name === name);
}

/**
 * True when the workload of this UID controls the pod, itself or by one of its ReplicaSets. Where the copy
 * does not have the pod's ReplicaSet yet, its name names the workload.
 */
export function controls(
  { kind, metadata: { namespace, name, uid } }: Pick<Workload, "kind" | "metadata">,
  pod: OwnedPod & { readonly metadata: Pick<Pod["metadata"], "namespace"> },
  { replicaSet }: {
    /** The ReplicaSet under `namespace/name`, where a copy has it. */
    readonly replicaSet: (key: string) => ReplicaSet | undefined;
  },
): boolean {
  const { owner } = pod.metadata;
  if (owner === undefined || pod.metadata.namespace !== namespace) return false;
  if (kind !== "Deployment") return owner.uid === uid;
  const made = replicaSet(`${namespace}/${owner.name}`);
  return owner.kind === "ReplicaSet" && made?.metadata.uid === owner.uid
    ? made.deployment?.uid === uid
    : belongsTo(pod, { kind, name });
}
