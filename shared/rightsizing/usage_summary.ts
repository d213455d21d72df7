/**
 * What a report keeps of what a container used: a few figures of each distribution, enough to see its
 * shape beside the recommendation that was made of it.
 *
 * @module
 */
import type { ContainerUsage, Distribution } from "./distribution.ts";

/** One resource of one container: millicores or bytes, whole. */
export interface DistributionSummary {
  /** Samples that it is of; at least one. */
  readonly samples: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** A container; a resource without samples is absent. */
export interface UsageSummary {
  readonly container: string;
  readonly cpu?: DistributionSummary;
  readonly memory?: DistributionSummary;
}

/** The summary of what a container used over the window. */
export function usageSummaryOf({ container, cpu, memory }: ContainerUsage): UsageSummary {
  return {
    container,
    ...(cpu.count > 0 ? { cpu: summaryOf(cpu) } : {}),
    ...(memory.count > 0 ? { memory: summaryOf(memory) } : {}),
  };
}

function summaryOf(usage: Distribution): DistributionSummary {
  const at = (fraction: number): number => whole(usage.quantile(fraction));
  return {
    samples: usage.count,
    min: whole(usage.min),
    p50: at(0.5),
    p90: at(0.9),
    p95: at(0.95),
    p99: at(0.99),
    max: whole(usage.max),
  };
}

/** To the nearest, which keeps the order; as far as can be counted, which a quantity must be. */
function whole(amount: number): number {
  return Math.min(Math.round(Math.max(0, amount)), Number.MAX_SAFE_INTEGER);
}
