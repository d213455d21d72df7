/**
 * How long work may wait on a node whose CPU is short: the same for all.
 *
 * @module
 */
import { queueingNeed } from "./queueing_need.ts";
import type { DemandEstimate } from "./signal.ts";

/** A container that shares the node. Millicores. */
export interface WaitingContainer {
  readonly estimate: DemandEstimate;
  readonly ceiling: number;
  /** What a metric says that it could use; absent where none does. */
  readonly asked?: number | undefined;
  /** What it would get of the room if all bid for more than there is; its floor at least. */
  readonly part: number;
}

/** Whose quota has run out for this long, ms, is taken to want all that there is. */
const INSATIABLE_MS = 10_000;

/** Work should not wait longer where CPU is ample, unless told otherwise: one CFS period. */
export const WAIT_TARGET_MS = 100;
/** Beyond this waiting no longer saves CPU worth speaking of. */
export const MOST_WAIT_MS = 2000;
/** Parts that add up to the room may miss it by the last digits, millicores. */
const ROUNDING = 1e-6;
/** The bisection ends within a hundredth. */
const STEPS = 9;

/** What a common wait must keep to. */
export interface WaitLimits {
  /** Millicores into which the needs of all should fit. */
  readonly room: number;
  /** The wait where CPU is ample, ms. */
  readonly targetMs: number;
}

/**
 * The shortest wait, ms, at which the needs of all fit into `room`, at least `targetMs` and at most
 * {@linkcode MOST_WAIT_MS}. Needs fall as waits grow, so bisection finds it.
 *
 * Who has been saturated for {@linkcode INSATIABLE_MS} counts with its part at most: a job that eats all
 * it gets needs more the more it is given, and nobody's work should wait for that.
 *
 * What a metric asks for counts with the part at most, too: nobody's work should wait for a word.
 *
 * A clearing by itself divides what is short by weight, whatever for: it would leave one container
 * all of its headroom and another less than it uses. With needs that fit, everybody has what it
 * uses, and headroom shrinks until work waits equally long everywhere.
 */
export function commonWait(
  containers: readonly WaitingContainer[],
  { room: exact, targetMs }: WaitLimits,
): number {
  const room = exact + ROUNDING;
  if (needsOf(containers, targetMs) <= room) return targetMs;
  if (needsOf(containers, MOST_WAIT_MS) > room) return MOST_WAIT_MS;
  let short = Math.log(targetMs);
  let long = Math.log(MOST_WAIT_MS);
  for (let step = 0; step < STEPS; step++) {
    const middle = (short + long) / 2;
    if (needsOf(containers, Math.exp(middle)) <= room) long = middle;
    else short = middle;
  }
  return Math.exp(long);
}

function needsOf(containers: readonly WaitingContainer[], waitMs: number): number {
  let sum = 0;
  for (const { estimate, ceiling, part, asked = 0 } of containers) {
    const most = estimate.saturatedMs >= INSATIABLE_MS ? Math.min(ceiling, part) : ceiling;
    sum += Math.min(most, Math.max(queueingNeed(estimate, waitMs), Math.min(asked, part)));
  }
  return sum;
}
