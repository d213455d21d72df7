/**
 * The estimate of demand that the agent uses.
 *
 * @module
 */
import { heldBackDemand } from "./held_back_demand.ts";
import { withMargin } from "./margin.ts";
import { withPeakOverWindow } from "./peak_over_window.ts";
import type { DemandRule } from "./signal.ts";

/** Settings of {@linkcode createEstimator}. */
export interface EstimatorOptions {
  /** Factor on what was used and held back. @default {1.1} */
  readonly margin?: number;
  /** How long a peak counts, ms. @default {60000} */
  readonly peakWindowMs?: number;
}

/** A new estimator for one container. */
export function createEstimator(options: EstimatorOptions = {}): DemandRule {
  const { margin = 1.1, peakWindowMs = 60_000 } = options;
  return withPeakOverWindow(withMargin(heldBackDemand, margin), peakWindowMs);
}
