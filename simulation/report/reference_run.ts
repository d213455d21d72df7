/**
 * Which static run the first one is compared with.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";

/** Costs count as the same within this share of each other. */
const SAME_COST = 0.01;

/** The run whose mean Σ of limits is nearest to that of the first; absent if there is only one. */
export function referenceRun(runs: readonly RunRecord[]): RunRecord | undefined {
  const [ours, ...others] = runs;
  if (ours === undefined) return undefined;
  const distance = (run: RunRecord): number =>
    Math.abs(run.scores.coresAllocated - ours.scores.coresAllocated);
  return others.reduce<RunRecord | undefined>(
    (nearest, run) => nearest !== undefined && distance(nearest) <= distance(run) ? nearest : run,
    undefined,
  );
}

/** Whether two runs allocated the same cores, within 1 %. */
export function costTheSame(one: RunRecord, other: RunRecord): boolean {
  const [a, b] = [one.scores.coresAllocated, other.scores.coresAllocated];
  return Math.abs(a - b) <= SAME_COST * Math.max(a, b);
}
