/**
 * How long a limit moved after the load had changed its level for good.
 *
 * @module
 */
import { quantile } from "../quantile.ts";
import type { PodSeries } from "../run_series.ts";
import type { LevelChange } from "./level_change.ts";

/** The final value is the median of the limit over this last share of the level. */
const LAST_SHARE = 0.25;
/** How far from the final value a limit may be that has converged. */
const WITHIN = 0.1;

/**
 * Seconds from the step until the limit came within 10 % of its final value to stay there as long as
 * the level held; 0 when it always was. Undefined when it left once more in the last quarter of that
 * time, the median of which is the final value: it has not converged. An algorithm with a limit that
 * follows the noise of the load within 10 % has converged; one that swings wider has not.
 */
export function convergence(
  { limit }: Pick<PodSeries, "limit">,
  { change, stepS }: { readonly change: LevelChange; readonly stepS: number },
): number | undefined {
  const begin = Math.round(change.atS / stepS);
  const end = Math.min(limit.length, Math.round(change.untilS / stepS));
  const settledBy = end - Math.max(1, Math.round((end - begin) * LAST_SHARE));
  const final = quantile(limit.subarray(settledBy, end), 0.5);
  let step = end;
  while (step > begin && Math.abs((limit[step - 1] ?? 0) - final) <= WITHIN * final) step--;
  if (step > settledBy) return undefined;
  return step === begin ? 0 : (step + 1) * stepS - change.atS;
}
