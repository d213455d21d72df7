/**
 * The settings of pacing.
 *
 * @module
 */

/** Settings of pacing; times in milliseconds, shares of 1. */
export interface PaceOptions {
  /** A decrease by own demand must be at least this share of the limit. */
  readonly lowerHysteresis: number;
  /**
   * Factor on hysteresis and margin for each change of late: who needed changes is likely to need
   * others, so that each should go further.
   */
  readonly restlessFactor: number;
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
  /**
   * Share of capacity that is kept free for bursts: surplus is taken back where less than half of
   * it is left, so that a burst need not wait until decreases that pay for it are in force.
   */
  readonly burstReserve: number;
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
  restlessFactor: 1.3,
  lowerWaitMs: 30_000,
  trialWaitMs: 1000,
  raiseHysteresis: 0.01,
  scarceRaiseHysteresis: 0.15,
  raiseMargin: 0.05,
  cushion: 0.03,
  burstReserve: 0.1,
  raiseGapMs: 1000,
  fundingGapMs: 5000,
  warmUpMs: 10_000,
};

/** CPU free beyond the reserve, as a share of capacity, at which it is given freely. */
const FREELY = 0.1;

/** Millicores of `capacity` that raises may commit. */
export function grantable(capacity: number, { cushion }: Pick<PaceOptions, "cushion">): number {
  return capacity * (1 - cushion);
}

/** Share of capacity below which nothing but a raise that is needed takes any more of it. */
export function leastFreeShare({ burstReserve }: Pick<PaceOptions, "burstReserve">): number {
  return burstReserve / 2;
}

/**
 * Millicores that containers which start may ask for beyond their needs, where `freeShare` of the
 * capacity is free of commitment: what lies above the reserve for bursts. Below 0 where the node is
 * so short that they should give back what they don't need.
 */
export function spareForStart(
  capacity: number,
  { freeShare, pace }: { readonly freeShare: number; readonly pace: PaceOptions },
): number {
  if (freeShare < leastFreeShare(pace)) return -1;
  return Math.max(0, freeShare - pace.burstReserve) * capacity;
}

/**
 * The settings of a raise where `freeShare` of capacity is free of commitment: those for free CPU
 * where it is free beyond the reserve, those for scarce CPU where it is not, and between them in
 * proportion.
 */
export function paceAt(options: PaceOptions, freeShare: number): PaceOptions {
  const ease = Math.min(1, Math.max(0, (freeShare - options.burstReserve) / FREELY));
  const { raiseHysteresis, scarceRaiseHysteresis, raiseMargin } = options;
  return {
    ...options,
    raiseHysteresis: scarceRaiseHysteresis + ease * (raiseHysteresis - scarceRaiseHysteresis),
    raiseMargin: ease * raiseMargin,
  };
}
