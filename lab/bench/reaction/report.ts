/**
 * The reaction time of the chain, leg by leg.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import { type Direction, hasMoved } from "./direction.ts";
import type { BurstTimes, Sighting, Sightings } from "./scene.ts";

/** The names of the legs, in order. */
export const LEGS = [
  "kernel → agent",
  "agent → API",
  "API → controller",
  "controller → kubelet",
  "kubelet → cgroup",
] as const;

/** One burst: total and legs in ms; a leg with ends that were not both seen is absent. */
export interface BurstLegs {
  readonly totalMs: number;
  readonly legs: Readonly<Partial<Record<typeof LEGS[number], number>>>;
}

/** What is asked for, ms. */
export const REACTION_LIMITS = { medianMs: 450, p95Ms: 800 } as const;

/** The legs of one burst from the moments at which the change was seen. */
export function legsOf(
  times: BurstTimes,
  { sightings, direction }: { readonly sightings: Sightings; readonly direction: Direction },
): BurstLegs {
  const { begun, firstQuota, containerQuota } = times;
  /** The first sighting after the burst began with a limit that has moved. */
  const firstMove = (seen: readonly Sighting[]): number | undefined => {
    const from = seen.findLast(({ at }) => at < begun)?.limit;
    if (from === undefined) return undefined;
    return seen.find(({ at, limit }) => at >= begun && hasMoved(direction, { from, to: limit }))
      ?.at;
  };
  const moments = [
    begun,
    firstMove(sightings.agent),
    firstMove(sightings.api),
    firstMove(sightings.controller),
    firstQuota,
    containerQuota,
  ];
  const legs = LEGS.flatMap((name, i) => {
    const from = moments[i];
    const to = moments[i + 1];
    // A watch may deliver the event after the next part has acted on it: the leg is then over, not
    // negative.
    return from === undefined || to === undefined ? [] : [[name, Math.max(0, to - from)] as const];
  });
  return { totalMs: containerQuota - begun, legs: Object.fromEntries(legs) };
}

/** Median and 95th percentile, ms. */
export interface Spread {
  readonly medianMs: number;
  readonly p95Ms: number;
}

/** What the benchmark prints. */
export interface ReactionReport extends Spread {
  /**
   * All that asked for a change; the missed ones count with the time for which they were waited for.
   */
  readonly bursts: number;
  readonly missed: number;
  /** Other bursts, which found their limits at the ceiling. */
  readonly ready: number;
  /** Whether none was missed and {@linkcode REACTION_LIMITS} held. */
  readonly withinLimits: boolean;
  readonly legs: Readonly<Record<string, Spread>>;
  readonly scene: string;
  /** How many limits were at their ceilings before the first burst. */
  readonly atCeiling: string;
}

/**
 * Sums up the bursts that were answered, and the missed ones as `timeoutMs`, which is shorter than the
 * truth. Throws a `RangeError` without either.
 */
export function reactionReport(
  bursts: readonly BurstLegs[],
  { timeoutMs, ...rest }:
    & Pick<ReactionReport, "missed" | "ready" | "scene" | "atCeiling">
    & { readonly timeoutMs: number },
): ReactionReport {
  if (bursts.length + rest.missed === 0) {
    throw new RangeError("Cannot report reaction times: no burst asked for a change");
  }
  const missed = Array.from({ length: rest.missed }, () => timeoutMs);
  const legs = LEGS.flatMap((name) => {
    const values = bursts.flatMap(({ legs }) => legs[name] ?? []);
    return values.length === 0 ? [] : [[name, spread(values)] as const];
  });
  const total = spread([...bursts.map(({ totalMs }) => totalMs), ...missed]);
  const withinLimits = missed.length === 0 && total.medianMs <= REACTION_LIMITS.medianMs &&
    total.p95Ms <= REACTION_LIMITS.p95Ms;
  return {
    bursts: bursts.length + missed.length,
    ...total,
    legs: Object.fromEntries(legs),
    withinLimits,
    ...rest,
  };
}

function spread(values: readonly number[]): Spread {
  const round = (share: number): number => Math.round(10 * quantile(values, share)) / 10;
  return { medianMs: round(0.5), p95Ms: round(0.95) };
}

/** The report for people. */
export function reactionTable(report: ReactionReport): string {
  const row = (name: string, { medianMs, p95Ms }: Spread): string =>
    `${name.padEnd(22)}${medianMs.toFixed(0).padStart(8)}${p95Ms.toFixed(0).padStart(8)}`;
  return [
    `${report.scene}; at their ceilings before the first burst: ${report.atCeiling}`,
    `${report.bursts} bursts, ${report.missed} missed; ${report.ready} others were at their ceilings`,
    `${"".padEnd(22)}${"median".padStart(8)}${"p95 ms".padStart(8)}`,
    row("burst → other quota", report),
    ...Object.entries(report.legs).map(([name, value]) => row(`  ${name}`, value)),
  ].join("\n");
}
