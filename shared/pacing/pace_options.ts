/**
 * The settings of pacing.
 *
 * @module
 */

/** Settings of pacing; times in milliseconds. */
export interface PaceOptions {
  /** A decrease by own demand must be at least this share of the limit. */
  readonly lowerHysteresis: number;
  /** How long own demand must stay lower before the limit follows. */
  readonly lowerWaitMs: number;
  /**
   * A raise must be at least this share of the limit, unless the floor asks for it, or it gives a
   * throttled container its whole ceiling.
   */
  readonly raiseHysteresis: number;
  /**
   * Share of capacity that raises leave free: an idle floor may wake between the decision and the
   * moment at which the raise is in force.
   */
  readonly cushion: number;
  /** Least time between two raises of a container. */
  readonly raiseGapMs: number;
  /** Least time between two decreases of a container that pay for others. */
  readonly fundingGapMs: number;
  /** No decrease before readings are this old. */
  readonly warmUpMs: number;
  /** How long idle CPU must be there before it is lent. */
  readonly loanWaitMs: number;
}

/** Stability comes before speed in everything that lowers; a burst is raised at once. */
export const DEFAULT_PACE: PaceOptions = {
  lowerHysteresis: 0.1,
  lowerWaitMs: 30_000,
  raiseHysteresis: 0.2,
  cushion: 0.03,
  raiseGapMs: 1000,
  fundingGapMs: 5000,
  warmUpMs: 10_000,
  loanWaitMs: 30_000,
};

/** Millicores of `capacity` that raises may commit. */
export function grantable(capacity: number, { cushion }: Pick<PaceOptions, "cushion">): number {
  return capacity * (1 - cushion);
}
