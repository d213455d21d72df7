/**
 * Which of the controllers' gauges counts the pods that have a reason.
 *
 * @module
 */
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { BOUND_REASONS } from "../../../shared/api/reasons/bound_reasons.ts";
import { ENFORCEMENT_REASONS } from "../../../shared/api/reasons/enforcement_reasons.ts";

/** What the controllers count allocations by: the series of a word, and whether one has the word. */
export const GAUGES = {
  bounds: {
    series: (word: string): RegExp => new RegExp(`^mbcas_bounds\\{reason="${word}"\\}$`),
    has: ({ status }: PodAllocation, word: string): boolean =>
      status?.bounds?.rules?.some(({ reason }) => reason === word) === true,
  },
  allocations: {
    series: (word: string): RegExp =>
      new RegExp(`^mbcas_allocations\\{phase="\\w+",reason="${word}"\\}$`),
    has: ({ status }: PodAllocation, word: string): boolean => status?.reason === word,
  },
} as const;

/** Name of a gauge. */
export type Gauge = keyof typeof GAUGES;

/** The gauges that may count by the word: some words are said of bounds and of refusals. */
export function gaugesOf(word: string): readonly Gauge[] {
  return [
    ...(Object.hasOwn(BOUND_REASONS, word) ? ["bounds"] as const : []),
    ...(Object.hasOwn(ENFORCEMENT_REASONS, word) ? ["allocations"] as const : []),
  ];
}
