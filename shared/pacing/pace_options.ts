/**
 * The settings of pacing.
 *
 * @module
 */

/**
 * The settings; times in milliseconds, shares of 1. Stability comes before speed in everything that
 * lowers; a burst is raised at once.
 */
export const DEFAULT_PACE = {
  /** A decrease by own demand must be at least this share of the limit. */
  lowerHysteresis: 0.1,
  /** How long own demand must stay lower before the limit follows. */
  lowerWaitMs: 30_000,
  /** The same after a raise for a trial that showed that nothing more is needed. */
  trialWaitMs: 1000,
  /**
   * A raise must be at least this share of the limit, unless the floor asks for it, or it gives a
   * throttled container its whole ceiling.
   */
  raiseHysteresis: 0.01,
  /** The same where CPU is scarce: others would have to pay. */
  scarceRaiseHysteresis: 0.15,
  /** A raise goes this share beyond what is needed while CPU is free, so that few others follow. */
  raiseMargin: 0.05,
  /**
   * Share of capacity that raises leave free: an idle floor may wake between the decision and the
   * moment at which the raise is in force.
   */
  cushion: 0.03,
  /** Least time between two raises of a container. */
  raiseGapMs: 1000,
  /** Least time between two decreases of a container that pay for others. */
  fundingGapMs: 5000,
  /** No decrease before readings are this old. */
  warmUpMs: 10_000,
};

/** Settings of pacing, as {@linkcode DEFAULT_PACE} describes them. */
export type PaceOptions = Readonly<typeof DEFAULT_PACE>;

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
