/**
 * The settings of pacing.
 *
 * @module
 */

/** Settings of pacing; times in milliseconds, shares of 1. */
export interface PaceOptions {
  /** A decrease by own demand must be at least this share of the limit. */
  readonly lowerHysteresis: number;
  /** How long own demand must stay lower before the limit follows. */
  readonly lowerWaitMs: number;
  /** The same after a raise for a trial that showed that nothing more is needed. */
  readonly trialWaitMs: number;
  /**
   * A raise must be at least this share of the limit, unless the floor asks for it, or it gives a
   * throttled container its whole ceiling.
   */
  readonly raiseHysteresis: number;
  /** The same where CPU is scarce: others would have to pay. */
  readonly scarceRaiseHysteresis: number;
  /** A raise goes this share beyond what is needed while CPU is free, so that few others follow. */
  readonly raiseMargin: number;
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
}

/** Stability comes before speed in everything that lowers; a burst is raised at once. */
export const DEFAULT_PACE: PaceOptions = {
  lowerHysteresis: 0.1,
  lowerWaitMs: 30_000,
  trialWaitMs: 1000,
  raiseHysteresis: 0.01,
  scarceRaiseHysteresis: 0.15,
  raiseMargin: 0.05,
  cushion: 0.03,
  raiseGapMs: 1000,
  fundingGapMs: 5000,
  warmUpMs: 10_000,
};

/** CPU free of commitment, as a share of capacity, from which on raises are given freely. */
const FREELY = 0.1;

/** Millicores of `capacity` that raises may commit. */
export function grantable(capacity: number, { cushion }: Pick<PaceOptions, "cushion">): number {
  return capacity * (1 - cushion);
}

/**
 * The settings of a raise where `freeShare` of capacity is free of commitment: those for free CPU
 * where a tenth is, those for scarce CPU where none is, and between them in proportion.
 */
export function paceAt(options: PaceOptions, freeShare: number): PaceOptions {
  const ease = Math.min(1, Math.max(0, freeShare / FREELY));
  const { raiseHysteresis, scarceRaiseHysteresis, raiseMargin } = options;
  return {
    ...options,
    raiseHysteresis: scarceRaiseHysteresis + ease * (raiseHysteresis - scarceRaiseHysteresis),
    raiseMargin: ease * raiseMargin,
  };
}
