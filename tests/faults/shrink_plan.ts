/**
 * Finds the fewest faults of a plan that still break the same promise.
 *
 * @module
 */
import type { Fault, FaultPlan } from "./fault.ts";

/**
 * Removes faults in ever smaller groups while `fails` holds. Source: Zeller and Hildebrandt, delta
 * debugging (ddmin), 2002. Plays at most `most` plans.
 */
export async function shrinkPlan(
  plan: FaultPlan,
  fails: (plan: FaultPlan) => Promise<boolean>,
  { most = 100 }: { readonly most?: number } = {},
): Promise<FaultPlan> {
  let faults: readonly Fault[] = plan.faults;
  let size = Math.ceil(faults.length / 2);
  let played = 0;
  while (size >= 1 && played < most) {
    let smaller: readonly Fault[] | undefined;
    for (let from = 0; from < faults.length && smaller === undefined && played < most;) {
      const rest = [...faults.slice(0, from), ...faults.slice(from + size)];
      played++;
      if (await fails({ ...plan, faults: rest })) smaller = rest;
      from += size;
    }
    if (smaller !== undefined) faults = smaller;
    else if (size === 1) break;
    else size = Math.floor(size / 2);
    size = Math.min(size, Math.max(1, faults.length));
    if (faults.length === 0) break;
  }
  return { ...plan, faults };
}
