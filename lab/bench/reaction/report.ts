/**
 * The reaction time of the chain, leg by leg.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import { type Goal, goal } from "../bench.ts";
import {
  type BurstTimes,
  type Direction,
  hasMoved,
  type Sighting,
  type Sightings,
} from "./scene.ts";

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

/** Median and 95th percentile, whole ms. */
export interface Spread {
  readonly medianMs: number;
  readonly p95Ms: number;
}

/**
 * The whole time, then each leg. A missed burst counts with `timeoutMs`, for which it was waited for:
 * that is shorter than the truth.
 */
export function spreads(
  bursts: readonly BurstLegs[],
  { missed, timeoutMs }: { readonly missed: number; readonly timeoutMs: number },
): (readonly [name: string, Spread])[] {
  const totals = [
    ...bursts.map(({ totalMs }) => totalMs),
    ...Array.from({ length: missed }, () => timeoutMs),
  ];
  return [
    ["burst → other quota", totals] as const,
    ...LEGS.map((name) => [name, bursts.flatMap(({ legs }) => legs[name] ?? [])] as const),
  ].filter(([, values]) => values.length > 0).map(([name, values]) => {
    const [medianMs = NaN, p95Ms = NaN] = [0.5, 0.95].map((at) => Math.round(quantile(values, at)));
    return [name, { medianMs, p95Ms }];
  });
}

/** What is asked for of the whole time. Without a burst that asked for a change no goal is held. */
export function reactionGoals(
  [[, { medianMs, p95Ms }] = ["", { medianMs: NaN, p95Ms: NaN }]]: ReturnType<typeof spreads>,
  missed: number,
): Goal[] {
  return [
    goal("median, ms", medianMs, { most: 450 }),
    goal("p95, ms", p95Ms, { most: 800 }),
    goal("bursts missed", missed, { most: 0 }),
  ];
}
