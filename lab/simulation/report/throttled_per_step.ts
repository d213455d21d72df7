/**
 * Throttling of all pods together, step by step.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";

/** Throttled ms/s of all pods together, one entry per step. */
export function throttledPerStep(run: RunRecord): number[] {
  return run.sumLimits.map((_, step) =>
    run.pods.reduce((sum, pod) => sum + (pod.throttled[step] ?? 0), 0)
  );
}
