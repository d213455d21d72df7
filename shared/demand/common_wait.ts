/**
 * How long work may wait on a node where limits follow demand.
 *
 * @module
 */
import { type DemandEstimate, queueingNeed } from "./demand_rule.ts";

/** A container that shares the node. Millicores. */
export interface WaitingContainer {
  readonly estimate: DemandEstimate;
  readonly ceiling: number;
  /** Demand by a metric; absent where there is none. */
  readonly asked?: number | undefined;
  /** Its part of the room if all bid for more than there is; its floor at least. */
  readonly part: number;
}

/** A container with a quota that has run out for this long, ms, is taken to want all that there is. */
const INSATIABLE_MS = 10_000;
/** How long work should wait at most where CPU is ample, ms: one CFS period. */
export const WAIT_TARGET_MS = 100;
/** Beyond this waiting no longer saves CPU worth speaking of. */
export const MOST_WAIT_MS = 2000;
/** Parts that add up to the room may miss it by the last digits, millicores. */
const ROUNDING = 1e-6;
/** The bisection ends within a hundredth. */
const STEPS = 9;

/**
 * The shortest wait, ms, at which the needs of all fit into `room`, millicores: at least `targetMs`, at
 * most {@linkcode MOST_WAIT_MS}. Needs fall as waits grow, so bisection finds it.
 *
 * A container that has been saturated for {@linkcode INSATIABLE_MS} counts with its part at most: a job
 * that eats all it gets needs more the more it is given, and no other work should wait for that. The
 * same goes for what a metric asks for.
 *
 * A clearing by itself divides what is short by weight: it would leave one container all of its
 * headroom and another less than it uses. With needs that fit, every container has what it uses, and
 * headroom shrinks until work waits equally long everywhere.
 */
export function commonWait(
  containers: readonly WaitingContainer[],
  { room, targetMs }: { readonly room: number; readonly targetMs: number },
): number {
  const fits = (waitMs: number): boolean => needsOf(containers, waitMs) <= room + ROUNDING;
  if (fits(targetMs)) return targetMs;
  if (!fits(MOST_WAIT_MS)) return MOST_WAIT_MS;
  let short = Math.log(targetMs);
  let long = Math.log(MOST_WAIT_MS);
  for (let step = 0; step < STEPS; step++) {
    const middle = (short + long) / 2;
    if (fits(Math.exp(middle))) long = middle;
    else short = middle;
  }
  return Math.exp(long);
}

function needsOf(containers: readonly WaitingContainer[], waitMs: number): number {
  return containers.reduce((sum, { estimate, ceiling, part, asked = 0 }) => {
    const most = estimate.saturatedMs >= INSATIABLE_MS ? Math.min(ceiling, part) : ceiling;
    return sum + Math.min(most, Math.max(queueingNeed(estimate, waitMs), Math.min(asked, part)));
  }, 0);
}
