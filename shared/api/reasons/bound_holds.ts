/**
 * The reasons of bounds that hold a limit, and how.
 *
 * @module
 */
import type { BoundReason } from "./bound_reasons.ts";

/** How a limit is held; see `containerBoundsSchema`. */
export type Hold = "half" | "lower" | "both";

/** By reason; one that is not here sets a bound and holds nothing. */
export const BOUND_HOLDS: Readonly<Partial<Record<BoundReason, Hold>>> = {
  QoSWouldChange: "both",
  RestartPolicy: "both",
  UnreadableBound: "both",
  NodeNotReady: "both",
  NodeDraining: "both",
  NodeCordoned: "lower",
  SystemCritical: "lower",
  PodNotReady: "lower",
  RecentRestart: "lower",
  CrashLoopBackOff: "lower",
  RolloutInProgress: "lower",
  HPAScaled: "lower",
  HPADamped: "half",
};

/** How the reason holds a limit; undefined for a bound, and for a reason of another version. */
export function holdOf(reason: string): Hold | undefined {
  return Object.hasOwn(BOUND_HOLDS, reason) ? BOUND_HOLDS[reason as BoundReason] : undefined;
}
