/**
 * Which of the controllers' gauges counts the pods that have a reason.
 *
 * @module
 */
import type { PodAllocation } from "../../../../shared/api/pod_allocation.ts";
import { BOUND_REASONS } from "../../../../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../../../../shared/api/reasons/enforcement_reasons.ts";

/**
 * What the controllers count allocations by: the series of a reason, and whether one has the reason.
 */
export const GAUGES = {
  bounds: {
    series: (reason: string): RegExp => new RegExp(`^mbcas_bounds\\{reason="${reason}"\\}$`),
    has: ({ status }: PodAllocation, reason: string): boolean =>
      status?.bounds?.rules?.some((rule) => rule.reason === reason) === true,
  },
  allocations: {
    series: (reason: string): RegExp =>
      new RegExp(`^mbcas_allocations\\{phase="\\w+",reason="${reason}"\\}$`),
    has: ({ status }: PodAllocation, reason: string): boolean => status?.reason === reason,
  },
} as const;

/** Name of a gauge. */
export type Gauge = keyof typeof GAUGES;

/** The gauges that may count by the reason: some are reasons of bounds and of refusals. */
export function gaugesOf(reason: string): readonly Gauge[] {
  return [
    ...(Object.hasOwn(BOUND_REASONS, reason) ? ["bounds"] as const : []),
    ...(Object.hasOwn(ENFORCEMENT_REASONS, reason) ? ["allocations"] as const : []),
  ];
}
