/**
 * A container as pacing sees it, and the settings of pacing.
 *
 * @module
 */
import type { MarketReason } from "../api/reasons/market_reasons.ts";
import type { RoundOutcome } from "../market/clearing_round.ts";
import type { MarketContainer, PaceMemory } from "../market/market_container.ts";

/** The settings; times in milliseconds. Decreases wait for stability, a burst is raised at once. */
export const DEFAULT_PACE = {
  /** A decrease by own demand must be at least this share of the limit. */
  lowerHysteresis: 0.1,
  /** How long own demand must stay lower before the limit follows. */
  lowerWaitMs: 30_000,
  /** The same after a raise for a trial that showed no need. */
  trialWaitMs: 1000,
  /** A raise must be at least this share of the limit, but for a raise to the floor or the ceiling. */
  raiseHysteresis: 0.01,
  /** The same where CPU is scarce, so that others would be lowered for it. */
  scarceRaiseHysteresis: 0.15,
  /** A raise goes this share beyond the need while CPU is free, so that few others follow. */
  raiseMargin: 0.05,
  /** Share of capacity that raises leave free, for idle containers that become busy meanwhile. */
  cushion: 0.03,
  /** Least time between two raises of a container. */
  raiseGapMs: 1000,
  /**
   * Least time between two decreases of a container that pay for others. On a scarce node also since it
   * was last short, so that it can catch up by using more than its share.
   */
  fundingGapMs: 5000,
  /** A change of a limit on a scarce node is more than this share of it, and than a grid step. */
  shareHysteresis: 0.05,
  /** On a scarce node a limit rises after the share has been higher by `shareHysteresis` for this long. */
  raiseWaitMs: 1500,
  /** On a scarce node a container gets its ceiling after its bid was granted whole for this long. */
  releaseAfterMs: 10_000,
  /** No decrease before readings are this old. */
  warmUpMs: 10_000,
};

/** Settings of pacing, as {@linkcode DEFAULT_PACE} describes them. */
export type PaceOptions = Readonly<typeof DEFAULT_PACE>;

/** CPU is ample where at least this share of capacity is not committed. */
const AMPLE_SHARE = 0.1;

/** How ample CPU is, 0 to 1: 1 where a tenth of capacity or more is not committed. */
export function easeAt(freeFraction: number): number {
  return Math.min(1, Math.max(0, freeFraction / AMPLE_SHARE));
}

/** Millicores of `capacity` that raises may commit. */
export function grantable(capacity: number, { cushion }: Pick<PaceOptions, "cushion">): number {
  return capacity * (1 - cushion);
}

/**
 * The settings of raises where `freeFraction` of capacity is not committed: those for ample CPU from a
 * tenth on, those for scarce CPU at 0, and interpolated between.
 */
export function paceAt(options: PaceOptions, freeFraction: number): PaceOptions {
  const ease = easeAt(freeFraction);
  const { raiseHysteresis, scarceRaiseHysteresis, raiseMargin } = options;
  return {
    ...options,
    raiseHysteresis: scarceRaiseHysteresis + ease * (raiseHysteresis - scarceRaiseHysteresis),
    raiseMargin: ease * raiseMargin,
  };
}

/** A container with the outcome of the clearing. */
export interface PacedContainer
  extends Omit<MarketContainer, "originalLimit" | "throttledMs">, RoundOutcome {}

/** A change of one container's limit. */
export interface PaceChange {
  readonly limit: number;
  readonly reason: MarketReason;
}

/** The plan for one container: its state afterwards, and the change if there is one. */
export interface PlannedContainer {
  readonly memory: PaceMemory;
  readonly change?: PaceChange | undefined;
}

/** A lowered limit stays committed for this long, ms, until the kubelet has applied it. */
export const COMMITTED_MS = 2000;
/** A container throttled for more than this share of its limit counts as throttled. */
const THROTTLED_SHARE = 0.01;
/** A raise of a throttled container by more than this factor may be a trial. */
const TRIAL_RAISE = 1.3;

/** The memory of a container that begins with this limit. */
export function newPaceMemory(limit: number, now: number): PaceMemory {
  const never = -Infinity;
  return { limit, recent: [], since: now, raisedAt: never, changedAt: never, fundedAt: never };
}

/** The memory after the limit was changed at the monotonic time `now`, ms. */
export function afterChange(
  memory: PaceMemory,
  { limit, reason, now }: PaceChange & { readonly now: number },
): PaceMemory {
  const { lower: _lower, ...rest } = memory;
  const isTrial = reason === "Throttled" && limit > memory.limit * TRIAL_RAISE;
  return {
    ...rest,
    limit,
    recent: [
      ...memory.recent.filter(({ until }) => until > now),
      { until: now + COMMITTED_MS, limit: memory.limit },
    ],
    raisedAt: limit > memory.limit ? now : memory.raisedAt,
    changedAt: now,
    trialFrom: isTrial ? memory.trialFrom ?? memory.limit : undefined,
  };
}

/** The change of a limit outside of its bounds, to the bound; undefined for one within them. */
export function backToBounds(
  limit: number,
  { floor, ceiling }: Pick<PacedContainer, "floor" | "ceiling">,
): PaceChange | undefined {
  const most = Math.max(floor, ceiling);
  if (limit < floor) return { limit: floor, reason: "FloorRose" };
  return limit > most ? { limit: most, reason: "CeilingFell" } : undefined;
}

/** Whether the throttled time is a relevant share of the limit. */
export function isThrottled(
  { memory, throttledMsPerS }: Pick<PacedContainer, "memory" | "throttledMsPerS">,
): boolean {
  return throttledMsPerS > memory.limit * THROTTLED_SHARE;
}

/** Millicores that raises may still commit; negative when more is committed. */
export function freeCPU(
  containers: readonly PacedContainer[],
  { now, capacity, options }: { now: number; capacity: number; options: PaceOptions },
): number {
  let free = grantable(capacity, options);
  for (const container of containers) free -= committed(container, now);
  return free;
}

/** The commitment of a container if its highest limit is `limit`, millicores. */
export function committedAt(container: PacedContainer, limit: number): number {
  return limit > container.floor ? limit : container.bidFloor;
}

/**
 * The present commitment of a container, millicores: the highest of its limit, those replaced in the last
 * two seconds and the quota in its cgroup, if that exceeds its floor; otherwise its bid's floor. So CPU
 * of a lowered limit is free only once that can no longer be in force.
 */
export function committed(container: PacedContainer, now: number): number {
  const { memory: { limit, recent }, quota } = container;
  const replaced = recent.filter(({ until }) => until > now);
  // After a single change the quota shows that the limit is in force. After two in short order the
  // first may still come into force after a quota that equals the second.
  const inForce = quota !== undefined && quota <= limit && replaced.length === 1;
  const past = inForce ? [] : replaced.map((one) => one.limit);
  return committedAt(container, Math.max(limit, quota ?? 0, ...past));
}
