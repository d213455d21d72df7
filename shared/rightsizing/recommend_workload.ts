/**
 * Recommendations for all containers of a workload.
 *
 * @module
 */
import type { ContainerUsage } from "./distribution.ts";
import {
  type Corrections,
  recommend,
  type RecommendationRule,
  type RecommendOutcome,
} from "./recommend.ts";
import { distributionOfSamples } from "./samples.ts";

/** What is known of a workload. */
export interface WorkloadUsage {
  /** In any order; of containers that the workload no longer has, too. */
  readonly usages: readonly ContainerUsage[];
  readonly rule: RecommendationRule;
  /** By container. @default {empty} */
  readonly corrections?: ReadonlyMap<string, Corrections>;
}

const NOTHING = distributionOfSamples([], { nowMs: 0, windowMs: 0 });

/**
 * One outcome for each container that the workload's template names, once each and in its order. One
 * whose usage nobody knows has too few samples: none.
 */
export function recommendWorkload(
  containers: readonly string[],
  { usages, rule, corrections = new Map() }: WorkloadUsage,
): RecommendOutcome[] {
  const known = new Map(usages.map((usage) => [usage.container, usage]));
  return [...new Set(containers)].map((container) =>
    recommend(known.get(container) ?? { container, cpu: NOTHING, memory: NOTHING }, {
      rule,
      corrections: corrections.get(container) ?? {},
    })
  );
}
