/**
 * Finds the workloads of sampled pods: those with a policy that takes usage from metrics-server.
 *
 * @module
 */
import type { ReplicaSet } from "../../../../shared/api/workload.ts";
import type { Informer } from "../../../../shared/control/informer.ts";
import { controls, workloadsOf } from "../../../../shared/resize/workloads_of.ts";
import {
  appContainers,
  type RightsizedWorkload,
  rightsizedWorkload,
} from "../../../../shared/rightsizing/guards/rightsizing_snapshot.ts";
import {
  policyFor,
  type PolicyInput,
  workloadKey,
} from "../../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../../shared/rightsizing/policy_spec.ts";
import { type Caches, type WorkloadCaches, workloadCaches, workloadOf } from "../../../caches.ts";

/** The workload of a pod, and the usage to keep of it. */
export interface PodOwner {
  /** UID of the workload. */
  readonly uid: string;
  /** Init containers left out. */
  readonly containers: readonly string[];
  /** How long usage counts: whole milliseconds. */
  readonly windowMs: number;
}

/** Finds owners of pods. */
export interface PodOwners {
  /**
   * A lookup for the pods of one reading, which matches each workload with policies once. It returns undefined
   * where no policy needs usage of the pod.
   */
  createLookup(): (
    pod: { readonly namespace: string; readonly name: string },
  ) => PodOwner | undefined;
  /** False where no policy needs usage of any pod. */
  isWanted(): boolean;
  /** UIDs of all workloads; undefined while they are not all known. */
  workloadUIDs(): ReadonlySet<string> | undefined;
}

/** Finds owners in the caches. */
export function createSampledPods(
  { caches, replicaSets, policies, input }: {
    readonly caches: WorkloadCaches & Pick<Caches, "pods">;
    readonly replicaSets: Pick<Informer<ReplicaSet>, "get">;
    readonly policies: Pick<Informer<StoredPolicy>, "all">;
    readonly input: () => PolicyInput;
  },
): PodOwners {
  function ownerOf(workload: RightsizedWorkload): PodOwner | undefined {
    const policy = policyFor(workload, { ...input(), policies: policies.all() });
    if (policy?.spec.provider !== "metrics-server") return undefined;
    return {
      uid: workload.metadata.uid,
      containers: appContainers(workload).map((one) => one.name),
      windowMs: policy.spec.windowMs,
    };
  }

  return {
    createLookup() {
      const known = new Map<string, PodOwner | undefined>();
      return ({ namespace, name }) => {
        const pod = caches.pods.get(`${namespace}/${name}`);
        if (pod === undefined) return undefined;
        for (const ref of workloadsOf(pod)) {
          const found = workloadOf(caches, { namespace, refs: [ref] });
          const workload = found && rightsizedWorkload(found);
          if (workload === undefined) continue;
          if (!controls(workload, pod, { replicaSet: replicaSets.get })) continue;
          const key = workloadKey(workload);
          if (!known.has(key)) known.set(key, ownerOf(workload));
          return known.get(key);
        }
        return undefined;
      };
    },
    isWanted: () =>
      [...policies.all()].some(({ spec }) =>
        spec !== undefined && spec.mode !== "Disabled" && spec.provider === "metrics-server"
      ),
    workloadUIDs() {
      const all = workloadCaches(caches);
      return all.every(({ synced }) => synced)
        ? new Set(all.flatMap((cache) => Array.from(cache.all(), ({ metadata }) => metadata.uid)))
        : undefined;
    },
  };
}
