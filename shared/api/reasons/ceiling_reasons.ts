/**
 * The reasons of bounds that set a ceiling.
 *
 * @module
 */
import type { BoundReason } from "./bound_reasons.ts";

/** All of them. A rule with such a reason begins with the name of its container. */
export const CEILING_REASONS = [
  "BurstFactor",
  "MaxCPU",
  "NodeSize",
  "PodLevelLimit",
  "LimitRange",
  "QuotaExceeded",
  "NodeCapacity",
  "FloorBinds",
] as const satisfies readonly BoundReason[];

/** One of {@linkcode CEILING_REASONS}. */
export type CeilingReason = typeof CEILING_REASONS[number];

const CEILINGS: ReadonlySet<string> = new Set(CEILING_REASONS);

/** True for a reason that sets a ceiling; false for others, and for one of another version. */
export function setsCeiling(reason: string): boolean {
  return CEILINGS.has(reason);
}
