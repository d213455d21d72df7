/**
 * What recommendations save of the requests of a workload's pods. Pure.
 *
 * @module
 */
import type { AdvisedWorkload } from "./advice_view.ts";

/** Requests of all pods of a workload or of several, millicores and bytes. */
export interface ResourceAmounts {
  readonly cpu: number;
  readonly memory: number;
}

/** Values that were applied in place. */
export interface InPlaceSaving {
  /** What the manifest requests for the pods. */
  readonly before: ResourceAmounts;
  /** What the pods request less than that; negative where they request more. */
  readonly saved: ResourceAmounts;
}

/**
 * What the pods have less than the manifest requests, by values that were applied in place. Undefined without
 * such values: what a rewritten template requested before is not recorded. Pods of which nothing is known
 * count as having what the manifest requests.
 */
export function savedInPlace(
  { containers, exists, lastApplied, lastApplyMethod }: AdvisedWorkload,
): InPlaceSaving | undefined {
  if (exists === false || lastApplied === undefined || lastApplyMethod !== "InPlace") {
    return undefined;
  }
  const before = { cpu: 0, memory: 0 };
  const saved = { cpu: 0, memory: 0 };
  for (const { template = {}, inForce = {}, pods } of containers) {
    for (const resource of ["cpu", "memory"] as const) {
      const requested = template[resource];
      // A request without a value in force was changed by another client.
      if (requested === undefined || inForce[resource] === undefined) continue;
      for (const { count, [resource]: present = requested } of pods) {
        before[resource] += requested * count;
        saved[resource] += (requested - present) * count;
      }
    }
  }
  return { before, saved };
}

/**
 * What the pods would request less if they had the recommendation. Undefined where it is not to be applied:
 * of a workload that is skipped, or failed.
 */
export function savedIfApplied(
  { status, changes: { cpu, memory } }: Pick<AdvisedWorkload, "status" | "changes">,
): ResourceAmounts | undefined {
  if (status === "Skipped" || status === "Error") return undefined;
  return { cpu: cpu.shrinks - cpu.grows, memory: memory.shrinks - memory.grows };
}

/** All of them together. */
export function sumOfSaved(list: readonly (ResourceAmounts | undefined)[]): ResourceAmounts {
  return list.reduce<ResourceAmounts>(
    (sum, one) => ({ cpu: sum.cpu + (one?.cpu ?? 0), memory: sum.memory + (one?.memory ?? 0) }),
    { cpu: 0, memory: 0 },
  );
}
