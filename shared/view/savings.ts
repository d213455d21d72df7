/**
 * What recommendations save of the requests of a workload's pods. Pure.
 *
 * @module
 */
import type { AdvisedWorkload } from "./advice_view.ts";

/** Requests of all pods, millicores and bytes; negative where they grow. */
export interface SavedRequests {
  readonly cpu: number;
  readonly memory: number;
}

/**
 * What the pods request less than the manifest says, by values that were applied in place. Undefined without
 * such values: what a rewritten template asked for before is not recorded.
 */
export function savedInPlace(
  { containers, pods = 0, exists, lastApplied, lastApplyMethod }: AdvisedWorkload,
): SavedRequests | undefined {
  if (exists === false || lastApplied === undefined || lastApplyMethod !== "InPlace") {
    return undefined;
  }
  return containers.reduce<SavedRequests>(
    (sum, { template = {}, inForce = {} }) => ({
      cpu: sum.cpu + difference(template.cpu, inForce.cpu) * pods,
      memory: sum.memory + difference(template.memory, inForce.memory) * pods,
    }),
    { cpu: 0, memory: 0 },
  );
}

/** A request that neither has nor gets a value is left out. */
function difference(from: number | undefined, to: number | undefined): number {
  return from === undefined || to === undefined ? 0 : from - to;
}

/**
 * What the pods would request less if they had the recommendation. Undefined where it is not to be applied:
 * of a workload that is skipped, or failed.
 */
export function savedIfApplied(
  { status, changes: { cpu, memory } }: Pick<AdvisedWorkload, "status" | "changes">,
): SavedRequests | undefined {
  if (status === "Skipped" || status === "Error") return undefined;
  return { cpu: cpu.shrinks - cpu.grows, memory: memory.shrinks - memory.grows };
}

/** All of them together. */
export function sumOfSaved(list: readonly (SavedRequests | undefined)[]): SavedRequests {
  return list.reduce<SavedRequests>(
    (sum, one) => ({ cpu: sum.cpu + (one?.cpu ?? 0), memory: sum.memory + (one?.memory ?? 0) }),
    { cpu: 0, memory: 0 },
  );
}
