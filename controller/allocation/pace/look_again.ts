/**
 * When to look at a pod of the market again.
 *
 * @module
 */
import { notLaterThan, type ReconcileResult } from "../../../shared/control/reconcile_loop.ts";
import type { Random } from "../../../shared/random.ts";

/** Mean time after which to look again at a pod in the market, for what comes without an event, ms. */
const LOOK_AGAIN_MS = 30_000;
/** Looks come up to this share sooner or later: pods that were looked at together do not stay in step. */
const LOOK_SPREAD = 0.2;

/** Returns a function that gives the next look, in `ms` at the latest. */
export function createLookAgain(random: Random): (ms?: number) => ReconcileResult {
  return (ms = Infinity) => {
    const spread = 1 + LOOK_SPREAD * (2 * random.next() - 1);
    return notLaterThan({ requeueAfterMs: LOOK_AGAIN_MS * spread }, ms);
  };
}
