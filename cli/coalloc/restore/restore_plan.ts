/**
 * Finds the original limits that a restore has to bring back. Pure.
 *
 * @module
 */
import { unlessNotFound } from "../../../adapters/kube/client/connection.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Original, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import {
  limitsAreOurs,
  originalLimitsOf,
  originalValues,
} from "../../../shared/resize/original_limits.ts";
import type { ClusterReader } from "../ports.ts";

/** A pod and its original limits, millicores by container name. */
export interface RestorePlan {
  readonly pod: Pod;
  readonly originalLimits: ReadonlyMap<string, number>;
  /** Those of the allocation. */
  readonly recorded?: readonly Original[] | undefined;
  readonly record: "allocation" | "pod" | "template";
}

/** What there is to do. */
export interface RestorePlans {
  readonly plans: readonly RestorePlan[];
  /** Their limits are this product's, and neither they nor an allocation have the original ones. */
  readonly unrecorded: readonly Pod[];
  /** Pods with limits that are their own. */
  readonly untouched: number;
}

/** The original limits as the pod has them now, or else its allocation; undefined when neither has. */
export function originalsNow(
  pod: Pod,
  recorded: readonly Original[] | undefined,
): ReadonlyMap<string, number> | undefined {
  const originals = originalLimitsOf(pod, { recorded });
  return originals && originalValues(originals);
}

/** Sorts the pods by what is known of their original limits. */
export function restorePlans(
  pods: readonly Pod[],
  allocations: readonly PodAllocation[],
): RestorePlans {
  const byUID = new Map(allocations.map((one) => [one.spec.podUID, one]));
  const plans: RestorePlan[] = [];
  const unrecorded: Pod[] = [];
  let untouched = 0;
  for (const pod of pods) {
    const recorded = byUID.get(pod.metadata.uid)?.status?.originalLimits;
    const originalLimits = originalsNow(pod, recorded);
    if (recorded === undefined && !limitsAreOurs(pod)) untouched++;
    else if (originalLimits === undefined) unrecorded.push(pod);
    else plans.push({ pod, originalLimits, recorded, record: recorded ? "allocation" : "pod" });
  }
  return { plans, unrecorded, untouched };
}

/**
 * Of a namespace, or of all. None where the CustomResourceDefinition is gone: it was deleted before
 * its pods were restored, and their owners' templates may still have their limits.
 */
export async function allocationsOnRecord(
  reader: Pick<ClusterReader, "allocations">,
  namespace?: string,
): Promise<readonly PodAllocation[]> {
  return await unlessNotFound(reader.allocations(namespace)) ?? [];
}
