/**
 * Which limits are whose own: what a restore has to bring back. Pure.
 *
 * @module
 */
import { MARKET_MANAGER } from "../../../shared/actuation/field_managers.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { countableCPU } from "../../../shared/quantity.ts";

/** A pod and its own limits, millicores by container name. */
export interface RestorePlan {
  readonly pod: Pod;
  readonly ownLimits: ReadonlyMap<string, number>;
  /** Where they are on record. */
  readonly record: "allocation" | "template";
}

/** A pod whose own limits nobody knows. */
export interface UnknownOriginal {
  readonly pod: Pod;
}

/** What there is to do. */
export interface RestorePlans {
  readonly plans: readonly RestorePlan[];
  /** Their limits are this product's, and no allocation tells what they were. */
  readonly unrecorded: readonly UnknownOriginal[];
  /** Pods whose limits are their own. */
  readonly untouched: number;
}

/** The user's own limits of the allocation's pod; undefined when they are not on record. */
export function ownLimitsOf(
  allocation: PodAllocation | undefined,
): ReadonlyMap<string, number> | undefined {
  const originals = allocation?.status?.originalLimits;
  if (originals === undefined) return undefined;
  // A value that can't be counted is nobody's limit: nothing of ours has recorded that.
  return new Map(originals.flatMap(({ name, cpu }) => {
    const millicores = cpu === undefined ? undefined : countableCPU(cpu);
    return millicores === undefined ? [] : [[name, millicores]];
  }));
}

/** True when some limit in the pod's spec is the market's; one that was brought back is not. */
export function limitsAreOurs({ containers }: Pod): boolean {
  return containers.some(({ limitManagers = [] }) => limitManagers.includes(MARKET_MANAGER));
}

/** Sorts the pods by what is known of their own limits. */
export function restorePlans(
  pods: readonly Pod[],
  allocations: readonly PodAllocation[],
): RestorePlans {
  const byUID = new Map(allocations.map((one) => [one.spec.podUID, one]));
  const plans: RestorePlan[] = [];
  const unrecorded: UnknownOriginal[] = [];
  let untouched = 0;
  for (const pod of pods) {
    const ownLimits = ownLimitsOf(byUID.get(pod.metadata.uid));
    if (ownLimits !== undefined) plans.push({ pod, ownLimits, record: "allocation" });
    else if (limitsAreOurs(pod)) unrecorded.push({ pod });
    else untouched++;
  }
  return { plans, unrecorded, untouched };
}
